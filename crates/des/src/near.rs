use crate::heap::Entry;
use units::Instant;

/// The next few events, in order.
///
/// Each has one of eight places. `order` has eight bytes: the places of the events in their order, then the free places.
/// The rank of a new event is the number of events before it; the first free byte moves to that rank. No branch depends on
/// times, since it would be unpredictable.
#[derive(Debug)]
pub(crate) struct Near<E> {
    /// Nanoseconds after `base`; [`FREE`] where there is no event.
    times: [u32; PLACES],
    order: u64,
    len: u32,
    /// No event is before this time.
    base: Instant,
    /// By place. A place that was never used is always the next one of this vector.
    entries: Vec<Entry<E>>,
}

const PLACES: usize = 8;

const FREE: u32 = u32::MAX;

impl<E> Default for Near<E> {
    fn default() -> Self {
        Near {
            times: [FREE; PLACES],
            order: 0x0706_0504_0302_0100,
            len: 0,
            base: Instant::ZERO,
            entries: Vec::with_capacity(PLACES),
        }
    }
}

impl<E: Copy> Near<E> {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.len() == PLACES
    }

    /// The place of the event of a rank.
    #[inline]
    fn place(&self, rank: u32) -> usize {
        (self.order >> (8 * rank)) as usize % PLACES
    }

    #[inline]
    pub(crate) fn first(&self) -> Option<&Entry<E>> {
        if self.len == 0 { None } else { self.entries.get(self.place(0)) }
    }

    /// Removes the first event; there must be one.
    #[inline]
    pub(crate) fn pop(&mut self) {
        self.times[self.place(0)] = FREE;
        self.order = self.order.rotate_right(8);
        self.len -= 1;
    }

    /// Sets the base: from now on no event is before it. There must be no event.
    #[inline]
    pub(crate) fn begin(&mut self, base: Instant) {
        debug_assert_eq!(self.len, 0);
        self.base = base;
    }

    /// Adds an event behind all others of its instant.
    ///
    /// It must be at most four seconds after the base, and there must be room. The parts of the entry are written to
    /// their place directly: a copy of a whole entry would wait for its parts to reach the cache.
    #[inline(always)] // into `Kernel::schedule`, which calls it for nearly all events
    pub(crate) fn insert(&mut self, at: Instant, number: u64, event: E) {
        debug_assert!(at >= self.base && !self.is_full());
        let time = at.since(self.base).as_nanos() as u32;
        let rank: u32 = self.times.iter().map(|&other| u32::from(other <= time)).sum();
        let place = self.place(self.len);
        let below = |rank: u32| (1 << (8 * rank)) - 1;
        let (before, taken) = (self.order & below(rank), self.order & below(self.len));
        let free = self.order & !below(self.len) & !(0xff << (8 * self.len));
        self.order = before | (place as u64) << (8 * rank) | (taken ^ before) << 8 | free;
        self.put(place, Entry { time: at, number, event });
    }

    /// As [`Self::insert`], for an event that is not before any other.
    #[inline]
    pub(crate) fn append(&mut self, entry: Entry<E>) {
        debug_assert!(!self.is_full());
        debug_assert!((0..self.len).all(|rank| self.entries[self.place(rank)].time <= entry.time));
        self.put(self.place(self.len), entry);
    }

    /// Writes an event to a free place, which must have its rank already.
    #[inline(always)]
    fn put(&mut self, place: usize, entry: Entry<E>) {
        self.len += 1;
        self.times[place] = entry.time.since(self.base).as_nanos() as u32;
        match self.entries.get_mut(place) {
            Some(free) => *free = entry,
            None => self.entries.push(entry),
        }
    }

    /// Removes the later half, the latest first. The caller must exhaust the iterator.
    pub(crate) fn spill(&mut self) -> impl Iterator<Item = Entry<E>> + '_ {
        let all = self.len;
        self.len /= 2;
        (self.len..all).rev().map(|rank| {
            let place = self.place(rank);
            self.times[place] = FREE;
            self.entries[place]
        })
    }
}
