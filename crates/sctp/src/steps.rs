//! Counts the work that a received packet causes. Tests check how much work an attacker can cause.
//!
//! A step is one access to a chunk, a list element, a tree level or a cache line. It takes at most 10 ns.

/// Counts steps that every packet can cause again. Tests compare their number with `MOST_OF_1500` or
/// `MOST_OF_64K`.
#[inline(always)]
#[cfg(not(test))]
pub(crate) fn count(_: usize) {}

/// Counts steps that occur only once for each transmission or acknowledgement of a chunk.
#[inline(always)]
#[cfg(not(test))]
pub(crate) fn count_paid(_: usize) {}

/// Counts a search in a tree with `entries` entries.
#[inline(always)]
pub(crate) fn count_search(entries: usize) {
    count(levels(entries));
}

/// Counts a pass over `ranges` ranges, four of which share a cache line.
#[inline(always)]
pub(crate) fn count_pass(ranges: usize) {
    count(ranges / 4 + 1);
}

/// Levels of a B-tree with `entries` entries, if each node has eight children. The root, which stays
/// in the CPU cache, does not count.
#[inline(always)]
fn levels(entries: usize) -> usize {
    ((entries + 1).ilog2() as usize).div_ceil(3).saturating_sub(1).max(1)
}

#[cfg(test)]
pub(crate) use counting::{count, count_paid, taken};

/// Largest number of steps that a packet of 1500 bytes may cause: 0.1 ms at 10 ns a step.
#[cfg(test)]
pub(crate) const MOST_OF_1500: u64 = 10_000;

/// Largest number of steps that a packet of 64 KB may cause: 1 ms at 10 ns a step.
#[cfg(test)]
pub(crate) const MOST_OF_64K: u64 = 100_000;

#[cfg(test)]
mod counting {
    use std::cell::Cell;

    thread_local! {
        static STEPS: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
    }

    pub(crate) fn count(steps: usize) {
        let (any, paid) = STEPS.get();
        STEPS.set((any + steps as u64, paid));
    }

    pub(crate) fn count_paid(steps: usize) {
        let (any, paid) = STEPS.get();
        STEPS.set((any, paid + steps as u64));
    }

    /// Runs `work` and returns the number of its steps: those counted by [`count`], and those by
    /// [`count_paid`].
    pub(crate) fn taken(work: impl FnOnce()) -> (u64, u64) {
        let before = STEPS.get();
        work();
        let after = STEPS.get();
        (after.0 - before.0, after.1 - before.1)
    }
}
