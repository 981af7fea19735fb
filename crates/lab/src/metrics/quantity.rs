//! The names of all quantities, with what they mean.
//!
//! A flow is measured in a window of time, from `reset_time` to `stop_time`. Unless something else is said, a count is
//! what happened in the window. Quantities of payload travelling from server to client are called `back_` and the
//! name. Links are measured from the first flow's `reset_time` to the last flow's `stop_time`.

/// A quantity of one direction of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantity {
    /// Its name for payload from client to server.
    pub forward: &'static str,
    /// Its name for payload from server to client.
    pub back: &'static str,
}

macro_rules! quantities {
    ($($(#[$doc:meta])+ $constant:ident = $name:literal;)+) => {
        $($(#[$doc])+ pub const $constant: Quantity = Quantity { forward: $name, back: concat!("back_", $name) };)+
    };
}

quantities! {
    /// Payload received by the application per second: 8 · [`RECEIVED_BYTES`] / length of the window, in bit/s. Zero
    /// for a flow that never got so far.
    THROUGHPUT = "throughput_bps";
    /// Payload handed to the receiving application, in bytes.
    RECEIVED_BYTES = "received_bytes";
    /// Messages handed to the receiving application.
    RECEIVED_MESSAGES = "messages";
    /// Those of them that were sent unordered.
    UNORDERED_MESSAGES = "unordered_messages";
    /// Payload the transport took from the sending application, in bytes.
    OFFERED_BYTES = "offered_bytes";
    /// Messages the transport took from the sending application.
    OFFERED_MESSAGES = "offered_messages";
    /// Messages of a paced application that found the send queue full and were not sent at all.
    DROPPED_MESSAGES = "dropped_messages";
    /// Messages the transport took and never handed to the receiver, over the whole run: zero if the flow ended
    /// gracefully.
    UNDELIVERED_MESSAGES = "undelivered_messages";
    /// Packets with DATA that reached the receiving endpoint.
    DATA_PACKETS_RECEIVED = "data_packets_received";
    /// DATA chunks that reached the receiving endpoint though they had arrived before.
    DUPLICATE_CHUNKS = "duplicate_chunks";
    /// DATA chunks the receiving endpoint had no room for.
    REFUSED_CHUNKS = "refused_chunks";
    /// Packets with a SACK that the receiving endpoint sent.
    SACKS = "sack_packets";
    /// [`SACKS`] / [`DATA_PACKETS_RECEIVED`]: 0.5 when every second packet is acknowledged.
    SACKS_PER_DATA_PACKET = "sacks_per_data_packet";
    /// Packets with DATA sent, of the flow and of each path.
    DATA_PACKETS = "data_packets";
    /// Payload sent with all retransmissions, in bytes, of the flow and of each path: the λ of paper 003.
    SENT_BYTES = "sent_user_bytes";
    /// Bytes of all packets this end sent, those that only acknowledge among them: headers of the transport, payload and
    /// retransmissions, without IP and link, of the flow and of each path.
    TRANSPORT_BYTES = "sent_transport_bytes";
    /// Chunks sent again after missing reports, of the flow and of each path that lost them.
    FAST_RETRANSMISSIONS = "fast_retransmissions";
    /// Chunks sent again after a timeout, of the flow and of each path that lost them.
    TIMER_RETRANSMISSIONS = "timer_retransmissions";
    /// [`FAST_RETRANSMISSIONS`] + [`TIMER_RETRANSMISSIONS`], of the flow and of each path.
    RETRANSMISSIONS = "retransmitted_chunks";
    /// Window cuts by fast retransmission, of the flow and of each path.
    FAST_RECOVERIES = "fast_recoveries";
    /// Expiries of the retransmission timer T3, of the flow and of each path.
    TIMEOUTS = "timeouts";
    /// Smoothed round-trip time of a path at `stop_time`, in seconds.
    SRTT = "srtt_s";
}

/// Time from the first INIT to the established association at the client, in seconds.
pub const HANDSHAKE: &str = "handshake_s";

/// Packets that came to the transmitter of the link.
pub const LINK_OFFERED: &str = "offered_packets";
/// Packets that crossed the link.
pub const LINK_DELIVERED: &str = "delivered_packets";
/// Bytes that crossed the link, framing included.
pub const LINK_BYTES: &str = "delivered_bytes";
/// Share of the time in which bits crossed the link: 8 · [`LINK_BYTES`] / (rate · length of the window).
pub const LINK_UTILISATION: &str = "utilisation";
/// The most packets that ever waited, since the start of the run.
pub const LINK_QUEUE_MAX: &str = "queue_max_packets";

/// Packets dropped, in the order of [`net::DropCause::ALL`]: by a full queue, by RED between its thresholds, by RED
/// above them, on the wire, with a bit error in a header, larger than the link's MTU, and while the link was down.
pub const LINK_DROPS: [&str; net::DropCause::ALL.len()] = [
    "drops_queue_full",
    "drops_red_early",
    "drops_red_forced",
    "drops_loss",
    "drops_damaged",
    "drops_too_big",
    "drops_link_down",
];
