//! An association on UDP sockets for Python.

use super::delivery::NetDelivery;
use super::error;
use super::events::NetEvents;
use super::link::Link;
use super::message::Message;
use super::operation::Operation;
use super::own::Own;
use super::writer::NetWriter;
use crate::arguments::{
    Address, AuthKey, ByteString, Context, Direction, PathNumber, PayloadProtocol, Policy, Stream,
    StreamCount, StreamValue,
};
use crate::event::Event;
use crate::info::{Path, Stats};
use io::{Connection, PathId, Ppid, StreamId, TrySendError};
use pyo3::prelude::*;
use std::net::IpAddr;
use std::sync::Arc;

/// An association on UDP sockets.
#[pyclass(frozen, module = "anabranch._core")]
pub struct NetConnection {
    link: Own<Arc<Link>>,
}

impl NetConnection {
    pub fn new(connection: Connection) -> Self {
        NetConnection { link: Own::new(Arc::new(Link::new(connection))) }
    }
}

/// The operation that awaits a call of the connection and returns nothing. `$failed` makes the exception from
/// the name of the peer and the error of the call.
macro_rules! operation {
    ($this:ident.$call:ident($($argument:expr),*), $failed:path) => {{
        let link = $this.link.clone();
        Operation::nothing(async move {
            let done = link.connection.$call($($argument),*).await;
            done.map_err(|failure| $failed(&link.name(), failure))
        })
    }};
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
        operation!(self.send(message), error::send)
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
        operation!(self.flush(), error::not_delivered)
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
        operation!(self.set_primary(address.0), error::path)
    }

    /// Sets the priority or the weight of a stream.
    fn set_stream_value(&self, stream: Stream, value: StreamValue) -> Operation {
        operation!(self.set_stream_value(StreamId(stream.0), value.0), error::streams)
    }

    /// Begins to reset streams: all, or those listed.
    fn reset_streams(&self, direction: Direction, streams: Option<Vec<Stream>>) -> Operation {
        let streams: Vec<_> = streams.into_iter().flatten().map(|stream| StreamId(stream.0)).collect();
        operation!(self.reset_streams(direction.0, &streams), error::streams)
    }

    /// Begins to add streams.
    fn add_streams(&self, outgoing: StreamCount, incoming: StreamCount) -> Operation {
        operation!(self.add_streams(outgoing.0, incoming.0), error::streams)
    }

    /// Begins to reset all streams of both directions, and the TSNs.
    fn reset_association(&self) -> Operation {
        operation!(self.reset_association(), error::streams)
    }

    /// Asks the peer to add a local address of the endpoint to the connection.
    fn add_local_address(&self, address: Address) -> Operation {
        operation!(self.add_local_address(address.0), error::address)
    }

    /// Ends the use of a local address by the connection.
    fn remove_local_address(&self, address: Address) -> Operation {
        operation!(self.remove_local_address(address.0), error::address)
    }

    /// Asks the peer to use a local address as its primary path.
    fn set_peer_primary(&self, address: Address) -> Operation {
        operation!(self.set_peer_primary(address.0), error::address)
    }

    /// Adds or replaces a key for AUTH.
    fn set_auth_key(&self, key: AuthKey, secret: ByteString<'_>) -> Operation {
        let secret = secret.into_bytes();
        operation!(self.set_auth_key(key.0, secret), error::keys)
    }

    /// Authenticates packets with this key from now on.
    fn activate_auth_key(&self, key: AuthKey) -> Operation {
        operation!(self.activate_auth_key(key.0), error::keys)
    }

    /// Declares that this key, which must not be active, will not be activated again.
    fn deactivate_auth_key(&self, key: AuthKey) -> Operation {
        operation!(self.deactivate_auth_key(key.0), error::keys)
    }

    /// Removes a key that is not active.
    fn remove_auth_key(&self, key: AuthKey) -> Operation {
        operation!(self.remove_auth_key(key.0), error::keys)
    }

    /// Measures the round-trip time to an address of the peer, in seconds.
    fn heartbeat(&self, address: Address) -> Operation {
        let link = self.link.clone();
        Operation::new(async move {
            let answered = link.connection.heartbeat(address.0).await;
            answered.map(|rtt| rtt.as_secs_f64()).map_err(|failure| error::path(&link.name(), failure))
        })
    }

    /// Shuts the connection down and waits for the end.
    fn shutdown(&self) -> Operation {
        operation!(self.shutdown(), error::ended)
    }

    /// Ends the connection at once.
    fn abort(&self, reason: ByteString<'_>) {
        self.link.connection.abort(reason.into_bytes());
    }

    /// Waits for the end of the connection and returns the event ``closed``.
    fn closed(&self) -> Operation {
        let link = self.link.clone();
        Operation::new(async move {
            let reason = link.connection.closed().await;
            Python::attach(|py| link.closed(py, reason))
        })
    }

    /// The event ``closed``; None while the connection exists.
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
