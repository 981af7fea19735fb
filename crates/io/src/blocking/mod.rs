//! The same interface for programs without a runtime: calls that wait. [`block_on`] waits for any other
//! future, such as that of [`Events::next`](crate::Events::next).

mod extensions;

use crate::face::Delivery;
use crate::guard::Identity;
use crate::info::{AssocStats, PathInfo};
pub use crate::shared::wait::{block_on, block_on_for};
use crate::stats::EndpointStats;
use crate::types::{
    ConnectError, ConnectionError, Message, NotDelivered, PathError, Peer, Received, SendError, TrySendError,
};
use bytes::Bytes;
use sctp::Config;
use std::future::poll_fn;
use std::io::{self, Write};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use wire::StreamId;

/// Describes an endpoint: addresses, ports, options.
pub type Builder = crate::Builder<Endpoint>;

/// As [`crate::Endpoint`].
#[derive(Clone, Debug)]
pub struct Endpoint {
    inner: crate::Endpoint,
}

impl From<crate::Endpoint> for Endpoint {
    fn from(inner: crate::Endpoint) -> Self {
        Endpoint { inner }
    }
}

impl From<Endpoint> for crate::Endpoint {
    fn from(endpoint: Endpoint) -> Self {
        endpoint.inner
    }
}

impl Endpoint {
    /// Begins to describe an endpoint.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Connects to a peer.
    ///
    /// # Errors
    /// [`ConnectError`].
    pub fn connect(&self, to: impl Into<Peer>) -> Result<Connection, ConnectError> {
        block_on(self.inner.connect(to)).map(Connection::from)
    }

    /// As [`Self::connect`], but with `config` in place of the options of the endpoint.
    ///
    /// # Errors
    /// [`ConnectError`].
    pub fn connect_with(
        &self,
        to: impl Into<Peer>,
        config: impl Into<Arc<Config>>,
    ) -> Result<Connection, ConnectError> {
        block_on(self.inner.connect_with(to, config)).map(Connection::from)
    }

    /// As [`Self::connect`], for at most `timeout`; then the attempt is given up.
    ///
    /// # Errors
    /// [`ConnectError`]: [`ConnectError::TimedOut`] if the time passed.
    pub fn connect_timeout(
        &self,
        to: impl Into<Peer>,
        timeout: Duration,
    ) -> Result<Connection, ConnectError> {
        let connected = block_on_for(self.inner.connect(to), timeout);
        connected.ok_or(ConnectError::TimedOut)?.map(Connection::from)
    }

    /// Lets peers connect. At most `backlog` connections wait to be accepted; more are refused with ABORT.
    pub fn listen(&self, backlog: usize) -> Listener {
        Listener { inner: self.inner.listen(backlog) }
    }

    /// The current local addresses.
    pub fn local_addresses(&self) -> Vec<IpAddr> {
        self.inner.local_addresses()
    }

    /// The SCTP port.
    pub fn port(&self) -> u16 {
        self.inner.port()
    }

    /// The UDP port.
    pub fn udp_port(&self) -> u16 {
        self.inner.udp_port()
    }

    /// Counters of the sockets.
    pub fn stats(&self) -> EndpointStats {
        self.inner.stats()
    }

    /// Shuts all connections down, and waits until they and the driver have ended.
    pub fn close(&self) {
        block_on(self.inner.close());
    }

    /// As [`Self::close`], for at most `timeout`.
    ///
    /// # Errors
    /// [`WaitError::TimedOut`]: the connections are still shut down in the background. If the program exits
    /// before that is complete, undelivered messages are lost.
    pub fn close_timeout(&self, timeout: Duration) -> Result<(), WaitError> {
        block_on_for(self.inner.close(), timeout).ok_or(WaitError::TimedOut)
    }
}

/// As [`crate::Listener`].
#[derive(Debug)]
pub struct Listener {
    inner: crate::Listener,
}

impl Listener {
    /// Waits for the next connection.
    ///
    /// # Errors
    /// [`ConnectionError::EndpointClosed`].
    pub fn accept(&self) -> Result<Connection, ConnectionError> {
        block_on(self.inner.accept()).map(Connection::from)
    }

    /// As [`Self::accept`], for at most `timeout`.
    ///
    /// # Errors
    /// [`WaitError`]; no connection is lost.
    pub fn accept_timeout(&self, timeout: Duration) -> Result<Connection, WaitError> {
        Ok(block_on_for(self.inner.accept(), timeout).ok_or(WaitError::TimedOut)??.into())
    }
}

/// As [`crate::Connection`].
#[derive(Clone, Debug)]
pub struct Connection {
    inner: crate::Connection,
}

impl From<crate::Connection> for Connection {
    fn from(inner: crate::Connection) -> Self {
        Connection { inner }
    }
}

impl Connection {
    /// Queues a message to send, and waits until there is room for it.
    ///
    /// # Errors
    /// [`SendError`]; then the message is not queued.
    pub fn send(&self, message: impl Into<Message>) -> Result<(), SendError> {
        block_on(self.inner.send(message))
    }

    /// As [`Self::send`], for at most `timeout`.
    ///
    /// # Errors
    /// [`SendError`]; [`SendError::TimedOut`] if the time passed. After an error the message is not queued.
    pub fn send_timeout(&self, message: impl Into<Message>, timeout: Duration) -> Result<(), SendError> {
        block_on_for(self.inner.send(message), timeout).ok_or(SendError::TimedOut)?
    }

    /// As [`Self::send`], and returns a future that is ready when the peer has the message.
    ///
    /// # Errors
    /// [`SendError`]; then the message is not queued.
    pub fn send_tracked(&self, message: impl Into<Message>) -> Result<Delivery, SendError> {
        block_on(self.inner.send_tracked(message))
    }

    /// Queues a message to send if there is room and no other caller waits.
    ///
    /// # Errors
    /// [`TrySendError`], with the message if there is no room.
    pub fn try_send(&self, message: impl Into<Message>) -> Result<(), TrySendError> {
        self.inner.try_send(message)
    }

    /// Lets the driver take messages from `source` while the send buffer has room; see
    /// [`Connection::send_from`](crate::Connection::send_from).
    pub fn send_from(&self, source: impl FnMut() -> Option<Message> + Send + 'static) {
        self.inner.send_from(source);
    }

    /// Tells the driver that the source of [`Self::send_from`], which had no message, has one again.
    pub fn source_ready(&self) {
        self.inner.source_ready();
    }

    /// Returns a writer for a message that is longer than the send buffer.
    pub fn writer(&self, stream: StreamId) -> MessageWriter {
        self.inner.writer(stream).into()
    }

    /// The next message. `None` means that the peer or this end shut the connection down and everything was
    /// read: nothing is missing.
    ///
    /// # Errors
    /// [`ConnectionError`] once the connection has ended otherwise (an abort, no answer on any path) and
    /// everything that arrived was read.
    pub fn recv(&self) -> Result<Option<Received>, ConnectionError> {
        block_on(self.inner.recv())
    }

    /// As [`Self::recv`], for all messages that have arrived: appends them to `messages` and returns their
    /// number. Zero means that the connection was shut down and everything was read.
    ///
    /// # Errors
    /// As [`Self::recv`].
    pub fn recv_many(&self, messages: &mut Vec<Received>) -> Result<usize, ConnectionError> {
        block_on(self.inner.recv_many(messages))
    }

    /// As [`Self::recv`], for at most `timeout`.
    ///
    /// # Errors
    /// [`WaitError`]; nothing is lost.
    pub fn recv_timeout(&self, timeout: Duration) -> Result<Option<Received>, WaitError> {
        Ok(block_on_for(self.inner.recv(), timeout).ok_or(WaitError::TimedOut)??)
    }

    /// Number of unread messages of a stream. Messages that are still in the receive buffer, because 128 KiB
    /// of others are unread, are not counted.
    pub fn unread(&self, stream: StreamId) -> usize {
        self.inner.unread(stream)
    }

    /// Waits until the peer has acknowledged all messages queued so far.
    ///
    /// # Errors
    /// [`NotDelivered`] if messages queued since the last flush were lost, or the connection failed.
    pub fn flush(&self) -> Result<(), NotDelivered> {
        block_on(self.inner.flush())
    }

    /// The peer's addresses, in the order of the paths, and its SCTP port.
    ///
    /// # Errors
    /// [`ConnectionError`] once the connection has ended.
    pub fn peer(&self) -> Result<(Vec<IpAddr>, u16), ConnectionError> {
        self.inner.peer()
    }

    /// The identity that the peer has proved to the [guard](Builder::guard); `None` without a guard.
    pub fn peer_identity(&self) -> Option<Identity> {
        self.inner.peer_identity()
    }

    /// The paths as they are now.
    ///
    /// # Errors
    /// [`ConnectionError`] once the connection has ended.
    pub fn paths(&self) -> Result<Vec<PathInfo>, ConnectionError> {
        block_on(self.inner.paths())
    }

    /// Counters and state of the association.
    ///
    /// # Errors
    /// [`ConnectionError`] once the connection has ended.
    pub fn stats(&self) -> Result<AssocStats, ConnectionError> {
        block_on(self.inner.stats())
    }

    /// Makes an address of the peer the primary path: without CMT, new data goes there while it works.
    ///
    /// # Errors
    /// [`PathError`].
    pub fn set_primary(&self, address: IpAddr) -> Result<(), PathError> {
        block_on(self.inner.set_primary(address))
    }

    /// Sends a heartbeat to an address of the peer, waits for the answer, and returns the round-trip time.
    ///
    /// # Errors
    /// [`PathError`].
    pub fn heartbeat(&self, address: IpAddr) -> Result<Duration, PathError> {
        block_on(self.inner.heartbeat(address))
    }

    /// Refuses further messages, delivers the queued ones, and waits for the end of the association.
    ///
    /// # Errors
    /// [`ConnectionError`] if the association did not end gracefully.
    pub fn shutdown(&self) -> Result<(), ConnectionError> {
        block_on(self.inner.shutdown())
    }

    /// As [`Self::shutdown`], but aborts the connection if it has not ended after `timeout`, like
    /// `SO_LINGER`.
    ///
    /// # Errors
    /// [`ConnectionError`] if the association did not end gracefully, or was aborted after `timeout`.
    pub fn linger(&self, timeout: Duration) -> Result<(), ConnectionError> {
        let ended = block_on_for(self.inner.shutdown(), timeout);
        ended.unwrap_or_else(|| {
            self.inner.abort("it lingered too long");
            // The connection may have ended just before the abort.
            self.closed().graceful()
        })
    }

    /// Ends the association at once and sends the reason to the peer. Undelivered data is lost.
    pub fn abort(&self, reason: impl Into<Bytes>) {
        self.inner.abort(reason);
    }

    /// Waits for the end of the association, and returns its reason.
    pub fn closed(&self) -> ConnectionError {
        block_on(self.inner.closed())
    }

    /// The same connection with `async` methods.
    pub fn into_async(self) -> crate::Connection {
        self.inner
    }
}

/// As [`crate::MessageWriter`], and a [`Write`]. `flush` does nothing, because the peer cannot get a part of
/// a message.
#[derive(Debug)]
pub struct MessageWriter {
    inner: crate::MessageWriter,
}

impl From<crate::MessageWriter> for MessageWriter {
    fn from(inner: crate::MessageWriter) -> Self {
        MessageWriter { inner }
    }
}

impl MessageWriter {
    /// Ends the message. A writer that is dropped without this call aborts the connection once a piece is
    /// queued.
    ///
    /// # Errors
    /// [`SendError`]: [`SendError::Empty`] if nothing was written.
    pub fn finish(self) -> Result<(), SendError> {
        block_on(self.inner.finish())
    }
}

impl Write for MessageWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(block_on(poll_fn(|cx| self.inner.poll_write(cx, bytes)))?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Delivery {
    /// Waits until the peer has the message.
    ///
    /// # Errors
    /// [`NotDelivered`].
    pub fn wait(self) -> Result<(), NotDelivered> {
        block_on(self)
    }
}

/// Reason why a wait with a time limit ended without a result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WaitError {
    /// The time was over before anything came.
    #[error("the time was over before anything came")]
    TimedOut,
    /// The connection or the endpoint ended.
    #[error(transparent)]
    Ended(#[from] ConnectionError),
}
