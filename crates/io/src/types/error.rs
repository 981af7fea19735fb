use super::Message;
use crate::guard::GuardError;
use sctp::{CloseReason, ConfigError, SeedError};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use wire::StreamId;

/// Reason why an endpoint could not be bound.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BindError {
    /// No socket could be bound to this address.
    #[error("cannot bind {address}: {source}{}", hint(source))]
    Address {
        /// The address and UDP port.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// No raw socket could be opened at this address, for packets in IP.
    #[error("cannot send SCTP in IP at {address}: {source}{}", raw_hint(source))]
    Ip {
        /// The address.
        address: IpAddr,
        /// The system's error.
        source: io::Error,
    },
    /// The endpoint has a guard, whose packets are not SCTP, and a carrier other than UDP.
    #[error("a guard needs UDP: its packets are not SCTP, as those of IP protocol 132 are")]
    GuardNeedsUdp,
    /// The folder of logs could not be created ([`Builder::qlog`](crate::Builder::qlog)).
    #[error("cannot create the folder {} for logs: {source}", dir.display())]
    Log {
        /// The folder.
        dir: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The host has no address to use.
    #[error("this host has no unicast address: name one with `local`")]
    NoAddress,
    /// An option has an invalid value.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The operating system provided no random bytes.
    #[error(transparent)]
    Seed(#[from] SeedError),
    /// The operating system could not create a thread, or could not wait for sockets.
    #[error("cannot start the driver: {0}")]
    System(#[from] io::Error),
}

fn raw_hint(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            let program = std::env::current_exe().unwrap_or_else(|_| "PROGRAM".into());
            format!(": the program needs CAP_NET_RAW (setcap cap_net_raw+ep {})", program.display())
        }
        io::ErrorKind::AddrNotAvailable => hint(error).to_owned(),
        _ => String::new(),
    }
}

fn hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::AddrNotAvailable => ": no interface of this host has that address",
        io::ErrorKind::AddrInUse => ": choose another UDP port, or 0 for any",
        _ => "",
    }
}

/// Reason why a connection ended. Every call on an ended connection or endpoint returns this type as its
/// error, or an error whose variant `Ended` contains it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectionError {
    /// The association ended.
    #[error("{0}")]
    Closed(CloseReason),
    /// The endpoint was closed, or the thread that drives it ended.
    #[error("the endpoint is closed")]
    EndpointClosed,
    /// The [encryption layer](crate::Guard) of the endpoint no longer accepts the peer.
    #[error("the key of the peer was revoked")]
    Revoked,
    /// The peer did not complete the handshake of the [encryption layer](crate::Guard).
    #[error("no answer to the handshake: wrong key, wrong port or no route")]
    NoSession,
}

impl ConnectionError {
    /// True if both sides delivered everything.
    pub fn is_graceful(&self) -> bool {
        matches!(self, ConnectionError::Closed(CloseReason::Graceful))
    }

    /// Returns an error unless the end is graceful, for callers that wait for the end.
    pub(crate) fn graceful(&self) -> Result<(), ConnectionError> {
        if self.is_graceful() { Ok(()) } else { Err(self.clone()) }
    }
}

/// Reason why a message was not delivered, if it is known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotDelivered {
    /// The connection ended before the peer had acknowledged the message.
    #[error(transparent)]
    Ended(ConnectionError),
    /// The message was lost although the connection had not ended: it was abandoned because of its
    /// [reliability](crate::Reliability), the peer restarted, or the peer shut the connection down before
    /// everything was sent.
    #[error("the message was given up, or lost because the peer began anew or shut the connection down")]
    Lost,
}

/// Reason why a call about a path failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// The connection ended.
    #[error(transparent)]
    Ended(#[from] ConnectionError),
    /// The association refuses the call.
    #[error(transparent)]
    Refused(#[from] sctp::PathError),
    /// The path failed before the peer answered.
    #[error("the peer does not answer on the path to {address}")]
    Failed {
        /// The requested address.
        address: IpAddr,
    },
}

/// Reason why options of a connection could not be changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// The connection ended.
    #[error(transparent)]
    Ended(#[from] ConnectionError),
    /// An option cannot have this value.
    #[error(transparent)]
    Invalid(#[from] ConfigError),
}

/// Reason why a call about streams failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// The connection ended.
    #[error(transparent)]
    Ended(#[from] ConnectionError),
    /// The value of the stream was not set.
    #[error(transparent)]
    Value(#[from] sctp::StreamError),
    /// The reset or the addition could not begin.
    #[error(transparent)]
    Refused(#[from] sctp::ResetError),
}

/// Reason why a call about keys for AUTH failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The connection ended.
    #[error(transparent)]
    Ended(#[from] ConnectionError),
    /// The call is not possible with this key.
    #[error(transparent)]
    Refused(#[from] sctp::KeyError),
}

/// Reason why a local address could not be added, removed or preferred.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AddressError {
    /// The connection ended, or the endpoint was closed.
    #[error(transparent)]
    Ended(#[from] ConnectionError),
    /// No socket could be bound to the address.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// The endpoint has the address already.
    #[error("the endpoint has the address {address} already")]
    Known {
        /// The requested address.
        address: IpAddr,
    },
    /// The address is no unicast address, or the endpoint has 16 addresses.
    #[error("the endpoint cannot have the address {address} too: expected at most 16 unicast addresses")]
    Unsuitable {
        /// The requested address.
        address: IpAddr,
    },
    /// The endpoint does not have the address.
    #[error("the endpoint does not have the address {address}")]
    Unknown {
        /// The requested address.
        address: IpAddr,
    },
    /// The endpoint would have no address left.
    #[error("{address} is the only address of the endpoint, which needs one")]
    Last {
        /// The requested address.
        address: IpAddr,
    },
    /// The association refuses the change.
    #[error(transparent)]
    Refused(#[from] sctp::AddressError),
}

/// Reason why saved paths could not be restored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RestoreError {
    /// The endpoint was closed.
    #[error(transparent)]
    Ended(#[from] ConnectionError),
    /// The text is damaged, or of another version.
    #[error(transparent)]
    Damaged(#[from] sctp::RestoreError),
}

/// Reason why no connection could be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The association could not be begun.
    #[error(transparent)]
    Refused(#[from] sctp::ConnectError),
    /// The guard has no channel to the peer.
    #[error(transparent)]
    Guard(#[from] GuardError),
    /// The peer has an identity, but the endpoint has no guard that could check it.
    #[error(
        "the identity of the peer cannot be checked: bind the endpoint with `guard`, or name no identity"
    )]
    Unguarded,
    /// The handshake failed.
    #[error(transparent)]
    Failed(ConnectionError),
    /// The peer did not answer within the time limit of the call, and the attempt was given up.
    #[error("the peer did not answer in time")]
    TimedOut,
}

/// Reason why a message was not queued.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The connection ended.
    #[error(transparent)]
    Ended(ConnectionError),
    /// The connection is being shut down.
    #[error("the connection is being shut down and takes no more messages")]
    Shut,
    /// The stream was not negotiated.
    #[error("stream {} does not exist: the connection has {streams} outbound streams", .stream.0)]
    NoSuchStream {
        /// The requested stream.
        stream: StreamId,
        /// Number of outbound streams.
        streams: u16,
    },
    /// SCTP cannot carry a message without bytes (`rfc9260#section-3.3.1`).
    #[error("a message needs at least one byte")]
    Empty,
    /// The message is longer than the send buffer.
    #[error("a message of {length} bytes can never fit the send buffer of {limit} bytes: send it in pieces")]
    TooLong {
        /// Bytes in the message.
        length: usize,
        /// Bytes in the send buffer.
        limit: u64,
    },
    /// There was no room for the message within the time limit of the call.
    #[error("there was no room for the message in time")]
    TimedOut,
}

impl From<SendError> for io::Error {
    fn from(error: SendError) -> Self {
        let kind = match error {
            SendError::Ended(_) | SendError::Shut => io::ErrorKind::BrokenPipe,
            SendError::TimedOut => io::ErrorKind::TimedOut,
            SendError::NoSuchStream { .. } | SendError::Empty | SendError::TooLong { .. } => {
                io::ErrorKind::InvalidInput
            }
        };
        io::Error::new(kind, error)
    }
}

/// Reason why a message was not queued at once.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(clippy::exhaustive_enums, reason = "a message fits now, later or never")]
pub enum TrySendError {
    /// There is no room, or other callers wait; contains the message.
    #[error("there is no room for the message now")]
    Full(Message),
    /// The message can never be queued.
    #[error(transparent)]
    Refused(#[from] SendError),
}

/// This number of events was lost because nobody read them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} events were lost")]
pub struct Lagged(pub u64);
