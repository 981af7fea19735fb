use std::collections::VecDeque;
use wire::{GapBlock, Tsn};

/// Which TSNs arrived: all up to the cumulative one, and runs above it.
///
/// Inside, a TSN is an index that never wraps; its low 32 bits are the TSN. The first TSN of an association has an
/// index of at least 2^32, so that the half circle of old TSNs below it has indices too.
#[derive(Debug)]
pub(super) struct TsnTracker {
    cumulative: u64,
    /// Ascending, disjoint, not touching, above `cumulative + 1`.
    runs: VecDeque<Run>,
}

/// TSNs that arrived one after the other, both ends inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    first: u64,
    last: u64,
}

/// Runs kept at most. A SACK in a packet of 1500 bytes can report fewer than 400.
const MAX_RUNS: usize = 4096;

/// The TSN of an index.
#[inline]
pub(super) fn tsn_of(index: u64) -> Tsn {
    Tsn(index as u32)
}

impl TsnTracker {
    pub(super) fn new(initial: Tsn) -> Self {
        TsnTracker { cumulative: (1 << 32) + u64::from(initial.0) - 1, runs: VecDeque::new() }
    }

    /// The index of a TSN: up to half a circle before or after the cumulative TSN.
    #[inline]
    pub(super) fn index_of(&self, tsn: Tsn) -> u64 {
        let ahead = tsn.distance_from(tsn_of(self.cumulative)) as i32;
        self.cumulative.wrapping_add_signed(i64::from(ahead))
    }

    #[inline]
    pub(super) fn cumulative(&self) -> u64 {
        self.cumulative
    }

    /// The highest TSN that arrived.
    #[inline]
    pub(super) fn highest(&self) -> u64 {
        self.runs.back().map_or(self.cumulative, |run| run.last)
    }

    /// True if a TSN is missing below the highest one.
    #[inline]
    pub(super) fn has_gaps(&self) -> bool {
        !self.runs.is_empty()
    }

    #[inline]
    pub(super) fn contains(&self, index: u64) -> bool {
        index <= self.cumulative
            || (index <= self.highest()
                && self.runs.get(self.at_or_after(index)).is_some_and(|run| run.first <= index))
    }

    /// True unless the TSN would begin one run too many.
    #[inline]
    pub(super) fn has_place_for(&self, index: u64) -> bool {
        self.runs.len() < MAX_RUNS || self.contains(index - 1) || self.contains(index + 1)
    }

    /// Takes a TSN that had not arrived yet.
    #[inline]
    pub(super) fn insert(&mut self, index: u64) {
        debug_assert!(!self.contains(index));
        if index != self.cumulative + 1 {
            self.insert_above(index);
            return;
        }
        self.cumulative = index;
        if let Some(run) = self.runs.front().filter(|run| run.first == index + 1) {
            self.cumulative = run.last;
            self.runs.pop_front();
        }
    }

    fn insert_above(&mut self, index: u64) {
        let at = self.at_or_after(index);
        let joins_before = at > 0 && self.runs[at - 1].last + 1 == index;
        let joins_after = self.runs.get(at).is_some_and(|run| run.first == index + 1);
        match (joins_before, joins_after) {
            (true, true) => {
                self.runs[at - 1].last = self.runs[at].last;
                self.runs.remove(at);
            }
            (true, false) => self.runs[at - 1].last = index,
            (false, true) => self.runs[at].first = index,
            (false, false) => self.runs.insert(at, Run { first: index, last: index }),
        }
    }

    /// Everything up to `index` is there; no TSN above it that is there follows it at once.
    pub(super) fn advance_to(&mut self, index: u64) {
        if index <= self.cumulative {
            return;
        }
        self.cumulative = index;
        while self.runs.front().is_some_and(|run| run.first <= index + 1) {
            let run = self.runs.pop_front();
            self.cumulative = self.cumulative.max(run.map_or(0, |run| run.last));
        }
    }

    /// Takes back a TSN above the cumulative one.
    pub(super) fn remove(&mut self, index: u64) {
        debug_assert!(index > self.cumulative && self.contains(index));
        let at = self.at_or_after(index);
        let Run { first, last } = self.runs[at];
        match (first == index, last == index) {
            (true, true) => {
                self.runs.remove(at);
            }
            (true, false) => self.runs[at].first = index + 1,
            (false, true) => self.runs[at].last = index - 1,
            (false, false) => {
                self.runs[at].last = index - 1;
                self.runs.insert(at + 1, Run { first: index + 1, last });
            }
        }
    }

    /// Position of the first run that ends at `index` or later.
    #[inline]
    fn at_or_after(&self, index: u64) -> usize {
        match self.runs.back() {
            Some(run) if run.last >= index => self.runs.partition_point(|run| run.last < index),
            _ => self.runs.len(),
        }
    }

    /// The runs as far as the 16-bit offsets of gap blocks reach (`rfc9260#section-3.3.4`).
    pub(super) fn gap_blocks(&self) -> impl Iterator<Item = GapBlock> {
        let reach = u64::from(u16::MAX);
        self.runs.iter().map(|run| (run.first - self.cumulative, run.last - self.cumulative)).map_while(
            move |(start, end)| {
                (start <= reach).then(|| GapBlock { start: start as u16, end: end.min(reach) as u16 })
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn blocks(tsns: &TsnTracker) -> Vec<(u16, u16)> {
        tsns.gap_blocks().map(|block| (block.start, block.end)).collect()
    }

    fn arrive(tsns: &mut TsnTracker, tsn: u32) -> bool {
        let index = tsns.index_of(Tsn(tsn));
        let new = !tsns.contains(index);
        if new {
            tsns.insert(index);
        }
        new
    }

    // rfc9260#section-3.3.4, the worked example: 10 to 12 arrived, 14 and 15, 17.
    #[test]
    fn runs_are_reported_as_offsets_from_the_cumulative_tsn() {
        let mut tsns = TsnTracker::new(Tsn(10));
        for tsn in [17, 12, 15, 10, 14, 11] {
            assert!(arrive(&mut tsns, tsn));
        }
        assert_eq!(tsn_of(tsns.cumulative()), Tsn(12));
        assert_eq!(blocks(&tsns), [(2, 3), (5, 5)]);
    }

    #[test]
    fn the_wrap_is_crossed_in_any_order() {
        let mut tsns = TsnTracker::new(Tsn(u32::MAX - 1));
        for tsn in [1, u32::MAX, 0] {
            assert!(arrive(&mut tsns, tsn));
        }
        assert_eq!(blocks(&tsns), [(2, 4)]);
        assert!(arrive(&mut tsns, u32::MAX - 1));
        assert_eq!(tsn_of(tsns.cumulative()), Tsn(1));
        assert!(!arrive(&mut tsns, u32::MAX), "after the wrap it is old");
    }

    // rfc9260#section-1.6: serial number arithmetic
    #[test]
    fn what_is_half_a_circle_ahead_is_old() {
        for initial in [0, 1, 1 << 31, u32::MAX] {
            let mut tsns = TsnTracker::new(Tsn(initial));
            let cumulative = initial.wrapping_sub(1);
            assert!(!arrive(&mut tsns, cumulative.wrapping_add(1 << 31)));
            assert!(!arrive(&mut tsns, cumulative.wrapping_sub((1 << 31) - 1)));
            assert!(arrive(&mut tsns, cumulative.wrapping_add((1 << 31) - 1)));
        }
    }

    #[test]
    fn a_block_ends_where_offsets_end() {
        let mut tsns = TsnTracker::new(Tsn(0));
        for offset in [3_u64, 65_535, 65_536, 65_537, 70_000] {
            tsns.insert(tsns.cumulative() + offset);
        }
        assert_eq!(blocks(&tsns), [(3, 3), (65_535, 65_535)]);
    }

    #[test]
    fn runs_are_bounded_but_what_closes_a_gap_is_always_taken() {
        let mut tsns = TsnTracker::new(Tsn(0));
        let base = tsns.cumulative();
        let mut offset = 2;
        while tsns.has_place_for(base + offset) {
            tsns.insert(base + offset);
            offset += 3;
        }
        assert_eq!(tsns.runs.len(), MAX_RUNS);
        for neighbour in [base + 1, base + 3, base + 4] {
            assert!(tsns.has_place_for(neighbour));
        }
    }

    proptest! {
        #[test]
        fn agrees_with_a_set_of_numbers(
            initial in prop_oneof![Just(u32::MAX - 20), Just(0), any::<u32>()],
            steps in prop::collection::vec((any::<bool>(), 1_u64..60), 1..300),
        ) {
            let mut tsns = TsnTracker::new(Tsn(initial));
            let start = tsns.cumulative();
            let mut set: BTreeSet<u64> = BTreeSet::new();
            let mut cumulative = start;
            for (take_back, offset) in steps {
                // The window of offsets follows the cumulative TSN, so that long runs cross the wrap.
                let index = cumulative.saturating_sub(10).max(start) + offset;
                let known = index <= cumulative || set.contains(&index);
                prop_assert_eq!(tsns.contains(index), known);
                prop_assert_eq!(tsns.index_of(tsn_of(index)), index);
                if take_back && index > cumulative && known {
                    tsns.remove(index);
                    set.remove(&index);
                } else if !known {
                    tsns.insert(index);
                    set.insert(index);
                }
                while set.remove(&(cumulative + 1)) {
                    cumulative += 1;
                }
                prop_assert_eq!(tsns.cumulative(), cumulative);
                prop_assert_eq!(tsns.highest(), set.last().copied().unwrap_or(cumulative));
                let reported: BTreeSet<u64> = tsns
                    .gap_blocks()
                    .flat_map(|block| block.start..=block.end)
                    .map(|offset| cumulative + u64::from(offset))
                    .collect();
                prop_assert_eq!(&reported, &set);
                prop_assert!(GapBlock::are_well_formed(tsns.gap_blocks()));
                let touching = tsns.runs.iter().zip(tsns.runs.iter().skip(1)).any(|(a, b)| a.last + 1 >= b.first);
                prop_assert!(!touching);
            }
        }
    }
}
