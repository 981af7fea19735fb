//! User messages that are sent and received.

use crate::path::PathId;
pub use transport::Payload;
use units::{ByteCount, Span};
use wire::{Mid, Ppid, Ssn, StreamId, Tsn};

/// A user message to send, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The stream of the message.
    pub stream: StreamId,
    /// Payload protocol identifier, passed to the peer unchanged. For a message in parts, the value
    /// of the first part counts.
    pub ppid: Ppid,
    /// Delivered as soon as it is complete, independently of earlier messages (`rfc9260#section-6.6`).
    pub unordered: bool,
    /// Requests an immediate SACK (the I bit, `rfc7053`).
    pub immediate_sack: bool,
    /// True if this part ends the message; false if the next send continues it.
    pub end_of_record: bool,
    /// The path of the first transmission, instead of the primary path or the scheduler's choice
    /// (`SCTP_ADDR_OVER` of `rfc6458#section-5.3.4`). While cwnd of that path is full, data that the
    /// application gave later waits, too. Ignored while the path is not active.
    pub path: Option<PathId>,
    /// Sends the message without delay: the pacer, Nagle's algorithm and
    /// [`Config::send_queue`](crate::Config::send_queue) do not hold it back. The flight size may
    /// then exceed cwnd by less than a chunk; `rfc9260#section-6.1`, rule B, allows less than a
    /// packet. The order of messages is still that of the stream scheduler.
    pub urgent: bool,
    /// Reports the outcome: an [`Event::Delivered`](crate::Event::Delivered) or
    /// [`Event::SendFailed`](crate::Event::SendFailed) will name the message. For a message in parts, the
    /// value of the first part counts.
    pub tracked: bool,
    /// How long the sender tries to deliver the message, if both ends have
    /// [`pr_sctp`](crate::Config::pr_sctp). For a message in parts, the value of the first part counts.
    pub reliability: Reliability,
    /// A value that is not sent; [`Event::SendFailed`](crate::Event::SendFailed) returns it (`snd_context` of
    /// `rfc6458#section-5.3.4`). For a message in parts, the value of the first part counts.
    pub context: u32,
    /// The user data, at least one byte.
    pub payload: Payload,
}

impl Message {
    /// A complete ordered message on stream 0 with payload protocol identifier 0.
    pub fn new(payload: Payload) -> Self {
        Message {
            stream: StreamId(0),
            ppid: Ppid(0),
            unordered: false,
            immediate_sack: false,
            end_of_record: true,
            path: None,
            urgent: false,
            tracked: false,
            reliability: Reliability::Reliable,
            context: 0,
            payload,
        }
    }
}

/// When the sender abandons a message that it could not deliver (`rfc3758`, `rfc7496`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "users choose one, and programs store it")]
pub enum Reliability {
    /// Never: the message is retransmitted until it arrives or the association ends.
    #[default]
    Reliable,
    /// The message is neither sent nor retransmitted once it is older than this
    /// (`rfc3758#section-4.1`, `SCTP_PR_SCTP_TTL`).
    Until(Span),
    /// Each chunk is retransmitted at most this number of times, on all paths together
    /// (`rfc7496#section-3.1`, `SCTP_PR_SCTP_RTX`). A number above 254 means no limit.
    Retransmissions(u32),
    /// The message is abandoned when a full send buffer needs room for a message of this policy with a
    /// smaller number (`rfc7496#section-3.2`, `SCTP_PR_SCTP_PRIO`).
    Priority(u32),
}

/// Messages that were abandoned (`rfc7496#section-4.3`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Abandoned {
    /// Messages abandoned before any part of them was sent.
    pub unsent: u64,
    /// Messages abandoned after a part of them was sent.
    pub sent: u64,
}

impl std::ops::AddAssign for Abandoned {
    fn add_assign(&mut self, other: Abandoned) {
        self.unsent += other.unsent;
        self.sent += other.sent;
    }
}

/// Abandoned messages by the policy of each message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AbandonedByPolicy {
    /// Messages with [`Reliability::Until`].
    pub until: Abandoned,
    /// Messages with [`Reliability::Retransmissions`].
    pub retransmissions: Abandoned,
    /// Messages with [`Reliability::Priority`].
    pub priority: Abandoned,
}

impl AbandonedByPolicy {
    /// The sum over all policies.
    pub fn total(&self) -> Abandoned {
        let mut total = self.until;
        total += self.retransmissions;
        total += self.priority;
        total
    }
}

/// Identifies a tracked message: its number, from 0, among the tracked messages of the association in send
/// order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageId(pub u64);

/// Data of a stream that the user can read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unread {
    /// Number of messages that can be read to their end, also if the user has read their first part already.
    pub messages: usize,
    /// Readable user bytes, including those of incomplete messages.
    pub bytes: ByteCount,
}

/// A user message that arrived, or the next part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// The stream of the message.
    pub stream: StreamId,
    /// The stream sequence number; zero if unordered.
    pub ssn: Ssn,
    /// The message identifier (`rfc8260#section-2.1`), which tells the parts of several messages apart. A
    /// stream counts ordered and unordered messages separately. Without interleaving only ordered messages
    /// are counted, and the identifier of unordered messages is zero.
    pub mid: Mid,
    /// TSN of the first fragment.
    pub tsn: Tsn,
    /// Payload protocol identifier that the peer set.
    pub ppid: Ppid,
    /// True if the message is unordered.
    pub unordered: bool,
    /// The bytes read.
    pub payload: Payload,
    /// True if these bytes end the message; false if more bytes of it follow.
    pub end_of_record: bool,
    /// True if the message ends here incomplete: the peer abandoned it after a part was read. The payload is
    /// empty then (`SCTP_PARTIAL_DELIVERY_ABORTED` of `rfc6458#section-6.1.7`).
    pub aborted: bool,
}

/// Reason why a message was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The send buffer is full; [`crate::Event::Writable`] reports when it has room.
    #[error("the send buffer is full")]
    WouldBlock,
    /// The message is longer than the send buffer.
    #[error("a message of {length} bytes can never fit the send buffer of {limit} bytes")]
    TooLong {
        /// Bytes in the message.
        length: usize,
        /// Bytes in the send buffer.
        limit: u64,
    },
    /// The stream does not exist.
    #[error("stream {} does not exist: the association has {streams} outbound streams", .stream.0)]
    NoSuchStream {
        /// The requested stream.
        stream: StreamId,
        /// Number of outbound streams.
        streams: u16,
    },
    /// The association has no path with this number, or is not established yet.
    #[error("there is no path {}: see the paths of the association once it is established", .path.0)]
    NoSuchPath {
        /// The requested path.
        path: PathId,
    },
    /// The message is empty, but a DATA chunk needs at least one byte (`rfc9260#section-3.3.1`).
    #[error("a message needs at least one byte")]
    Empty,
    /// An earlier message is incomplete: on this stream or, without interleaving, on any stream.
    #[error("stream {} has an unfinished message: end it before sending another", .stream.0)]
    UnfinishedMessage {
        /// The stream of the unfinished message.
        stream: StreamId,
    },
    /// The association does not exist, or is shutting down.
    #[error("the association takes no more data")]
    Closed,
}
