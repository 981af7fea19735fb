use crate::heap::Entry;
use units::Instant;

/// The next few events, in order.
///
/// Each event has one of eight places, and the bytes of `order` list the places in the order of the events.
/// The rank of a new event is the number of events before it: the places from that rank on move up by a byte.
/// No branch depends on times: the processor could not predict such a branch.
#[derive(Debug)]
pub(crate) struct Near<E> {
    /// Time of the event at each place, in nanoseconds after `base`; [`FREE`] at places without an event.
    times: [u32; PLACES],
    /// The places of the events, in the order of the events, one byte
    /// for each place. Bytes after the last event are meaningless.
    order: u64,
    /// The free places, one bit each.
    free: u32,
    /// No event of this queue is earlier than this time.
    base: Instant,
    /// The entries by place; `None` before the first event.
    entries: Option<Box<[Entry<E>; PLACES]>>,
}

const PLACES: usize = 8;

const ALL_FREE: u32 = (1 << PLACES) - 1;

const FREE: u32 = u32::MAX;

impl<E> Default for Near<E> {
    fn default() -> Self {
        Near { times: [FREE; PLACES], order: 0, free: ALL_FREE, base: Instant::ZERO, entries: None }
    }
}

impl<E: Copy> Near<E> {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        PLACES - self.free.count_ones() as usize
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.free == ALL_FREE
    }

    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.free == 0
    }

    /// The index in the arrays for the event of the given rank (0: the earliest event).
    #[inline]
    fn place(&self, rank: u32) -> usize {
        (self.order >> (8 * rank)) as usize % PLACES
    }

    #[inline]
    pub(crate) fn first(&self) -> Option<&Entry<E>> {
        self.entries.as_ref().filter(|_| !self.is_empty()).map(|entries| &entries[self.place(0)])
    }

    /// Removes the first event. The queue must not be empty.
    #[inline]
    pub(crate) fn pop(&mut self) {
        self.vacate(self.place(0));
        self.order >>= 8;
    }

    #[inline]
    fn vacate(&mut self, place: usize) {
        self.times[place] = FREE;
        self.free |= 1 << place;
    }

    /// Sets the base: no event that is inserted from now on
    /// is earlier than the base. The queue must be empty.
    #[inline]
    pub(crate) fn begin(&mut self, base: Instant) {
        debug_assert!(self.is_empty());
        self.base = base;
    }

    /// Adds an event after all others of its instant.
    ///
    /// The time must be at most four seconds after the base, and a place must be free. The parts of the entry
    /// are written to their place directly: a copy of the entry would wait for the cache.
    #[inline(always)] // into `Kernel::schedule`, which calls it for nearly all events
    pub(crate) fn insert(&mut self, at: Instant, number: u64, event: E) {
        debug_assert!(at >= self.base && !self.is_full());
        let time = at.since(self.base).as_nanos() as u32;
        // The loop is not vectorised: a vector load would have
        // to wait until the store of the last time is complete.
        let rank: u32 = self.times.iter().map(|&other| u32::from(other <= time)).sum();
        let place = self.free.trailing_zeros();
        let shift = 8 * rank % u64::BITS;
        let later = self.order & u64::MAX << shift;
        self.order = self.order ^ later | later << 8 | u64::from(place) << shift;
        self.free &= self.free - 1;
        let place = place as usize % PLACES;
        self.times[place] = time;
        match &mut self.entries {
            Some(entries) => entries[place] = Entry { time: at, number, event },
            None => self.begin_with(at, number, event),
        }
    }

    #[cold]
    fn begin_with(&mut self, time: Instant, number: u64, event: E) {
        self.entries = Some(Box::new([Entry { time, number, event }; PLACES]));
    }

    /// Removes the later half of a full queue, the latest first. The caller must exhaust the iterator.
    pub(crate) fn spill(&mut self) -> impl Iterator<Item = Entry<E>> + '_ {
        (PLACES as u32 / 2..PLACES as u32).rev().filter_map(|rank| {
            let place = self.place(rank);
            self.vacate(place);
            self.entries.as_ref().map(|entries| entries[place])
        })
    }
}
