use crate::heap::{Entry, order};
use units::Instant;

/// The few events that come next, in order. A new one is nearly always one of the last of them, so that finding its
/// place from the end costs less than any tree.
#[derive(Debug)]
pub(crate) struct Near<E> {
    /// Those before `head` have run.
    entries: Vec<Entry<E>>,
    head: usize,
}

/// So many entries that have run may be kept before they are cleared away.
const RUN: usize = 64;

impl<E> Default for Near<E> {
    fn default() -> Self {
        Near { entries: Vec::new(), head: 0 }
    }
}

impl<E: Copy> Near<E> {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.entries.len() - self.head
    }

    #[inline]
    pub(crate) fn first(&self) -> Option<&Entry<E>> {
        self.entries.get(self.head)
    }

    /// The first leaves; there must be one.
    #[inline]
    pub(crate) fn pop(&mut self) {
        self.head += 1;
        if self.head == self.entries.len() {
            self.entries.clear();
            self.head = 0;
        }
    }

    /// The entry comes in parts and is built where it ends up: built first and copied there, its parts would have to
    /// reach the cache before they could be read as a whole, at the price of a cache miss.
    #[inline]
    pub(crate) fn insert(&mut self, time: Instant, number: u64, event: E) {
        if self.head >= RUN.max(self.len()) {
            self.entries.drain(..self.head);
            self.head = 0;
        }
        let key = order(time, number);
        let mut place = self.entries.len();
        self.entries.push(Entry { time, number, event });
        let waiting = &mut self.entries[self.head..];
        place -= self.head;
        while place > 0 && waiting[place - 1].key() > key {
            waiting[place] = waiting[place - 1];
            place -= 1;
        }
        waiting[place] = Entry { time, number, event };
    }

    /// Takes the later half away if there are more than `most`, those of one instant kept together; the latest first.
    pub(crate) fn spill(&mut self, most: usize) -> impl Iterator<Item = Entry<E>> + '_ {
        let waiting = &self.entries[self.head..];
        let kept = if waiting.len() > most {
            let time = waiting[waiting.len() / 2].time;
            waiting.partition_point(|entry| entry.time < time)
        } else {
            waiting.len()
        };
        // The first has to stay, and with it all of its instant.
        let kept = if kept == 0 { waiting.len() } else { kept };
        self.entries.drain(self.head + kept..).rev()
    }
}
