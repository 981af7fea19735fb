//! Wakers of waiting tasks, and calls by which a thread without a runtime waits for a future.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// A caller's place among those that wait for an event. With the place a caller renews or removes its waker.
#[derive(Debug, Default)]
pub(crate) struct Place(Option<u64>);

/// Wakers of the tasks that wait for an event.
#[derive(Debug, Default)]
pub(crate) struct Wakers {
    waiting: Vec<(u64, Waker)>,
    places: u64,
}

impl Wakers {
    /// Adds the task of `cx`, or renews its waker.
    pub(crate) fn register(&mut self, cx: &Context<'_>, place: &mut Place) {
        let known = place.0.and_then(|id| self.waiting.iter_mut().find(|(other, _)| *other == id));
        if let Some((_, waker)) = known {
            waker.clone_from(cx.waker());
            return;
        }
        self.places += 1;
        place.0 = Some(self.places);
        self.waiting.push((self.places, cx.waker().clone()));
    }

    /// Removes the waker of a caller that stopped waiting.
    pub(crate) fn leave(&mut self, place: &Place) {
        self.waiting.retain(|&(id, _)| Some(id) != place.0);
    }

    /// Removes and returns all wakers. The caller wakes them once it holds no lock.
    pub(crate) fn take(&mut self) -> Woken {
        Woken { one: None, others: std::mem::take(&mut self.waiting) }
    }
}

/// Tasks to wake once no lock is held.
#[must_use]
#[derive(Debug, Default)]
pub(crate) struct Woken {
    one: Option<Waker>,
    others: Vec<(u64, Waker)>,
}

impl Woken {
    pub(crate) fn wake(self) {
        self.one.into_iter().chain(self.others.into_iter().map(|(_, waker)| waker)).for_each(Waker::wake);
    }
}

impl From<Option<Waker>> for Woken {
    fn from(one: Option<Waker>) -> Self {
        Woken { one, others: Vec::new() }
    }
}

impl FromIterator<Waker> for Woken {
    fn from_iter<I: IntoIterator<Item = Waker>>(wakers: I) -> Self {
        Woken { one: None, others: wakers.into_iter().map(|waker| (0, waker)).collect() }
    }
}

/// Calls `leave` with a place when this value is dropped, as a part of the future that waits.
struct Leave<L: FnMut(&Place)> {
    place: Place,
    leave: L,
}

impl<L: FnMut(&Place)> Drop for Leave<L> {
    fn drop(&mut self) {
        if self.place.0.is_some() {
            (self.leave)(&self.place);
        }
    }
}

/// Waits until `poll` is ready. `leave` then removes the waker that `poll` registered. It does so as well if
/// the future is dropped, so that a caller with many short waits leaves no wakers behind.
pub(crate) async fn wait<T>(
    mut poll: impl FnMut(&Context<'_>, &mut Place) -> Poll<T>,
    leave: impl FnMut(&Place),
) -> T {
    let mut seat = Leave { place: Place::default(), leave };
    poll_fn(|cx| poll(cx, &mut seat.place)).await
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future on this thread until it is ready.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    block_on_until(future, None).expect("a wait without a deadline ends with the result")
}

/// As [`block_on`], for at most `timeout`. Returns `None` after that time; a future that was
/// passed by value is dropped.
pub fn block_on_for<T>(future: impl Future<Output = T>, timeout: Duration) -> Option<T> {
    // A timeout beyond the range of the clock is unlimited.
    block_on_until(future, Instant::now().checked_add(timeout))
}

fn block_on_until<T>(future: impl Future<Output = T>, deadline: Option<Instant>) -> Option<T> {
    let mut future = pin!(future);
    // The future is usually ready, so that no waker is needed.
    if let Poll::Ready(result) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        return Some(result);
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(result) = future.as_mut().poll(&mut cx) {
            return Some(result);
        }
        match deadline {
            None => thread::park(),
            Some(deadline) => match deadline.checked_duration_since(Instant::now()) {
                Some(left) if !left.is_zero() => thread::park_timeout(left),
                _ => return None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::{pending, ready};
    use std::sync::Mutex;

    #[test]
    fn a_ready_future_needs_no_time_and_a_pending_one_takes_all() {
        assert_eq!(block_on(ready(3)), 3);
        assert_eq!(block_on_for(ready(3), Duration::ZERO), Some(3));
        assert_eq!(block_on_for(pending::<()>(), Duration::from_millis(1)), None);
        assert_eq!(block_on_for(ready(3), Duration::MAX), Some(3));
    }

    #[test]
    fn a_waker_used_by_another_thread_ends_the_wait() {
        let mut polls = 0;
        let result = block_on(poll_fn(|cx| {
            polls += 1;
            if polls == 2 {
                return Poll::Ready(polls);
            }
            let waker = cx.waker().clone();
            thread::spawn(move || waker.wake());
            Poll::Pending
        }));
        assert_eq!(result, 2);
    }

    #[test]
    fn callers_that_gave_up_waiting_leave_no_waker_behind() {
        let wakers = Mutex::new(Wakers::default());
        let lock = || wakers.lock().expect("no panic");
        for _ in 0..10 {
            let never = wait(
                |cx, place| {
                    lock().register(cx, place);
                    Poll::<()>::Pending
                },
                |place| lock().leave(place),
            );
            assert_eq!(block_on_for(never, Duration::from_millis(1)), None);
        }
        assert!(lock().waiting.is_empty());
    }
}
