//! User messages on their way in and out.

use crate::path::PathId;
pub use transport::Payload;
use units::{ByteCount, Span};
use wire::{Mid, Ppid, Ssn, StreamId, Tsn};

/// A user message to send, or a piece of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The stream it travels in.
    pub stream: StreamId,
    /// Payload protocol identifier, passed on untouched; of a message in pieces that of the first piece counts.
    pub ppid: Ppid,
    /// Delivered as soon as it is complete, whatever went before it (`rfc9260#section-6.6`).
    pub unordered: bool,
    /// Asks for an acknowledgement without delay (the I bit, `rfc7053`).
    pub immediate_sack: bool,
    /// True when this piece ends the message; false when more of it follows with the next send.
    pub end_of_record: bool,
    /// The path of its first transmission, in place of the primary one or the scheduler's choice (`SCTP_ADDR_OVER` of
    /// `rfc6458#section-5.3.4`). Data behind it waits while the window of that path is full. Ignored while the path is not
    /// active.
    pub path: Option<PathId>,
    /// Somebody waits for it: neither the pacer nor Nagle's rule holds it back, nor does [`Config::send_queue`](crate::Config::send_queue), and it may
    /// leave while cwnd is full, as long as the flight size exceeds cwnd by less than a chunk. `rfc9260#section-6.1`, rule B, has that bound,
    /// but for one packet. It overtakes other messages only as far as the stream scheduler lets its stream.
    pub urgent: bool,
    /// Tells what becomes of it: one of [`Event::Delivered`](crate::Event::Delivered) and
    /// [`Event::SendFailed`](crate::Event::SendFailed) will name it. Of a message in pieces that of the first piece counts.
    pub tracked: bool,
    /// How long to try to deliver it, if both ends have [`pr_sctp`](crate::Config::pr_sctp). Of a message in pieces that of
    /// the first piece counts.
    pub reliability: Reliability,
    /// Not sent; [`Event::SendFailed`](crate::Event::SendFailed) gives it back (`snd_context` of `rfc6458#section-5.3.4`). Of a
    /// message in pieces that of the first piece counts.
    pub context: u32,
    /// The bytes: at least one.
    pub payload: Payload,
}

impl Message {
    /// A whole ordered message on stream 0 with payload protocol identifier 0.
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

/// When the sender gives a message up that it could not deliver (`rfc3758`, `rfc7496`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reliability {
    /// Never: it is retransmitted until it arrives or the association ends.
    #[default]
    Reliable,
    /// It is not sent or retransmitted once this time has passed since it was given (`rfc3758#section-4.1`, `SCTP_PR_SCTP_TTL`).
    Until(Span),
    /// None of its chunks is retransmitted more often than this, on all paths together (`rfc7496#section-3.1`,
    /// `SCTP_PR_SCTP_RTX`). More than 254 are as many as there need to be.
    Retransmissions(u32),
    /// It makes room in a full send buffer for messages of this policy that have a smaller number (`rfc7496#section-3.2`,
    /// `SCTP_PR_SCTP_PRIO`).
    Priority(u32),
}

/// Messages that were abandoned (`rfc7496#section-4.3`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Abandoned {
    /// Before any part of them was sent.
    pub unsent: u64,
    /// After a part of them was sent.
    pub sent: u64,
}

impl std::ops::AddAssign for Abandoned {
    fn add_assign(&mut self, other: Abandoned) {
        self.unsent += other.unsent;
        self.sent += other.sent;
    }
}

/// Messages that were abandoned, by the policy that they were sent with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AbandonedByPolicy {
    /// With [`Reliability::Until`].
    pub until: Abandoned,
    /// With [`Reliability::Retransmissions`].
    pub retransmissions: Abandoned,
    /// With [`Reliability::Priority`].
    pub priority: Abandoned,
}

impl AbandonedByPolicy {
    /// Those of all policies.
    pub fn total(&self) -> Abandoned {
        let mut total = self.until;
        total += self.retransmissions;
        total += self.priority;
        total
    }
}

/// A tracked message of an association: they are numbered from 0 in the order in which they were given to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageId(pub u64);

/// What a user can read of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unread {
    /// Messages that can be read to their end.
    pub messages: usize,
    /// User bytes, those of messages that have not arrived completely among them.
    pub bytes: ByteCount,
}

/// A user message that arrived, or the next piece of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// The stream it came in.
    pub stream: StreamId,
    /// Its number in the stream; zero if unordered.
    pub ssn: Ssn,
    /// Its number among the ordered or among the unordered messages of its stream (`rfc8260#section-2.1`), so that parts of
    /// several messages can be told apart. Without interleaving it counts ordered messages only; zero if unordered.
    pub mid: Mid,
    /// TSN of its first fragment.
    pub tsn: Tsn,
    /// Payload protocol identifier as the peer set it.
    pub ppid: Ppid,
    /// True if it was sent outside the order of its stream.
    pub unordered: bool,
    /// The bytes read.
    pub payload: Payload,
    /// True if these bytes end the message; false if more of it can be read.
    pub end_of_record: bool,
    /// True if the message ends here, incomplete: the peer abandoned it after its beginning was read. There are no bytes then
    /// (`SCTP_PARTIAL_DELIVERY_ABORTED` of `rfc6458#section-6.1.7`).
    pub aborted: bool,
}

/// Why a message was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The buffer is full now; [`crate::Event::Writable`] tells when it is not.
    #[error("the send buffer is full")]
    WouldBlock,
    /// The message can never fit the send buffer.
    #[error("a message of {length} bytes can never fit the send buffer of {limit} bytes")]
    TooLong {
        /// Bytes in the message.
        length: usize,
        /// Bytes in the send buffer.
        limit: u64,
    },
    /// The stream was not negotiated.
    #[error("stream {} does not exist: the association has {streams} outbound streams", .stream.0)]
    NoSuchStream {
        /// The stream asked for.
        stream: StreamId,
        /// How many there are.
        streams: u16,
    },
    /// The association has no such path, or is not established yet.
    #[error("there is no path {}: see the paths of the association once it is established", .path.0)]
    NoSuchPath {
        /// The path asked for.
        path: PathId,
    },
    /// SCTP cannot carry a message without bytes (`rfc9260#section-3.3.1`).
    #[error("a message needs at least one byte")]
    Empty,
    /// An earlier message is not complete yet: on another stream, as long as messages are not interleaved, or on this one.
    #[error("stream {} has an unfinished message: end it before sending another", .stream.0)]
    UnfinishedMessage {
        /// The stream of the unfinished message.
        stream: StreamId,
    },
    /// There is no such association, or it is being shut down.
    #[error("the association takes no more data")]
    Closed,
}
