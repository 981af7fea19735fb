//! An association, as Python holds it.

use super::arguments::Data;
use super::error;
use super::events::NetEvents;
use super::message::Message;
use super::operation::Operation;
use crate::event::{Event, event};
use io::{Connection, ConnectionError, Ppid, StreamId, TrySendError};
use pyo3::exceptions::PyConnectionError;
use pyo3::prelude::*;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker};

/// An association, as Python holds it.
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
        self.peer()
            .map_or_else(|| "an unknown peer".to_owned(), |(addresses, port)| error::place(&addresses, port))
    }

    fn ended(&self, reason: ConnectionError) -> PyErr {
        error::ended(&self.name(), reason)
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
fn message(data: Data, stream: u16, ppid: u32, unordered: bool, immediate_sack: bool) -> io::Message {
    io::Message::from(data.0)
        .stream(StreamId(stream))
        .ppid(Ppid(ppid))
        .unordered(unordered)
        .immediate_sack(immediate_sack)
}

#[pymethods]
impl NetConnection {
    fn send(&self, data: Data, stream: u16, ppid: u32, unordered: bool, immediate_sack: bool) -> Operation {
        let (link, message) = (self.link.clone(), message(data, stream, ppid, unordered, immediate_sack));
        Operation::nothing(async move {
            link.connection.send(message).await.map_err(|refused| error::send(&link.name(), refused))
        })
    }

    fn try_send(
        &self,
        data: Data,
        stream: u16,
        ppid: u32,
        unordered: bool,
        immediate_sack: bool,
    ) -> PyResult<bool> {
        match self.link.connection.try_send(message(data, stream, ppid, unordered, immediate_sack)) {
            Ok(()) => Ok(true),
            Err(TrySendError::Full(_)) => Ok(false),
            Err(TrySendError::Refused(refused)) => Err(error::send(&self.link.name(), refused)),
        }
    }

    /// The next message; None once the peer has shut the connection down and everything was read.
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

    fn unread(&self, stream: u16) -> usize {
        self.link.connection.unread(StreamId(stream))
    }

    fn flush(&self) -> Operation {
        let link = self.link.clone();
        Operation::nothing(async move {
            link.connection.flush().await.map_err(|failure| match link.end() {
                Some(reason) if !reason.is_graceful() => link.ended(reason),
                _ => PyConnectionError::new_err(format!("connection to {}: {failure}", link.name())),
            })
        })
    }

    fn events(&self) -> NetEvents {
        NetEvents::new(self.link.connection.id(), self.link.connection.events())
    }

    fn shutdown(&self) -> Operation {
        let link = self.link.clone();
        Operation::nothing(
            async move { link.connection.shutdown().await.map_err(|reason| link.ended(reason)) },
        )
    }

    fn abort(&self, reason: Data) {
        self.link.connection.abort(reason.0);
    }

    /// Waits for the end.
    fn closed(&self) -> Operation {
        let link = self.link.clone();
        Operation::new(async move {
            let reason = link.connection.closed().await;
            Python::attach(|py| link.closed(py, reason))
        })
    }

    /// How it ended; None as long as it has not.
    fn end(&self, py: Python<'_>) -> PyResult<Option<Event>> {
        self.link.end().map(|reason| self.link.closed(py, reason)).transpose()
    }

    #[getter]
    fn peer(&self) -> Option<(Vec<IpAddr>, u16)> {
        self.link.peer()
    }

    #[getter]
    fn outbound_streams(&self) -> Option<u16> {
        self.link.connection.outbound_streams()
    }
}
