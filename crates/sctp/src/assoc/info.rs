use super::Association;
use super::phase::Phase;
use crate::path::{PathId, PathState, PathStats};
use crate::rx::ReceiveStats;
use std::net::IpAddr;
use units::{ByteCount, Span};

/// The states of an association (`rfc9260#section-4`); one that is closed is no association.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// INIT is sent.
    CookieWait,
    /// COOKIE ECHO is sent.
    CookieEchoed,
    /// Data flows.
    Established,
    /// The user has nothing more to say, but not everything is acknowledged.
    ShutdownPending,
    /// SHUTDOWN is sent.
    ShutdownSent,
    /// SHUTDOWN came, but not everything of ours is acknowledged.
    ShutdownReceived,
    /// SHUTDOWN ACK is sent.
    ShutdownAckSent,
}

impl State {
    /// The state by the name RFC 9260 gives it.
    pub const fn name(self) -> &'static str {
        match self {
            State::CookieWait => "COOKIE-WAIT",
            State::CookieEchoed => "COOKIE-ECHOED",
            State::Established => "ESTABLISHED",
            State::ShutdownPending => "SHUTDOWN-PENDING",
            State::ShutdownSent => "SHUTDOWN-SENT",
            State::ShutdownReceived => "SHUTDOWN-RECEIVED",
            State::ShutdownAckSent => "SHUTDOWN-ACK-SENT",
        }
    }
}

impl std::fmt::Display for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A path as it is now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathInfo {
    /// Its number, which it keeps as long as the association lives, whatever becomes of others.
    pub id: PathId,
    /// The peer's address.
    pub remote: IpAddr,
    /// Ours.
    pub local: IpAddr,
    /// The peer's UDP port there; 0: packets are not encapsulated.
    pub udp_port: u16,
    /// Whether it carries data.
    pub state: PathState,
    /// Whether new data goes here first.
    pub is_primary: bool,
    /// Congestion window.
    pub cwnd: ByteCount,
    /// Slow start threshold, once there is one.
    pub ssthresh: Option<ByteCount>,
    /// Bytes acknowledged towards the next growth of the window in congestion avoidance.
    pub partial_bytes_acked: ByteCount,
    /// Bytes in flight.
    pub flight: ByteCount,
    /// Bytes sent here last that the peer may not have, or may give up again.
    pub queued: ByteCount,
    /// Smoothed round-trip time, once there is one.
    pub srtt: Option<Span>,
    /// Retransmission timeout.
    pub rto: Span,
    /// Consecutive errors.
    pub errors: u32,
    /// Path MTU with the IP header.
    pub mtu: ByteCount,
    /// What it did so far.
    pub stats: PathStats,
}

/// What an association did so far, and how it stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AssocStats {
    /// Packets sent.
    pub packets_sent: u64,
    /// Packets received.
    pub packets_received: u64,
    /// Data received.
    pub received: ReceiveStats,
    /// Bytes waiting for their first transmission, and those that the peer does not have for good.
    pub buffered: ByteCount,
    /// Messages waiting for their first transmission.
    pub unsent_messages: usize,
    /// Chunks sent and not acknowledged cumulatively.
    pub outstanding_chunks: usize,
    /// What the peer can still take, as far as known.
    pub peer_rwnd: ByteCount,
    /// Consecutive errors.
    pub errors: u32,
}

impl Association {
    pub(crate) fn state(&self) -> Option<State> {
        Some(match self.phase {
            Phase::CookieWait { .. } => State::CookieWait,
            Phase::CookieEchoed { .. } => State::CookieEchoed,
            Phase::Established => State::Established,
            Phase::ShutdownPending => State::ShutdownPending,
            Phase::ShutdownSent { .. } => State::ShutdownSent,
            Phase::ShutdownReceived { .. } => State::ShutdownReceived,
            Phase::ShutdownAckSent { .. } => State::ShutdownAckSent,
            Phase::Closed { .. } => return None,
        })
    }

    pub(crate) fn path_infos(&self) -> impl Iterator<Item = PathInfo> {
        let paths = self.paths.ids().zip(self.paths.iter()).filter(|(_, path)| !path.removed);
        paths.map(|(id, path)| PathInfo {
            id,
            remote: path.remote,
            local: path.local,
            udp_port: path.udp_port,
            state: path.state,
            is_primary: id == self.paths.primary,
            cwnd: path.window.cwnd,
            ssthresh: path.window.ssthresh,
            partial_bytes_acked: self.sender.partial_bytes_acked(id),
            flight: path.flight,
            queued: path.queued,
            srtt: path.rto.srtt(),
            rto: path.rto.current(),
            errors: path.errors,
            mtu: path.mtu,
            stats: path.stats,
        })
    }

    pub(crate) fn stats(&self) -> AssocStats {
        AssocStats {
            packets_sent: self.packets_sent,
            packets_received: self.packets_received,
            received: self.receiver.as_ref().map(|receiver| *receiver.stats()).unwrap_or_default(),
            buffered: self.sender.buffered(),
            unsent_messages: self.sender.unsent_messages(),
            outstanding_chunks: self.sender.outstanding_chunks(),
            peer_rwnd: self.sender.peer_rwnd(),
            errors: self.errors,
        }
    }
}
