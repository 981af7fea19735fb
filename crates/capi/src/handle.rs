//! The handle of an endpoint: it admits one caller at a time, and catches panics.

use crate::fault::Fault;
use crate::inner::Inner;
use libc::{EBUSY, EFAULT, EIO};
use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

/// An endpoint, as callers know it.
#[allow(non_camel_case_types, reason = "a name of C")]
pub struct anb_ep {
    /// A call is running.
    busy: AtomicBool,
    /// An earlier call panicked: the state may be half changed.
    poisoned: AtomicBool,
    inner: UnsafeCell<Inner>,
}

// SAFETY: only the caller that has set `busy` uses `inner`, and an `Inner` may move between threads.
unsafe impl Sync for anb_ep {}

const _: () = {
    const fn may_move<T: Send>() {}
    may_move::<Inner>();
};

impl anb_ep {
    pub(crate) fn new(inner: Inner) -> *mut anb_ep {
        Box::into_raw(Box::new(anb_ep {
            busy: AtomicBool::new(false),
            poisoned: AtomicBool::new(false),
            inner: UnsafeCell::new(inner),
        }))
    }

    fn run<T>(&self, work: impl FnOnce(&mut Inner) -> Result<T, Fault>) -> Result<T, Fault> {
        if self.busy.swap(true, Ordering::Acquire) {
            return Err(EBUSY.into());
        }
        let result = if self.poisoned.load(Ordering::Relaxed) {
            Err(EIO.into())
        } else {
            // SAFETY: `busy` was false, so that no other call has a reference until it is false again.
            let inner = unsafe { &mut *self.inner.get() };
            let done = guarded(|| work(inner));
            if done.is_none() {
                self.poisoned.store(true, Ordering::Relaxed);
            }
            done.unwrap_or_else(|| Err(EIO.into()))
        };
        self.busy.store(false, Ordering::Release);
        result
    }
}

/// Runs `work`; `None` if it panicked.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Option<T> {
    // A panic may leave an endpoint half changed: `poisoned` keeps later calls from using it.
    catch_unwind(AssertUnwindSafe(work)).ok()
}

/// Does work with an endpoint.
///
/// # Safety
/// `at` is null or was made by [`anb_ep::new`] and is not freed during the call.
pub(crate) unsafe fn enter<T>(
    at: *mut anb_ep,
    work: impl FnOnce(&mut Inner) -> Result<T, Fault>,
) -> Result<T, Fault> {
    // SAFETY: as the caller promises; all other uses of the handle are shared references, too.
    unsafe { at.as_ref() }.ok_or(Fault::from(EFAULT))?.run(work)
}

/// Frees an endpoint, unless another call is using it.
///
/// # Safety
/// `at` is null or was made by [`anb_ep::new`], and is not used afterwards.
pub(crate) unsafe fn free(at: *mut anb_ep) {
    // SAFETY: as the caller promises.
    let Some(handle) = (unsafe { at.as_ref() }) else { return };
    if handle.busy.swap(true, Ordering::Acquire) {
        return;
    }
    // SAFETY: made by `Box::into_raw`, and no other call has the endpoint.
    let handle = unsafe { Box::from_raw(at) };
    let _ = guarded(|| drop(handle));
}
