use crate::Event;
use std::collections::VecDeque;

/// Pending events of a connection.
#[derive(Debug, Default)]
pub(super) struct Events {
    queue: VecDeque<Event>,
    /// [`Event::Readable`] was reported, and the user has not read everything since.
    readable_told: bool,
}

impl Events {
    pub(super) fn push(&mut self, event: Event) {
        self.queue.push_back(event);
    }

    /// Reports readable data, once until everything is read.
    #[inline]
    pub(super) fn readable(&mut self) {
        if !self.readable_told {
            self.readable_told = true;
            self.queue.push_back(Event::Readable);
        }
    }

    /// Records that the application has read all data.
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
