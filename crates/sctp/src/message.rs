//! User messages on their way in and out.

use crate::path::PathId;
pub use transport::Payload;
use units::ByteCount;
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
    /// Tells what becomes of it: one of [`Event::Delivered`](crate::Event::Delivered) and
    /// [`Event::SendFailed`](crate::Event::SendFailed) will name it. Of a message in pieces that of the first piece counts.
    pub tracked: bool,
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
            tracked: false,
            payload,
        }
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
