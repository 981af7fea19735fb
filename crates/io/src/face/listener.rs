use super::Connection;
use super::hold::Hold;
use crate::shared::Command;
use crate::shared::wait::{Place, wait};
use crate::types::ConnectionError;
use futures_core::Stream;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// Connections that peers began. Dropping the last listener of an endpoint ends listening and shuts down
/// connections that were not accepted.
#[derive(Debug)]
pub struct Listener {
    hold: Arc<Hold>,
    place: Place,
}

impl Listener {
    pub(super) fn new(hold: Arc<Hold>, backlog: usize) -> Self {
        hold.new_connections.backlog().join(backlog);
        hold.hub.tell(Command::Listen);
        Listener { hold, place: Place::default() }
    }

    /// Waits for the next connection. Dropping the future loses no connection.
    ///
    /// # Errors
    /// [`ConnectionError::EndpointClosed`].
    pub async fn accept(&self) -> Result<Connection, ConnectionError> {
        let new = &self.hold.new_connections;
        let next =
            wait(|cx, place| new.backlog().poll_next(cx, place), |place| new.backlog().stop_waiting(place));
        next.await.map(Connection::new).ok_or(ConnectionError::EndpointClosed)
    }
}

/// The stream of accepted connections; ends when the endpoint is closed.
impl Stream for Listener {
    type Item = Connection;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Connection>> {
        let Listener { hold, place } = self.get_mut();
        let next = hold.new_connections.backlog().poll_next(cx, place);
        next.map(|handle| handle.map(Connection::new))
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let mut backlog = self.hold.new_connections.backlog();
        backlog.stop_waiting(&self.place);
        let untaken = backlog.leave();
        drop(backlog);
        // Dropping the handles releases their connections, which must not happen under the lock.
        drop(untaken);
        self.hold.hub.tell(Command::Listen);
    }
}
