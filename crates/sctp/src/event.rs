//! What an endpoint tells its user.

use bytes::Bytes;
use std::net::IpAddr;
use units::Span;
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
    /// A message was lost for good: the association ended before the peer acknowledged it.
    SendFailed {
        /// Its stream.
        stream: StreamId,
        /// TSN of the chunk if it had been sent.
        tsn: Option<Tsn>,
        /// Bytes not acknowledged.
        length: usize,
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
