//! What an endpoint tells its user.

use crate::message::{Message, MessageId};
use crate::path::PathId;
use bytes::Bytes;
use std::fmt;
use std::net::IpAddr;
use units::{ByteCount, Span};
use wire::asconf::AddressChange;
use wire::{Cause, Causes, StreamId, Tsn};

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
    /// The peer added an address of its own. A heartbeat has to confirm it before it carries data.
    PeerAddressAdded {
        /// The address.
        address: IpAddr,
    },
    /// The peer deleted an address of its own.
    PeerAddressRemoved {
        /// The address.
        address: IpAddr,
    },
    /// The peer answered what [`Endpoint::add_local_address`](crate::Endpoint::add_local_address) and the like asked it, or
    /// never will.
    AddressChange {
        /// What it was asked.
        change: AddressChange,
        /// The address of ours.
        address: IpAddr,
        /// It did so.
        accepted: bool,
    },
    /// A key for AUTH was deactivated, and nothing that was sent with it is outstanding any more.
    AuthKeyUnused {
        /// The identifier of the key.
        id: u16,
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
    /// ICMP messages answered the INIT at all addresses of the peer, or at the last one that had not refused: nobody has the port, or
    /// speaks SCTP ([`Icmp::PortUnreachable`](crate::Icmp)).
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

/// The beginning of the reason that the application of the peer gave, if it gave one.
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
