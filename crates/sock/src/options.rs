//! Socket options.

use crate::address;
use crate::server::Server;
use crate::socket::Socket;
use nix::errno::Errno;
use nix::libc::{self, SOL_SOCKET};
use records::notification;
use records::number::{self as n, SCTP};
use sctp::{AssocOptions, AssocStats, PathInfo, PathState, State};
use units::{ByteCount, Span};

/// Most options that a socket keeps without meaning.
const KEPT: usize = 64;

/// Fields of an option, with a short one refused.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn u16(&self, at: usize) -> Result<u16, Errno> {
        let field = self.0.get(at..at + 2).and_then(|field| field.try_into().ok());
        field.map(u16::from_ne_bytes).ok_or(Errno::EINVAL)
    }

    fn u32(&self, at: usize) -> Result<u32, Errno> {
        let field = self.0.get(at..at + 4).and_then(|field| field.try_into().ok());
        field.map(u32::from_ne_bytes).ok_or(Errno::EINVAL)
    }

    fn i32(&self, at: usize) -> Result<i32, Errno> {
        self.u32(at).map(u32::cast_signed)
    }

    /// Milliseconds; none for 0, which leaves an option as it is.
    fn millis(&self, at: usize) -> Result<Option<Span>, Errno> {
        let value = self.u32(at)?;
        Ok((value > 0).then(|| Span::from_millis(value.into())))
    }
}

/// Bytes of an option that is read.
#[derive(Default)]
struct Written(Vec<u8>);

impl Written {
    fn put(mut self, field: impl AsRef<[u8]>) -> Self {
        self.0.extend_from_slice(field.as_ref());
        self
    }

    fn u16(self, field: impl TryInto<u16>) -> Self {
        self.put(field.try_into().unwrap_or(u16::MAX).to_ne_bytes())
    }

    fn u32(self, field: impl TryInto<u32>) -> Self {
        self.put(field.try_into().unwrap_or(u32::MAX).to_ne_bytes())
    }

    fn i32(self, field: i32) -> Self {
        self.put(field.to_ne_bytes())
    }

    fn pad_to(mut self, length: usize) -> Self {
        self.0.resize(length, 0);
        self
    }
}

fn millis(span: Span) -> u64 {
    span.as_nanos() / 1_000_000
}

impl Server {
    /// Sets an option of a socket.
    pub(crate) fn set_option(
        &mut self,
        key: usize,
        level: i32,
        name: i32,
        value: &[u8],
    ) -> Result<(), Errno> {
        let socket = self.sockets.get_mut(&key).ok_or(Errno::EBADF)?;
        match level {
            SCTP if name == n::SOCKOPT_BINDX_ADD => return self.bindx_add(key, value),
            SCTP if matches!(name, n::PRIMARY_ADDR | n::SET_PEER_PRIMARY_ADDR) => {
                return self.set_primary(key, name, value);
            }
            SCTP => {
                let before = socket.config.clone();
                set_sctp(socket, name, &Fields(value))?;
                if socket.config.check().is_err() {
                    socket.config = before;
                    return Err(Errno::EINVAL);
                }
            }
            SOL_SOCKET => set_general(socket, name, &Fields(value))?,
            _ => keep(socket, level, name, value)?,
        }
        self.apply(key);
        Ok(())
    }

    /// Applies the options of a socket to its associations and to its listening endpoint.
    fn apply(&mut self, key: usize) {
        self.refresh(key);
        let Some(socket) = self.sockets.get(&key) else { return };
        let (options, now) = (AssocOptions::of(&socket.config), self.host.now());
        for number in socket.associations.clone() {
            if let Some((endpoint, id)) = self.endpoint_of(number) {
                // An association whose options cannot change keeps them.
                let _ = endpoint.set_options(now, id, &options);
            }
        }
    }

    fn bindx_add(&mut self, key: usize, value: &[u8]) -> Result<(), Errno> {
        let (addresses, port) = address::parse_all(value).ok_or(Errno::EINVAL)?;
        let socket = self.sockets.get(&key).ok_or(Errno::EBADF)?;
        match socket.port {
            None => self.bind_socket(key, port, &addresses),
            Some(_) if socket.bound.is_empty() => Ok(()),
            Some(bound) => {
                let all = [&socket.bound[..], &addresses].concat();
                let now = self.host.now();
                let endpoint = self.host.endpoint_mut(bound).ok_or(Errno::EINVAL)?;
                endpoint.set_addresses(all.clone()).map_err(|_| Errno::EINVAL)?;
                let numbers = self.sockets.get_mut(&key).map(|socket| {
                    socket.bound = all;
                    socket.associations.clone()
                });
                for number in numbers.unwrap_or_default() {
                    for &address in &addresses {
                        if let Some((endpoint, id)) = self.endpoint_of(number) {
                            // An association without ASCONF keeps its addresses.
                            let _ = endpoint.add_local_address(now, id, address);
                        }
                    }
                }
                Ok(())
            }
        }
    }

    fn set_primary(&mut self, key: usize, name: i32, value: &[u8]) -> Result<(), Errno> {
        let number = self.association_of(key, value)?;
        let (address, ..) = address::parse(value.get(4..).ok_or(Errno::EINVAL)?).ok_or(Errno::EINVAL)?;
        let now = self.host.now();
        let (endpoint, id) = self.endpoint_of(number).ok_or(Errno::EINVAL)?;
        if name == n::PRIMARY_ADDR {
            endpoint.set_primary(id, address).map_err(|_| Errno::EINVAL)
        } else {
            endpoint.set_peer_primary(now, id, address).map_err(|_| Errno::EPERM)
        }
    }

    /// The association that an option names, or the only one of the socket.
    fn association_of(&self, key: usize, value: &[u8]) -> Result<i32, Errno> {
        let socket = self.sockets.get(&key).ok_or(Errno::EBADF)?;
        let named = Fields(value).i32(0).unwrap_or(0);
        let number = if socket.many { named } else { socket.associations.first().copied().unwrap_or(0) };
        if socket.associations.contains(&number) { Ok(number) } else { Err(Errno::EINVAL) }
    }

    /// Reads an option. `given` is what the program put into its buffer.
    pub(crate) fn get_option(
        &self,
        key: usize,
        level: i32,
        name: i32,
        given: &[u8],
    ) -> Result<Vec<u8>, Errno> {
        let socket = self.sockets.get(&key).ok_or(Errno::EBADF)?;
        match level {
            SOL_SOCKET => get_general(socket, name),
            SCTP => match name {
                n::STATUS => self.status(key, given),
                n::GET_PEER_ADDR_INFO => self.path_info(key, given),
                n::GET_PEER_ADDRS => {
                    let number = self.association_of(key, given)?;
                    let peer = self.associations.get(number).ok_or(Errno::EINVAL)?;
                    Ok(packed(number, &peer.peers, peer.peer_port, socket.maps()))
                }
                n::GET_LOCAL_ADDRS => {
                    let addresses =
                        if socket.bound.is_empty() { self.host.addresses() } else { &socket.bound[..] };
                    Ok(packed(Fields(given).i32(0)?, addresses, socket.port.unwrap_or(0), socket.maps()))
                }
                n::GET_ASSOC_NUMBER => Ok(Written::default().u32(socket.associations.len()).0),
                n::GET_ASSOC_ID_LIST => {
                    let count = Written::default().u32(socket.associations.len());
                    Ok(socket.associations.iter().fold(count, |list, &number| list.i32(number)).0)
                }
                _ => get_sctp(socket, name, given),
            },
            _ => socket.settings.kept.get(&(level, name)).cloned().ok_or(Errno::ENOPROTOOPT),
        }
    }

    /// `SCTP_STATUS`.
    fn status(&self, key: usize, given: &[u8]) -> Result<Vec<u8>, Errno> {
        let number = self.association_of(key, given)?;
        let association = self.associations.get(number).ok_or(Errno::EINVAL)?;
        let endpoint = self.host.endpoint(association.port).ok_or(Errno::EINVAL)?;
        let state = match endpoint.state(association.id).ok_or(Errno::EINVAL)? {
            State::CookieWait => 2,
            State::CookieEchoed => 3,
            State::Established => 4,
            State::ShutdownPending => 5,
            State::ShutdownSent => 6,
            State::ShutdownReceived => 7,
            State::ShutdownAckSent => 8,
        };
        let AssocStats { peer_rwnd, outstanding_chunks, .. } =
            endpoint.stats(association.id).unwrap_or_default();
        let mut paths = endpoint.paths(association.id).ok_or(Errno::EINVAL)?;
        let primary = paths.find(|path| path.is_primary).ok_or(Errno::EINVAL)?;
        let written = Written::default().i32(number).i32(state).u32(peer_rwnd.get()).u16(outstanding_chunks);
        let written = written.u16(0_u16).u16(association.inbound).u16(association.outbound);
        let written = written.u32(fragment(primary.mtu));
        let mapped = self.sockets.get(&key).is_some_and(Socket::maps);
        Ok(written.put(path_info(number, &primary, association.peer_port, mapped)).0)
    }

    /// `SCTP_GET_PEER_ADDR_INFO`.
    fn path_info(&self, key: usize, given: &[u8]) -> Result<Vec<u8>, Errno> {
        let number = self.association_of(key, given)?;
        let association = self.associations.get(number).ok_or(Errno::EINVAL)?;
        let (address, ..) = given.get(4..).and_then(address::parse).ok_or(Errno::EINVAL)?;
        let endpoint = self.host.endpoint(association.port).ok_or(Errno::EINVAL)?;
        let mut paths = endpoint.paths(association.id).ok_or(Errno::EINVAL)?;
        let path = paths.find(|path| path.remote == address).ok_or(Errno::EINVAL)?;
        let mapped = self.sockets.get(&key).is_some_and(Socket::maps);
        Ok(path_info(number, &path, association.peer_port, mapped))
    }
}

/// Bytes of a fragment: what IP, UDP, SCTP and DATA headers leave.
fn fragment(mtu: ByteCount) -> u64 {
    const HEADERS: u64 = 20 + 8 + 12 + 16;
    mtu.get().saturating_sub(HEADERS)
}

/// `struct sctp_paddrinfo`, 152 bytes.
fn path_info(number: i32, path: &PathInfo, port: u16, mapped: bool) -> Vec<u8> {
    let state = match path.state {
        PathState::Inactive => 0,
        PathState::PotentiallyFailed => 1,
        PathState::Active => 2,
        _ => 3,
    };
    let written = Written::default().i32(number).put(address::write(path.remote, port, mapped)).pad_to(132);
    let written = written.i32(state).u32(path.cwnd.get());
    let written = written.u32(path.srtt.map_or(0, millis)).u32(millis(path.rto)).u32(path.mtu.get());
    written.0
}

/// Number, count and packed addresses.
fn packed(number: i32, addresses: &[std::net::IpAddr], port: u16, mapped: bool) -> Vec<u8> {
    let head = Written::default().i32(number).u32(addresses.len());
    addresses.iter().fold(head, |all, &each| all.put(address::write(each, port, mapped))).0
}

fn keep(socket: &mut Socket, level: i32, name: i32, value: &[u8]) -> Result<(), Errno> {
    let kept = &mut socket.settings.kept;
    if kept.len() >= KEPT && !kept.contains_key(&(level, name)) {
        return Err(Errno::ENOPROTOOPT);
    }
    kept.insert((level, name), value.iter().take(256).copied().collect());
    Ok(())
}

fn set_general(socket: &mut Socket, name: i32, value: &Fields<'_>) -> Result<(), Errno> {
    const MOST: u64 = 64 << 20;
    match name {
        libc::SO_SNDBUF => {
            socket.config.send_buffer = ByteCount::new(u64::from(value.u32(0)?).clamp(4096, MOST)).into();
            keep(socket, SOL_SOCKET, name, value.0)
        }
        libc::SO_RCVBUF => {
            let size = u64::from(value.u32(0)?).clamp(4096, MOST / 4);
            socket.config.receive_buffer = ByteCount::new(size).into();
            keep(socket, SOL_SOCKET, name, value.0)
        }
        libc::SO_REUSEADDR => {
            socket.settings.reuse = value.u32(0)? != 0;
            Ok(())
        }
        libc::SO_BINDTODEVICE => Err(Errno::ENOPROTOOPT),
        _ => keep(socket, SOL_SOCKET, name, value.0),
    }
}

fn get_general(socket: &Socket, name: i32) -> Result<Vec<u8>, Errno> {
    let number = match name {
        // As Linux, twice what was set.
        libc::SO_SNDBUF => twice(socket.config.send_buffer.first()),
        libc::SO_RCVBUF => twice(socket.config.receive_buffer.first()),
        libc::SO_TYPE if socket.many => libc::SOCK_SEQPACKET,
        libc::SO_TYPE => libc::SOCK_STREAM,
        libc::SO_DOMAIN if socket.v6 => libc::AF_INET6,
        libc::SO_DOMAIN => libc::AF_INET,
        libc::SO_PROTOCOL => SCTP,
        libc::SO_REUSEADDR => socket.settings.reuse.into(),
        libc::SO_ACCEPTCONN => (socket.switches() & records::switches::LISTENS != 0).into(),
        _ => return Ok(socket.settings.kept.get(&(SOL_SOCKET, name)).cloned().unwrap_or(vec![0; 4])),
    };
    Ok(number.to_ne_bytes().to_vec())
}

fn twice(size: ByteCount) -> i32 {
    i32::try_from(size.get().saturating_mul(2)).unwrap_or(i32::MAX)
}

fn set_sctp(socket: &mut Socket, name: i32, value: &Fields<'_>) -> Result<(), Errno> {
    let (config, settings) = (&mut socket.config, &mut socket.settings);
    match name {
        n::RTOINFO => {
            config.rto_initial = value.millis(4)?.unwrap_or(config.rto_initial);
            config.rto_max = value.millis(8)?.unwrap_or(config.rto_max);
            config.rto_min = value.millis(12)?.unwrap_or(config.rto_min);
        }
        n::ASSOCINFO => {
            if value.u16(4)? > 0 {
                config.association_max_retrans = value.u16(4)?.into();
            }
            config.valid_cookie_life = value.millis(16)?.unwrap_or(config.valid_cookie_life);
        }
        n::INITMSG => {
            let or = |new: u16, old: u16| if new > 0 { new } else { old };
            config.outbound_streams = or(value.u16(0)?, config.outbound_streams);
            config.max_inbound_streams = or(value.u16(2)?, config.max_inbound_streams);
            if value.u16(4)? > 0 {
                config.max_init_retransmits = value.u16(4)?.into();
            }
            if value.u16(6)? > 0 {
                config.init_rto_max = Some(Span::from_millis(value.u16(6)?.into()));
            }
        }
        n::NODELAY => config.nagle = value.u32(0)? == 0,
        n::AUTOCLOSE if !socket.many => return Err(Errno::EOPNOTSUPP),
        n::DEFAULT_SEND_PARAM => {
            (settings.stream, settings.flags) = (value.u16(0)?, value.u16(4)?);
            (settings.ppid, settings.context) = (value.u32(8)?, value.u32(12)?);
            settings.lifetime = value.u32(16)?;
        }
        n::DEFAULT_SNDINFO => {
            (settings.stream, settings.flags) = (value.u16(0)?, value.u16(2)?);
            (settings.ppid, settings.context) = (value.u32(4)?, value.u32(8)?);
        }
        n::EVENTS => {
            if value.0.is_empty() || value.0.len() > notification::SWITCHES {
                return Err(Errno::EINVAL);
            }
            settings.events[..value.0.len()].copy_from_slice(value.0);
        }
        n::EVENT => {
            let place = value.u16(4)?.checked_sub(notification::FIRST).map(usize::from);
            let on = *value.0.get(6).ok_or(Errno::EINVAL)?;
            *place.and_then(|place| settings.events.get_mut(place)).ok_or(Errno::EINVAL)? = on;
        }
        n::RECVRCVINFO => settings.receive_info = value.u32(0)? != 0,
        n::RECVNXTINFO => settings.next_info = value.u32(0)? != 0,
        n::CONTEXT => settings.received_context = value.u32(4)?,
        n::DELAYED_SACK => {
            let (delay, frequency) = (value.u32(4)?, value.u32(8).unwrap_or(0));
            if delay > 0 {
                config.sack_delay = Span::from_millis(delay.into());
            }
            if frequency > 0 {
                config.sack_frequency = frequency;
            }
        }
        n::MAX_BURST => {
            let burst = value.u32(4).or_else(|_| value.u32(0))?;
            config.max_burst = if burst == 0 { u32::MAX } else { burst };
        }
        n::PEER_ADDR_PARAMS => {
            const HEARTBEATS_ON: u32 = 1;
            const HEARTBEATS_OFF: u32 = 2;
            let flags = value.u32(146)?;
            if flags & (HEARTBEATS_ON | HEARTBEATS_OFF) == HEARTBEATS_ON | HEARTBEATS_OFF {
                return Err(Errno::EINVAL);
            }
            if flags & HEARTBEATS_OFF != 0 {
                config.hb_interval = None;
            } else if flags & HEARTBEATS_ON != 0 {
                config.hb_interval = value.millis(132)?.or(config.hb_interval);
            }
            if value.u16(136)? > 0 {
                config.path_max_retrans = value.u16(136)?.into();
                config.potentially_failed =
                    config.potentially_failed.map(|errors| errors.min(config.path_max_retrans));
            }
        }
        n::AUTOCLOSE
        | n::ADAPTATION_LAYER
        | n::DISABLE_FRAGMENTS
        | n::I_WANT_MAPPED_V4_ADDR
        | n::MAXSEG
        | n::FRAGMENT_INTERLEAVE
        | n::PARTIAL_DELIVERY_POINT
        | n::AUTO_ASCONF
        | n::REUSE_PORT => {
            value.u32(0)?;
            keep(socket, SCTP, name, value.0)?;
        }
        _ => return Err(Errno::ENOPROTOOPT),
    }
    Ok(())
}

fn get_sctp(socket: &Socket, name: i32, given: &[u8]) -> Result<Vec<u8>, Errno> {
    let (config, settings) = (&socket.config, &socket.settings);
    let id = Written::default().put(given.get(..4).unwrap_or(&[0; 4]));
    let written = match name {
        n::RTOINFO => {
            let id = id.u32(millis(config.rto_initial));
            id.u32(millis(config.rto_max)).u32(millis(config.rto_min))
        }
        n::ASSOCINFO => {
            let id = id.u16(config.association_max_retrans).u16(0_u16).u32(0_u32);
            id.u32(config.receive_buffer.first().get()).u32(millis(config.valid_cookie_life))
        }
        n::INITMSG => {
            let streams = Written::default().u16(config.outbound_streams).u16(config.max_inbound_streams);
            let most = config.init_rto_max.unwrap_or(config.rto_max);
            streams.u16(config.max_init_retransmits).u16(millis(most))
        }
        n::NODELAY => Written::default().u32(u32::from(!config.nagle)),
        n::DEFAULT_SEND_PARAM => {
            let written = Written::default().u16(settings.stream).u16(0_u16).u16(settings.flags).u16(0_u16);
            written.u32(settings.ppid).u32(settings.context).u32(settings.lifetime).pad_to(32)
        }
        n::DEFAULT_SNDINFO => {
            let written = Written::default().u16(settings.stream).u16(settings.flags);
            written.u32(settings.ppid).u32(settings.context).pad_to(16)
        }
        n::EVENTS => Written::default().put(settings.events),
        n::RECVRCVINFO => Written::default().u32(u32::from(settings.receive_info)),
        n::RECVNXTINFO => Written::default().u32(u32::from(settings.next_info)),
        n::CONTEXT => id.u32(settings.received_context),
        n::DELAYED_SACK => id.u32(millis(config.sack_delay)).u32(config.sack_frequency),
        n::MAX_BURST => id.u32(config.max_burst),
        n::MAXSEG => id.u32(fragment(config.mtu)),
        n::PEER_ADDR_PARAMS => {
            let address = given.get(4..132).unwrap_or(&[0; 128]);
            let written = id.put(address).u32(config.hb_interval.map_or(0, millis));
            let written = written.u16(config.path_max_retrans).u32(config.mtu.get());
            let on = if config.hb_interval.is_some() { 1 } else { 2 };
            written.u32(millis(config.sack_delay)).u32(on | 8 | 0x20_u32).pad_to(156)
        }
        n::I_WANT_MAPPED_V4_ADDR => kept_or(socket, name, 1),
        n::AUTOCLOSE
        | n::ADAPTATION_LAYER
        | n::DISABLE_FRAGMENTS
        | n::FRAGMENT_INTERLEAVE
        | n::PARTIAL_DELIVERY_POINT
        | n::AUTO_ASCONF
        | n::REUSE_PORT => kept_or(socket, name, 0),
        _ => return Err(Errno::ENOPROTOOPT),
    };
    Ok(written.0)
}

fn kept_or(socket: &Socket, name: i32, default: u32) -> Written {
    match socket.settings.kept.get(&(SCTP, name)) {
        Some(value) => Written::default().put(value),
        None => Written::default().u32(default),
    }
}
