//! Socket options.

use crate::address;
use crate::fields::{Fields, Written};
use crate::general::{get_general, keep, set_general};
use crate::sctp_options::{get_sctp, set_fragment, set_named, set_sctp};
use crate::server::Server;
use crate::socket::Socket;
use nix::errno::Errno;
use nix::libc::{
    IP_TOS, IPPROTO_IP, IPPROTO_IPV6, IPPROTO_TCP, IPV6_TCLASS, IPV6_V6ONLY, SOL_SOCKET, TCP_NODELAY,
};
use records::notification::{self, kind};
use records::number::{self as n, SCTP};
use sctp::AssocOptions;

/// Options of other levels that are 0 unless a program sets them.
const ZERO: [(i32, i32); 3] =
    [(IPPROTO_IP, IP_TOS), (IPPROTO_IPV6, IPV6_V6ONLY), (IPPROTO_IPV6, IPV6_TCLASS)];

/// `SPP_HB_DEMAND` of `spp_flags`.
const HEARTBEAT_NOW: u32 = 4;

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
        if level == SCTP && names_unknown(socket, name, value, last_constant(name)) {
            return Err(Errno::EINVAL);
        }
        match level {
            SCTP if name == n::SOCKOPT_BINDX_ADD => return self.bindx_add(key, value),
            SCTP if name == n::SOCKOPT_BINDX_REM => return self.bindx_remove(key, value),
            SCTP if matches!(name, n::PRIMARY_ADDR | n::SET_PEER_PRIMARY_ADDR) => {
                return self.set_primary(key, name, value);
            }
            SCTP if matches!(name, n::RESET_STREAMS | n::RESET_ASSOC | n::ADD_STREAMS) => {
                return self.change_streams(key, name, value);
            }
            SCTP if name == n::STREAM_SCHEDULER_VALUE => return self.set_stream_value(key, value),
            SCTP if name == n::REMOTE_UDP_ENCAPS_PORT => return self.set_remote_udp_port(key, value),
            SCTP if matches!(name, n::AUTH_KEY..=n::AUTH_DELETE_KEY | n::AUTH_DEACTIVATE_KEY) => {
                return self.change_key(key, name, value);
            }
            SCTP if name == n::PEER_ADDR_PARAMS && Fields(value).u32(146)? & HEARTBEAT_NOW != 0 => {
                return self.heartbeat(key, value);
            }
            SCTP => {
                let before = socket.config.clone();
                match name {
                    n::ANB_OPTION => set_named(&mut socket.config, value)?,
                    n::MAXSEG => set_fragment(&mut socket.config, self.config.mtu, &Fields(value))?,
                    _ => set_sctp(socket, name, &Fields(value))?,
                }
                if socket.config.check().is_err() {
                    socket.config = before;
                    return Err(Errno::EINVAL);
                }
            }
            SOL_SOCKET => set_general(socket, name, &Fields(value))?,
            IPPROTO_TCP if name == TCP_NODELAY => socket.config.nagle = Fields(value).u32(0)? == 0,
            IPPROTO_IP | IPPROTO_IPV6 | IPPROTO_TCP => keep(socket, level, name, value)?,
            _ => return Err(Errno::ENOPROTOOPT),
        }
        self.apply(key);
        let dry = notification::FIRST + kind::SENDER_DRY;
        if level == SCTP && (name == n::EVENTS || name == n::EVENT && Fields(value).u16(4)? == dry) {
            self.watch_sending(key);
        }
        Ok(())
    }

    /// A program that subscribes to `SCTP_SENDER_DRY_EVENT` is told at once if nothing is outstanding.
    fn watch_sending(&mut self, key: usize) {
        if let Some(socket) = self.sockets.get(&key).filter(|socket| socket.wants(kind::SENDER_DRY)) {
            let up = |number: &&i32| self.associations.get(**number).is_some_and(|of| of.up);
            self.sending.extend(socket.associations.iter().filter(up));
        }
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
        self.check_families(key, &addresses)?;
        let socket = self.sockets.get(&key).ok_or(Errno::EBADF)?;
        match socket.port {
            None => self.bind_socket(key, port, &addresses),
            Some(bound) if port != 0 && port != bound => Err(Errno::EINVAL),
            Some(_) if socket.bound.is_empty() => Ok(()),
            Some(bound) => {
                let all = [&socket.bound[..], &addresses].concat();
                self.check_bind(key, bound, &addresses)?;
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

    fn bindx_remove(&mut self, key: usize, value: &[u8]) -> Result<(), Errno> {
        let (gone, _) = address::parse_all(value).ok_or(Errno::EINVAL)?;
        let socket = self.sockets.get(&key).ok_or(Errno::EBADF)?;
        // As in Linux, a socket without a second address has none to give away.
        let port = socket.port.filter(|_| socket.bound.len() != 1).ok_or(Errno::EBUSY)?;
        let bound = if socket.bound.is_empty() { self.host.addresses() } else { &socket.bound[..] };
        let left: Vec<_> = bound.iter().copied().filter(|address| !gone.contains(address)).collect();
        if !gone.iter().all(|address| bound.contains(address)) {
            return Err(Errno::EINVAL);
        }
        let (now, numbers) = (self.host.now(), socket.associations.clone());
        // A socket keeps at least one address.
        let endpoint = self.host.endpoint_mut(port).filter(|_| !left.is_empty()).ok_or(Errno::EBUSY)?;
        endpoint.set_addresses(left.clone()).map_err(|_| Errno::EINVAL)?;
        if let Some(socket) = self.sockets.get_mut(&key) {
            socket.bound = left;
        }
        for number in numbers {
            for &address in &gone {
                if let Some((endpoint, id)) = self.endpoint_of(number) {
                    // An association that has only this address keeps it.
                    let _ = endpoint.remove_local_address(now, id, address);
                }
            }
        }
        Ok(())
    }

    /// `SPP_HB_DEMAND`: sends a heartbeat to an address now.
    fn heartbeat(&mut self, key: usize, value: &[u8]) -> Result<(), Errno> {
        let number = self.association_of(key, value)?;
        let (address, ..) = address::parse(value.get(4..).ok_or(Errno::EINVAL)?).ok_or(Errno::EINVAL)?;
        let now = self.host.now();
        let (endpoint, id) = self.endpoint_of(number).ok_or(Errno::EINVAL)?;
        endpoint.heartbeat(now, id, address).map_err(|_| Errno::EINVAL)
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
    pub(crate) fn association_of(&self, key: usize, value: &[u8]) -> Result<i32, Errno> {
        let socket = self.sockets.get(&key).ok_or(Errno::EBADF)?;
        let named = Fields(value).i32(0).unwrap_or(0);
        let number = if socket.many { named } else { socket.associations.first().copied().unwrap_or(0) };
        if socket.associations.contains(&number) { Ok(number) } else { Err(Errno::EINVAL) }
    }

    /// Reads an option. `given` holds the bytes that the program put into its buffer.
    pub(crate) fn get_option(
        &self,
        key: usize,
        level: i32,
        name: i32,
        given: &[u8],
    ) -> Result<Vec<u8>, Errno> {
        let socket = self.sockets.get(&key).ok_or(Errno::EBADF)?;
        if level == SCTP && names_unknown(socket, name, given, 0) {
            return Err(Errno::EINVAL);
        }
        match level {
            SOL_SOCKET => get_general(socket, name),
            SCTP => match name {
                n::STATUS => self.status(key, given),
                n::ASSOCINFO => Ok(self.assoc_info(key, given, get_sctp(socket, name, given)?)),
                n::GET_PEER_ADDR_INFO => self.path_info(key, given),
                n::GET_ASSOC_STATS => self.assoc_stats(key, given),
                n::PR_ASSOC_STATUS | n::PR_STREAM_STATUS => self.abandoned(key, name, given),
                // `struct sctp_prim` equals the beginning of `sstat_primary`.
                n::PRIMARY_ADDR => self.status(key, given).map(|status| status[24..156].to_vec()),
                n::PEER_AUTH_CHUNKS => self.peer_auth_chunks(key, given),
                n::REMOTE_UDP_ENCAPS_PORT => self.remote_udp_port(key, given),
                n::STREAM_SCHEDULER_VALUE => self.stream_value(key, given),
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
            IPPROTO_TCP if name == TCP_NODELAY => {
                Ok(Written::default().u32(u32::from(!socket.config.nagle)).0)
            }
            _ if !matches!(level, IPPROTO_IP | IPPROTO_IPV6 | IPPROTO_TCP) && !socket.v6 => {
                Err(Errno::EOPNOTSUPP)
            }
            _ => {
                let is_off = ZERO.contains(&(level, name)).then(|| vec![0; 4]);
                socket.settings.kept.get(&(level, name)).cloned().or(is_off).ok_or(Errno::ENOPROTOOPT)
            }
        }
    }
}

/// The last of the constants that an option that is set takes in place of an association: 0 stands for later
/// associations, 1 for the present ones, and 2 for both. An option that is read takes only 0.
fn last_constant(name: i32) -> i32 {
    match name {
        n::DEFAULT_SEND_PARAM
        | n::DELAYED_SACK
        | n::CONTEXT
        | n::MAX_BURST
        | n::DEFAULT_SNDINFO
        | n::DEFAULT_PRINFO
        | n::ENABLE_STREAM_RESET
        | n::STREAM_SCHEDULER
        | n::STREAM_SCHEDULER_VALUE
        | n::EVENT
        | n::AUTH_KEY..=n::AUTH_DELETE_KEY
        | n::AUTH_DEACTIVATE_KEY
        | n::CMT_ON_OFF
        | n::CMT_USE_DAC
        | n::ANB_OPTION => 2,
        _ => 0,
    }
}

/// True if an option of a one-to-many socket has the number of an association that the socket does not have,
/// or a constant above `last`.
fn names_unknown(socket: &Socket, name: i32, value: &[u8], last: i32) -> bool {
    let at = match name {
        n::INITMSG..=n::AUTOCLOSE
        | n::ADAPTATION_LAYER..=n::DISABLE_FRAGMENTS
        | n::EVENTS..=n::I_WANT_MAPPED_V4_ADDR
        | n::FRAGMENT_INTERLEAVE..=n::PARTIAL_DELIVERY_POINT
        | n::AUTH_CHUNK..=n::HMAC_IDENT
        | n::GET_ASSOC_NUMBER..=n::AUTO_ASCONF
        | n::RECVRCVINFO..=n::RECVNXTINFO
        | n::REUSE_PORT
        | n::SOCKOPT_BINDX_ADD..=n::SOCKOPT_BINDX_REM => return false,
        // The address tells which association is meant.
        n::GET_PEER_ADDR_INFO => return false,
        // Older programs give the value alone.
        n::MAXSEG | n::MAX_BURST if value.len() < 8 => return false,
        n::DEFAULT_SEND_PARAM => 28,
        n::DEFAULT_SNDINFO => 12,
        _ => 0,
    };
    let named = Fields(value).i32(at).ok().filter(|id| !(0..=last).contains(id));
    socket.many && named.is_some_and(|id| !socket.associations.contains(&id))
}

/// The number of an association, the count of its addresses, and the packed addresses.
fn packed(number: i32, addresses: &[std::net::IpAddr], port: u16, mapped: bool) -> Vec<u8> {
    let head = Written::default().i32(number).u32(addresses.len());
    addresses.iter().fold(head, |all, &each| all.put(address::write(each, port, mapped))).0
}
