use transport::named;
use units::{ByteCount, Instant, Span};

/// A quantity recorded over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// The quantity.
    pub quantity: ProbeQuantity,
    /// The flow or link whose quantity is recorded.
    pub target: ProbeTarget,
    /// First instant recorded.
    pub from: Instant,
    /// Last instant recorded; none: to the end of the run.
    pub to: Option<Instant>,
    /// Times of recording.
    pub every: Every,
    /// For [`ProbeQuantity::Bursts`]: the longest time between two packets of one burst. Other quantities
    /// ignore it.
    pub gap: Span,
}

/// The flow or link that a probe records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeTarget {
    /// Index in [`Scenario::flows`](super::Scenario::flows). Each path of the client is recorded separately.
    Flow(usize),
    /// One direction of a link.
    Link {
        /// Index in [`Scenario::links`](super::Scenario::links).
        link: usize,
        /// True for the direction from the second node to the first.
        back: bool,
    },
}

/// The times at which a probe records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Every {
    /// Whenever the quantity changes.
    Change,
    /// At intervals.
    Interval(Span),
}

named! {
    /// A quantity that a probe records.
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
        /// The number of the DATA chunk that each path sent last; the first chunk of the association is
        /// number 1. With `every = "change"`, one value is recorded for each time at which the path sends,
        /// also for retransmissions. SCTP only.
        Tsn = "tsn",
        /// Every chunk that the client of a flow sends, and every acknowledgement that it gets, as series of
        /// numbers of chunks (the first chunk of the association is number 1): "sent", "resent-fast" (after
        /// missing reports), "resent-timeout" and "resent-early" (before a loss was found) of each path;
        /// "acked" (cumulative TSN), "gap-acked" and "non-renegable" (the highest in these blocks) and
        /// "window-edge" (the last chunk that fits the peer's receive window if all further chunks have the
        /// largest size so far) of the flow. SCTP only.
        Sequence = "sequence",
        /// The peer's receive window in bytes, as known to the sender. For SCTP the bytes in flight are
        /// subtracted; for TCP they are not.
        PeerRwnd = "peer-rwnd",
        /// The limit of the sender, for the flow and for each path: 0 the application, 1 the send buffer, 2
        /// the peer's receive window, 3 head-of-line blocking, 4 the scheduler, 5 pacing or a burst limit, 6
        /// cwnd, 7 cwnd in loss recovery, 8 a timeout. SCTP and TCP only.
        Limit = "limit",
        /// Payload in bit/s over each interval: received by the flow's server, or carried by the link.
        Throughput = "throughput",
        /// Payload sent in bit/s over each interval, retransmissions included, of the flow and of each path
        /// of its client: the throughput of paper 003.
        SentThroughput = "sent-throughput",
        /// Packets waiting in the queue of a link.
        Queue = "queue",
        /// Average queue length that a RED queue computes.
        QueueAverage = "queue-average",
        /// Packets that a link has dropped since the start of the run.
        Drops = "drops",
        /// Lengths in packets of the bursts that arrive at the queue of a link. A burst consists of packets
        /// of one flow, each at most `gap` after the previous one.
        Bursts = "bursts",
        /// Number of paths that may share a bottleneck with this one, itself included.
        CcCoupled = "cc:coupled",
        /// Of a control with a model of the path, the number of its state: 0 startup, 1 drain, 2 down, 3
        /// cruise, 4 refill, 5 up, 6 probe-rtt.
        CcState = "cc:state",
        /// Largest delivery rate of the model of a control, bit/s.
        CcMaxBw = "cc:max_bw",
        /// Short-term bound of the delivery rate, bit/s; infinite while there is none.
        CcBwShortterm = "cc:bw_shortterm",
        /// Long-term bound of the bytes in flight; infinite while there is none.
        CcInflightLongterm = "cc:inflight_longterm",
        /// Short-term bound of the bytes in flight; infinite while there is none.
        CcInflightShortterm = "cc:inflight_shortterm",
        /// Allowance for aggregated acknowledgements, bytes.
        CcExtraAcked = "cc:extra_acked",
        /// Least round-trip time of the model, seconds.
        CcMinRtt = "cc:min_rtt",
        /// Least round-trip time since the last ProbeRTT, seconds. The next ProbeRTT begins once this time
        /// has not fallen for 5 s.
        CcProbeRttMinDelay = "cc:probe_rtt_min_delay",
        /// Round trips without growth of the delivery rate.
        CcFullBwCount = "cc:full_bw_count",
        /// 1 once the delivery rate stopped growing or losses ended startup, otherwise 0.
        CcFullBwReached = "cc:full_bw_reached",
        /// Gain of the pacing rate.
        CcPacingGain = "cc:pacing_gain",
        /// Gain of the window.
        CcCwndGain = "cc:cwnd_gain",
        /// Round trips so far.
        CcRound = "cc:round",
        /// Pacing rate, bit/s.
        CcPacingRate = "cc:pacing_rate",
    }
}

impl ProbeQuantity {
    /// The name of an inner quantity of the congestion control, of each path; `None` for other quantities.
    pub fn inner(self) -> Option<&'static str> {
        self.name().strip_prefix("cc:")
    }
}

/// A link whose packets in both directions are written to a pcapng file.
///
/// The interface of the link's first node is captured: what it sends, when it sends it, and what it receives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    /// Index in [`Scenario::links`](super::Scenario::links).
    pub link: usize,
    /// Name of the file in the directory of the run.
    pub file: String,
    /// Largest size of the file.
    pub limit: Option<ByteCount>,
}
