//! The delivery of a message.

use super::error;
use super::link::Link;
use super::operation::Operation;
use super::own::Own;
use io::{Delivery, NotDelivered};
use pyo3::prelude::*;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

/// A message on its way to the peer.
#[pyclass(frozen, module = "anabranch._core")]
pub struct NetDelivery {
    link: Own<Arc<Link>>,
    state: Own<Arc<Mutex<State>>>,
}

enum State {
    Waits(Delivery),
    Ended(Result<(), NotDelivered>),
}

impl State {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), NotDelivered>> {
        if let State::Waits(delivery) = self {
            *self = State::Ended(ready!(Pin::new(delivery).poll(cx)));
        }
        match self {
            State::Ended(result) => Poll::Ready(result.clone()),
            State::Waits(_) => Poll::Pending,
        }
    }
}

impl NetDelivery {
    pub fn new(link: Arc<Link>, delivery: Delivery) -> Self {
        NetDelivery { link: Own::new(link), state: Own::new(Arc::new(Mutex::new(State::Waits(delivery)))) }
    }
}

#[pymethods]
impl NetDelivery {
    /// Waits until the peer has the message.
    fn wait(&self) -> Operation {
        let (link, state) = (self.link.clone(), self.state.clone());
        Operation::nothing(async move {
            let ended = poll_fn(|cx| state.lock().unwrap_or_else(PoisonError::into_inner).poll(cx)).await;
            ended.map_err(|failure| error::not_delivered(&link.name(), failure))
        })
    }
}
