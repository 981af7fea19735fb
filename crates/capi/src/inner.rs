//! The work of each call, without pointers of the caller.

use crate::fault::Fault;
use crate::memory::Space;
use crate::types::*;
use bytes::Bytes;
use libc::*;
use sctp::{
    AssocId, Config, ConnectError, Datagram, Encapsulation, Endpoint, EndpointConfig, Message, PathId,
    Payload, Reliability, Seed, SendError, State, Transmit,
};
use sha2::{Digest, Sha256};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use transport::{Checksum, Ecn, PacketBuf};
use units::{Instant, Span};

/// Largest number of addresses that a call reads from its caller's array. An endpoint has at most 16, and an
/// association at most 16 paths.
pub(crate) const ADDRESSES: usize = 64;

/// The first port, and the number of ports, from which an endpoint without a port chooses
/// (`rfc6335#section-6`).
const DYNAMIC_PORTS: (u16, u16) = (49_152, 16_384);

/// An endpoint, and the other state that its calls need.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) endpoint: Endpoint,
    /// The options of the associations that begin from now on.
    pub(crate) config: Arc<Config>,
    encapsulated: bool,
    /// The latest time that a caller has passed.
    now: Instant,
    packet: PacketBuf,
    /// The route of `packet`, if the caller had no room for that packet.
    waiting: Option<Transmit>,
}

impl Inner {
    pub(crate) fn new(setup: &anb_setup, addresses: &[anb_ip]) -> Result<Self, Fault> {
        let wrong = |what: &str| Fault::new(EINVAL, what);
        if setup.abi != ANB_ABI {
            let what = format!("the program was compiled for ABI {}: this library has {ANB_ABI}", setup.abi);
            return Err(Fault::new(EPROTO, what));
        }
        if setup.flags & !(ANB_PLAIN_IP | ANB_NO_CHECKSUM) != 0 {
            return Err(wrong("flags: expected ANB_PLAIN_IP, ANB_NO_CHECKSUM, both or 0"));
        }
        let config = match setup.profile {
            ANB_RECOMMENDED => Config { pmtud: true, ..Config::recommended() },
            ANB_RFC9260 => Config::default(),
            _ => return Err(wrong("profile: expected ANB_RECOMMENDED or ANB_RFC9260")),
        };
        let mut seed = setup.seed;
        match setup.seed_kind {
            ANB_SEED_GIVEN => {}
            ANB_SEED_SYSTEM => getrandom::fill(&mut seed)
                .map_err(|_| Fault::new(EIO, "the operating system gives no random bytes"))?,
            _ => return Err(wrong("seed_kind: expected ANB_SEED_SYSTEM or ANB_SEED_GIVEN")),
        }
        // The hash keeps the port from revealing the seed.
        let [high, low] = *Sha256::digest(seed).first_chunk().expect("a digest of 32 bytes");
        let any_port = DYNAMIC_PORTS.0 + u16::from_be_bytes([high, low]) % DYNAMIC_PORTS.1;
        let encapsulated = setup.flags & ANB_PLAIN_IP == 0;
        let config = Arc::new(config);
        let or = |given: u16, otherwise| if given == 0 { otherwise } else { given };
        let defaults = EndpointConfig::new(
            or(setup.port, any_port),
            addresses.iter().map(address).collect::<Result<_, _>>()?,
            Seed::from(seed),
        );
        let endpoint = Endpoint::new(EndpointConfig {
            checksum: match setup.flags & ANB_NO_CHECKSUM {
                0 => Checksum::Computed,
                _ => Checksum::Offloaded,
            },
            max_associations: match setup.max_associations {
                0 => defaults.max_associations,
                some => some as usize,
            },
            encapsulation: encapsulated
                .then(|| Encapsulation { remote_port: or(setup.remote_udp_port, Encapsulation::PORT) }),
            config: config.clone(),
            ..defaults
        })
        .map_err(|error| Fault::new(EINVAL, error))?;
        Ok(Inner {
            endpoint,
            config,
            encapsulated,
            now: Instant::ZERO,
            packet: PacketBuf::default(),
            waiting: None,
        })
    }

    /// The time that counts for a call: `now`, or the time of an earlier call if that is later.
    pub(crate) fn time(&mut self, now: i64) -> Instant {
        self.now = self.now.max(Instant::from_nanos(now.max(0).unsigned_abs()));
        self.now
    }

    pub(crate) fn connect(&mut self, now: i64, peer: &anb_peer, addresses: &[anb_ip]) -> Result<u32, Fault> {
        let now = self.time(now);
        let udp_port = match peer.udp_port {
            0 => None,
            -1 => Some(0),
            other => Some(u16::try_from(other).map_err(|_| {
                Fault::new(EINVAL, format!("udp_port = {other}: expected 0 to 65535, or -1 for plain IP"))
            })?),
        };
        if !self.encapsulated && udp_port.is_some_and(|port| port != 0) {
            return Err(Fault::new(EINVAL, "udp_port: the endpoint was made with ANB_PLAIN_IP"));
        }
        let remotes = addresses.iter().map(address).collect::<Result<Vec<_>, _>>()?;
        let id = self.endpoint.connect(now, peer.port, &remotes).map_err(|error| {
            let errno = match error {
                ConnectError::NoUsableAddress => EADDRNOTAVAIL,
                ConnectError::Exists { .. } => EISCONN,
                ConnectError::TooManyAssociations { .. } => EMFILE,
                _ => EINVAL,
            };
            Fault::new(errno, error)
        })?;
        if let Some(port) = udp_port.filter(|_| self.encapsulated) {
            for remote in remotes {
                // The call fails for an address without a path.
                let _ = self.endpoint.set_remote_port(id, remote, port);
            }
        }
        Ok(number(id))
    }

    pub(crate) fn send(&mut self, now: i64, assoc: u32, msg: &anb_msg, data: &[u8]) -> Result<(), Fault> {
        const KNOWN: u16 = ANB_UNORDERED | ANB_MORE | ANB_SACK_NOW | ANB_URGENT | ANB_TRACK;
        let now = self.time(now);
        let id = self.known(assoc)?;
        let path = match msg.path {
            0 => None,
            path => Some(PathId(u8::try_from(path - 1).map_err(|_| EINVAL)?)),
        };
        let reliability = match msg.reliability {
            ANB_RELIABLE => Reliability::Reliable,
            ANB_LIFETIME => Reliability::Until(Span::from_millis(msg.value.into())),
            ANB_RETRANSMISSIONS => Reliability::Retransmissions(msg.value),
            ANB_PRIORITY => Reliability::Priority(msg.value),
            _ => return Err(EINVAL.into()),
        };
        if msg.flags & !KNOWN != 0 {
            return Err(EINVAL.into());
        }
        let has = |flag: u16| msg.flags & flag != 0;
        let message = Message {
            stream: wire::StreamId(msg.stream),
            ppid: wire::Ppid(msg.ppid),
            unordered: has(ANB_UNORDERED),
            immediate_sack: has(ANB_SACK_NOW),
            end_of_record: !has(ANB_MORE),
            path,
            urgent: has(ANB_URGENT),
            tracked: has(ANB_TRACK),
            reliability,
            context: msg.context,
            payload: Payload::Bytes(Bytes::copy_from_slice(data)),
        };
        match self.endpoint.send(now, id, message) {
            Ok(_) => Ok(()),
            Err(SendError::WouldBlock) => Err(EAGAIN.into()),
            Err(SendError::TooLong { .. }) => Err(EMSGSIZE.into()),
            Err(SendError::Closed) => Err(EPIPE.into()),
            Err(_) => Err(EINVAL.into()),
        }
    }

    /// Reads a message, or the part of it that fits. Returns its length.
    pub(crate) fn receive(&mut self, now: i64, assoc: u32, to: Space) -> Result<(usize, anb_info), Fault> {
        self.time(now);
        if to.len == 0 {
            return Err(EINVAL.into());
        }
        let id = assoc_id(assoc).ok_or(EPIPE)?;
        let Some(received) = self.endpoint.receive(id, to.len) else {
            return Err(if self.endpoint.state(id).is_some() { EAGAIN } else { EPIPE }.into());
        };
        let bytes = received.payload.as_octets();
        to.write(0, bytes.head);
        to.write_zeros(bytes.head.len(), bytes.zeros);
        let left = match received.end_of_record || received.aborted {
            true => 0,
            false => self.endpoint.next_message_len(id).unwrap_or(0),
        };
        let flag = |on: bool, flag: u16| if on { flag } else { 0 };
        let info = anb_info {
            stream: received.stream.0,
            flags: flag(received.unordered, ANB_IS_UNORDERED)
                | flag(received.end_of_record, ANB_IS_END)
                | flag(received.aborted, ANB_IS_ABORTED),
            ppid: received.ppid.0,
            tsn: received.tsn.0,
            mid: received.mid.0,
            ssn: received.ssn.0,
            left: left as u64,
            ..anb_info::default()
        };
        Ok((bytes.len(), info))
    }

    pub(crate) fn end(&mut self, now: i64, assoc: u32, abort: bool, reason: &[u8]) -> Result<(), Fault> {
        let now = self.time(now);
        let id = self.known(assoc)?;
        if !abort {
            self.endpoint.shutdown(now, id);
        } else if reason.len() > ANB_REASON {
            return Err(EMSGSIZE.into());
        } else {
            self.endpoint.abort(id, reason);
        }
        Ok(())
    }

    pub(crate) fn handle(&mut self, now: i64, route: &anb_route, packet: &[u8]) -> Result<(), Fault> {
        let now = self.time(now);
        let ecn = match route.ecn {
            0 => Ecn::NotCapable,
            1 => Ecn::Capable1,
            2 => Ecn::Capable0,
            3 => Ecn::CongestionExperienced,
            _ => return Err(EINVAL.into()),
        };
        let datagram = Datagram::new(address(&route.src)?, address(&route.dst)?, packet.into());
        self.endpoint.handle(now, Datagram { udp_port: route.udp_port, ecn, ..datagram });
        Ok(())
    }

    /// Writes the next packet. Returns its length, or 0 if there is none.
    pub(crate) fn transmit(&mut self, now: i64, to: Space) -> Result<(usize, anb_route), Fault> {
        let now = self.time(now);
        let waiting = self.waiting.take();
        let Some(transmit) = waiting.or_else(|| self.endpoint.poll_transmit(now, &mut self.packet)) else {
            return Ok((0, anb_route::default()));
        };
        let bytes = self.packet.as_octets();
        if bytes.len() > to.len {
            self.waiting = Some(transmit);
            return Err(ENOBUFS.into());
        }
        to.write(0, bytes.head);
        to.write_zeros(bytes.head.len(), bytes.zeros);
        let route = anb_route {
            src: ip(transmit.src),
            dst: ip(transmit.dst),
            udp_port: transmit.udp_port,
            ecn: transmit.ecn as u8,
            may_fragment: transmit.may_fragment.into(),
            ..anb_route::default()
        };
        Ok((bytes.len(), route))
    }

    /// The time of the next call of `on_timeout`.
    pub(crate) fn timeout(&self) -> i64 {
        match self.endpoint.poll_timeout() {
            Some(at) => i64::try_from(at.as_nanos()).unwrap_or(ANB_NEVER),
            None => ANB_NEVER,
        }
    }

    pub(crate) fn on_timeout(&mut self, now: i64) {
        let now = self.time(now);
        self.endpoint.handle_timeout(now);
    }

    pub(crate) fn paths(&mut self, now: i64, assoc: u32) -> Result<Vec<anb_path>, Fault> {
        self.time(now);
        let id = self.known(assoc)?;
        let paths = self.endpoint.paths(id).ok_or(ENOTCONN)?;
        Ok(paths
            .map(|path| anb_path {
                id: path.id.0.into(),
                udp_port: path.udp_port,
                local: ip(path.local),
                remote: ip(path.remote),
                state: path_state(path.state),
                primary: path.is_primary.into(),
                mtu: path.mtu.get() as u32,
                errors: path.errors,
                cwnd: path.cwnd.get(),
                ssthresh: path.ssthresh.map_or(0, |ssthresh| ssthresh.get()),
                flight: path.flight.get(),
                srtt: path.srtt.map_or(0, Span::as_nanos),
                rto: path.rto.as_nanos(),
                user_bytes: path.stats.user_bytes.get(),
                retransmissions: path.stats.fast_retransmissions + path.stats.timer_retransmissions,
                timeouts: path.stats.timeouts,
                ..anb_path::default()
            })
            .collect())
    }

    pub(crate) fn stats(&mut self, now: i64, assoc: u32) -> Result<anb_stats, Fault> {
        self.time(now);
        let id = self.known(assoc)?;
        let stats = self.endpoint.stats(id).ok_or(ENOTCONN)?;
        Ok(anb_stats {
            state: self.endpoint.state(id).map_or(0, state),
            packets_sent: stats.packets_sent,
            packets_received: stats.packets_received,
            buffered: stats.buffered.get(),
            unsent_messages: stats.unsent_messages as u64,
            outstanding: stats.outstanding_chunks as u64,
            peer_rwnd: stats.peer_rwnd.get(),
            user_bytes_received: stats.received.user_bytes.get(),
            duplicates: stats.received.duplicates,
            abandoned: stats.abandoned.sent + stats.abandoned.unsent,
            ..anb_stats::default()
        })
    }

    /// The association with this number, if the endpoint still knows it.
    pub(crate) fn known(&self, assoc: u32) -> Result<AssocId, Fault> {
        let id = assoc_id(assoc).filter(|&id| self.endpoint.peer_port(id).is_some());
        id.ok_or_else(|| ENOTCONN.into())
    }
}

/// The number of an association for the caller. 0 means no association.
pub(crate) fn number(id: AssocId) -> u32 {
    // The number is 0 only for the last of 2^32 associations.
    id.0.wrapping_add(1)
}

fn assoc_id(assoc: u32) -> Option<AssocId> {
    assoc.checked_sub(1).map(AssocId)
}

/// Reads an address.
pub(crate) fn address(ip: &anb_ip) -> Result<IpAddr, Fault> {
    if ip.zero != [0; 3] || ip.scope != 0 {
        return Err(Fault::new(EINVAL, "an address: expected 0 in `zero` and `scope`"));
    }
    let [a, b, c, d, ..] = ip.bytes;
    match ip.family {
        4 => Ok([a, b, c, d].into()),
        6 => Ok(Ipv6Addr::from(ip.bytes).into()),
        other => Err(Fault::new(EINVAL, format!("family = {other} of an address: expected 4 or 6"))),
    }
}

/// Writes an address.
pub(crate) fn ip(address: IpAddr) -> anb_ip {
    let mut ip = anb_ip::default();
    match address {
        IpAddr::V4(address) => {
            ip.family = 4;
            ip.bytes[..4].copy_from_slice(&address.octets());
        }
        IpAddr::V6(address) => (ip.family, ip.bytes) = (6, address.octets()),
    }
    ip
}

/// The number of a state of a path (`ANB_PATH_UNCONFIRMED` and so on).
pub(crate) fn path_state(state: sctp::PathState) -> u8 {
    sctp::PathState::ALL.iter().position(|&one| one == state).map_or(0, |place| place as u8 + 1)
}

/// The number of a state of an association (`ANB_COOKIE_WAIT` and so on).
fn state(state: State) -> u32 {
    match state {
        State::CookieWait => 1,
        State::CookieEchoed => 2,
        State::Established => 3,
        State::ShutdownPending => 4,
        State::ShutdownSent => 5,
        State::ShutdownReceived => 6,
        State::ShutdownAckSent => 7,
    }
}
