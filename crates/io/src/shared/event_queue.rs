//! The events of one connection that the application has not read yet.

use super::wait::{Place, Wakers, Woken};
use sctp::Event;
use std::collections::VecDeque;
use std::task::{Context, Poll};

/// Largest number of events in the queue.
const LIMIT: usize = 256;

/// Identifies a reader of the events. A new reader replaces the earlier one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reader(u64);

/// Bounded queue of events: drops the oldest ones when full, and reports how many were dropped.
#[derive(Debug, Default)]
pub(crate) struct EventQueue {
    events: VecDeque<Event>,
    lost: u64,
    /// The present reader; without a reader no event is kept.
    reader: Option<Reader>,
    readers: u64,
    wakers: Wakers,
}

impl EventQueue {
    pub(super) fn push(&mut self, event: Event) -> Woken {
        if self.reader.is_none() {
            return Woken::default();
        }
        // Only the latest state of a path is kept.
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

    /// The next event, or the number of events lost before it.
    fn pop(&mut self) -> Option<Result<Event, u64>> {
        if self.lost > 0 {
            return Some(Err(std::mem::take(&mut self.lost)));
        }
        self.events.pop_front().map(Ok)
    }

    /// The next event, or the number of events lost before it. `None` for a reader that was replaced, and if
    /// `ended` and all events were read.
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
            next => Poll::Ready(next),
        }
    }

    /// Begins to keep events for a new reader. The earlier reader gets no more events, and is woken.
    pub(super) fn open(&mut self) -> (Reader, Woken) {
        let (readers, earlier) = (self.readers + 1, self.wakers.take());
        *self = EventQueue { reader: Some(Reader(readers)), readers, ..EventQueue::default() };
        (Reader(readers), earlier)
    }

    /// Removes a reader. No event is kept from then until another reader is opened.
    pub(super) fn close(&mut self, reader: Reader) {
        if self.reader == Some(reader) {
            *self = EventQueue { readers: self.readers, ..EventQueue::default() };
        }
    }

    /// Removes and returns the wakers of the tasks that wait for an event.
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
        let mut queue = EventQueue::default();
        queue.open().1.wake();
        queue.push(Event::Restarted).wake();
        (0..LIMIT).for_each(|_| queue.push(Event::ShutdownReceived).wake());
        assert_eq!(queue.pop(), Some(Err(1)));
        assert_eq!(queue.pop(), Some(Ok(Event::ShutdownReceived)));
    }

    #[test]
    fn of_a_path_that_flaps_the_latest_state_is_told() {
        let mut queue = EventQueue::default();
        queue.open().1.wake();
        let changed = |last, state| Event::PathChanged { address: [10, 0, 0, last].into(), state };
        for state in [PathState::Inactive, PathState::Active, PathState::Inactive] {
            queue.push(changed(1, state)).wake();
            queue.push(changed(2, state)).wake();
        }
        let told: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(told, [1, 2].map(|path| Ok(changed(path, PathState::Inactive))));
    }

    #[test]
    fn nothing_is_kept_when_nobody_listens() {
        let mut queue = EventQueue::default();
        queue.push(Event::Restarted).wake();
        assert_eq!(queue.pop(), None);
    }

    #[test]
    fn a_later_reader_takes_over_and_outlives_the_earlier_one() {
        let mut queue = EventQueue::default();
        let ([(first, _), (second, _)], cx) =
            ([(); 2].map(|()| queue.open()), Context::from_waker(Waker::noop()));
        queue.close(first);
        queue.push(Event::Restarted).wake();
        assert_eq!(queue.poll_next(&cx, first, &mut Place::default(), false), Poll::Ready(None));
        let next = queue.poll_next(&cx, second, &mut Place::default(), false);
        assert_eq!(next, Poll::Ready(Some(Ok(Event::Restarted))));
    }
}
