use units::Instant;

/// Schedule of an endpoint: the connections with packets or events to poll, and the next time of each
/// connection.
///
/// The entry of a connection is one block of memory. So a packet for one of many connections reads few cache
/// lines.
///
/// A stored time may be too early, but never too late. Each acknowledgement moves a retransmission timer to a
/// later time; the schedule keeps the early time. When this time comes, the caller sets the new time.
#[derive(Debug, Default)]
pub struct Agenda {
    /// The entry of slot `n` is number `n`. The first `armed` entries also store the heap of times: `at` and
    /// `slot` of entry `n` are element `n` of the heap (a time, and the slot of its connection).
    entries: Vec<Entry>,
    armed: u32,
    queues: [Queue; 2],
}

/// The two queues of the schedule: connections with packets, and connections with events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Connections that may have packets to send.
    Send,
    /// Connections that may have events.
    Tell,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    at: Instant,
    slot: u32,
    /// Index of this slot's time in the heap, or [`ABSENT`].
    place: u32,
    /// The next slot in each queue, [`END`], or [`ABSENT`] if this slot is not in the queue.
    next: [u32; 2],
}

impl Entry {
    const NEW: Entry = Entry { at: Instant::FAR, slot: ABSENT, place: ABSENT, next: [ABSENT; 2] };
}

#[derive(Clone, Copy, Debug)]
struct Queue {
    first: u32,
    last: u32,
}

impl Default for Queue {
    fn default() -> Self {
        Queue { first: END, last: END }
    }
}

const ABSENT: u32 = u32::MAX;
const END: u32 = u32::MAX - 1;

impl Agenda {
    /// Appends a connection to a queue, unless it is already in the queue.
    #[inline(always)] // in the calls for each packet: the connection is nearly always queued
    pub fn enter(&mut self, turn: Turn, slot: u32) {
        let n = turn as usize;
        let entry = self.entry(slot);
        if entry.next[n] != ABSENT {
            return;
        }
        entry.next[n] = END;
        let last = std::mem::replace(&mut self.queues[n].last, slot);
        match last {
            END => self.queues[n].first = slot,
            last => self.follow(last, n, slot),
        }
    }

    #[cold] // rare: another connection is in the queue
    fn follow(&mut self, last: u32, n: usize, slot: u32) {
        self.entries[last as usize].next[n] = slot;
    }

    /// The connection at the head of a queue.
    #[inline]
    pub fn first(&self, turn: Turn) -> Option<u32> {
        let first = self.queues[turn as usize].first;
        (first != END).then_some(first)
    }

    /// Removes the connection at the head of a queue.
    #[inline]
    pub fn leave(&mut self, turn: Turn) {
        let n = turn as usize;
        let Some(slot) = self.first(turn) else { return };
        let next = std::mem::replace(&mut self.entries[slot as usize].next[n], ABSENT);
        self.queues[n].first = next;
        if next == END {
            self.queues[n].last = END;
        }
    }

    /// True if a connection is in no queue.
    pub fn is_idle(&self, slot: u32) -> bool {
        self.entries.get(slot as usize).is_none_or(|entry| entry.next == [ABSENT; 2])
    }

    /// The earliest time of any connection.
    #[inline]
    pub fn next(&self) -> Option<Instant> {
        (self.armed > 0).then(|| self.entries[0].at)
    }

    /// Sets the time of a connection to `at`, unless its time is already earlier.
    #[inline]
    pub fn arm(&mut self, slot: u32, at: Instant) {
        let place = self.entry(slot).place;
        match place {
            ABSENT => {
                let place = self.armed;
                self.armed += 1;
                self.put(place, at, slot);
                self.rise(place);
            }
            _ if at < self.entries[place as usize].at => {
                self.entries[place as usize].at = at;
                self.rise(place);
            }
            _ => {}
        }
    }

    /// Removes and returns a connection whose time is `now` or earlier.
    pub fn pop(&mut self, now: Instant) -> Option<u32> {
        self.next().filter(|&at| at <= now)?;
        let slot = self.entries[0].slot;
        self.disarm(slot);
        Some(slot)
    }

    /// Removes the time of a connection.
    pub fn disarm(&mut self, slot: u32) {
        let Some(entry) = self.entries.get_mut(slot as usize) else { return };
        let place = std::mem::replace(&mut entry.place, ABSENT);
        if place == ABSENT {
            return;
        }
        self.armed -= 1;
        let Entry { at, slot: moved, .. } = self.entries[self.armed as usize];
        if place < self.armed {
            self.put(place, at, moved);
            self.rise(place);
            self.sink(self.entries[moved as usize].place);
        }
    }

    #[inline(always)] // into `enter`
    fn entry(&mut self, slot: u32) -> &mut Entry {
        let slot = slot as usize;
        if self.entries.len() <= slot {
            self.grow(slot);
        }
        &mut self.entries[slot]
    }

    #[cold]
    fn grow(&mut self, slot: usize) {
        self.entries.resize(slot + 1, Entry::NEW);
    }

    #[inline]
    fn put(&mut self, place: u32, at: Instant, slot: u32) {
        let entry = &mut self.entries[place as usize];
        (entry.at, entry.slot) = (at, slot);
        self.entries[slot as usize].place = place;
    }

    fn key(&self, place: u32) -> (Instant, u32) {
        let entry = &self.entries[place as usize];
        (entry.at, entry.slot)
    }

    fn rise(&mut self, mut place: u32) {
        while place > 0 && self.key(place) < self.key((place - 1) / 2) {
            self.swap(place, (place - 1) / 2);
            place = (place - 1) / 2;
        }
    }

    fn sink(&mut self, mut place: u32) {
        loop {
            let children = 2 * place + 1..(2 * place + 3).min(self.armed);
            let Some(least) = children.min_by_key(|&child| self.key(child)) else { break };
            if self.key(place) <= self.key(least) {
                break;
            }
            self.swap(place, least);
            place = least;
        }
    }

    fn swap(&mut self, a: u32, b: u32) {
        let ((at_a, slot_a), (at_b, slot_b)) = (self.key(a), self.key(b));
        self.put(a, at_b, slot_b);
        self.put(b, at_a, slot_a);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, VecDeque};

    proptest! {
        #[test]
        fn times_come_in_order_and_never_late(
            steps in prop::collection::vec((0u32..12, 0u64..50, 0u8..4), 1..200),
        ) {
            let mut agenda = Agenda::default();
            let mut model: BTreeMap<u32, u64> = BTreeMap::new();
            for (slot, at, step) in steps {
                match step {
                    0 => {
                        agenda.disarm(slot);
                        model.remove(&slot);
                    }
                    1 => {
                        let due = model.iter().map(|(&slot, &due)| (due, slot)).min().filter(|&(due, _)| due <= at);
                        prop_assert_eq!(agenda.pop(Instant::from_nanos(at)), due.map(|(_, slot)| slot));
                        due.map(|(_, slot)| model.remove(&slot));
                    }
                    _ => {
                        agenda.arm(slot, Instant::from_nanos(at));
                        let due = model.entry(slot).or_insert(at);
                        *due = at.min(*due);
                    }
                }
                prop_assert_eq!(agenda.next(), model.values().min().map(|&at| Instant::from_nanos(at)));
            }
        }

        #[test]
        fn turns_come_in_the_order_of_entering_whatever_is_armed(
            steps in prop::collection::vec((0u32..6, any::<bool>(), 0u8..3), 1..200),
        ) {
            let mut agenda = Agenda::default();
            let mut model: [VecDeque<u32>; 2] = Default::default();
            for (slot, tell, step) in steps {
                let turn = if tell { Turn::Tell } else { Turn::Send };
                let queue = &mut model[usize::from(tell)];
                match step {
                    0 => {
                        agenda.leave(turn);
                        queue.pop_front();
                    }
                    1 => agenda.arm(slot, Instant::from_nanos(u64::from(slot ^ 3))),
                    _ => {
                        agenda.enter(turn, slot);
                        if !queue.contains(&slot) {
                            queue.push_back(slot);
                        }
                    }
                }
                prop_assert_eq!(agenda.first(turn), queue.front().copied());
                for slot in 0..6 {
                    prop_assert_eq!(agenda.is_idle(slot), model.iter().all(|queue| !queue.contains(&slot)));
                }
            }
        }
    }
}
