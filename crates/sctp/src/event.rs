//! Events that an endpoint reports to its user.

use crate::message::{Message, MessageId};
use crate::path::PathId;
use bytes::Bytes;
use std::fmt;
use std::net::IpAddr;
use units::{ByteCount, Span};
use wire::asconf::AddressChange;
use wire::{Cause, Causes, StreamId, Tsn};

/// Identifies an association of an endpoint; the endpoint never uses the value again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AssocId(pub u32);

/// An event of an association (`rfc9260#section-11.2`).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// The handshake is complete: data may be sent.
    Connected {
        /// Number of streams on which we may send.
        outbound_streams: u16,
        /// Number of streams on which the peer may send.
        inbound_streams: u16,
        /// The peer's addresses, in the order of the path numbers.
        peer_addresses: Vec<IpAddr>,
        /// The peer's port.
        peer_port: u16,
    },
    /// The peer restarted the association from the same addresses. Messages that it had not acknowledged are
    /// lost ([`Event::SendFailed`]).
    Restarted,
    /// A message, or the first part of a large one, can be read.
    Readable,
    /// A send buffer that was full has room again.
    Writable,
    /// The state of a path changed.
    PathChanged {
        /// The remote address of the path.
        address: IpAddr,
        /// The new state.
        state: crate::PathState,
    },
    /// The peer answered a heartbeat that the user requested
    /// ([`Endpoint::heartbeat`](crate::Endpoint::heartbeat)), or a later heartbeat on the same path.
    HeartbeatAnswered {
        /// The remote address of the path.
        address: IpAddr,
        /// Time from the first transmission of the heartbeat to its answer.
        rtt: Span,
    },
    /// Another path became the primary path.
    PrimaryChanged {
        /// The number of the new primary path.
        path: PathId,
        /// The remote address of that path.
        address: IpAddr,
    },
    /// Path MTU discovery changed the MTU of a path.
    MtuChanged {
        /// The number of the path.
        path: PathId,
        /// The remote address of the path.
        address: IpAddr,
        /// The path MTU, IP header included.
        mtu: ByteCount,
    },
    /// The peer holds the [tracked](crate::Message::tracked) messages from `first` to `last` and cannot
    /// renege on them: the cumulative TSN passed all their chunks, or NR-SACKs acknowledged them.
    Delivered {
        /// Identifier of the first of these messages.
        first: MessageId,
        /// Identifier of the last of these messages.
        last: MessageId,
    },
    /// The peer did not acknowledge a message before the association ended or restarted, or the message was
    /// abandoned by its [reliability](crate::Reliability). A tracked or abandoned message causes one event;
    /// any other message causes one event for each chunk.
    SendFailed {
        /// The identifier of the message, if it is tracked.
        id: Option<MessageId>,
        /// The stream of the message.
        stream: StreamId,
        /// TSN of the chunk, or of the first chunk of a tracked message that was not acknowledged. None if a
        /// part of the message was never sent: then the peer does not have the whole message.
        tsn: Option<Tsn>,
        /// Bytes that were not acknowledged.
        length: usize,
        /// True if a part of the message was sent, so that the peer may have it.
        sent: bool,
        /// True if the message was abandoned while the association goes on.
        abandoned: bool,
        /// The message, with the bytes that were not acknowledged.
        message: Box<Message>,
    },
    /// The peer added an address. The address carries data once a heartbeat has confirmed it.
    PeerAddressAdded {
        /// The new address.
        address: IpAddr,
    },
    /// The peer deleted one of its addresses.
    PeerAddressRemoved {
        /// The deleted address.
        address: IpAddr,
    },
    /// An ASCONF request of ours has ended, for example that of
    /// [`Endpoint::add_local_address`](crate::Endpoint::add_local_address): the peer answered the request, or
    /// will never answer it.
    AddressChange {
        /// The requested change.
        change: AddressChange,
        /// Our address that the change concerns.
        address: IpAddr,
        /// True if the peer made the change.
        accepted: bool,
    },
    /// The peer's Adaptation Layer Indication (`rfc5061#section-4.2.6`); follows [`Event::Connected`].
    Adaptation {
        /// The number that identifies the upper layer of the peer.
        code: u32,
    },
    /// The peer authenticates packets with another key than before.
    AuthKeyUsed {
        /// The identifier of the key.
        id: u16,
    },
    /// A key for AUTH is deactivated, and no chunk that was sent with it is outstanding.
    AuthKeyUnused {
        /// The identifier of the key.
        id: u16,
    },
    /// Streams restart at stream sequence number 0, or their reset failed (`rfc6525#section-6.1.1`). Messages
    /// that the peer sent before a reset can be read before this event, later messages after it.
    StreamsReset {
        /// True for streams on which the peer sends.
        incoming: bool,
        /// True for streams on which we send. If `incoming` is true, too, all streams and the TSNs
        /// were reset.
        outgoing: bool,
        /// The streams; an empty list means all streams.
        streams: Vec<StreamId>,
        /// The outcome. A reset that the peer requested is reported only if it was performed.
        result: ResetResult,
    },
    /// Streams were added, or the attempt failed (`rfc6525#section-6.1.3`).
    StreamsAdded {
        /// Number of streams added for the peer to send on.
        incoming: u16,
        /// Number of streams added for us to send on.
        outgoing: u16,
        /// The outcome. Streams that the peer adds are reported only if the addition was performed.
        result: ResetResult,
    },
    /// The peer reported an error; the association goes on.
    PeerError {
        /// The error causes as received.
        causes: Bytes,
    },
    /// The peer sends no more data; the association ends when the peer has acknowledged all our data.
    ShutdownReceived,
    /// The association ended.
    Closed {
        /// The reason.
        reason: CloseReason,
    },
}

/// The direction of the streams that the user resets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there are no other directions")]
pub enum ResetDirection {
    /// Streams on which we send.
    Outgoing,
    /// Streams on which the peer sends.
    Incoming,
    /// The streams of the given numbers in both directions.
    Both,
}

impl ResetDirection {
    /// Returns two flags: for streams on which we send, and for streams on which the peer sends.
    pub(crate) fn parts(self) -> (bool, bool) {
        (self != ResetDirection::Incoming, self != ResetDirection::Outgoing)
    }
}

/// The outcome of a reset or an addition of streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResetResult {
    /// The change was performed.
    Performed,
    /// The peer denied the request.
    Denied,
    /// The peer does not have one of the streams.
    WrongStream,
    /// The peer considered the request invalid, or refused it each time because of a request of its own.
    Failed,
    /// The association was shut down, or the peer restarted it, before the request was sent or answered.
    GivenUp,
}

impl ResetResult {
    /// The name of the result, for example `performed`.
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

/// Reason why a reset or an addition of streams was not begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResetError {
    /// The handshake is not complete, or the association is shutting down or has ended.
    #[error("the association is not established, or it is being shut down")]
    Closed,
    /// One of the two ends does not support RE-CONFIG.
    #[error("streams can be reset only if both ends have the option stream_reset")]
    NotSupported,
    /// A reset of one of the streams is in progress, or too many requests wait.
    #[error("a reset of these streams is in progress: wait for its event")]
    InProgress,
    /// The stream does not exist.
    #[error("stream {} does not exist: there are {streams} streams in this direction", .stream.0)]
    NoSuchStream {
        /// The requested stream.
        stream: StreamId,
        /// Number of streams in this direction.
        streams: u16,
    },
    /// The last message on the stream is not complete yet.
    #[error("stream {} has an unfinished message: end it before the reset", .stream.0)]
    UnfinishedMessage {
        /// The stream of the unfinished message.
        stream: StreamId,
    },
    /// The sum would exceed 65,535 streams.
    #[error("there can be at most 65535 streams in a direction")]
    TooManyStreams,
}

/// Reason why an association ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CloseReason {
    /// Both sides delivered all data.
    Graceful,
    /// Our user aborted the association.
    LocalAbort,
    /// The peer aborted the association.
    PeerAbort {
        /// The error causes as received.
        causes: Bytes,
    },
    /// The peer did not answer the handshake.
    ConnectTimeout,
    /// All addresses of the peer refused the INIT, the last of them by an ICMP message: no process uses the
    /// port, or the host does not support SCTP ([`Icmp::PortUnreachable`](crate::Icmp)).
    Unreachable,
    /// The addresses given to [`connect`](crate::Endpoint::connect) belong to the peer of another
    /// association; two endpoints have at most one association (key terms of `rfc9260`).
    Duplicate {
        /// The association that goes on.
        of: AssocId,
    },
    /// Too many consecutive errors (`rfc9260#section-8.1`), or T5-shutdown-guard expired.
    TooManyErrors,
    /// The peer violated the protocol.
    ProtocolViolation {
        /// Description of the violation.
        what: &'static str,
    },
}

impl CloseReason {
    /// The reason in small letters, such as `peer-abort`.
    pub const fn name(&self) -> &'static str {
        match self {
            CloseReason::Graceful => "graceful",
            CloseReason::LocalAbort => "local-abort",
            CloseReason::PeerAbort { .. } => "peer-abort",
            CloseReason::ConnectTimeout => "connect-timeout",
            CloseReason::Unreachable => "unreachable",
            CloseReason::Duplicate { .. } => "duplicate",
            CloseReason::TooManyErrors => "too-many-errors",
            CloseReason::ProtocolViolation { .. } => "protocol-violation",
        }
    }
}

/// A sentence for people, with the reason that the application of the peer gave for an abort.
impl fmt::Display for CloseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CloseReason::Graceful => "the connection was shut down and takes no more messages",
            CloseReason::LocalAbort => "the connection was aborted on this side",
            CloseReason::PeerAbort { .. } => "the peer aborted the connection",
            CloseReason::ConnectTimeout => "the peer did not answer",
            CloseReason::Unreachable => "the host of the peer reports that nobody has the port",
            CloseReason::Duplicate { .. } => "there is a connection with this peer already",
            CloseReason::TooManyErrors => "the peer no longer answers on any path",
            CloseReason::ProtocolViolation { .. } => "the peer broke the protocol",
        })?;
        match self {
            CloseReason::PeerAbort { causes } => match told(causes) {
                Some(reason) => write!(f, ": \"{}\"", String::from_utf8_lossy(reason).escape_debug()),
                None => Ok(()),
            },
            CloseReason::ProtocolViolation { what } => write!(f, ": {what}"),
            _ => Ok(()),
        }
    }
}

/// The reason that the peer's application gave for an abort, at most 200 bytes of it; `None` without
/// a reason.
fn told(causes: &[u8]) -> Option<&[u8]> {
    const MOST: usize = 200;
    Causes::from_bytes(causes).iter().find_map(|cause| match cause {
        Ok(Cause::UserInitiatedAbort(reason)) if !reason.is_empty() => {
            Some(&reason[..reason.len().min(MOST)])
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_abort_is_told_with_the_reason_of_the_peer_and_nothing_unprintable() {
        let abort =
            |causes: &'static [u8]| CloseReason::PeerAbort { causes: Bytes::from_static(causes) }.to_string();
        // rfc9260#section-3.3.10.12
        let given = abort(&[0, 12, 0, 10, b'f', b'u', b'l', b'l', b'\n', 0xff, 0, 0]);
        assert_eq!(given, "the peer aborted the connection: \"full\\n\u{fffd}\"");
        for nothing in [&[][..], &[0, 12, 0, 4], &[0, 12, 0, 99, 1], &[0, 13, 0, 4]] {
            assert_eq!(abort(nothing), "the peer aborted the connection");
        }
        let violation = CloseReason::ProtocolViolation { what: "illegal ASCONF-ACK" };
        assert_eq!(violation.to_string(), "the peer broke the protocol: illegal ASCONF-ACK");
    }
}
