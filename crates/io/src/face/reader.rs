use crate::shared::Handle;
use crate::shared::wait::Place;
use crate::types::{ConnectionError, Received};
use futures_core::Stream;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use wire::StreamId;

type Item = Result<Received, ConnectionError>;

/// Reads the messages of one stream, or of all streams without a reader of their own.
#[derive(Debug)]
struct Source {
    handle: Arc<Handle>,
    stream: Option<StreamId>,
    place: Place,
    /// True once the [`Stream`] has returned the error that ends it.
    failed: bool,
}

impl Source {
    fn new(handle: Arc<Handle>, stream: Option<StreamId>) -> Self {
        Source { handle, stream, place: Place::default(), failed: false }
    }

    fn poll_recv(&mut self, cx: &Context<'_>) -> Poll<Result<Option<Received>, ConnectionError>> {
        let received = self.handle.0.poll_receive(cx, self.stream, &mut self.place);
        received.map_ok(|message| message.map(Received::from))
    }

    /// As [`Self::poll_recv`], but returns `None` after the error.
    fn poll_next(&mut self, cx: &Context<'_>) -> Poll<Option<Item>> {
        if self.failed {
            return Poll::Ready(None);
        }
        let next = self.poll_recv(cx).map(Result::transpose);
        self.failed = matches!(next, Poll::Ready(Some(Err(_))));
        next
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        self.handle.0.stop_reading(&self.place);
    }
}

/// The messages of all streams without a reader of their own, as a [`Stream`]. It ends when the connection
/// was shut down and everything was read; if the connection ends otherwise, the last item is the error.
#[derive(Debug)]
pub struct Messages(Source);

impl Messages {
    pub(super) fn new(handle: Arc<Handle>) -> Self {
        Messages(Source::new(handle, None))
    }
}

impl Stream for Messages {
    type Item = Item;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Item>> {
        self.0.poll_next(cx)
    }
}

/// The messages of one stream, also as a [`Stream`] that ends as [`Messages`] does. Once it is dropped,
/// [`Connection::recv`](super::Connection::recv) gives the messages of the stream again.
#[derive(Debug)]
pub struct StreamReader {
    source: Source,
    stream: StreamId,
}

impl StreamReader {
    pub(super) fn new(handle: Arc<Handle>, stream: StreamId) -> Self {
        handle.0.separate(stream, true);
        StreamReader { source: Source::new(handle, Some(stream)), stream }
    }

    /// The next message of the stream. `None` means that the peer or this end shut the connection down and
    /// everything was read. Dropping the future loses nothing.
    ///
    /// # Errors
    /// [`ConnectionError`] once the connection has ended otherwise and everything that arrived was read.
    pub async fn recv(&mut self) -> Result<Option<Received>, ConnectionError> {
        poll_fn(|cx| self.source.poll_recv(cx)).await
    }
}

impl Stream for StreamReader {
    type Item = Item;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Item>> {
        self.source.poll_next(cx)
    }
}

impl Drop for StreamReader {
    fn drop(&mut self) {
        self.source.handle.0.separate(self.stream, false);
    }
}
