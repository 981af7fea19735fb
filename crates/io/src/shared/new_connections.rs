//! Connections for which the application has no handle yet.

use super::attempt::Attempt;
use super::backlog::Backlog;
use super::commands::Command;
use super::hub::Hub;
use crate::types::{ConnectError, Peer};
use futures_channel::oneshot;
use sctp::Config;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Result of the start of an association: an attempt whose handshake is not complete, or an error.
pub(crate) type Opening = Result<Attempt, ConnectError>;

/// A request for an association, with options of its own if there are any.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) peer: Peer,
    pub(crate) config: Option<Arc<Config>>,
    pub(crate) answer: oneshot::Sender<Opening>,
}

/// The connections of an endpoint for which the application has no handle yet: those that the application
/// requested and the driver has not begun, and those that peers began and no listener has accepted.
#[derive(Debug)]
pub(crate) struct NewConnections {
    hub: Arc<Hub>,
    requests: Mutex<VecDeque<Request>>,
    backlog: Mutex<Backlog>,
}

impl NewConnections {
    pub(crate) fn new(hub: Arc<Hub>) -> Self {
        NewConnections { hub, requests: Mutex::default(), backlog: Mutex::default() }
    }

    fn requests(&self) -> MutexGuard<'_, VecDeque<Request>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn backlog(&self) -> MutexGuard<'_, Backlog> {
        self.backlog.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Requests a connection. The answer is dropped if the endpoint is closing or the driver has ended.
    pub(crate) fn request(&self, peer: Peer, config: Option<Arc<Config>>) -> oneshot::Receiver<Opening> {
        let (answer, receiver) = oneshot::channel();
        let mut requests = self.requests();
        // The lock is held until the request is queued, so that the driver finds a request for each command.
        if self.hub.tell(Command::Connect) {
            requests.push_back(Request { peer, config, answer });
        }
        receiver
    }

    // Methods for the driver.

    /// Removes and returns the oldest request.
    pub(crate) fn next_request(&self) -> Option<Request> {
        self.requests().pop_front()
    }

    /// Closes the backlog after the endpoint was closed.
    pub(crate) fn end_backlog(&self) {
        let (untaken, listeners) = self.backlog().end();
        // Dropping the handles releases their connections, which must not happen under the lock.
        drop(untaken);
        listeners.wake();
    }

    /// Drops all requests and closes the backlog after the driver has ended.
    pub(crate) fn end(&self) {
        // Dropping an answer wakes its caller, which must not happen under the lock.
        let requests = std::mem::take(&mut *self.requests());
        drop(requests);
        self.end_backlog();
    }
}
