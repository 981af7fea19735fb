use crate::shared::wait::Place;
use crate::shared::{Handle, Reader};
use crate::types::Lagged;
use futures_core::Stream;
use sctp::Event;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// Events of a connection since this reader was created: failed or restored paths, reports of the peer.
///
/// At most 256 events wait to be read; the oldest events are dropped. Of the states of a path,
/// only the latest waits. There is one reader at a time: a new reader replaces the earlier one,
/// which gets no more events.
#[derive(Debug)]
pub struct Events {
    handle: Arc<Handle>,
    reader: Reader,
    place: Place,
}

impl Events {
    pub(super) fn new(handle: Arc<Handle>) -> Self {
        let reader = handle.0.subscribe();
        Events { handle, reader, place: Place::default() }
    }

    /// Waits for the next event; `None` once the connection has ended.
    ///
    /// # Errors
    /// [`Lagged`] with the number of events lost before the next one.
    pub async fn next(&mut self) -> Option<Result<Event, Lagged>> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }
}

impl Stream for Events {
    type Item = Result<Event, Lagged>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Events { handle, reader, place } = self.get_mut();
        handle.0.poll_event(cx, *reader, place).map(|next| next.map(|event| event.map_err(Lagged)))
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        self.handle.0.unsubscribe(self.reader);
    }
}
