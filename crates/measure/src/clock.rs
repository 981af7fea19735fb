//! Time of day, and a wait that another thread can end.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// Microseconds since 1970.
pub fn micros() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    since.as_micros() as u64
}

/// A gate that can be closed once: threads that wait for this then continue.
#[derive(Debug, Default)]
pub struct Gate {
    closed: Mutex<bool>,
    changed: Condvar,
}

impl Gate {
    fn lock(&self) -> MutexGuard<'_, bool> {
        self.closed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes the gate.
    pub fn close(&self) {
        *self.lock() = true;
        self.changed.notify_all();
    }

    /// True if the gate is closed.
    pub fn is_closed(&self) -> bool {
        *self.lock()
    }

    /// Waits until the gate closes or `deadline` passes (`None`: no limit). Returns true if the gate is
    /// closed.
    pub fn wait_until(&self, deadline: Option<Instant>) -> bool {
        let mut closed = self.lock();
        while !*closed {
            closed = match deadline {
                None => self.changed.wait(closed).unwrap_or_else(PoisonError::into_inner),
                Some(deadline) => match deadline.checked_duration_since(Instant::now()) {
                    None | Some(Duration::ZERO) => break,
                    Some(left) => {
                        let waited = self.changed.wait_timeout(closed, left);
                        waited.unwrap_or_else(PoisonError::into_inner).0
                    }
                },
            };
        }
        *closed
    }
}
