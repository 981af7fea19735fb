use crate::Event;
use std::collections::VecDeque;

/// Events that wait for the user.
#[derive(Debug, Default)]
pub(super) struct Events {
    queue: VecDeque<Event>,
    /// [`Event::Readable`] was reported, and the user has not yet read everything.
    readable_told: bool,
}

impl Events {
    pub(super) fn push(&mut self, event: Event) {
        self.queue.push_back(event);
    }

    /// There is something to read: told once until everything was read.
    #[inline]
    pub(super) fn readable(&mut self) {
        if !self.readable_told {
            self.readable_told = true;
            self.queue.push_back(Event::Readable);
        }
    }

    /// Notes that the application has read all data.
    #[inline]
    pub(super) fn all_read(&mut self) {
        self.readable_told = false;
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<Event> {
        self.queue.pop_front()
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
}
