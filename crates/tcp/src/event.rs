//! Events and errors that an endpoint reports to its user.

/// Identifier of a connection of an endpoint. No later connection of the endpoint gets the same identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnId(pub u32);

/// An event of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The handshake is complete: data flows.
    Connected,
    /// Data can be read.
    Readable,
    /// The send buffer was full and has room again.
    Writable,
    /// The peer closed its sending side; earlier data can still be read.
    PeerClosed,
    /// The connection ended. Data that arrived before can still be read.
    Closed {
        /// Why the connection ended.
        reason: CloseReason,
    },
}

/// Reason for the end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// Both sides delivered everything.
    Graceful,
    /// The local user aborted the connection.
    LocalAbort,
    /// The peer refused the connection: a reset answered the SYN (`rfc9293#section-3.10.7.3`).
    Refused,
    /// The peer reset the connection (`rfc9293#section-3.10.7.4`).
    Reset,
    /// The peer did not answer the handshake.
    ConnectTimeout,
    /// The peer did not acknowledge data (R2 of `rfc9293#section-3.8.3`).
    TimedOut,
}

/// Error: why data was not queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The connection does not exist, or its sending side was closed.
    #[error("the connection takes no more data")]
    Closed,
}
