//! State and counters of associations and paths, with times as `std::time::Duration`.

use sctp::{Limit, PathId, PathState, PathStats, ReceiveStats};
use std::fmt;
use std::net::IpAddr;
use std::time::Duration;
use units::{ByteCount, Span};

/// How long each [`Limit`] kept a sender from sending more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitTimes(sctp::LimitTimes);

impl LimitTimes {
    /// What keeps the sender from sending more at present; `None` before the sender first sends.
    pub fn present(&self) -> Option<Limit> {
        self.0.present()
    }

    /// How long the reason `limit` kept the sender from sending more.
    pub fn of(&self, limit: Limit) -> Duration {
        self.0.of(limit).into()
    }

    /// The sum of the times of all reasons.
    pub fn total(&self) -> Duration {
        self.0.total().into()
    }

    /// For each reason, the share of the time since `before` in which
    /// it kept the sender from sending more; `None` if no time passed.
    pub fn shares_since(&self, before: &LimitTimes) -> Option<impl Iterator<Item = (Limit, f64)>> {
        self.0.shares_since(&before.0)
    }
}

impl From<sctp::LimitTimes> for LimitTimes {
    fn from(times: sctp::LimitTimes) -> Self {
        LimitTimes(times)
    }
}

/// The state of a path at one time, and its counters.
///
/// Prints as a sentence with units.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct PathInfo {
    /// Number of the path. It stays the same while the association exists, even if other paths are removed.
    pub id: PathId,
    /// The peer's address.
    pub remote: IpAddr,
    /// Our address.
    pub local: IpAddr,
    /// The peer's UDP port at this address; 0: packets are not encapsulated.
    pub udp_port: u16,
    /// State: active, potentially failed, inactive or unconfirmed.
    pub state: PathState,
    /// True if the path did not answer in time: new data avoids it while another path is usable.
    pub silent: bool,
    /// Whether it is the primary path.
    pub is_primary: bool,
    /// Congestion window.
    pub cwnd: ByteCount,
    /// Slow start threshold; `None` before the first reduction of the congestion window.
    pub ssthresh: Option<ByteCount>,
    /// `partial_bytes_acked` of congestion avoidance (`rfc9260#section-7.2.2`).
    pub partial_bytes_acked: ByteCount,
    /// Bytes in flight.
    pub flight: ByteCount,
    /// Bytes last sent on this path that are not acknowledged, or that the peer may still renege on.
    pub queued: ByteCount,
    /// Smoothed round-trip time; `None` before the first measurement.
    pub srtt: Option<Duration>,
    /// Retransmission timeout.
    pub rto: Duration,
    /// Consecutive errors.
    pub errors: u32,
    /// Path MTU with the IP header.
    pub mtu: ByteCount,
    /// Cost of the path: the greater of the costs that the two ends set by
    /// [`PathOptions::cost`](crate::PathOptions::cost).
    pub cost: u16,
    /// Counters of the path.
    pub stats: PathStats,
    /// Times for which each reason kept the sender from sending more on this path, from its first message on.
    pub limits: LimitTimes,
    /// Time for which the whole sender was limited by head-of-line blocking because of a chunk last sent on
    /// this path.
    pub blocks: Duration,
}

impl From<sctp::PathInfo> for PathInfo {
    fn from(path: sctp::PathInfo) -> Self {
        PathInfo {
            id: path.id,
            remote: path.remote,
            local: path.local,
            udp_port: path.udp_port,
            state: path.state,
            silent: path.silent,
            is_primary: path.is_primary,
            cwnd: path.cwnd,
            ssthresh: path.ssthresh,
            partial_bytes_acked: path.partial_bytes_acked,
            flight: path.flight,
            queued: path.queued,
            srtt: path.srtt.map(Duration::from),
            rto: path.rto.into(),
            errors: path.errors,
            mtu: path.mtu,
            cost: path.cost,
            stats: path.stats,
            limits: path.limits.into(),
            blocks: path.blocks.time().into(),
        }
    }
}

impl fmt::Display for PathInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PathInfo { local, remote, state, cwnd, flight, stats, .. } = self;
        write!(f, "{local} to {remote}: {}", state.name())?;
        if self.is_primary {
            f.write_str(", primary")?;
        }
        if self.silent {
            f.write_str(", silent")?;
        }
        if let Some(srtt) = self.srtt {
            write!(f, ", RTT {}", Span::from(srtt))?;
        }
        let retransmissions = stats.fast_retransmissions + stats.timer_retransmissions;
        write!(
            f,
            ", RTO {}, cwnd {cwnd}, {flight} in flight, {} of user data in {} packets sent, \
             {retransmissions} retransmissions, {} timeouts",
            Span::from(self.rto),
            stats.user_bytes,
            stats.data_packets,
            stats.timeouts
        )?;
        limited_by(&self.limits, f)
    }
}

/// Counters and state of an association at one time.
///
/// Prints as a sentence with units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AssocStats {
    /// Packets sent.
    pub packets_sent: u64,
    /// Packets received.
    pub packets_received: u64,
    /// Data received.
    pub received: ReceiveStats,
    /// Bytes in the send buffer: not yet sent, not yet acknowledged, or acknowledged but still renegable.
    pub buffered: ByteCount,
    /// Messages waiting for their first transmission.
    pub unsent_messages: usize,
    /// Chunks sent and not acknowledged cumulatively.
    pub outstanding_chunks: usize,
    /// The peer's receive window as we know it.
    pub peer_rwnd: ByteCount,
    /// Consecutive errors.
    pub errors: u32,
    /// Chunks discarded because no valid AUTH chunk authenticated them (`rfc4895#section-6.3`).
    pub unauthenticated: u64,
    /// Messages abandoned (`rfc7496#section-4.4`).
    pub abandoned: sctp::Abandoned,
    /// True if both ends announced [`interleaving`](crate::Config::interleaving): messages use I-DATA chunks.
    pub interleaving: bool,
    /// RE-CONFIG requests sent, retransmissions included.
    pub reset_requests: u64,
    /// Resets performed, of streams of either direction or of the association.
    pub resets: u64,
    /// Times for which each reason kept the sender from sending more, from its first message on.
    pub limits: LimitTimes,
}

impl From<sctp::AssocStats> for AssocStats {
    fn from(stats: sctp::AssocStats) -> Self {
        AssocStats {
            packets_sent: stats.packets_sent,
            packets_received: stats.packets_received,
            received: stats.received,
            buffered: stats.buffered,
            unsent_messages: stats.unsent_messages,
            outstanding_chunks: stats.outstanding_chunks,
            peer_rwnd: stats.peer_rwnd,
            errors: stats.errors,
            unauthenticated: stats.unauthenticated,
            abandoned: stats.abandoned,
            interleaving: stats.interleaving,
            reset_requests: stats.reset_requests,
            resets: stats.resets,
            limits: stats.limits.into(),
        }
    }
}

impl fmt::Display for AssocStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} packets sent, {} received with {} of user data, {} in the send buffer, {} chunks outstanding, \
             window of the peer {}",
            self.packets_sent,
            self.packets_received,
            self.received.user_bytes,
            self.buffered,
            self.outstanding_chunks,
            self.peer_rwnd
        )?;
        limited_by(&self.limits, f)
    }
}

fn limited_by(limits: &LimitTimes, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    limits.present().map_or(Ok(()), |limit| write!(f, ", limited by {}", limit.name()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Instant;

    #[test]
    fn a_path_and_an_association_print_with_units() {
        let mut limits = sctp::LimitTimes::default();
        limits.enter(Instant::ZERO, Some(Limit::Cwnd));
        let mut stats = PathStats::default();
        stats.data_packets = 3;
        stats.user_bytes = ByteCount::new(4200);
        let path = PathInfo {
            id: PathId(0),
            remote: IpAddr::from([203, 0, 113, 5]),
            local: IpAddr::from([192, 0, 2, 10]),
            udp_port: 9899,
            state: PathState::Active,
            silent: true,
            is_primary: true,
            cwnd: ByteCount::new(14_600),
            ssthresh: None,
            partial_bytes_acked: ByteCount::ZERO,
            flight: ByteCount::new(4380),
            queued: ByteCount::ZERO,
            srtt: Some(Duration::from_micros(25_100)),
            rto: Duration::from_secs(1),
            errors: 0,
            mtu: ByteCount::new(1500),
            cost: 0,
            stats,
            limits: limits.into(),
            blocks: Duration::ZERO,
        };
        assert_eq!(
            path.to_string(),
            "192.0.2.10 to 203.0.113.5: active, primary, silent, RTT 25.1 ms, RTO 1 s, cwnd 14600 B, 4380 B in \
             flight, 4200 B of user data in 3 packets sent, 0 retransmissions, 0 timeouts, limited by cwnd"
        );
        let stats = AssocStats { packets_sent: 7, peer_rwnd: ByteCount::new(65_536), ..Default::default() };
        assert_eq!(
            stats.to_string(),
            "7 packets sent, 0 received with 0 B of user data, 0 B in the send buffer, 0 chunks outstanding, \
             window of the peer 65536 B"
        );
    }

    #[test]
    fn times_are_durations() {
        let mut limits = sctp::LimitTimes::default();
        limits.enter(Instant::ZERO, Some(Limit::PeerWindow));
        let limits = LimitTimes::from(limits.until(Instant::from_nanos(40_000_000)));
        assert_eq!(limits.of(Limit::PeerWindow), Duration::from_millis(40));
        assert_eq!(limits.total(), Duration::from_millis(40));
    }
}
