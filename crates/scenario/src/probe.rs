use units::{Instant, Span};

/// A quantity recorded over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// What is recorded.
    pub quantity: ProbeQuantity,
    /// Where.
    pub target: ProbeTarget,
    /// First instant recorded.
    pub from: Instant,
    /// Last instant recorded; none: to the end of the run.
    pub to: Option<Instant>,
    /// How often.
    pub every: Every,
}

/// What a probe watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeTarget {
    /// Index in [`Scenario::flows`](super::Scenario::flows); each path of the client is recorded by itself.
    Flow(usize),
    /// Index in [`Scenario::links`](super::Scenario::links), and whether it is the direction back.
    Link {
        /// Which link.
        link: usize,
        /// From the second node to the first.
        back: bool,
    },
}

/// When a probe records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Every {
    /// Whenever the quantity changes.
    Change,
    /// At intervals.
    Interval(Span),
}

/// What a probe can record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeQuantity {
    /// Congestion window of each path, bytes.
    Cwnd,
    /// Slow start threshold of each path, bytes.
    Ssthresh,
    /// Bytes in flight on each path.
    Flight,
    /// Smoothed round-trip time of each path, seconds.
    Srtt,
    /// Retransmission timeout of each path, seconds.
    Rto,
    /// The number of the chunk that each path sent last, counted from 1 for the association's first. On change: at
    /// each instant at which the path sent, also if it was the same chunk again. SCTP only.
    Tsn,
    /// Bytes that the peer can still take, as the sender knows it: of SCTP without what is in flight, of TCP with it.
    PeerRwnd,
    /// Payload received, bit/s over each interval: of the flow at its server, or carried by the link.
    Throughput,
    /// Payload sent with all retransmissions, bit/s over each interval, of the flow and of each path of its client: the
    /// throughput of paper 003.
    SentThroughput,
    /// Packets waiting in the queue of a link.
    Queue,
    /// Packets that a link has dropped since the start of the run.
    Drops,
    /// Average queue a RED queue computes.
    QueueAverage,
    /// Lengths of bursts that come to the queue of a link: packets of one flow, each at most `gap` after the one before.
    Bursts {
        /// The longest wait within a burst; zero: all come at one instant.
        gap: Span,
    },
}

/// A link whose packets are written to a pcapng file, both directions, as they enter it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    /// Index in [`Scenario::links`](super::Scenario::links).
    pub link: usize,
    /// Name of the file, below the directory of the run.
    pub file: String,
}
