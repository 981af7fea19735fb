//! An association on UDP sockets for Python.

use super::delivery::NetDelivery;
use super::error::{self, NotDeliveredError};
use super::events::NetEvents;
use super::message::Message;
use super::operation::Operation;
use super::own::Own;
use super::writer::NetWriter;
use crate::arguments::{
    Address, AuthKey, ByteString, Context, Direction, PathNumber, PayloadProtocol, Policy, Stream,
    StreamCount, StreamValue,
};
use crate::event::{Event, event};
use crate::info::{Path, Stats};
use io::{Connection, ConnectionError, NotDelivered, PathError, PathId, Ppid, StreamId, TrySendError};
use pyo3::exceptions::{PyTimeoutError, PyValueError};
use pyo3::prelude::*;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::task::{self, Poll, Waker};

/// An association on UDP sockets.
#[pyclass(frozen, module = "anabranch._core")]
pub struct NetConnection {
    link: Own<Arc<Link>>,
}

pub struct Link {
    connection: Connection,
    /// Addresses and SCTP port of the peer, kept for the time after the end of the connection.
    peer: OnceLock<(Vec<IpAddr>, u16)>,
}

impl Link {
    fn peer(&self) -> Option<(Vec<IpAddr>, u16)> {
        match self.connection.peer() {
            Ok(peer) => Some(self.peer.get_or_init(|| peer).clone()),
            Err(_) => self.peer.get().cloned(),
        }
    }

    /// Name of the peer for error messages.
    pub fn name(&self) -> String {
        let peer = self.peer();
        peer.map_or_else(|| "an unknown peer".to_owned(), |(addresses, port)| error::place(&addresses, port))
    }

    fn ended(&self, reason: ConnectionError) -> PyErr {
        error::ended(&self.name(), reason)
    }

    fn path_failed(&self, failure: PathError) -> PyErr {
        let text = format!("connection to {}: {failure}", self.name());
        match failure {
            PathError::Ended(reason) => self.ended(reason),
            PathError::Failed { .. } => PyTimeoutError::new_err(text),
            _ => PyValueError::new_err(text),
        }
    }

    pub fn not_delivered(&self, failure: NotDelivered) -> PyErr {
        let text = format!("connection to {}: {failure}", self.name());
        match failure {
            NotDelivered::Ended(reason) => self.ended(reason),
            _ => NotDeliveredError::new_err(text),
        }
    }

    /// Reason of the end of the connection; `None` while the connection exists.
    fn end(&self) -> Option<ConnectionError> {
        match pin!(self.connection.closed()).poll(&mut task::Context::from_waker(Waker::noop())) {
            Poll::Pending => None,
            Poll::Ready(reason) => Some(reason),
        }
    }

    fn closed(&self, py: Python<'_>, reason: ConnectionError) -> PyResult<Event> {
        match reason {
            ConnectionError::Closed(reason) => {
                Ok(event(py, self.connection.id(), sctp::Event::Closed { reason }))
            }
            reason => Err(self.ended(reason)),
        }
    }
}

impl NetConnection {
    pub fn new(connection: Connection) -> Self {
        let link = Link { connection, peer: OnceLock::new() };
        link.peer();
        NetConnection { link: Own::new(Arc::new(link)) }
    }
}

/// Builds the message from the arguments of a call to send.
#[expect(clippy::too_many_arguments, reason = "Python names them")]
fn message(
    data: ByteString<'_>,
    stream: Stream,
    ppid: PayloadProtocol,
    unordered: bool,
    immediate_sack: bool,
    reliability: Policy,
    context: Context,
    urgent: bool,
    path: Option<PathNumber>,
) -> io::Message {
    let message = io::Message::from(data.into_bytes())
        .stream(StreamId(stream.0))
        .ppid(Ppid(ppid.0))
        .unordered(unordered)
        .immediate_sack(immediate_sack)
        .reliability(reliability.0)
        .context(context.0)
        .urgent(urgent);
    match path {
        Some(path) => message.path(PathId(path.0)),
        None => message,
    }
}

#[pymethods]
impl NetConnection {
    /// Sends a message once there is room.
    #[expect(clippy::too_many_arguments, reason = "Python names them")]
    fn send(
        &self,
        data: ByteString<'_>,
        stream: Stream,
        ppid: PayloadProtocol,
        unordered: bool,
        immediate_sack: bool,
        reliability: Policy,
        context: Context,
        urgent: bool,
        path: Option<PathNumber>,
    ) -> Operation {
        let message =
            message(data, stream, ppid, unordered, immediate_sack, reliability, context, urgent, path);
        let link = self.link.clone();
        Operation::nothing(async move {
            link.connection.send(message).await.map_err(|refused| error::send(&link.name(), refused))
        })
    }

    /// Sends a message once there is room, and returns an object that reports when the peer has the message.
    #[expect(clippy::too_many_arguments, reason = "Python names them")]
    fn send_tracked(
        &self,
        data: ByteString<'_>,
        stream: Stream,
        ppid: PayloadProtocol,
        unordered: bool,
        immediate_sack: bool,
        reliability: Policy,
        context: Context,
        urgent: bool,
        path: Option<PathNumber>,
    ) -> Operation {
        let message =
            message(data, stream, ppid, unordered, immediate_sack, reliability, context, urgent, path);
        let link = self.link.clone();
        Operation::new(async move {
            let sent = link.connection.send_tracked(message).await;
            let delivery = sent.map_err(|refused| error::send(&link.name(), refused))?;
            Ok(NetDelivery::new(link, delivery))
        })
    }

    /// A message that is written piece by piece.
    fn writer(&self, stream: Stream, ppid: PayloadProtocol, unordered: bool) -> NetWriter {
        let writer = self.link.connection.writer(StreamId(stream.0)).ppid(Ppid(ppid.0)).unordered(unordered);
        NetWriter::new(self.link.clone(), writer)
    }

    /// Sends a message if there is room.
    #[expect(clippy::too_many_arguments, reason = "Python names them")]
    fn try_send(
        &self,
        data: ByteString<'_>,
        stream: Stream,
        ppid: PayloadProtocol,
        unordered: bool,
        immediate_sack: bool,
        reliability: Policy,
        context: Context,
        urgent: bool,
        path: Option<PathNumber>,
    ) -> PyResult<bool> {
        let message =
            message(data, stream, ppid, unordered, immediate_sack, reliability, context, urgent, path);
        match self.link.connection.try_send(message) {
            Ok(()) => Ok(true),
            Err(TrySendError::Full(_)) => Ok(false),
            Err(TrySendError::Refused(refused)) => Err(error::send(&self.link.name(), refused)),
        }
    }

    /// The next message; None once the connection was shut down and everything was read.
    fn recv(&self) -> Operation {
        let link = self.link.clone();
        Operation::new(async move {
            let received = link.connection.recv().await.map_err(|reason| link.ended(reason))?;
            Ok(received.map(Message::from))
        })
    }

    /// Number of unread messages of a stream.
    fn unread(&self, stream: Stream) -> usize {
        self.link.connection.unread(StreamId(stream.0))
    }

    /// Waits until the peer has acknowledged everything.
    fn flush(&self) -> Operation {
        let link = self.link.clone();
        Operation::nothing(async move {
            link.connection.flush().await.map_err(|failure| link.not_delivered(failure))
        })
    }

    /// Events from now on.
    fn events(&self) -> NetEvents {
        NetEvents::new(self.link.connection.id(), self.link.connection.events())
    }

    /// The paths as they are now; none once the connection has ended.
    fn paths(&self) -> Operation {
        let link = self.link.clone();
        Operation::new(async move {
            let paths = link.connection.paths().await.unwrap_or_default();
            Ok(paths.into_iter().map(Path::from).collect::<Vec<_>>())
        })
    }

    /// Counters and state; None once the connection has ended.
    fn stats(&self) -> Operation {
        let link = self.link.clone();
        Operation::new(async move { Ok(link.connection.stats().await.ok().map(Stats::from)) })
    }

    /// Makes the path to an address of the peer the primary path.
    fn set_primary(&self, address: Address) -> Operation {
        let link = self.link.clone();
        Operation::nothing(async move {
            link.connection.set_primary(address.0).await.map_err(|failure| link.path_failed(failure))
        })
    }

    /// Sets the priority or the weight of a stream.
    fn set_stream_value(&self, stream: Stream, value: StreamValue) -> Operation {
        let link = self.link.clone();
        Operation::nothing(async move {
            let done = link.connection.set_stream_value(StreamId(stream.0), value.0).await;
            done.map_err(|failure| error::streams(&link.name(), failure))
        })
    }

    /// Begins to reset streams: all, or those listed.
    fn reset_streams(&self, direction: Direction, streams: Option<Vec<Stream>>) -> Operation {
        let link = self.link.clone();
        let streams: Vec<_> = streams.into_iter().flatten().map(|stream| StreamId(stream.0)).collect();
        Operation::nothing(async move {
            let done = link.connection.reset_streams(direction.0, &streams).await;
            done.map_err(|failure| error::streams(&link.name(), failure))
        })
    }

    /// Begins to add streams.
    fn add_streams(&self, outgoing: StreamCount, incoming: StreamCount) -> Operation {
        let link = self.link.clone();
        Operation::nothing(async move {
            let done = link.connection.add_streams(outgoing.0, incoming.0).await;
            done.map_err(|failure| error::streams(&link.name(), failure))
        })
    }

    /// Begins to reset all streams of both directions, and the TSNs.
    fn reset_association(&self) -> Operation {
        let link = self.link.clone();
        Operation::nothing(async move {
            let done = link.connection.reset_association().await;
            done.map_err(|failure| error::streams(&link.name(), failure))
        })
    }

    /// Asks the peer to add a local address of the endpoint to the connection.
    fn add_local_address(&self, address: Address) -> Operation {
        let link = self.link.clone();
        Operation::nothing(async move {
            let done = link.connection.add_local_address(address.0).await;
            done.map_err(|failure| error::address(&link.name(), failure))
        })
    }

    /// Ends the use of a local address by the connection.
    fn remove_local_address(&self, address: Address) -> Operation {
        let link = self.link.clone();
        Operation::nothing(async move {
            let done = link.connection.remove_local_address(address.0).await;
            done.map_err(|failure| error::address(&link.name(), failure))
        })
    }

    /// Asks the peer to use a local address as its primary path.
    fn set_peer_primary(&self, address: Address) -> Operation {
        let link = self.link.clone();
        Operation::nothing(async move {
            let done = link.connection.set_peer_primary(address.0).await;
            done.map_err(|failure| error::address(&link.name(), failure))
        })
    }

    /// Adds or replaces a key for AUTH.
    fn set_auth_key(&self, key: AuthKey, secret: ByteString<'_>) -> Operation {
        let link = self.link.clone();
        let secret = secret.into_bytes();
        Operation::nothing(async move {
            let done = link.connection.set_auth_key(key.0, secret).await;
            done.map_err(|failure| error::keys(&link.name(), failure))
        })
    }

    /// Authenticates packets with this key from now on.
    fn activate_auth_key(&self, key: AuthKey) -> Operation {
        let link = self.link.clone();
        Operation::nothing(async move {
            let done = link.connection.activate_auth_key(key.0).await;
            done.map_err(|failure| error::keys(&link.name(), failure))
        })
    }

    /// Declares that this key, which must not be active, will not be activated again.
    fn deactivate_auth_key(&self, key: AuthKey) -> Operation {
        let link = self.link.clone();
        Operation::nothing(async move {
            let done = link.connection.deactivate_auth_key(key.0).await;
            done.map_err(|failure| error::keys(&link.name(), failure))
        })
    }

    /// Removes a key that is not active.
    fn remove_auth_key(&self, key: AuthKey) -> Operation {
        let link = self.link.clone();
        Operation::nothing(async move {
            let done = link.connection.remove_auth_key(key.0).await;
            done.map_err(|failure| error::keys(&link.name(), failure))
        })
    }

    /// Measures the round-trip time to an address of the peer, in seconds.
    fn heartbeat(&self, address: Address) -> Operation {
        let link = self.link.clone();
        Operation::new(async move {
            let answered = link.connection.heartbeat(address.0).await;
            answered.map(|rtt| rtt.as_secs_f64()).map_err(|failure| link.path_failed(failure))
        })
    }

    /// Shuts the connection down and waits for the end.
    fn shutdown(&self) -> Operation {
        let link = self.link.clone();
        Operation::nothing(
            async move { link.connection.shutdown().await.map_err(|reason| link.ended(reason)) },
        )
    }

    /// Ends the connection at once.
    fn abort(&self, reason: ByteString<'_>) {
        self.link.connection.abort(reason.into_bytes());
    }

    /// Waits for the end and returns its event.
    fn closed(&self) -> Operation {
        let link = self.link.clone();
        Operation::new(async move {
            let reason = link.connection.closed().await;
            Python::attach(|py| link.closed(py, reason))
        })
    }

    /// The event of the end; None while the connection exists.
    fn end(&self, py: Python<'_>) -> PyResult<Option<Event>> {
        self.link.end().map(|reason| self.link.closed(py, reason)).transpose()
    }

    /// Addresses and SCTP port of the peer.
    #[getter]
    fn peer(&self) -> Option<(Vec<IpAddr>, u16)> {
        self.link.peer()
    }

    /// Public key that the peer has proved to own, as 64 hexadecimal digits; None without encryption.
    #[getter]
    fn peer_identity(&self) -> Option<String> {
        self.link.connection.peer_identity().map(|identity| identity.to_string())
    }

    /// Streams that messages can be sent on; None once the connection has ended.
    #[getter]
    fn outbound_streams(&self) -> Option<u16> {
        self.link.connection.outbound_streams().ok()
    }
}
