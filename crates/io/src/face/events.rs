use crate::shared::Handle;
use crate::types::Lagged;
use sctp::Event;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};

/// Events of a connection, from when it was made: paths that fail or return, reports of the peer.
///
/// At most 256 wait to be read; then the oldest give way. There is one reader at a time: a later one takes over.
#[derive(Debug)]
pub struct Events {
    handle: Arc<Handle>,
}

impl Events {
    pub(super) fn new(handle: Arc<Handle>) -> Self {
        handle.0.subscribe(true);
        Events { handle }
    }

    /// The next event; none once the connection has ended.
    ///
    /// # Errors
    /// [`Lagged`] tells how many events were lost before the next one.
    pub async fn next(&mut self) -> Option<Result<Event, Lagged>> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// As [`Self::next`], for those who write a future or a stream of their own.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Event, Lagged>>> {
        self.handle.0.poll_event(cx).map(|news| news.map(|event| event.map_err(Lagged)))
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        self.handle.0.subscribe(false);
    }
}
