//! Events of a connection for those who listen.

use super::wait::Wakers;
use sctp::Event;
use std::collections::VecDeque;

/// Most events that wait.
const LIMIT: usize = 256;

/// Bounded: the oldest events give way, and their number is told.
#[derive(Debug, Default)]
pub(crate) struct News {
    events: VecDeque<Event>,
    lost: u64,
    /// Nobody listens: nothing is kept.
    pub(super) open: bool,
    pub(super) wakers: Wakers,
}

impl News {
    pub(super) fn push(&mut self, event: Event) -> Wakers {
        if !self.open {
            return Wakers::default();
        }
        if self.events.len() == LIMIT {
            self.events.pop_front();
            self.lost += 1;
        }
        self.events.push_back(event);
        self.wakers.take()
    }

    /// The next event, or how many were lost before it.
    pub(super) fn pop(&mut self) -> Option<Result<Event, u64>> {
        if self.lost > 0 {
            return Some(Err(std::mem::take(&mut self.lost)));
        }
        self.events.pop_front().map(Ok)
    }

    pub(super) fn close(&mut self) {
        *self = News::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_events_give_way_and_their_number_is_told_first() {
        let mut news = News { open: true, ..News::default() };
        news.push(Event::Restarted).wake();
        (0..LIMIT).for_each(|_| news.push(Event::ShutdownReceived).wake());
        assert_eq!(news.pop(), Some(Err(1)));
        assert_eq!(news.pop(), Some(Ok(Event::ShutdownReceived)));
    }

    #[test]
    fn nothing_is_kept_when_nobody_listens() {
        let mut news = News::default();
        news.push(Event::Restarted).wake();
        assert_eq!(news.pop(), None);
    }
}
