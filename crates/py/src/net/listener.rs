//! Connections that peers begin.

use super::connection::NetConnection;
use super::operation::Operation;
use io::{EndpointClosed, Listener};
use pyo3::prelude::*;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Connections that peers begin.
#[pyclass(frozen, module = "anabranch._core")]
pub struct NetListener {
    shared: Arc<Mutex<Shared>>,
}

struct Shared {
    /// None once it was closed.
    listener: Option<Listener>,
    /// Those who wait for a connection.
    callers: Vec<Waker>,
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl NetListener {
    pub fn new(listener: Listener) -> Self {
        NetListener { shared: Arc::new(Mutex::new(Shared { listener: Some(listener), callers: Vec::new() })) }
    }
}

impl Shared {
    /// The next connection; none once the listener or its endpoint was closed.
    fn poll_accept(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Connection>> {
        let Some(listener) = &self.listener else { return Poll::Ready(None) };
        let accepted = listener.poll_accept(cx);
        if accepted.is_pending() && !self.callers.iter().any(|waker| waker.will_wake(cx.waker())) {
            self.callers.push(cx.waker().clone());
        }
        accepted.map(|accepted| accepted.map_err(|EndpointClosed| ()).ok())
    }
}

#[pymethods]
impl NetListener {
    /// The next connection; None once the listener or its endpoint was closed.
    fn accept(&self) -> Operation {
        let shared = self.shared.clone();
        Operation::new(async move {
            let accepted = poll_fn(|cx| lock(&shared).poll_accept(cx)).await;
            Ok(accepted.map(NetConnection::new))
        })
    }

    fn close(&self) {
        let mut shared = lock(&self.shared);
        let (listener, callers) = (shared.listener.take(), std::mem::take(&mut shared.callers));
        drop(shared);
        drop(listener);
        callers.into_iter().for_each(Waker::wake);
    }

    fn closed(&self) -> bool {
        lock(&self.shared).listener.is_none()
    }
}
