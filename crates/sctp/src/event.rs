//! What an endpoint tells its user.

use crate::message::MessageId;
use crate::path::PathId;
use bytes::Bytes;
use std::net::IpAddr;
use units::{ByteCount, Span};
use wire::{StreamId, Tsn};

/// An association of an endpoint; never used again for another one of the same endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AssocId(pub u32);

/// Something happened to an association (`rfc9260#section-11.2`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The handshake is complete: data may be sent.
    Connected {
        /// Streams we may use.
        outbound_streams: u16,
        /// Streams the peer may use.
        inbound_streams: u16,
        /// The peer's addresses, in the order of the paths' numbers.
        peer_addresses: Vec<IpAddr>,
        /// The peer's port.
        peer_port: u16,
    },
    /// The peer began anew with the same addresses; what was in flight is lost.
    Restarted,
    /// A message, or the first part of a large one, can be read.
    Readable,
    /// The send buffer had been full and has room again.
    Writable,
    /// A path changed.
    PathChanged {
        /// The remote address of the path.
        address: IpAddr,
        /// Its state now.
        state: crate::PathState,
    },
    /// A heartbeat that the user asked for ([`Endpoint::heartbeat`](crate::Endpoint::heartbeat)), or a later one on the
    /// same path, was answered.
    HeartbeatAnswered {
        /// The remote address of the path.
        address: IpAddr,
        /// The round-trip time.
        rtt: Span,
    },
    /// Another path is the primary path.
    PrimaryChanged {
        /// Its number.
        path: PathId,
        /// Its remote address.
        address: IpAddr,
    },
    /// Path MTU discovery found another path MTU.
    MtuChanged {
        /// The number of the path.
        path: PathId,
        /// Its remote address.
        address: IpAddr,
        /// The path MTU, IP header included.
        mtu: ByteCount,
    },
    /// The peer has these [tracked](crate::Message::tracked) messages for good, all from `first` to `last`: the cumulative TSN
    /// passed all their chunks, or NR-SACKs say that the peer will not renege on them.
    Delivered {
        /// The lowest of them.
        first: MessageId,
        /// The highest of them.
        last: MessageId,
    },
    /// The association ended, or the peer restarted it, before the peer acknowledged a message. There is one event for a
    /// tracked message, and one for each chunk of another one.
    SendFailed {
        /// The message, if it is tracked.
        id: Option<MessageId>,
        /// Its stream.
        stream: StreamId,
        /// TSN of the chunk, or of the first one of a tracked message that was not acknowledged. None if it was never sent,
        /// or if a part of a tracked message was not: then the peer does not have it.
        tsn: Option<Tsn>,
        /// Bytes not acknowledged.
        length: usize,
    },
    /// Streams begin anew at stream sequence number 0, or an attempt at that failed (`rfc6525#section-6.1.1`). What the peer
    /// sent before a reset can be read before this event, and what it sent behind it after this event.
    StreamsReset {
        /// Streams on which the peer sends.
        incoming: bool,
        /// Streams on which we send. With `incoming`: all streams, and the TSNs.
        outgoing: bool,
        /// Which ones; none: all.
        streams: Vec<StreamId>,
        /// What became of it. Resets that the peer began are told of only if they were performed.
        result: ResetResult,
    },
    /// There are more streams, or an attempt at that failed (`rfc6525#section-6.1.3`).
    StreamsAdded {
        /// How many more the peer may use.
        incoming: u16,
        /// How many more we may use.
        outgoing: u16,
        /// What became of it. Streams that the peer adds are told of only if that was performed.
        result: ResetResult,
    },
    /// The peer reported an error; the association goes on.
    PeerError {
        /// The error causes as they came.
        causes: Bytes,
    },
    /// The peer sends no more data; the association ends when ours is delivered.
    ShutdownReceived,
    /// The association ended.
    Closed {
        /// How.
        reason: CloseReason,
    },
}

/// The streams of a reset that the user asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetDirection {
    /// Those on which we send.
    Outgoing,
    /// Those on which the peer sends.
    Incoming,
    /// The streams of these numbers in both directions.
    Both,
}

impl ResetDirection {
    /// Whether streams on which we send are meant, and whether those on which the peer sends.
    pub(crate) fn parts(self) -> (bool, bool) {
        (self != ResetDirection::Incoming, self != ResetDirection::Outgoing)
    }
}

/// What became of a reset or an addition of streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetResult {
    /// It was performed.
    Performed,
    /// The peer denied it.
    Denied,
    /// The peer does not have a stream that was named.
    WrongStream,
    /// The peer took the request for invalid, or always had one of its own in progress.
    Failed,
    /// The association is being shut down, or the peer began it anew, before the request was sent or answered.
    GivenUp,
}

impl ResetResult {
    /// Its name, as in `performed`.
    pub const fn name(self) -> &'static str {
        match self {
            ResetResult::Performed => "performed",
            ResetResult::Denied => "denied",
            ResetResult::WrongStream => "wrong-stream",
            ResetResult::Failed => "failed",
            ResetResult::GivenUp => "given-up",
        }
    }
}

/// Why a reset or an addition of streams was not begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResetError {
    /// The handshake is not complete, or the association is being shut down or has ended.
    #[error("the association is not established, or it is being shut down")]
    Closed,
    /// Not both ends announced RE-CONFIG.
    #[error("streams can be reset only if both ends have the option stream_reset")]
    NotSupported,
    /// A reset of one of the streams is under way, or too much waits.
    #[error("a reset of these streams is in progress: wait for its event")]
    InProgress,
    /// The stream was not negotiated.
    #[error("stream {} does not exist: there are {streams} streams in this direction", .stream.0)]
    NoSuchStream {
        /// The stream asked for.
        stream: StreamId,
        /// How many there are.
        streams: u16,
    },
    /// The stream has a message that is not complete yet.
    #[error("stream {} has an unfinished message: end it before the reset", .stream.0)]
    UnfinishedMessage {
        /// The stream of the unfinished message.
        stream: StreamId,
    },
    /// There would be more than 65,535 streams.
    #[error("there can be at most 65535 streams in a direction")]
    TooManyStreams,
}

/// How an association ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// Both sides delivered everything.
    Graceful,
    /// We aborted it.
    LocalAbort,
    /// The peer aborted it.
    PeerAbort {
        /// The error causes as they came.
        causes: Bytes,
    },
    /// The peer did not answer the handshake.
    ConnectTimeout,
    /// An ICMP message answered the INIT: nobody has the port, or speaks SCTP ([`Icmp::PortUnreachable`](crate::Icmp)).
    Unreachable,
    /// The addresses given to [`connect`](crate::Endpoint::connect) turned out to be those of a peer that there is an
    /// association with: two endpoints have one at a time (key terms of `rfc9260`).
    Duplicate {
        /// The association that goes on.
        of: AssocId,
    },
    /// Too many errors in a row (`rfc9260#section-8.1`).
    TooManyErrors,
    /// The peer broke the protocol.
    ProtocolViolation {
        /// Description of the violation.
        what: &'static str,
    },
}
