//! Socket options that report the state, the paths and the counters of an association.

use crate::address;
use crate::fields::{Fields, Written, millis};
use crate::server::Server;
use crate::socket::Socket;
use nix::errno::Errno;
use records::number::{PR_ASSOC_STATUS, send};
use sctp::{Abandoned, AbandonedByPolicy, AssocStats, PathInfo, PathState, State};
use units::ByteCount;

/// `SCTP_PF_EXPOSE_DISABLE`.
const HIDDEN: u32 = 1;

impl Server {
    /// `SCTP_STATUS`.
    pub(crate) fn status(&self, key: usize, given: &[u8]) -> Result<Vec<u8>, Errno> {
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
        let AssocStats { peer_rwnd, outstanding_chunks, unsent_messages, .. } =
            endpoint.stats(association.id).unwrap_or_default();
        let mut paths = endpoint.paths(association.id).ok_or(Errno::EINVAL)?;
        let primary = paths.find(|path| path.is_primary).ok_or(Errno::EINVAL)?;
        let written = Written::default().i32(number).i32(state).u32(peer_rwnd.get()).u16(outstanding_chunks);
        let written = written.u16(unsent_messages).u16(association.inbound).u16(association.outbound);
        let written = written.u32(fragment(primary.mtu));
        let mapped = self.sockets.get(&key).is_some_and(Socket::maps);
        Ok(written.put(path_info(number, &primary, association.peer_port, mapped)).0)
    }

    /// Completes the option `SCTP_ASSOCINFO` of a socket: puts in the number of the peer's addresses and its
    /// window if there is an association.
    pub(crate) fn assoc_info(&self, key: usize, given: &[u8], mut info: Vec<u8>) -> Vec<u8> {
        let number = self.association_of(key, given).ok();
        if let Some(of) = number.and_then(|number| self.associations.get(number)) {
            let stats = self.host.endpoint(of.port).and_then(|endpoint| endpoint.stats(of.id));
            let window = stats.map_or(0, |stats| stats.peer_rwnd.get());
            let peer = Written::default().u16(of.peers.len()).u32(window);
            info[6..12].copy_from_slice(&peer.0);
        }
        info
    }

    /// `SCTP_GET_PEER_ADDR_INFO`.
    pub(crate) fn path_info(&self, key: usize, given: &[u8]) -> Result<Vec<u8>, Errno> {
        let (address, port, ..) = given.get(4..).and_then(address::parse).ok_or(Errno::EINVAL)?;
        // A one-to-many socket needs no number, because the address tells which association is meant.
        let number = self.association_of(key, given).ok().or(self.association_with(key, address, port));
        let number = number.ok_or(Errno::EINVAL)?;
        let association = self.associations.get(number).ok_or(Errno::EINVAL)?;
        let endpoint = self.host.endpoint(association.port).ok_or(Errno::EINVAL)?;
        let mut paths = endpoint.paths(association.id).ok_or(Errno::EINVAL)?;
        let path = paths.find(|path| path.remote == address).ok_or(Errno::EINVAL)?;
        let socket = self.sockets.get(&key);
        let hidden = socket.is_some_and(|socket| socket.settings.exposes_failing == HIDDEN);
        if hidden && path.state == PathState::PotentiallyFailed {
            return Err(Errno::EACCES);
        }
        let mapped = socket.is_some_and(Socket::maps);
        Ok(path_info(number, &path, association.peer_port, mapped))
    }

    /// `SCTP_REMOTE_UDP_ENCAPS_PORT`: the port of an address, of the primary path, or of later associations;
    /// 0 means that of the host process.
    pub(crate) fn remote_udp_port(&self, key: usize, given: &[u8]) -> Result<Vec<u8>, Errno> {
        let socket = self.sockets.get(&key).ok_or(Errno::EBADF)?;
        let place = given.get(8..136).ok_or(Errno::EINVAL)?;
        let port = match self.association_of(key, given).ok().and_then(|number| self.associations.get(number))
        {
            Some(of) => {
                let named = address::parse(place).map(|(address, ..)| address);
                let named = named.filter(|address| !address.is_unspecified());
                let endpoint = self.host.endpoint(of.port).ok_or(Errno::EINVAL)?;
                let mut paths = endpoint.paths(of.id).ok_or(Errno::EINVAL)?;
                let path = paths.find(|path| named.map_or(path.is_primary, |address| path.remote == address));
                path.ok_or(Errno::EINVAL)?.udp_port
            }
            None => socket.settings.remote_udp_port.unwrap_or(0),
        };
        Ok(Written::default().put(&given[..8]).put(place).u16(port.to_be()).pad_to(144).0)
    }

    /// `SCTP_PEER_AUTH_CHUNKS`: the types of chunks that the peer requires to be authenticated.
    pub(crate) fn peer_auth_chunks(&self, key: usize, given: &[u8]) -> Result<Vec<u8>, Errno> {
        let number = self.association_of(key, given)?;
        let association = self.associations.get(number).ok_or(Errno::EINVAL)?;
        let endpoint = self.host.endpoint(association.port).ok_or(Errno::EINVAL)?;
        let types = endpoint.peer_auth_chunks(association.id).ok_or(Errno::EACCES)?;
        Ok(Written::default().i32(number).u32(types.len()).put(types).0)
    }

    /// `SCTP_PR_STREAM_STATUS` and `SCTP_PR_ASSOC_STATUS`: messages of one policy, or of all, that were
    /// abandoned.
    pub(crate) fn abandoned(&self, key: usize, name: i32, given: &[u8]) -> Result<Vec<u8>, Errno> {
        let number = self.association_of(key, given)?;
        let (stream, policy) = (Fields(given).u16(4)?, Fields(given).u16(6)?);
        let of_policy: fn(&AbandonedByPolicy) -> Abandoned = match policy {
            send::TTL => |by| by.until,
            send::RTX => |by| by.retransmissions,
            send::PRIO => |by| by.priority,
            send::ALL_POLICIES => AbandonedByPolicy::total,
            _ => return Err(Errno::EINVAL),
        };
        let association = self.associations.get(number).ok_or(Errno::EINVAL)?;
        let endpoint = self.host.endpoint(association.port).ok_or(Errno::EINVAL)?;
        let all = endpoint.abandoned(association.id).ok_or(Errno::EINVAL)?;
        let mut sum = Abandoned::default();
        for (id, by) in &all {
            if name == PR_ASSOC_STATUS || id.0 == stream {
                sum += of_policy(by);
            }
        }
        let written = Written::default().i32(number).u16(stream).u16(policy);
        Ok(written.put(sum.unsent.to_ne_bytes()).put(sum.sent.to_ne_bytes()).0)
    }

    /// `SCTP_GET_ASSOC_STATS`, 256 bytes. A counter that the stack does not have is 0.
    pub(crate) fn assoc_stats(&self, key: usize, given: &[u8]) -> Result<Vec<u8>, Errno> {
        let number = self.association_of(key, given)?;
        let association = self.associations.get(number).ok_or(Errno::EINVAL)?;
        let endpoint = self.host.endpoint(association.port).ok_or(Errno::EINVAL)?;
        let stats = endpoint.stats(association.id).ok_or(Errno::EINVAL)?;
        let paths: Vec<PathInfo> = endpoint.all_paths(association.id).ok_or(Errno::EINVAL)?.collect();
        let slowest = paths.iter().max_by_key(|path| path.rto).ok_or(Errno::EINVAL)?;
        let mapped = self.sockets.get(&key).is_some_and(Socket::maps);
        let address = address::write(slowest.remote, association.peer_port, mapped);
        let resent = |path: &PathInfo| path.stats.fast_retransmissions + path.stats.timer_retransmissions;
        let written = Written::default().i32(number).pad_to(8).put(address).pad_to(136);
        let (in_sacks, none) = (0, 0);
        let counters = [
            millis(slowest.rto),
            in_sacks,
            stats.received.sacks,
            stats.packets_sent,
            stats.packets_received,
            paths.iter().map(resent).sum(),
            none, // TSNs after a gap
            stats.received.duplicates,
            none, // gap reports
            none, // unordered chunks sent
            none, // unordered chunks received
            paths.iter().map(|path| path.stats.data_packets).sum(),
            stats.received.chunks,
            none, // control chunks sent
            none, // control chunks received
        ];
        Ok(counters.into_iter().fold(written, |all, counter: u64| all.put(counter.to_ne_bytes())).0)
    }
}

/// IPv4, UDP, SCTP and DATA headers.
pub const HEADERS: u64 = 20 + 8 + 12 + 16;

/// Bytes of a fragment: the MTU without IP, UDP, SCTP and DATA headers.
pub fn fragment(mtu: ByteCount) -> u64 {
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
