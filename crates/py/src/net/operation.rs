//! A call that takes time.
#![allow(clippy::disallowed_types, reason = "sockets work in real time")]

use super::arguments::Timeout;
use super::own::Own;
use super::wakeups::{Lease, Wakeups};
use io::blocking::block_on_for;
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// Interval at which a waiting thread checks for signals such as Ctrl-C.
const GLANCE: Duration = Duration::from_millis(50);

type Work = Pin<Box<dyn Future<Output = PyResult<Py<PyAny>>> + Send>>;

/// A call that takes time. It begins with the first ``poll`` or ``wait``; ``drop`` gives it up.
#[pyclass(frozen, module = "anabranch._core")]
pub struct Operation {
    state: Mutex<State>,
}

struct State {
    /// The call itself; `None` once the operation is ready or was dropped.
    work: Option<Own<Work>>,
    lease: Option<Lease>,
    result: Option<PyResult<Py<PyAny>>>,
}

impl Operation {
    pub fn new<T>(work: impl Future<Output = PyResult<T>> + Send + 'static) -> Self
    where
        T: for<'py> IntoPyObject<'py> + 'static,
    {
        let work: Work = Box::pin(async move {
            let value = work.await?;
            Python::attach(|py| value.into_py_any(py))
        });
        Operation { state: Mutex::new(State { work: Some(Own::new(work)), lease: None, result: None }) }
    }

    /// An operation that returns nothing.
    pub fn nothing(work: impl Future<Output = PyResult<()>> + Send + 'static) -> Self {
        Operation::new(async move { work.await.map(|()| None::<bool>) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn finish(&mut self, result: PyResult<Py<PyAny>>) {
        *self = State { work: None, lease: None, result: Some(result) };
    }
}

#[pymethods]
impl Operation {
    /// Continues the call.
    ///
    /// Returns None if the call is done, otherwise the slot that ``Wakeups.take`` returns later.
    fn poll(&self, wakeups: &Wakeups) -> Option<usize> {
        let mut state = self.state();
        let State { work, lease, .. } = &mut *state;
        let work = work.as_mut()?;
        let lease = lease.get_or_insert_with(|| wakeups.lease());
        match work.as_mut().poll(&mut Context::from_waker(lease.waker())) {
            Poll::Pending => Some(lease.number()),
            Poll::Ready(result) => {
                state.finish(result);
                None
            }
        }
    }

    /// Waits without the GIL for at most ``timeout`` seconds; None: no limit.
    ///
    /// Returns False if the timeout has passed; then the operation was dropped.
    fn wait(&self, py: Python<'_>, timeout: Timeout) -> PyResult<bool> {
        let Some(mut work) = self.state().work.take() else { return Ok(true) };
        // A timeout beyond the range of the clock is unlimited.
        let deadline = timeout.0.and_then(|timeout| Instant::now().checked_add(timeout));
        // Polls once before it releases the GIL, since the result may be ready.
        let mut ready = block_on_for(work.as_mut(), Duration::ZERO);
        loop {
            if let Some(result) = ready {
                self.state().finish(result);
                return Ok(true);
            }
            py.check_signals()?;
            let left = deadline.map_or(GLANCE, |at| at.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return Ok(false);
            }
            ready = py.detach(|| block_on_for(work.as_mut(), left.min(GLANCE)));
        }
    }

    /// Returns the result of an operation that is done, or raises its exception; only once.
    fn result(&self) -> PyResult<Py<PyAny>> {
        let result = self.state().result.take();
        result.unwrap_or_else(|| Err(PyRuntimeError::new_err("the operation has no result, or it was taken")))
    }

    /// Drops the operation before it is done.
    fn drop(&self) {
        let mut state = self.state();
        state.work = None;
        state.lease = None;
    }
}
