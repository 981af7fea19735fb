//! A message that is written piece by piece.

use super::error;
use super::link::Link;
use super::operation::Operation;
use super::own::Own;
use crate::arguments::ByteString;
use io::{MessageWriter, SendError};
use pyo3::prelude::*;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

/// A message of any length that is written piece by piece.
#[pyclass(frozen, module = "anabranch._core")]
pub struct NetWriter {
    inner: Own<Arc<Inner>>,
}

struct Inner {
    link: Arc<Link>,
    /// `None` once the message was finished or the writer was dropped.
    writer: Mutex<Option<MessageWriter>>,
}

impl Inner {
    fn writer(&self) -> MutexGuard<'_, Option<MessageWriter>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn write_all(&self, mut bytes: &[u8]) -> Result<(), SendError> {
        while !bytes.is_empty() {
            let written = poll_fn(|cx| match &mut *self.writer() {
                Some(writer) => writer.poll_write(cx, bytes),
                None => Poll::Ready(Err(SendError::Shut)),
            });
            bytes = &bytes[written.await?..];
        }
        Ok(())
    }

    async fn finish(&self) -> Result<(), SendError> {
        let finished = poll_fn(|cx| match &mut *self.writer() {
            Some(writer) => writer.poll_finish(cx),
            None => Poll::Ready(Err(SendError::Shut)),
        });
        finished.await?;
        *self.writer() = None;
        Ok(())
    }
}

impl NetWriter {
    pub fn new(link: Arc<Link>, writer: MessageWriter) -> Self {
        NetWriter { inner: Own::new(Arc::new(Inner { link, writer: Mutex::new(Some(writer)) })) }
    }
}

#[pymethods]
impl NetWriter {
    /// Adds bytes to the message.
    fn write(&self, data: ByteString<'_>) -> Operation {
        let (inner, bytes) = (self.inner.clone(), data.into_bytes());
        Operation::nothing(async move {
            inner.write_all(&bytes).await.map_err(|refused| error::send(&inner.link.name(), refused))
        })
    }

    /// Ends the message.
    fn finish(&self) -> Operation {
        let inner = self.inner.clone();
        Operation::nothing(async move {
            inner.finish().await.map_err(|refused| error::send(&inner.link.name(), refused))
        })
    }

    /// Gives the message up. This aborts the connection, unless no part of the message was queued yet.
    fn drop(&self) {
        // The writer is dropped after the lock is released.
        let writer = self.inner.writer().take();
        std::mem::drop(writer);
    }
}
