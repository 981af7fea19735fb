use crate::heap::Entry;
use units::Instant;

/// The few events that come next, in order.
///
/// Each has one of eight places. `order` is a row of eight bytes: the places of the events in their order, then those
/// that are free. A new event counts how many come before it, and the first free byte moves there: no branch depends
/// on times, which nobody could predict.
#[derive(Debug)]
pub(crate) struct Near<E> {
    /// Nanoseconds after `base`; [`FREE`] where there is no event.
    times: [u32; PLACES],
    order: u64,
    len: u32,
    /// No event is earlier.
    base: Instant,
    /// Places are taken in turn, so that the first that was never taken is the next to be added.
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

    /// The first leaves; there must be one.
    #[inline]
    pub(crate) fn pop(&mut self) {
        self.times[self.place(0)] = FREE;
        self.order = self.order.rotate_right(8);
        self.len -= 1;
    }

    /// From now on no event comes before `base`; there must be none.
    #[inline]
    pub(crate) fn begin(&mut self, base: Instant) {
        debug_assert_eq!(self.len, 0);
        self.base = base;
    }

    /// Adds an event, at most four seconds after the base, behind all of its instant; there must be room. The entry
    /// comes in parts and is built where it ends up: built first and copied there, its parts would have to reach the
    /// cache before they could be read as a whole.
    #[inline]
    pub(crate) fn insert(&mut self, at: Instant, number: u64, event: E) {
        debug_assert!(at >= self.base && !self.is_full());
        let time = at.since(self.base).as_nanos() as u32;
        let rank: u32 = self.times.iter().map(|&other| u32::from(other <= time)).sum();
        let place = self.place(self.len);
        let below = |rank: u32| (1 << (8 * rank)) - 1;
        let (before, taken) = (self.order & below(rank), self.order & below(self.len));
        let free = self.order & !below(self.len) & !(0xff << (8 * self.len));
        self.order = before | (place as u64) << (8 * rank) | (taken ^ before) << 8 | free;
        self.len += 1;
        self.times[place] = time;
        match self.entries.get_mut(place) {
            Some(free) => *free = Entry { time: at, number, event },
            None => self.entries.push(Entry { time: at, number, event }),
        }
    }

    /// Takes the later half away, the latest first. The iterator must be run to its end.
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
