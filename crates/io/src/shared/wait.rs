//! Wakers, and the wait of a thread without a runtime.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// Tasks that wait for one thing.
#[derive(Debug, Default)]
pub(crate) struct Wakers(Vec<Waker>);

impl Wakers {
    /// Adds the task of `cx` unless it is there.
    pub(crate) fn register(&mut self, cx: &Context<'_>) {
        if !self.0.iter().any(|waker| waker.will_wake(cx.waker())) {
            self.0.push(cx.waker().clone());
        }
    }

    /// Takes all out, to be woken once no lock is held.
    #[must_use]
    pub(crate) fn take(&mut self) -> Wakers {
        Wakers(std::mem::take(&mut self.0))
    }

    pub(crate) fn add(&mut self, waker: Option<Waker>) {
        self.0.extend(waker);
    }

    pub(crate) fn wake(self) {
        self.0.into_iter().for_each(Waker::wake);
    }
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

/// As [`block_on`], for at most `timeout`; none if it passed. The future is dropped then, unless it was lent.
pub fn block_on_for<T>(future: impl Future<Output = T>, timeout: Duration) -> Option<T> {
    // A timeout beyond what the clock can hold is none.
    block_on_until(future, Instant::now().checked_add(timeout))
}

fn block_on_until<T>(future: impl Future<Output = T>, deadline: Option<Instant>) -> Option<T> {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut cx = Context::from_waker(&waker);
    let mut future = pin!(future);
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
    use std::future::{pending, poll_fn, ready};

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
}
