use super::mailbox::Handle;
use super::wait::Wakers;
use std::collections::VecDeque;
use std::task::{Context, Poll};

/// Connections that peers began and that the application has not taken yet.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    handles: VecDeque<Handle>,
    /// Most that may wait; 0: nobody listens.
    limit: usize,
    /// The driver has ended.
    ended: bool,
    wakers: Wakers,
}

impl Backlog {
    pub(crate) fn listen(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// Whether one more connection may wait.
    pub(crate) fn has_room(&self) -> bool {
        self.handles.len() < self.limit
    }

    #[must_use]
    pub(crate) fn push(&mut self, handle: Handle) -> Wakers {
        self.handles.push_back(handle);
        self.wakers.take()
    }

    /// The oldest connection; none once the driver has ended.
    pub(crate) fn poll_next(&mut self, cx: &Context<'_>) -> Poll<Option<Handle>> {
        match self.handles.pop_front() {
            Some(handle) => Poll::Ready(Some(handle)),
            None if self.ended => Poll::Ready(None),
            None => {
                self.wakers.register(cx);
                Poll::Pending
            }
        }
    }

    /// Nobody listens any more: gives back the connections that nobody took.
    #[must_use]
    pub(crate) fn close(&mut self) -> VecDeque<Handle> {
        self.limit = 0;
        std::mem::take(&mut self.handles)
    }

    #[must_use]
    pub(crate) fn end(&mut self) -> Wakers {
        self.ended = true;
        self.wakers.take()
    }
}
