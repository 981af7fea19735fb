use crate::shared::{Command, Handle, Parcel, Ticket};
use crate::types::SendError;
use bytes::{Bytes, BytesMut};
use sctp::Payload;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use wire::{Ppid, StreamId};

/// Longest piece of a message.
const PIECE: usize = 64 * 1024;

/// Sends one message of any length piece by piece.
///
/// [`Self::finish`] ends the message; the peer delivers it as one. From the first piece to the end no other
/// message of the connection is queued, because pieces of messages are not interleaved: other senders wait.
///
/// A part of a message cannot be withdrawn. Dropping the writer before `finish` has completed **aborts the
/// connection**, unless nothing was queued yet: the first 64 KiB stay in the writer.
#[derive(Debug)]
pub struct MessageWriter {
    handle: Arc<Handle>,
    stream: StreamId,
    ppid: Ppid,
    unordered: bool,
    /// Bytes for the next piece.
    buffer: BytesMut,
    /// A piece that waits for room.
    waiting: Option<Parcel>,
    ticket: Option<Ticket>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// No byte of the message is queued yet.
    Fresh,
    /// A part of the message is queued.
    Begun,
    /// The end of the message is queued.
    Finished,
}

impl MessageWriter {
    pub(super) fn new(handle: Arc<Handle>, stream: StreamId) -> Self {
        MessageWriter {
            handle,
            stream,
            ppid: Ppid(0),
            unordered: false,
            buffer: BytesMut::new(),
            waiting: None,
            ticket: None,
            state: State::Fresh,
        }
    }

    /// Sets the payload protocol identifier, 0 unless set; call before the first byte.
    #[must_use]
    pub fn ppid(mut self, ppid: Ppid) -> Self {
        self.ppid = ppid;
        self
    }

    /// Delivers the message as soon as it is complete, even before earlier ones; call before the first byte.
    #[must_use]
    pub fn unordered(mut self, unordered: bool) -> Self {
        self.unordered = unordered;
        self
    }

    /// Adds bytes to the message. If the future is dropped before it is ready, some of the
    /// bytes may have been added.
    ///
    /// # Errors
    /// [`SendError`]; then the message can no longer be completed.
    pub async fn write_all(&mut self, mut bytes: &[u8]) -> Result<(), SendError> {
        while !bytes.is_empty() {
            let written = poll_fn(|cx| self.poll_write(cx, bytes)).await?;
            bytes = &bytes[written..];
        }
        Ok(())
    }

    /// Ends the message, which is completely queued when the future is ready.
    ///
    /// # Errors
    /// [`SendError`]: [`SendError::Empty`] if nothing was written.
    pub async fn finish(mut self) -> Result<(), SendError> {
        poll_fn(|cx| self.poll_finish(cx)).await
    }

    /// As [`Self::write_all`], for hand-written futures: adds the first bytes and returns their number.
    ///
    /// # Errors
    /// [`SendError`]; then the message can no longer be completed.
    pub fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize, SendError>> {
        if self.state == State::Finished {
            return Poll::Ready(Err(SendError::Shut));
        }
        let piece = PIECE.min(self.handle.0.send_buffer.get() as usize);
        if !bytes.is_empty() && (self.waiting.is_some() || self.buffer.len() >= piece) {
            ready!(self.poll_piece(cx, false))?;
        }
        let (length, room) = (bytes.len(), piece - self.buffer.len());
        self.buffer.extend_from_slice(&bytes[..length.min(room)]);
        Poll::Ready(Ok(length.min(room)))
    }

    /// As [`Self::finish`], for hand-written futures; ready at once if the message has ended.
    ///
    /// # Errors
    /// [`SendError`]: [`SendError::Empty`] if nothing was written.
    pub fn poll_finish(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), SendError>> {
        if self.state == State::Finished {
            return Poll::Ready(Ok(()));
        }
        ready!(self.poll_piece(cx, true))?;
        Poll::Ready(Ok(()))
    }

    /// Queues the buffer as a piece. A piece is queued only once more bytes follow, so that there are bytes
    /// left for the last piece.
    fn poll_piece(&mut self, cx: &mut Context<'_>, end_of_record: bool) -> Poll<Result<(), SendError>> {
        let mut parcel = self.waiting.take().unwrap_or_else(|| self.piece().into());
        parcel.message.end_of_record = end_of_record;
        self.waiting = Some(parcel);
        let mailbox = &self.handle.0;
        ready!(mailbox.poll_send(cx, &mut self.waiting, &mut self.ticket))?;
        self.state = if end_of_record { State::Finished } else { State::Begun };
        Poll::Ready(Ok(()))
    }

    fn piece(&mut self) -> sctp::Message {
        let bytes: Bytes = self.buffer.split().freeze();
        sctp::Message {
            stream: self.stream,
            ppid: self.ppid,
            unordered: self.unordered,
            ..sctp::Message::new(Payload::Bytes(bytes))
        }
    }
}

impl Drop for MessageWriter {
    fn drop(&mut self) {
        let mailbox = &self.handle.0;
        match (self.state, self.ticket) {
            (State::Begun, _) => {
                mailbox.hub.tell(Command::Abort(mailbox.id, Bytes::from_static(b"message not finished")));
            }
            (State::Fresh, Some(ticket)) => mailbox.leave_queue(ticket),
            (State::Fresh | State::Finished, _) => {}
        }
    }
}
