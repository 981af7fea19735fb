//! Wakes an event loop through one descriptor, for any number of waiting operations.

use super::pair::{self, Stream};
use pyo3::prelude::*;
use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Wake, Waker};

/// Tells an event loop which operations can continue.
///
/// ``fileno()`` is readable while ``take()`` would return some.
#[pyclass(frozen, module = "anabranch._core")]
pub struct Wakeups {
    queue: Arc<Queue>,
    reader: Stream,
    slots: Arc<Mutex<Slots>>,
}

/// Numbers of the slots whose operations can continue. The threads of the sockets add them without the GIL.
#[derive(Debug)]
struct Queue {
    woken: Mutex<Vec<usize>>,
    writer: Stream,
}

/// The slot of a waiting operation.
#[derive(Debug)]
struct Slot {
    queue: Arc<Queue>,
    number: usize,
    /// True if the slot is in the queue.
    woken: AtomicBool,
}

/// Slots and their wakers are reused. So their number is at most the largest number of operations that
/// waited at the same time.
#[derive(Debug, Default)]
struct Slots {
    all: Vec<Arc<Slot>>,
    free: Vec<usize>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Wake for Slot {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.woken.swap(true, Ordering::AcqRel) {
            return;
        }
        let mut woken = lock(&self.queue.woken);
        let first = woken.is_empty();
        woken.push(self.number);
        drop(woken);
        if first {
            // If the socket is full, or the loop has ended, another byte is not needed.
            let _ = (&self.queue.writer).write(&[1]);
        }
    }
}

/// A reserved slot for an operation; dropping the lease frees the slot.
pub struct Lease {
    slots: Arc<Mutex<Slots>>,
    number: usize,
    waker: Waker,
}

impl Lease {
    pub fn number(&self) -> usize {
        self.number
    }

    pub fn waker(&self) -> &Waker {
        &self.waker
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        lock(&self.slots).free.push(self.number);
    }
}

impl Wakeups {
    pub fn lease(&self) -> Lease {
        let mut slots = lock(&self.slots);
        let number = slots.free.pop().unwrap_or_else(|| {
            let number = slots.all.len();
            slots.all.push(Arc::new(Slot {
                queue: self.queue.clone(),
                number,
                woken: AtomicBool::new(false),
            }));
            number
        });
        Lease { slots: self.slots.clone(), number, waker: slots.all[number].clone().into() }
    }
}

#[pymethods]
impl Wakeups {
    #[new]
    fn new() -> io::Result<Self> {
        let (reader, writer) = pair::pair()?;
        let queue = Arc::new(Queue { woken: Mutex::default(), writer });
        Ok(Wakeups { queue, reader, slots: Arc::default() })
    }

    /// The descriptor to wait for.
    fn fileno(&self) -> i64 {
        pair::number(&self.reader)
    }

    /// The slots of the operations that can be polled again.
    fn take(&self) -> Vec<usize> {
        // The byte is read before the numbers are taken. A number that is added in between is taken, too; the
        // byte written for it only causes an unnecessary wake-up.
        let _ = (&self.reader).read(&mut [0; 64]);
        let woken = std::mem::take(&mut *lock(&self.queue.woken));
        let slots = lock(&self.slots);
        woken.iter().for_each(|&number| slots.all[number].woken.store(false, Ordering::Release));
        woken
    }
}
