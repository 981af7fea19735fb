use super::Connection;
use crate::shared::wait::Place;
use crate::types::Received;
use futures_core::Stream;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use wire::StreamId;

/// The messages of all streams without a separate reader, as a [`Stream`]. It ends when the connection has
/// ended and everything was read.
#[derive(Debug)]
pub struct Messages {
    connection: Connection,
    place: Place,
}

impl Messages {
    pub(super) fn new(connection: Connection) -> Self {
        Messages { connection, place: Place::default() }
    }
}

impl Stream for Messages {
    type Item = Received;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Received>> {
        let Messages { connection, place } = self.get_mut();
        let received = connection.mailbox().poll_receive(cx, None, place);
        received.map(|message| message.map(Received::from))
    }
}

impl Drop for Messages {
    fn drop(&mut self) {
        self.connection.mailbox().stop_reading(&self.place);
    }
}

/// The messages of one stream. After its drop [`Connection::recv`] returns them.
#[derive(Debug)]
pub struct StreamReader {
    connection: Connection,
    stream: StreamId,
    place: Place,
}

impl StreamReader {
    pub(super) fn new(connection: Connection, stream: StreamId) -> Self {
        connection.mailbox().separate(stream, true);
        StreamReader { connection, stream, place: Place::default() }
    }

    /// Waits for the next message of the stream; `None` once the connection has ended and everything was
    /// read. Dropping the future loses nothing.
    pub async fn recv(&mut self) -> Option<Received> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }
}

impl Stream for StreamReader {
    type Item = Received;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Received>> {
        let StreamReader { connection, stream, place } = self.get_mut();
        let received = connection.mailbox().poll_receive(cx, Some(*stream), place);
        received.map(|message| message.map(Received::from))
    }
}

impl Drop for StreamReader {
    fn drop(&mut self) {
        let mailbox = self.connection.mailbox();
        mailbox.stop_reading(&self.place);
        mailbox.separate(self.stream, false);
    }
}
