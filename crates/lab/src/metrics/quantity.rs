//! The names of all quantities and their meaning.
//!
//! A flow is measured in a window of time, from `reset_time` to `stop_time`. Unless the text says otherwise,
//! a count covers the window. The names of quantities of payload from server to client begin with `back_`.
//! Links are measured from the first flow's `reset_time` to the last flow's `stop_time`. All quantities are
//! also measured in each named window of the scenario, except those of the whole run.
//!
//! In formulas L is the length of the window, and λ, γ and α are the throughput, transport load and goodput
//! of paper 003 (section 4.3.5), which takes all three relative to the rate of the tight link.

/// A quantity of one direction of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantity {
    /// Name of the quantity for payload from client to server.
    pub forward: &'static str,
    /// Name of the quantity for payload from server to client.
    pub back: &'static str,
}

macro_rules! quantities {
    ($($(#[$doc:meta])+ $constant:ident = $name:literal;)+) => {
        $($(#[$doc])+ pub const $constant: Quantity = Quantity { forward: $name, back: concat!("back_", $name) };)+
    };
}

quantities! {
    /// Payload received by the application per second: 8 · [`RECEIVED_BYTES`] / L, in bit/s. Zero for a flow
    /// that ends before the window. The throughput of papers 000, 001 and 004, and the goodput α of
    /// paper 003.
    THROUGHPUT = "throughput_bps";
    /// α / R. R is the rate of the tightest link on the path; with several paths, the sum of the rates of
    /// their tightest links, each counted once, so that two paths over one bottleneck share its rate.
    GOODPUT_SHARE = "goodput_share";
    /// Payload sent per second with all retransmissions, λ = 8 · [`SENT_BYTES`] / L in bit/s, of the flow and
    /// of each path: the throughput of paper 003.
    SENT_THROUGHPUT = "sent_throughput_bps";
    /// λ / R of the flow and of each path, R as for [`GOODPUT_SHARE`].
    SENT_SHARE = "sent_share";
    /// Payload handed to the receiving application, in bytes.
    RECEIVED_BYTES = "received_bytes";
    /// Messages handed to the receiving application.
    RECEIVED_MESSAGES = "messages";
    /// Messages handed to the receiving application that were sent unordered.
    UNORDERED_MESSAGES = "unordered_messages";
    /// Payload that the transport accepted from the sending application, in bytes.
    OFFERED_BYTES = "offered_bytes";
    /// Messages that the transport accepted from the sending application.
    OFFERED_MESSAGES = "offered_messages";
    /// Messages of a paced application that were not sent because the send queue was full.
    DROPPED_MESSAGES = "dropped_messages";
    /// Messages that the transport accepted and never delivered, over the whole run. Zero if the flow ended
    /// gracefully and no message was abandoned.
    UNDELIVERED_MESSAGES = "undelivered_messages";
    /// Packets with DATA that reached the receiving endpoint.
    DATA_PACKETS_RECEIVED = "data_packets_received";
    /// DATA chunks that reached the receiving endpoint a second time (duplicates).
    DUPLICATE_CHUNKS = "duplicate_chunks";
    /// DATA chunks that the receiving endpoint dropped because its buffer was full.
    REFUSED_CHUNKS = "refused_chunks";
    /// Packets with a SACK that the receiving endpoint sent.
    SACKS = "sack_packets";
    /// [`SACKS`] / [`DATA_PACKETS_RECEIVED`]: 0.5 when every second packet is acknowledged.
    SACKS_PER_DATA_PACKET = "sacks_per_data_packet";
    /// Bytes, with IP headers, of the packets with a SACK but no data that the receiving endpoint sent; of
    /// the flow and of each path.
    ACK_BYTES = "ack_bytes";
    /// [`ACK_BYTES`] / [`RECEIVED_BYTES`].
    ACK_SHARE = "ack_share";
    /// Packets with DATA sent, of the flow and of each path.
    DATA_PACKETS = "data_packets";
    /// Payload sent with all retransmissions, in bytes, of the flow and of each path.
    SENT_BYTES = "sent_user_bytes";
    /// Bytes of all packets that this end sent, also of packets with only an acknowledgement: headers of the
    /// transport, payload and retransmissions, without IP and link headers, of the flow and of each path.
    TRANSPORT_BYTES = "sent_transport_bytes";
    /// Chunks retransmitted after missing reports, of the flow and of each path that lost them.
    FAST_RETRANSMISSIONS = "fast_retransmissions";
    /// Chunks retransmitted after a timeout or as a tail loss probe, of the flow and of each path that lost
    /// them.
    TIMER_RETRANSMISSIONS = "timer_retransmissions";
    /// [`FAST_RETRANSMISSIONS`] + [`TIMER_RETRANSMISSIONS`], of the flow and of each path.
    RETRANSMISSIONS = "retransmitted_chunks";
    /// Reductions of cwnd by fast retransmission, of the flow and of each path.
    FAST_RECOVERIES = "fast_recoveries";
    /// Chunks that fast retransmission considered lost although they had arrived, if the sender noticed this,
    /// of the flow and of each path that seemed to lose them. Only senders with `loss_detection = "rack"`
    /// notice it.
    NEEDLESS_RETRANSMISSIONS = "needless_retransmissions";
    /// Fast recoveries undone because all their retransmissions were needless, of the flow and of each path.
    UNDONE_RECOVERIES = "undone_recoveries";
    /// Expiries of the retransmission timer T3, of the flow and of each path.
    TIMEOUTS = "timeouts";
    /// Share of the time during which a missing chunk, last sent on this path, blocked the whole flow
    /// (head-of-line blocking). The shares of all paths add up to `limited_by_head_of_line_share` of the
    /// flow.
    BLOCKS = "blocks_share";
    /// Smoothed round-trip time of a path at `stop_time`, in seconds.
    SRTT = "srtt_s";
}

macro_rules! limited_by {
    ($($limit:literal)+) => {
        [$(Quantity {
            forward: concat!("limited_by_", $limit, "_share"),
            back: concat!("back_limited_by_", $limit, "_share"),
        },)+]
    };
}

/// Share of the time during which each of these reasons kept the sender from sending more: of the flow, and
/// of each path. The quantities have the order of [`Limit::ALL`](transport::Limit::ALL). The shares of the
/// flow add up to 1, and so do those of each path. Not reported for UDP, nor for a window that ends before
/// the sender first sends.
pub const LIMITED_BY: [Quantity; transport::Limit::ALL.len()] = limited_by!(
    "application" "send_buffer" "peer_window" "head_of_line" "scheduler" "pacing" "cwnd" "recovery" "timeout"
);

/// Time from the first INIT to the established association at the client, in seconds.
pub const HANDSHAKE: &str = "handshake_s";

/// γ = 8 · (sum of [`TRANSPORT_BYTES`] of both ends) / L, in bit/s: headers, payload, retransmissions and
/// acknowledgements of a flow, both ways, without IP and link.
pub const LOAD: &str = "transport_load_bps";
/// γ / R with R as for [`GOODPUT_SHARE`]: of the direction from the
/// client or, if the client sends nothing, of the other direction.
pub const LOAD_SHARE: &str = "load_share";

/// Name in results for all flows together. Each direction that carries data counts as a flow, and with CMT
/// each path does: a subflow is a flow (paper 003, section 5.1). Flows that do not send within the window,
/// and short transfers, do not count.
pub const ALL_FLOWS: &str = "flows:all";
/// The number n of flows.
pub const FLOWS: &str = "flows";
/// Jain's fairness index (Σλ)² / (n Σλ²): 1 if all are equal, 1/n if one flow has all throughput (paper 003,
/// equation 2).
pub const FAIRNESS: &str = "fairness_index";
/// Σα / Σγ: the share of goodput in all that the transports send (paper 003, equation 4).
pub const SYSTEM_UTILISATION: &str = "system_utilisation";
/// Σλ / n, in bit/s (paper 003, section 5.2).
pub const AVERAGE_THROUGHPUT: &str = "average_flow_throughput_bps";

/// Σλ / rate of the link, over all paths of flows that use this direction of the link: the link utilisation
/// of paper 003 (equation 3). It counts packets that are lost before the link, and does not count headers. If
/// flows are measured at different times, rates of different times are added.
pub const LINK_THROUGHPUT: &str = "throughput_utilisation";

/// Packets that arrived at the queue of the link.
pub const LINK_OFFERED: &str = "offered_packets";
/// Packets that crossed the link.
pub const LINK_DELIVERED: &str = "delivered_packets";
/// Bytes that crossed the link, framing included.
pub const LINK_BYTES: &str = "delivered_bytes";
/// Share of the time in which bits crossed the link: 8 · [`LINK_BYTES`] / (rate · length of the window).
pub const LINK_UTILISATION: &str = "utilisation";
/// Largest number of packets in the queue since the start of the run.
pub const LINK_QUEUE_MAX: &str = "queue_max_packets";

/// Mappings that a NAT created in the whole run. The column `flow` of a NAT's quantities has `nat:` and the
/// name of its node.
pub const NAT_MAPPINGS: &str = "nat_mappings";
/// Packets that a NAT dropped in the whole run: without a mapping, not UDP, or while all its ports were in
/// use.
pub const NAT_DROPS: &str = "nat_drops";

/// Round-trip time that half of the datagrams of a flow with `echo` do not exceed, in seconds; of those that
/// were sent in the window and returned.
pub const ECHO_P50: &str = "echo_rtt_p50_s";
/// Round-trip time that 95 % of the datagrams do not exceed, as for [`ECHO_P50`].
pub const ECHO_P95: &str = "echo_rtt_p95_s";
/// Round-trip time that 99 % of the datagrams do not exceed, as for [`ECHO_P50`].
pub const ECHO_P99: &str = "echo_rtt_p99_s";
/// Datagrams of a flow with `echo` that were sent in the window and never returned.
pub const ECHOES_LOST: &str = "echoes_lost";
/// [`ECHO_P50`] of the time without load: of the window named `idle` or, if the scenario has none, until the
/// first flow without `echo` starts to send or the first transfer begins.
pub const ECHO_IDLE: &str = "echo_rtt_idle_p50_s";
/// [`ECHO_P95`] minus [`ECHO_IDLE`], in seconds: what the load adds. Infinite if no datagram returned.
pub const ECHO_ADDED: &str = "echo_rtt_added_s";
/// A series: the round-trip time in seconds of each datagram of a flow with `echo` that returned, at the time
/// when it was sent.
pub const PROBE_RTT: &str = "probe-rtt";

/// Short transfers that were delivered. Each window counts the transfers that began in it.
pub const TRANSFERS: &str = "transfers";
/// Short transfers that began and were never delivered.
pub const TRANSFERS_UNFINISHED: &str = "transfers_unfinished";
/// Bytes of the short transfers that were delivered.
pub const TRANSFER_BYTES: &str = "transfer_bytes";
/// Mean time from the start of a transfer, before its handshake, to the delivery of its last byte, in
/// seconds.
pub const COMPLETION_MEAN: &str = "completion_time_mean_s";
/// Completion time that half of the transfers do not exceed.
pub const COMPLETION_MEDIAN: &str = "completion_time_median_s";
/// Completion time that 95 % of the transfers do not exceed.
pub const COMPLETION_P95: &str = "completion_time_p95_s";
/// A series: the completion time in seconds of each transfer, at its end.
pub const COMPLETION_TIME: &str = "completion-time";
/// A series: the bytes of each transfer, at its end.
pub const TRANSFER_SIZE: &str = "transfer-size";

/// Bursts that a probe counted. The column `flow` of quantities of bursts has the flow and the link, such as
/// `transfer@link:r1-r2`.
pub const BURSTS: &str = "bursts";
/// Mean length of a burst in packets.
pub const BURST_MEAN: &str = "burst_packets_mean";
/// Length that 95 % of the bursts do not exceed.
pub const BURST_P95: &str = "burst_packets_p95";
/// Length of the longest burst.
pub const BURST_MAX: &str = "burst_packets_max";
/// Number of bursts of 1, 2, ... packets; the last entry also counts all longer bursts.
pub const BURSTS_OF: [&str; 16] = [
    "bursts_of_1",
    "bursts_of_2",
    "bursts_of_3",
    "bursts_of_4",
    "bursts_of_5",
    "bursts_of_6",
    "bursts_of_7",
    "bursts_of_8",
    "bursts_of_9",
    "bursts_of_10",
    "bursts_of_11",
    "bursts_of_12",
    "bursts_of_13",
    "bursts_of_14",
    "bursts_of_15",
    "bursts_of_16_or_more",
];

/// Packets dropped, in the order of [`net::DropCause::ALL`]: by a full queue, by RED between its thresholds,
/// by RED above them, by CoDel or PIE, by a policer, on the wire, with a bit error in a header, larger than
/// the link's MTU, and while the link was down.
pub const LINK_DROPS: [&str; net::DropCause::ALL.len()] = [
    "drops_queue_full",
    "drops_red_early",
    "drops_red_forced",
    "drops_delayed",
    "drops_policed",
    "drops_loss",
    "drops_damaged",
    "drops_too_big",
    "drops_link_down",
];
