//! Connections that peers begin.

use super::connection::NetConnection;
use super::operation::Operation;
use super::own::Own;
use io::Listener;
use pyo3::prelude::*;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Connections that peers begin.
#[pyclass(frozen, module = "anabranch._core")]
pub struct NetListener {
    shared: Own<Arc<Mutex<Shared>>>,
}

struct Shared {
    /// `None` once the listener was closed.
    listener: Option<Arc<Listener>>,
    /// Wakers of the callers that wait for a connection.
    callers: Vec<Waker>,
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl NetListener {
    pub fn new(listener: Listener) -> Self {
        let shared = Shared { listener: Some(Arc::new(listener)), callers: Vec::new() };
        NetListener { shared: Own::new(Arc::new(Mutex::new(shared))) }
    }
}

impl Shared {
    /// Ready once the listener was closed.
    fn poll_closed(&mut self, cx: &Context<'_>) -> Poll<()> {
        if self.listener.is_none() {
            return Poll::Ready(());
        }
        if !self.callers.iter().any(|waker| waker.will_wake(cx.waker())) {
            self.callers.push(cx.waker().clone());
        }
        Poll::Pending
    }
}

#[pymethods]
impl NetListener {
    /// The next connection; None once the listener or its endpoint was closed.
    fn accept(&self) -> Operation {
        let shared = self.shared.clone();
        Operation::new(async move {
            let Some(listener) = lock(&shared).listener.clone() else { return Ok(None) };
            let mut accept = pin!(listener.accept());
            let accepted = poll_fn(|cx| match lock(&shared).poll_closed(cx) {
                Poll::Ready(()) => Poll::Ready(None),
                Poll::Pending => accept.as_mut().poll(cx).map(Result::ok),
            });
            Ok(accepted.await.map(NetConnection::new))
        })
    }

    /// Ends listening. Each ``accept`` that waits returns None.
    fn close(&self) {
        let mut shared = lock(&self.shared);
        let (listener, callers) = (shared.listener.take(), std::mem::take(&mut shared.callers));
        drop(shared);
        drop(listener);
        callers.into_iter().for_each(Waker::wake);
    }

    /// Whether the listener was closed.
    fn closed(&self) -> bool {
        lock(&self.shared).listener.is_none()
    }
}
