use super::mailbox::Handle;
use super::wait::{Place, Wakers, Woken};
use std::collections::VecDeque;
use std::task::{Context, Poll};

/// Connections that peers began and the application has not accepted yet.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    handles: VecDeque<Handle>,
    /// Number of listeners.
    listeners: usize,
    /// Largest number of waiting connections.
    limit: usize,
    /// True once the endpoint was closed or the driver has ended.
    ended: bool,
    wakers: Wakers,
}

impl Backlog {
    /// Adds a listener, which sets the largest number of waiting connections.
    pub(crate) fn join(&mut self, limit: usize) {
        self.listeners += 1;
        self.limit = limit;
    }

    /// Removes a listener, and returns the connections that nobody will accept if it was the last one.
    #[must_use]
    pub(crate) fn leave(&mut self) -> VecDeque<Handle> {
        self.listeners -= 1;
        if self.listeners == 0 { std::mem::take(&mut self.handles) } else { VecDeque::new() }
    }

    /// True if there is a listener.
    pub(crate) fn is_open(&self) -> bool {
        self.listeners > 0 && !self.ended
    }

    /// True if one more connection may wait.
    pub(crate) fn has_room(&self) -> bool {
        self.is_open() && self.handles.len() < self.limit
    }

    /// Adds a connection.
    ///
    /// # Errors
    /// Returns the connection if there is no listener.
    pub(crate) fn push(&mut self, handle: Handle) -> Result<Woken, Handle> {
        if !self.is_open() {
            return Err(handle);
        }
        self.handles.push_back(handle);
        Ok(self.wakers.take())
    }

    /// The oldest connection; `None` once the endpoint was closed or the driver has ended.
    pub(crate) fn poll_next(&mut self, cx: &Context<'_>, place: &mut Place) -> Poll<Option<Handle>> {
        match self.handles.pop_front() {
            Some(handle) => Poll::Ready(Some(handle)),
            None if self.ended => Poll::Ready(None),
            None => {
                self.wakers.register(cx, place);
                Poll::Pending
            }
        }
    }

    /// Removes the waker of a caller that stopped waiting.
    pub(crate) fn stop_waiting(&mut self, place: &Place) {
        self.wakers.leave(place);
    }

    /// Closes the backlog and returns the connections that were not accepted.
    pub(crate) fn end(&mut self) -> (VecDeque<Handle>, Woken) {
        self.ended = true;
        (std::mem::take(&mut self.handles), self.wakers.take())
    }
}
