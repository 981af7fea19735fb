//! Paths and acknowledgements that a transport reports, and windows that a controller sets.

use units::{ByteCount, Instant, Span};

use crate::{OneWayDelay, RateSample};

/// The congestion window of one path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CongestionWindow {
    /// Bytes that may be in flight (`cwnd`).
    pub cwnd: ByteCount,
    /// Slow start threshold; `None` until the controller sets it, for example at a loss. `None` stands for
    /// [`Setup::initial_ssthresh`](crate::Setup::initial_ssthresh).
    pub ssthresh: Option<ByteCount>,
}

/// State of one path of an association when the transport calls the controller.
#[derive(Clone, Copy, Debug)]
pub struct PathView {
    /// Congestion window of the path.
    pub window: CongestionWindow,
    /// Flight size: bytes sent on the path that are neither acknowledged nor declared lost.
    pub flight: ByteCount,
    /// Path MTU, including the IP header; in TCP at most the peer's MSS plus all headers.
    pub mtu: ByteCount,
    /// Smoothed round-trip time; `None` before the first sample.
    pub srtt: Option<Span>,
    /// Retransmission timeout.
    pub rto: Span,
    /// The path may carry data. Only active paths are coupled to others.
    pub active: bool,
    /// Number of the group of paths that may share a bottleneck. Only paths of the same group are coupled.
    pub group: u8,
    /// Bit q is set if path q is known to share no bottleneck with this path, and is not coupled to it.
    pub apart: u16,
    /// The path is in fast recovery: its window does not grow.
    pub in_recovery: bool,
}

impl PathView {
    /// True if path number `q`, which is `other`, may share a bottleneck with this path.
    pub fn may_share(&self, q: usize, other: &PathView) -> bool {
        other.group == self.group && self.apart >> q & 1 == 0
    }

    /// The smoothed round-trip time r in seconds, never zero. Before the first sample it is the RTO.
    pub fn rtt(&self) -> f64 {
        self.srtt.unwrap_or(self.rto).max(Span::from_nanos(1)).as_secs_f64()
    }

    /// The rate x = c/r in bytes per second.
    pub fn rate(&self) -> f64 {
        self.window.cwnd.as_f64() / self.rtt()
    }
}

/// Bytes that one SACK newly acknowledged on one path, and measurements from it.
#[derive(Clone, Copy, Debug)]
pub struct PathAck {
    /// Number of the path.
    pub path: usize,
    /// Bytes acknowledged for the first time.
    pub acked: ByteCount,
    /// True if the SACK advanced the (pseudo-)cumulative TSN of the path. Only
    /// [`GrowthRule::Rfc4960`](crate::GrowthRule::Rfc4960) and `Rfc2960` use it.
    pub advanced: bool,
    /// Bytes in flight before the SACK.
    pub flight_before: ByteCount,
    /// Bytes in flight after the SACK.
    pub flight_after: ByteCount,
    /// A round-trip sample, if the SACK gave one.
    pub rtt: Option<Span>,
    /// The smallest one-way delay to the peer that the peer reported with the SACK, if it reported any.
    pub owd: Option<OneWayDelay>,
    /// Bytes declared lost on the path since the last call, by this SACK or by a timer. Zero unless the
    /// controller [wants rate samples](crate::CongestionControl::wants_rate_samples).
    pub lost: ByteCount,
    /// The delivery rate. `None` unless the controller wants rate samples.
    pub rate: Option<RateSample>,
}

/// Measurements of a path, with which a later path between the same addresses may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SavedPath {
    /// Bytes that the path delivered in a round trip.
    pub cwnd: ByteCount,
    /// The least round-trip time of the path.
    pub rtt: Span,
    /// Time after which the values are too old to use.
    pub until: Instant,
}

impl SavedPath {
    /// Time after the last measurement during which the values may be used.
    pub const LIFETIME: Span = Span::from_secs(3600);
}

/// A window that the transport's specification prescribes for every algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowRule {
    /// Sets cwnd, for example when a potentially failed path answers again, after a lost SYN
    /// (`rfc5681#section-3.1`), or after a loss in TCP Tahoe.
    Set(ByteCount),
    /// Sets cwnd and ssthresh and resets the counters of growth: the route of the path changed
    /// (`rfc9260#section-7.2.5.2`), or a middlebox reported the rate of its link.
    Replace(CongestionWindow),
}

impl WindowRule {
    /// Returns the window under the rule.
    pub fn apply(self, window: CongestionWindow) -> CongestionWindow {
        match self {
            WindowRule::Set(cwnd) => CongestionWindow { cwnd, ..window },
            WindowRule::Replace(window) => window,
        }
    }
}

/// The congestion signal that reduces a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossKind {
    /// The transport detected a loss before T3-rtx expired: by missing reports, duplicate ACKs or RACK.
    FastRetransmit,
    /// The network marked a packet (ECN) and dropped none. Unless an algorithm says otherwise, a mark reduces
    /// the window as a fast retransmission does (`rfc3168#section-5`).
    Mark,
    /// The retransmission timer of the path (T3-rtx) expired.
    Timeout,
}
