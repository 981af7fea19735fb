use transport::named;
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
    /// Of bursts: the longest wait between two packets of one burst. Other quantities do not use it.
    pub gap: Span,
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

named! {
    /// What a probe can record.
    "quantity" ProbeQuantity {
        /// Congestion window of each path, bytes.
        Cwnd = "cwnd",
        /// Slow start threshold of each path, bytes.
        Ssthresh = "ssthresh",
        /// Bytes in flight on each path.
        Flight = "flight",
        /// Smoothed round-trip time of each path, seconds.
        Srtt = "srtt",
        /// Retransmission timeout of each path, seconds.
        Rto = "rto",
        /// The number of the chunk that each path sent last; the first chunk of the association is number 1. On change: a
        /// value at each instant at which the path sends, retransmissions included. SCTP only.
        Tsn = "tsn",
        /// Bytes that the peer can still take, as the sender knows it: of SCTP without what is in flight, of TCP with it.
        PeerRwnd = "peer-rwnd",
        /// Payload received, bit/s over each interval: of the flow at its server, or carried by the link.
        Throughput = "throughput",
        /// Payload sent with all retransmissions, bit/s over each interval, of the flow and of each path of its client: the
        /// throughput of paper 003.
        SentThroughput = "sent-throughput",
        /// Packets waiting in the queue of a link.
        Queue = "queue",
        /// Average queue that a RED queue computes.
        QueueAverage = "queue-average",
        /// Packets that a link has dropped since the start of the run.
        Drops = "drops",
        /// Lengths of bursts that come to the queue of a link: packets of one flow, each at most `gap` after the one before.
        Bursts = "bursts",
    }
}

/// A link whose packets are written to a pcapng file, both directions, as they enter it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    /// Index in [`Scenario::links`](super::Scenario::links).
    pub link: usize,
    /// Name of the file, below the directory of the run.
    pub file: String,
}
