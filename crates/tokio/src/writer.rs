use std::io::{Error, Result};
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::AsyncWrite;

/// A message of any length that is written as a byte stream: [`io::MessageWriter`] as an [`AsyncWrite`].
///
/// `shutdown` ends the message; the peer delivers it as one. `flush` does nothing, because the peer cannot
/// get a part of a message. While the message is incomplete, no other message of the connection is queued.
/// Dropping the writer before `shutdown` has completed **aborts the connection**, unless nothing was queued
/// yet.
#[derive(Debug)]
pub struct MessageWriter(io::MessageWriter);

impl From<io::MessageWriter> for MessageWriter {
    fn from(writer: io::MessageWriter) -> Self {
        MessageWriter(writer)
    }
}

impl AsyncWrite for MessageWriter {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        self.0.poll_write(cx, bytes).map_err(Error::from)
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        self.0.poll_finish(cx).map_err(Error::from)
    }
}
