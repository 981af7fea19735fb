//! State and counters of a connection.

use transport::{LimitTimes, named};
use units::{ByteCount, Span};

named! {
    /// The states of a connection (`rfc9293#section-3.3.2`).
    "state" State {
        /// We sent a SYN.
        SynSent = "syn-sent",
        /// Both sides sent a SYN; ours is not acknowledged yet.
        SynReceived = "syn-received",
        /// Data flows.
        Established = "established",
        /// We sent a FIN.
        FinWait1 = "fin-wait-1",
        /// Our FIN is acknowledged; the peer may still send.
        FinWait2 = "fin-wait-2",
        /// The peer sent a FIN; we may still send.
        CloseWait = "close-wait",
        /// Both sides sent a FIN at once; ours is not acknowledged yet.
        Closing = "closing",
        /// The peer sent a FIN first; ours is not acknowledged yet.
        LastAck = "last-ack",
        /// Both sides have closed; waits until old segments have left the network.
        TimeWait = "time-wait",
        /// The connection ended.
        Closed = "closed",
    }
}

/// Current state of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Info {
    /// State of the connection.
    pub state: State,
    /// Congestion window; during recovery the inflated or reduced send limit.
    pub cwnd: ByteCount,
    /// Slow start threshold; `None` until the congestion control sets it.
    pub ssthresh: Option<ByteCount>,
    /// Bytes sent and neither acknowledged nor lost (`rfc6675#section-4`, pipe).
    pub flight: ByteCount,
    /// Smoothed round-trip time; `None` before the first sample.
    pub srtt: Option<Span>,
    /// Retransmission timeout, including back-off.
    pub rto: Span,
    /// True in fast recovery.
    pub in_recovery: bool,
    /// The latest window that the peer advertised.
    pub peer_rwnd: ByteCount,
    /// Bytes not sent yet.
    pub unsent: ByteCount,
    /// Largest number of user bytes in a segment (SMSS, `rfc5681#section-2`).
    pub smss: ByteCount,
}

/// Counters of a connection since it began, which only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Segments sent, of any kind.
    pub segments_sent: u64,
    /// Segments received and accepted as belonging to the connection.
    pub segments_received: u64,
    /// Segments sent that carry user data.
    pub data_segments_sent: u64,
    /// Segments received that carry user data.
    pub data_segments_received: u64,
    /// Segments sent with neither data, SYN, FIN nor RST.
    pub acks_sent: u64,
    /// User bytes sent, retransmissions among them.
    pub user_bytes_sent: ByteCount,
    /// User bytes retransmitted.
    pub user_bytes_retransmitted: ByteCount,
    /// Bytes of TCP sent: headers, options and data, without IP.
    pub transport_bytes_sent: ByteCount,
    /// Bytes delivered to the user.
    pub bytes_delivered: ByteCount,
    /// User bytes that the peer acknowledged, in order.
    pub bytes_acked: ByteCount,
    /// Segments retransmitted while the sender was not in the recovery from a timeout.
    pub fast_retransmissions: u64,
    /// Segments retransmitted in the recovery from a timeout.
    pub timeout_retransmissions: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Loss recoveries without a timeout, including the fast retransmissions of Tahoe.
    pub recoveries: u64,
    /// Recoveries and timeouts that were spurious and undone.
    pub undone_reductions: u64,
    /// Duplicate acknowledgements received (`rfc5681#section-2`).
    pub dup_acks: u64,
    /// Window reductions because the peer reported congestion by ECN.
    pub ecn_reductions: u64,
    /// Tail loss probes sent (`rfc8985#section-7`).
    pub loss_probes: u64,
    /// Zero window probes sent (`rfc9293#section-3.8.6.1`).
    pub window_probes: u64,
    /// For each reason that held the sender back, the time in which it did, from the first byte of data on.
    pub limits: LimitTimes,
}
