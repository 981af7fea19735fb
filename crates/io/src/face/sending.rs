use crate::shared::{Handle, Mailbox, Parcel, Phase, Ticket};
use crate::types::{NotDelivered, SendError};
use futures_channel::oneshot;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// A message that is being moved to the send queue. This value keeps the connection open.
#[derive(Debug)]
pub(super) struct Sending {
    handle: Arc<Handle>,
    parcel: Option<Parcel>,
    ticket: Option<Ticket>,
}

impl Sending {
    pub(super) fn new(handle: Arc<Handle>, parcel: Parcel) -> Self {
        Sending { handle, parcel: Some(parcel), ticket: None }
    }
}

impl Future for Sending {
    type Output = Result<(), SendError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Sending { handle, parcel, ticket } = self.get_mut();
        handle.0.poll_send(cx, parcel, ticket)
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            self.handle.0.leave_queue(ticket);
        }
    }
}

/// Ready when the peer has a message of [`Connection::send_tracked`](super::Connection::send_tracked).
///
/// The message is then lost only if the peer's host fails; whether the peer's application has read it is
/// unknown. Dropping the future has no effect, and it does not keep the connection open.
#[must_use = "a future tells nothing unless it is awaited"]
#[derive(Debug)]
pub struct Delivery {
    mailbox: Arc<Mailbox>,
    receiver: oneshot::Receiver<()>,
}

impl Delivery {
    pub(super) fn new(mailbox: Arc<Mailbox>, receiver: oneshot::Receiver<()>) -> Self {
        Delivery { mailbox, receiver }
    }
}

impl Future for Delivery {
    type Output = Result<(), NotDelivered>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = std::task::ready!(Pin::new(&mut self.receiver).poll(cx));
        Poll::Ready(answer.map_err(|_| match self.mailbox.phase() {
            Phase::Ended(reason) if !reason.is_graceful() => NotDelivered::Ended(reason),
            _ => NotDelivered::Lost,
        }))
    }
}
