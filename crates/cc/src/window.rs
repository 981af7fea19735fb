//! What a transport reports about its paths, and the windows that a controller sets.

use units::{ByteCount, Span};

use crate::{OneWayDelay, RateSample};

/// The congestion window of one path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CongestionWindow {
    /// Bytes that may be in flight (`cwnd`).
    pub cwnd: ByteCount,
    /// Slow start threshold; `None` until the first loss or idle time sets it, and counts as
    /// [`Setup::initial_ssthresh`](crate::Setup::initial_ssthresh).
    pub ssthresh: Option<ByteCount>,
}

/// State of one path of an association when the transport calls the controller.
#[derive(Clone, Copy, Debug)]
pub struct PathView {
    /// Its window.
    pub window: CongestionWindow,
    /// Bytes sent on it and neither acknowledged nor given up.
    pub flight: ByteCount,
    /// Its path MTU, IP header included; in TCP, no more than the peer's MSS and all headers.
    pub mtu: ByteCount,
    /// Smoothed round-trip time; `None` before the first sample.
    pub srtt: Option<Span>,
    /// Retransmission timeout.
    pub rto: Span,
    /// The path may carry data. Only active paths are coupled to others.
    pub active: bool,
    /// Group of paths that share a bottleneck: only paths of one group are coupled to each other.
    pub group: u8,
    /// The path is in fast recovery: its window does not grow.
    pub in_recovery: bool,
}

impl PathView {
    /// The smoothed round-trip time r in seconds, never zero. Before the first sample it is the RTO.
    pub fn rtt(&self) -> f64 {
        self.srtt.unwrap_or(self.rto).max(Span::from_nanos(1)).as_secs_f64()
    }

    /// The rate x = c/r in bytes per second.
    pub fn rate(&self) -> f64 {
        self.window.cwnd.as_f64() / self.rtt()
    }
}

/// What one SACK newly acknowledged on one path.
#[derive(Clone, Copy, Debug)]
pub struct PathAck {
    /// Number of the path.
    pub path: usize,
    /// Bytes acknowledged for the first time.
    pub acked: ByteCount,
    /// True if the SACK advanced the (pseudo-)cumulative TSN of the path. Read under
    /// [`GrowthRule::Rfc4960`](crate::GrowthRule::Rfc4960) and before only.
    pub advanced: bool,
    /// Bytes in flight before the SACK.
    pub flight_before: ByteCount,
    /// Bytes in flight after the SACK.
    pub flight_after: ByteCount,
    /// A round-trip sample, if the SACK gave one.
    pub rtt: Option<Span>,
    /// A one-way delay towards the peer, if one came with the SACK; the least, if several came.
    pub owd: Option<OneWayDelay>,
    /// Bytes found lost on the path since the last call, by this SACK or by a timer. Zero unless the controller
    /// [wants rate samples](crate::CongestionControl::wants_rate_samples).
    pub lost: ByteCount,
    /// The delivery rate. `None` unless the controller wants rate samples.
    pub rate: Option<RateSample>,
}

/// A window that the transport's specification prescribes, whatever the algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowRule {
    /// The window becomes so many bytes: a path answers again after it had potentially failed, a SYN was lost
    /// (`rfc5681#section-3.1`), TCP Tahoe found a loss.
    Set(ByteCount),
    /// cwnd and ssthresh become these, and what the controller counted towards a change of the window is forgotten: a path
    /// leads elsewhere than before (`rfc9260#section-7.2.5.2`), a middlebox reported the rate of its link.
    Replace(CongestionWindow),
}

impl WindowRule {
    /// The window under the rule.
    pub fn apply(self, window: CongestionWindow) -> CongestionWindow {
        match self {
            WindowRule::Set(cwnd) => CongestionWindow { cwnd, ..window },
            WindowRule::Replace(window) => window,
        }
    }
}

/// How a loss was found, or that a mark stands for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossKind {
    /// Enough SACKs reported the TSN missing.
    FastRetransmit,
    /// Nothing was lost: the network marked a packet (ECN). Unless an algorithm says otherwise, the window is reduced as by
    /// a fast retransmission (`rfc3168#section-5`).
    Mark,
    /// The retransmission timer of the path expired.
    Timeout,
}
