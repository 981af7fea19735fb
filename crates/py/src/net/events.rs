//! Events of a connection.

use super::operation::Operation;
use super::own::Own;
use crate::event::event;
use io::{Events, Lagged};
use pyo3::prelude::*;
use sctp::AssocId;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};

/// Events of a connection since this object was made; one reader at a time.
#[pyclass(frozen, module = "anabranch._core")]
pub struct NetEvents {
    id: AssocId,
    inner: Own<Arc<Mutex<Events>>>,
}

impl NetEvents {
    pub fn new(id: AssocId, events: Events) -> Self {
        NetEvents { id, inner: Own::new(Arc::new(Mutex::new(events))) }
    }
}

#[pymethods]
impl NetEvents {
    /// The next event and 0, or None and the number of events lost before the next one.
    ///
    /// Returns None once the connection has ended.
    fn next(&self) -> Operation {
        let (id, inner) = (self.id, self.inner.clone());
        Operation::new(async move {
            let next = poll_fn(|cx| {
                let mut events = inner.lock().unwrap_or_else(PoisonError::into_inner);
                pin!(events.next()).poll(cx)
            });
            let next = next.await;
            next.map(|next| match next {
                Ok(what) => Python::attach(|py| Ok((Some(Py::new(py, event(py, id, what))?), 0))),
                Err(Lagged(lost)) => Ok((None, lost)),
            })
            .transpose()
        })
    }
}
