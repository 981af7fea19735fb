use crate::Instant;

/// When each connection of an endpoint, by its slot, wants to be looked at again: a heap with at most one entry each.
///
/// An entry may be early, never late: a deadline that moves on, as a retransmission timer does with every acknowledgement, costs nothing
/// here; whoever takes the entry asks the connection and enters it again.
#[derive(Debug, Default)]
pub struct Timers {
    heap: Vec<(Instant, u32)>,
    /// For each slot its place in the heap, or [`ABSENT`].
    place: Vec<u32>,
}

const ABSENT: u32 = u32::MAX;

impl Timers {
    /// The earliest entry.
    #[inline]
    pub fn next(&self) -> Option<Instant> {
        self.heap.first().map(|&(at, _)| at)
    }

    /// Makes sure there is an entry for `slot` no later than `at`.
    #[inline]
    pub fn arm(&mut self, slot: u32, at: Instant) {
        if self.place.len() <= slot as usize {
            self.place.resize(slot as usize + 1, ABSENT);
        }
        match self.place[slot as usize] {
            ABSENT => {
                self.heap.push((at, slot));
                self.rise(self.heap.len() - 1);
            }
            place if at < self.heap[place as usize].0 => {
                self.heap[place as usize].0 = at;
                self.rise(place as usize);
            }
            _ => {}
        }
    }

    /// Takes an entry that is due at `now`.
    pub fn pop(&mut self, now: Instant) -> Option<u32> {
        let &(at, slot) = self.heap.first()?;
        (at <= now).then(|| {
            self.remove(slot);
            slot
        })
    }

    /// Drops the entry of `slot`, if there is one.
    pub fn remove(&mut self, slot: u32) {
        let place = self.place.get(slot as usize).copied().unwrap_or(ABSENT);
        if place == ABSENT {
            return;
        }
        let place = place as usize;
        self.heap.swap_remove(place);
        self.place[slot as usize] = ABSENT;
        if place < self.heap.len() {
            self.place[self.heap[place].1 as usize] = place as u32;
            self.rise(place);
            self.sink(place);
        }
    }

    fn rise(&mut self, mut place: usize) {
        while place > 0 && self.heap[place] < self.heap[(place - 1) / 2] {
            self.swap(place, (place - 1) / 2);
            place = (place - 1) / 2;
        }
        self.place[self.heap[place].1 as usize] = place as u32;
    }

    fn sink(&mut self, mut place: usize) {
        loop {
            let children = 2 * place + 1..(2 * place + 3).min(self.heap.len());
            let Some(least) = children.min_by_key(|&child| self.heap[child]) else { break };
            if self.heap[place] <= self.heap[least] {
                break;
            }
            self.swap(place, least);
            place = least;
        }
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.heap.swap(a, b);
        self.place[self.heap[a].1 as usize] = a as u32;
        self.place[self.heap[b].1 as usize] = b as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn entries_leave_in_order_and_never_late(
            steps in prop::collection::vec((0u32..12, 0u64..50, 0u8..4), 1..200),
        ) {
            let mut timers = Timers::default();
            let mut model: BTreeMap<u32, u64> = BTreeMap::new();
            for (slot, at, step) in steps {
                match step {
                    0 => {
                        timers.remove(slot);
                        model.remove(&slot);
                    }
                    1 => {
                        let due = model.iter().map(|(&slot, &due)| (due, slot)).min().filter(|&(due, _)| due <= at);
                        prop_assert_eq!(timers.pop(Instant::from_nanos(at)), due.map(|(_, slot)| slot));
                        due.map(|(_, slot)| model.remove(&slot));
                    }
                    _ => {
                        timers.arm(slot, Instant::from_nanos(at));
                        let due = model.entry(slot).or_insert(at);
                        *due = at.min(*due);
                    }
                }
                prop_assert_eq!(timers.next(), model.values().min().map(|&at| Instant::from_nanos(at)));
            }
        }
    }
}
