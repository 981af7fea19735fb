//! Keeps the send queue of an association short.

use crate::channel::Channel;
use crate::clock::Gate;
use std::time::{Duration, Instant};

/// Interval of checks while the queue is full.
const LOOK: Duration = Duration::from_millis(1);
/// Smallest and largest limit of the queue, in messages.
const LEAST: usize = 4;
const MOST: usize = 1 << 12;

/// Limits the messages that wait for their first transmission to what the association sends in a few
/// milliseconds, as TCP does with `TCP_NOTSENT_LOWAT`. So latency under load is that of the network, not of a
/// full send buffer.
pub struct ShortQueue {
    limit: usize,
    /// Messages that may be sent before the length of the queue is checked again.
    left: usize,
}

impl ShortQueue {
    pub fn new() -> Self {
        ShortQueue { limit: LEAST, left: LEAST }
    }

    /// Waits until one more message may join the queue, or until `stop` closes.
    pub fn wait(&mut self, channel: &Channel, stop: &Gate) {
        let Channel::Sctp(connection, _) = channel else { return };
        while self.left == 0 && !stop.is_closed() {
            // If the association has ended, the caller notices that when it sends the message.
            let Ok(stats) = connection.stats() else { return };
            if let Some(left) = self.look(stats.unsent_messages) {
                self.left = left;
            } else {
                stop.wait_until(Some(Instant::now() + LOOK));
            }
        }
        self.left = self.left.saturating_sub(1);
    }

    /// Adapts `limit` (the longest queue), when `unsent` messages wait. Returns how many more messages may
    /// join the queue; `None` if none may. If the queue is empty at a check, the limit was too small.
    fn look(&mut self, unsent: usize) -> Option<usize> {
        if unsent == 0 {
            self.limit = (self.limit * 2).min(MOST);
        } else if unsent > self.limit / 2 {
            self.limit = (self.limit - self.limit / 8).max(LEAST);
        }
        self.limit.checked_sub(unsent).filter(|left| *left > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_queue_grows_while_it_runs_dry_and_shrinks_while_it_stays_long() {
        let mut queue = ShortQueue::new();
        assert_eq!(queue.look(0), Some(8));
        assert_eq!(queue.look(0), Some(16));
        assert_eq!(queue.look(10), Some(4), "the limit is 14");
        assert_eq!(queue.look(14), None);
        for _ in 0..20 {
            queue.look(0);
        }
        assert_eq!(queue.look(0), Some(MOST));
        for _ in 0..100 {
            queue.look(MOST);
        }
        assert_eq!(queue.look(1), Some(LEAST + 3 - 1), "an eighth of 7 is none");
    }
}
