use super::Connection;
use super::endpoint::Hold;
use crate::shared::{Command, Handle};
use crate::types::EndpointClosed;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};

/// Connections that peers began. Dropping it ends listening and shuts down those that nobody accepted.
#[derive(Debug)]
pub struct Listener {
    hold: Arc<Hold>,
}

impl Listener {
    pub(super) fn new(hold: Arc<Hold>, backlog: usize) -> Self {
        hold.hub.backlog().listen(backlog);
        hold.hub.tell(Command::Listen(true));
        Listener { hold }
    }

    /// The next connection.
    ///
    /// # Errors
    /// [`EndpointClosed`].
    pub async fn accept(&self) -> Result<Connection, EndpointClosed> {
        poll_fn(|cx| self.poll_accept(cx)).await
    }

    /// As [`Self::accept`], for those who write a future or a stream of their own.
    pub fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<Result<Connection, EndpointClosed>> {
        let next = self.hold.hub.backlog().poll_next(cx);
        next.map(|handle: Option<Handle>| handle.map(Connection::new).ok_or(EndpointClosed))
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.hold.hub.tell(Command::Listen(false));
        let untaken = self.hold.hub.backlog().close();
        // Their handles release them, and must not do so under the lock.
        drop(untaken);
    }
}
