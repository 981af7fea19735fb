use super::Message;
use sctp::CloseReason;
use std::io;
use std::net::IpAddr;
use wire::StreamId;

/// Reason why a connection ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConnectionError {
    /// The association ended.
    #[error("the association ended: {0:?}")]
    Closed(CloseReason),
    /// The thread that drives the endpoint ended.
    #[error("the endpoint's driver ended")]
    Driver,
}

impl ConnectionError {
    /// Both sides delivered everything.
    pub fn is_graceful(&self) -> bool {
        matches!(self, ConnectionError::Closed(CloseReason::Graceful))
    }
}

/// Reason why the peer does not have what was given to send, as far as known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotDelivered {
    /// The connection ended before the peer had acknowledged it.
    #[error(transparent)]
    Ended(ConnectionError),
    /// It was lost although the connection had not ended: it was given up as its [reliability](crate::Reliability) says, the peer
    /// began anew, or the peer shut the connection down before everything was sent.
    #[error("the message was given up, or lost because the peer began anew or shut the connection down")]
    Lost,
}

/// Reason why a call about a path failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// The connection ended.
    #[error(transparent)]
    Ended(ConnectionError),
    /// There is no such path, or it cannot be used yet.
    #[error("there is no confirmed path to {address}")]
    NoSuchPath {
        /// The address asked for.
        address: IpAddr,
    },
    /// The path failed before the peer answered.
    #[error("the peer does not answer on the path to {address}")]
    Failed {
        /// The address asked for.
        address: IpAddr,
    },
}

/// Reason why a call about streams failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StreamError {
    /// The connection ended.
    #[error(transparent)]
    Ended(ConnectionError),
    /// The stream was not negotiated.
    #[error("stream {} does not exist: the connection has {streams} outbound streams", .stream.0)]
    NoSuchStream {
        /// The stream asked for.
        stream: StreamId,
        /// How many there are.
        streams: u16,
    },
    /// The stream scheduler needs a weight.
    #[error("stream {} cannot have the weight 0: expected 1 to 65535", .stream.0)]
    ZeroWeight {
        /// The stream asked for.
        stream: StreamId,
    },
    /// The reset or the addition could not begin.
    #[error(transparent)]
    Refused(#[from] sctp::ResetError),
}

/// Reason why no connection could be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConnectError {
    /// The attempt could not begin.
    #[error(transparent)]
    Refused(#[from] sctp::ConnectError),
    /// The attempt failed.
    #[error(transparent)]
    Failed(ConnectionError),
}

/// The endpoint was closed, or its driver ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the endpoint is closed")]
pub struct EndpointClosed;

/// Reason why a message was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
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
        /// The stream asked for.
        stream: StreamId,
        /// How many there are.
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
}

impl From<SendError> for io::Error {
    fn from(error: SendError) -> Self {
        let kind = match error {
            SendError::Ended(_) | SendError::Shut => io::ErrorKind::BrokenPipe,
            SendError::NoSuchStream { .. } | SendError::Empty | SendError::TooLong { .. } => {
                io::ErrorKind::InvalidInput
            }
        };
        io::Error::new(kind, error)
    }
}

/// Reason why a message was not taken at once.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrySendError {
    /// There is no room, or others wait; here is the message.
    #[error("there is no room for the message now")]
    Full(Message),
    /// It can never be taken.
    #[error(transparent)]
    Refused(#[from] SendError),
}

/// This many events were lost because nobody read them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} events were lost")]
pub struct Lagged(pub u64);
