//! What an endpoint tells its user.

use crate::message::{Message, MessageId};
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
    /// The association ended, or the peer restarted it, before the peer acknowledged a message, or the message was abandoned
    /// as its [reliability](crate::Reliability) says. There is one event for a message that is tracked or abandoned, and one
    /// for each chunk of another one.
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
        /// True if a part of it was sent: the peer may have it. False if the peer cannot have anything of it.
        sent: bool,
        /// True if it was abandoned, and the association goes on.
        abandoned: bool,
        /// The message, with the bytes that were not acknowledged.
        message: Box<Message>,
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
