//! A connection that several objects of Python share.

use super::error;
use crate::event::{Event, event};
use io::{Connection, ConnectionError};
use pyo3::prelude::*;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::OnceLock;
use std::task::{self, Poll, Waker};

/// A connection with the name of its peer, for error messages.
pub struct Link {
    pub connection: Connection,
    /// Addresses and SCTP port of the peer, kept for the time after the end of the connection.
    peer: OnceLock<(Vec<IpAddr>, u16)>,
}

impl Link {
    pub fn new(connection: Connection) -> Self {
        let link = Link { connection, peer: OnceLock::new() };
        link.peer();
        link
    }

    /// Addresses and SCTP port of the peer.
    pub fn peer(&self) -> Option<(Vec<IpAddr>, u16)> {
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

    /// The exception for a call on a connection that has ended.
    pub fn ended(&self, reason: ConnectionError) -> PyErr {
        error::ended(&self.name(), reason)
    }

    /// Reason of the end of the connection; `None` while the connection exists.
    pub fn end(&self) -> Option<ConnectionError> {
        match pin!(self.connection.closed()).poll(&mut task::Context::from_waker(Waker::noop())) {
            Poll::Pending => None,
            Poll::Ready(reason) => Some(reason),
        }
    }

    /// The event `closed` if SCTP ended the connection; an exception if it ended for another reason.
    pub fn closed(&self, py: Python<'_>, reason: ConnectionError) -> PyResult<Event> {
        match reason {
            ConnectionError::Closed(reason) => {
                Ok(event(py, self.connection.id(), sctp::Event::Closed { reason }))
            }
            reason => Err(self.ended(reason)),
        }
    }
}
