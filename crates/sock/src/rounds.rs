//! Waiting until a server has handled what came before.

use mio::Waker;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often a server has handled all that was ready, and has sent the packets that this caused.
#[derive(Clone, Debug)]
pub struct Rounds {
    waker: Arc<Waker>,
    count: Arc<(Mutex<u64>, Condvar)>,
}

impl Rounds {
    pub(crate) fn new(waker: Arc<Waker>) -> Rounds {
        Rounds { waker, count: Arc::default() }
    }

    /// Counts a round of the server.
    pub(crate) fn count(&self) {
        self.change(|count| count + 1);
    }

    /// Ends all waiting, now and later: there are no more rounds.
    pub(crate) fn end(&self) {
        self.change(|_| u64::MAX);
    }

    fn change(&self, how: impl Fn(u64) -> u64) {
        let (count, changed) = &*self.count;
        let mut count = count.lock().unwrap_or_else(PoisonError::into_inner);
        *count = how(*count);
        changed.notify_all();
    }

    /// Waits until the server has handled all that this process did before, and has sent the packets that
    /// this caused. False if this takes longer than the limit.
    pub fn wait(&self, limit: Duration) -> bool {
        let end = Instant::now() + limit;
        let (count, changed) = &*self.count;
        let mut count = count.lock().unwrap_or_else(PoisonError::into_inner);
        // The round that runs now may have begun earlier.
        let enough = count.saturating_add(2);
        while *count < enough {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            // The call fails if the server has ended.
            let _ = self.waker.wake();
            let before = *count;
            let waited = changed.wait_timeout_while(count, left, |count| *count == before);
            count = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mio::{Events, Poll, Token};
    use std::sync::atomic::{AtomicU64, Ordering};

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_wait_for_a_server_that_does_nothing_ends() -> std::io::Result<()> {
        let poll = Poll::new()?;
        let rounds = Rounds::new(Arc::new(Waker::new(poll.registry(), Token(0))?));
        assert!(!rounds.wait(Duration::from_millis(1)));
        Ok(())
    }

    #[test]
    fn a_wait_lasts_a_whole_round_and_ends_with_the_server() -> std::io::Result<()> {
        let mut poll = Poll::new()?;
        let rounds = Rounds::new(Arc::new(Waker::new(poll.registry(), Token(0))?));
        let done = AtomicU64::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut events = Events::with_capacity(4);
                while poll.poll(&mut events, None).is_ok() && done.fetch_add(1, Ordering::SeqCst) < 4 {
                    rounds.count();
                }
                rounds.end();
            });
            assert!(rounds.wait(LONG));
            assert!(done.load(Ordering::SeqCst) >= 2, "the round that ran, and a whole one");
            assert!(rounds.wait(LONG) && done.load(Ordering::SeqCst) >= 4);
            assert!(rounds.wait(LONG) && rounds.wait(LONG), "the server has ended");
        });
        Ok(())
    }
}
