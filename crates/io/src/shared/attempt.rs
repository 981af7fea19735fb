use super::commands::Command;
use super::mailbox::Handle;
use super::wait::wait;
use crate::types::ConnectionError;
use bytes::Bytes;

/// An association that the application requested and for which it has no handle yet. Dropping the attempt
/// aborts the association, even if the association is established by then. A graceful shutdown would take a
/// round trip, and a new attempt in that time would fail, since two endpoints can have only one association
/// at a time (key terms of `rfc9260`).
#[derive(Debug)]
pub(crate) struct Attempt(Option<Handle>);

impl Attempt {
    pub(crate) fn new(handle: Handle) -> Self {
        Attempt(Some(handle))
    }

    /// Waits for the handshake.
    ///
    /// # Errors
    /// The reason why the handshake failed.
    pub(crate) async fn opened(mut self) -> Result<Handle, ConnectionError> {
        if let Some(Handle(mailbox)) = &self.0 {
            wait(|cx, place| mailbox.poll_open(cx, place), |place| mailbox.stop_watching(place)).await?;
        }
        self.0.take().ok_or(ConnectionError::EndpointClosed)
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        if let Some(Handle(mailbox)) = &self.0 {
            mailbox.hub.tell(Command::Abort(mailbox.id, Bytes::new()));
        }
    }
}
