//! Handles that only the process that created them may use.

use std::ops::{Deref, DerefMut};

/// Handles of a driver (the thread that serves the sockets). A forked child has a copy of the
/// handles but no driver thread, and locks that the thread held at the fork stay locked there. So
/// the child leaks its copy instead of dropping it.
pub struct Own<T> {
    /// `None` only during the drop.
    inner: Option<T>,
    process: u32,
}

impl<T> Own<T> {
    pub fn new(inner: T) -> Self {
        Own { inner: Some(inner), process: std::process::id() }
    }
}

impl<T> Deref for Own<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.inner.as_ref().expect("it is taken only when dropped")
    }
}

impl<T> DerefMut for Own<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.inner.as_mut().expect("it is taken only when dropped")
    }
}

impl<T> Drop for Own<T> {
    fn drop(&mut self) {
        let inner = self.inner.take();
        if self.process != std::process::id() {
            std::mem::forget(inner);
        }
    }
}
