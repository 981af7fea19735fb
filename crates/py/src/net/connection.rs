//! An association, as Python holds it.

use super::error;
use super::events::NetEvents;
use super::message::Message;
use super::operation::Operation;
use crate::arguments::{Address, ByteString, PayloadProtocol, Policy, Stream};
use crate::event::{Event, event};
use crate::info::{Path, Stats};
use io::{Connection, ConnectionError, NotDelivered, PathError, Ppid, StreamId, TrySendError};
use pyo3::exceptions::{PyConnectionResetError, PyTimeoutError, PyValueError};
use pyo3::prelude::*;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker};

/// An association on UDP sockets.
#[pyclass(frozen, module = "anabranch._core")]
pub struct NetConnection {
    link: Arc<Link>,
}

struct Link {
    connection: Connection,
    /// Addresses and SCTP port of the peer, kept for when the connection has ended.
    peer: OnceLock<(Vec<IpAddr>, u16)>,
}

impl Link {
    fn peer(&self) -> Option<(Vec<IpAddr>, u16)> {
        match self.connection.peer() {
            Some(peer) => Some(self.peer.get_or_init(|| peer).clone()),
            None => self.peer.get().cloned(),
        }
    }

    /// The peer, as messages name it.
    fn name(&self) -> String {
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
            PathError::NoSuchPath { .. } => PyValueError::new_err(text),
            PathError::Failed { .. } => PyTimeoutError::new_err(text),
        }
    }

    fn flush_failed(&self, failure: NotDelivered) -> PyErr {
        let text = format!("connection to {}: {failure}", self.name());
        match failure {
            NotDelivered::Ended(reason) => self.ended(reason),
            NotDelivered::Lost => PyConnectionResetError::new_err(text),
        }
    }

    /// Why the connection ended; none as long as it has not.
    fn end(&self) -> Option<ConnectionError> {
        match pin!(self.connection.closed()).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Pending => None,
            Poll::Ready(reason) => Some(reason),
        }
    }

    fn closed(&self, py: Python<'_>, reason: ConnectionError) -> PyResult<Event> {
        match reason {
            ConnectionError::Closed(reason) => {
                Ok(event(py, self.connection.id(), sctp::Event::Closed { reason }))
            }
            ConnectionError::Driver => Err(self.ended(reason)),
        }
    }
}

impl NetConnection {
    pub fn new(connection: Connection) -> Self {
        let link = Link { connection, peer: OnceLock::new() };
        link.peer();
        NetConnection { link: Arc::new(link) }
    }
}

/// The message of a call to send.
fn message(
    data: ByteString<'_>,
    stream: Stream,
    ppid: PayloadProtocol,
    unordered: bool,
    immediate_sack: bool,
    reliability: Policy,
) -> io::Message {
    io::Message::from(data.into_bytes())
        .stream(StreamId(stream.0))
        .ppid(Ppid(ppid.0))
        .unordered(unordered)
        .immediate_sack(immediate_sack)
        .reliability(reliability.0)
}

#[pymethods]
impl NetConnection {
    /// Sends a message once there is room.
    fn send(
        &self,
        data: ByteString<'_>,
        stream: Stream,
        ppid: PayloadProtocol,
        unordered: bool,
        immediate_sack: bool,
        reliability: Policy,
    ) -> Operation {
        let message = message(data, stream, ppid, unordered, immediate_sack, reliability);
        let link = self.link.clone();
        Operation::nothing(async move {
            link.connection.send(message).await.map_err(|refused| error::send(&link.name(), refused))
        })
    }

    /// Sends a message if there is room.
    fn try_send(
        &self,
        data: ByteString<'_>,
        stream: Stream,
        ppid: PayloadProtocol,
        unordered: bool,
        immediate_sack: bool,
        reliability: Policy,
    ) -> PyResult<bool> {
        let message = message(data, stream, ppid, unordered, immediate_sack, reliability);
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
            if let Some(received) = link.connection.recv().await {
                return Ok(Some(Message::from(received)));
            }
            match link.connection.closed().await {
                reason if reason.is_graceful() => Ok(None),
                reason => Err(link.ended(reason)),
            }
        })
    }

    /// Messages of a stream that wait to be read.
    fn unread(&self, stream: Stream) -> usize {
        self.link.connection.unread(StreamId(stream.0))
    }

    /// Waits until the peer has acknowledged everything.
    fn flush(&self) -> Operation {
        let link = self.link.clone();
        Operation::nothing(async move {
            link.connection.flush().await.map_err(|failure| link.flush_failed(failure))
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
        Operation::new(async move { Ok(link.connection.stats().await.map(Stats::from)) })
    }

    /// Makes an address of the peer the primary one.
    fn set_primary(&self, address: Address) -> Operation {
        let link = self.link.clone();
        Operation::nothing(async move {
            link.connection.set_primary(address.0).await.map_err(|failure| link.path_failed(failure))
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

    /// The event of the end; None as long as the connection has not ended.
    fn end(&self, py: Python<'_>) -> PyResult<Option<Event>> {
        self.link.end().map(|reason| self.link.closed(py, reason)).transpose()
    }

    /// Addresses and SCTP port of the peer.
    #[getter]
    fn peer(&self) -> Option<(Vec<IpAddr>, u16)> {
        self.link.peer()
    }

    /// Streams that messages can be sent on; None once the connection has ended.
    #[getter]
    fn outbound_streams(&self) -> Option<u16> {
        self.link.connection.outbound_streams()
    }
}
