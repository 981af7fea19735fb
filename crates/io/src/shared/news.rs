//! Events of a connection for those who listen.

use super::wait::{Place, Wakers, Woken};
use sctp::Event;
use std::collections::VecDeque;
use std::task::{Context, Poll};

/// Most events that wait.
const LIMIT: usize = 256;

/// Who reads the events: a later reader takes over from an earlier one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reader(u64);

/// Bounded: the oldest events give way, and their number is told.
#[derive(Debug, Default)]
pub(crate) struct News {
    events: VecDeque<Event>,
    lost: u64,
    /// None: nothing is kept.
    reader: Option<Reader>,
    readers: u64,
    wakers: Wakers,
}

impl News {
    pub(super) fn push(&mut self, event: Event) -> Woken {
        if self.reader.is_none() {
            return Woken::default();
        }
        // Of a path only the latest state counts.
        if let Event::PathChanged { address: path, .. } = event {
            self.events
                .retain(|earlier| !matches!(earlier, Event::PathChanged { address, .. } if *address == path));
        }
        if self.events.len() == LIMIT {
            self.events.pop_front();
            self.lost += 1;
        }
        self.events.push_back(event);
        self.wakers.take()
    }

    /// The next event, or how many were lost before it.
    fn pop(&mut self) -> Option<Result<Event, u64>> {
        if self.lost > 0 {
            return Some(Err(std::mem::take(&mut self.lost)));
        }
        self.events.pop_front().map(Ok)
    }

    /// The next event, or how many were lost before it; none for a reader that is no longer the one, and if `ended` and
    /// all were read.
    pub(super) fn poll_next(
        &mut self,
        cx: &Context<'_>,
        reader: Reader,
        place: &mut Place,
        ended: bool,
    ) -> Poll<Option<Result<Event, u64>>> {
        if self.reader != Some(reader) {
            return Poll::Ready(None);
        }
        match self.pop() {
            None if !ended => {
                self.wakers.register(cx, place);
                Poll::Pending
            }
            news => Poll::Ready(news),
        }
    }

    /// Begins to keep events for a reader. An earlier one gets no more, and is woken to learn it.
    pub(super) fn open(&mut self) -> (Reader, Woken) {
        let (readers, earlier) = (self.readers + 1, self.wakers.take());
        *self = News { reader: Some(Reader(readers)), readers, ..News::default() };
        (Reader(readers), earlier)
    }

    /// A reader is gone.
    pub(super) fn close(&mut self, reader: Reader) {
        if self.reader == Some(reader) {
            *self = News { readers: self.readers, ..News::default() };
        }
    }

    /// Tasks that wait for an event.
    pub(super) fn waiting(&mut self) -> Woken {
        self.wakers.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sctp::PathState;
    use std::task::Waker;

    #[test]
    fn the_oldest_events_give_way_and_their_number_is_told_first() {
        let mut news = News::default();
        news.open().1.wake();
        news.push(Event::Restarted).wake();
        (0..LIMIT).for_each(|_| news.push(Event::ShutdownReceived).wake());
        assert_eq!(news.pop(), Some(Err(1)));
        assert_eq!(news.pop(), Some(Ok(Event::ShutdownReceived)));
    }

    #[test]
    fn of_a_path_that_flaps_the_latest_state_is_told() {
        let mut news = News::default();
        news.open().1.wake();
        let changed = |last, state| Event::PathChanged { address: [10, 0, 0, last].into(), state };
        for state in [PathState::Inactive, PathState::Active, PathState::Inactive] {
            news.push(changed(1, state)).wake();
            news.push(changed(2, state)).wake();
        }
        let told: Vec<_> = std::iter::from_fn(|| news.pop()).collect();
        assert_eq!(told, [1, 2].map(|path| Ok(changed(path, PathState::Inactive))));
    }

    #[test]
    fn nothing_is_kept_when_nobody_listens() {
        let mut news = News::default();
        news.push(Event::Restarted).wake();
        assert_eq!(news.pop(), None);
    }

    #[test]
    fn a_later_reader_takes_over_and_outlives_the_earlier_one() {
        let mut news = News::default();
        let ([(first, _), (second, _)], cx) =
            ([(); 2].map(|()| news.open()), Context::from_waker(Waker::noop()));
        news.close(first);
        news.push(Event::Restarted).wake();
        assert_eq!(news.poll_next(&cx, first, &mut Place::default(), false), Poll::Ready(None));
        let next = news.poll_next(&cx, second, &mut Place::default(), false);
        assert_eq!(next, Poll::Ready(Some(Ok(Event::Restarted))));
    }
}
