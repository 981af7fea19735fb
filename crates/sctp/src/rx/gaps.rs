use crate::steps::{count, count_search};
use std::collections::BTreeMap;
use wire::{GapBlock, Tsn};

/// The TSNs that arrived: all TSNs up to the cumulative TSN, and runs of TSNs above.
///
/// Internally a TSN is a 64-bit index that never wraps; its low 32 bits are the TSN. The first TSN of an
/// association has an index of at least 2^32, so that the 2^31 TSNs below, which count as old, have indices,
/// too.
#[derive(Debug)]
pub(super) struct TsnTracker {
    cumulative: u64,
    /// The highest run, to which TSNs that arrive in order are added. The few other runs are in `below`.
    top: Option<Run>,
    /// The other runs: maps the first TSN of a run to its last TSN. At least one TSN is missing between two
    /// runs, and between the cumulative TSN and the lowest run.
    below: BTreeMap<u64, u64>,
    /// Number of TSNs in all runs.
    arrived: u64,
}

/// Successive TSNs that arrived, from `first` to `last`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) first: u64,
    pub(super) last: u64,
}

impl Run {
    fn len(self) -> u64 {
        self.last - self.first + 1
    }
}

/// Maximum number of runs. A SACK in a packet of 1500 bytes can report fewer than 400 runs.
const MAX_RUNS: usize = 4096;

/// The TSN of an index.
#[inline]
pub(super) fn tsn_of(index: u64) -> Tsn {
    Tsn(index as u32)
}

impl TsnTracker {
    pub(super) fn new(initial: Tsn) -> Self {
        TsnTracker::at((1 << 32) + u64::from(initial.0) - 1)
    }

    fn at(cumulative: u64) -> Self {
        TsnTracker { cumulative, top: None, below: BTreeMap::new(), arrived: 0 }
    }

    /// Starts again at `next`, as if only the TSNs before `next` had arrived. The index of `next` is above
    /// all earlier indices.
    pub(super) fn jump_to(&mut self, next: Tsn) {
        let highest = self.top.map_or(self.cumulative, |run| run.last);
        let ahead = next.distance_from(tsn_of(highest + 1));
        *self = TsnTracker::at(highest + u64::from(ahead));
    }

    /// The index of a TSN: the index nearest to that of the cumulative TSN (at most 2^31 away).
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
        self.top.map_or(self.cumulative, |run| run.last)
    }

    /// Returns true if a TSN is missing below the highest one.
    #[inline]
    pub(super) fn has_gaps(&self) -> bool {
        self.top.is_some()
    }

    /// Number of TSNs that are missing below the highest one.
    #[inline]
    pub(super) fn missing(&self) -> u64 {
        self.highest() - self.cumulative - self.arrived
    }

    /// The highest run that begins at or below `index`.
    fn at_or_before(&self, index: u64) -> Option<Run> {
        let top = self.top.filter(|top| top.first <= index);
        top.or_else(|| {
            count_search(self.below.len());
            self.below.range(..=index).next_back().map(|(&first, &last)| Run { first, last })
        })
    }

    /// The run above a gap that contains the TSN with this index.
    pub(super) fn run_at(&self, index: u64) -> Option<Run> {
        self.at_or_before(index).filter(|run| index <= run.last)
    }

    /// The first run that begins above this index.
    pub(super) fn run_after(&self, index: u64) -> Option<Run> {
        count_search(self.below.len());
        let mut below = self.below.range(index + 1..).map(|(&first, &last)| Run { first, last });
        below.next().or(self.top.filter(|top| top.first > index))
    }

    /// First TSN of run number `run`, counted from 0 for the lowest; `None` if there are fewer runs.
    pub(super) fn start_of(&self, run: usize) -> Option<u64> {
        if self.below.len() < run {
            return None;
        }
        let below = self.below.keys().nth(run).copied();
        below.or(self.top.map(|top| top.first))
    }

    #[inline]
    pub(super) fn contains(&self, index: u64) -> bool {
        index <= self.cumulative
            || self.top.is_some_and(|top| {
                index <= top.last
                    && (top.first <= index || self.at_or_before(index).is_some_and(|run| index <= run.last))
            })
    }

    /// Returns false if this TSN would start another run although there are [`MAX_RUNS`] runs already.
    #[inline]
    pub(super) fn has_place_for(&self, index: u64) -> bool {
        self.below.len() + 1 < MAX_RUNS || index == self.cumulative + 1 || {
            let (before, after) = self.beside(Run { first: index, last: index });
            before.or(after).is_some()
        }
    }

    /// Adds a TSN that has not arrived before.
    #[inline]
    pub(super) fn insert(&mut self, index: u64) {
        if index == self.cumulative + 1 {
            self.cumulative = index;
            if self.top.is_some() {
                self.close_gap();
            }
            return;
        }
        self.arrived += 1;
        match &mut self.top {
            Some(top) if index == top.last + 1 => top.last = index,
            None => self.top = Some(Run { first: index, last: index }),
            Some(_) => self.insert_run(Run { first: index, last: index }),
        }
    }

    /// Joins the first run with the cumulative TSN if no TSN is missing between them.
    fn close_gap(&mut self) {
        count_search(self.below.len());
        let follows = self.cumulative + 1;
        if let Some((&first, &last)) = self.below.first_key_value() {
            if first == follows {
                self.below.pop_first();
                self.cumulative = last;
                self.arrived -= Run { first, last }.len();
            }
        } else if let Some(top) = self.top.take_if(|top| top.first == follows) {
            self.cumulative = top.last;
            self.arrived -= top.len();
        }
    }

    /// The runs next to a new run: the run directly below and the run directly above it, if there are any.
    fn beside(&self, run: Run) -> (Option<Run>, Option<Run>) {
        let Some(top) = self.top else { return (None, None) };
        if top.first < run.first {
            return (Some(top).filter(|top| top.last + 1 == run.first), None);
        }
        count(2); // `contains` has just visited these nodes of the tree, so they are in the CPU's cache
        let mut others = self.below.range(..=run.last + 1).rev().map(|(&first, &last)| Run { first, last });
        let mut before = others.next();
        let mut after = Some(top).filter(|top| top.first == run.last + 1);
        if before.is_some_and(|other| other.first == run.last + 1) {
            (after, before) = (before, others.next());
        }
        (before.filter(|before| before.last + 1 == run.first), after)
    }

    /// Adds a run of TSNs that have not arrived before.
    fn insert_run(&mut self, mut run: Run) {
        let (before, after) = self.beside(run);
        if let Some(after) = after {
            run.last = after.last;
            self.remove_run(after);
        }
        if let Some(before) = before {
            run.first = before.first;
            if self.top == Some(before) {
                self.top = None; // also if `remove_run` has just made it the top
            }
        }
        match &mut self.top {
            Some(top) if run.first < top.first => {
                count_search(self.below.len());
                self.below.insert(run.first, run.last);
            }
            top => {
                if let Some(Run { first, last }) = top.replace(run) {
                    count(1);
                    self.below.insert(first, last);
                }
            }
        }
    }

    /// Adds TSNs of which some may have arrived before. Returns false if this would need too many runs.
    pub(super) fn insert_all(&mut self, first: u64, last: u64) -> bool {
        let mut run = Run { first: first.max(self.cumulative + 1), last };
        if run.first > run.last {
            return true;
        }
        if run.first == self.cumulative + 1 {
            self.advance_to(last);
            return true;
        }
        if first == last {
            let known = self.contains(first);
            let has_place = known || self.has_place_for(first);
            if has_place && !known {
                self.insert(first);
            }
            return has_place;
        }
        if let Some(before) = self.at_or_before(run.first).filter(|before| before.last >= run.first) {
            run.first = before.last + 1;
        }
        // Runs inside this run become a part of it.
        while let Some(within) = self.at_or_before(run.last).filter(|within| within.first >= run.first) {
            run.last = run.last.max(within.last);
            self.remove_run(within);
            self.arrived -= within.len();
        }
        if run.first > run.last || !self.has_place_for(run.first) && !self.has_place_for(run.last) {
            return run.first > run.last;
        }
        self.arrived += run.len();
        match self.top {
            None => self.top = Some(run),
            Some(_) => self.insert_run(run),
        }
        true
    }

    fn remove_run(&mut self, run: Run) {
        if self.top == Some(run) {
            count(1);
            self.top = self.below.pop_last().map(|(first, last)| Run { first, last });
        } else {
            count_search(self.below.len());
            self.below.remove(&run.first);
        }
    }

    /// Makes `index` the cumulative TSN. If a run begins directly above it, the cumulative TSN is the end of
    /// that run.
    pub(super) fn advance_to(&mut self, index: u64) {
        self.cumulative = self.cumulative.max(index);
        while let Some(entry) = self.below.first_entry()
            && *entry.key() <= self.cumulative + 1
        {
            count(1);
            let (first, last) = entry.remove_entry();
            self.arrived -= Run { first, last }.len();
            self.cumulative = self.cumulative.max(last);
        }
        if self.below.is_empty()
            && let Some(top) = self.top.take_if(|top| top.first <= self.cumulative + 1)
        {
            self.arrived -= top.len();
            self.cumulative = self.cumulative.max(top.last);
        }
    }

    /// Removes TSNs above the cumulative TSN. All these TSNs must have arrived.
    pub(super) fn remove_all(&mut self, first: u64, last: u64) {
        let removed = Run { first, last }.len();
        if let Some(top) = self.top.as_mut().filter(|top| top.first < first && top.last == last) {
            top.last = first - 1;
            self.arrived -= removed;
            return;
        }
        if self.top.is_some_and(|top| first < top.first) {
            count_search(self.below.len());
            if let Some(end) = self.below.remove(&first) {
                self.arrived -= removed;
                if last < end {
                    self.below.insert(last + 1, end);
                }
                return;
            }
        }
        let Some(run) = self.at_or_before(first).filter(|run| last <= run.last) else { return };
        self.arrived -= removed;
        self.remove_run(run);
        if last < run.last {
            self.put_back(Run { first: last + 1, last: run.last });
        }
        if run.first < first {
            self.put_back(Run { first: run.first, last: first - 1 });
        }
    }

    /// Puts back the part of a removed run that remains.
    fn put_back(&mut self, run: Run) {
        count_search(self.below.len());
        match &mut self.top {
            Some(top) if run.first < top.first => {
                self.below.insert(run.first, run.last);
            }
            top => {
                if let Some(Run { first, last }) = top.replace(run) {
                    self.below.insert(first, last);
                }
            }
        }
    }

    /// The runs as Gap Ack Blocks, up to the largest 16-bit offset (`rfc9260#section-3.3.4`).
    pub(super) fn gap_blocks(&self) -> impl Iterator<Item = GapBlock> {
        let below = self.below.iter().map(|(&first, &last)| Run { first, last });
        below.chain(self.top).map_while(|run| self.block(run))
    }

    /// A run as a Gap Ack Block; `None` if the run begins above the largest 16-bit offset.
    #[inline]
    pub(super) fn block(&self, run: Run) -> Option<GapBlock> {
        let reach = u64::from(u16::MAX);
        let (start, end) = (run.first - self.cumulative, run.last - self.cumulative);
        (start <= reach).then(|| GapBlock { start: start as u16, end: end.min(reach) as u16 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    impl TsnTracker {
        fn runs(&self) -> impl Iterator<Item = Run> {
            self.below.iter().map(|(&first, &last)| Run { first, last }).chain(self.top)
        }
    }

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

    // rfc9260#section-3.3.4, the worked example: 10 to 12, 14, 15 and 17 have arrived.
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
        assert_eq!(tsns.runs().count(), MAX_RUNS);
        for neighbour in [base + 1, base + 3, base + 4] {
            assert!(tsns.has_place_for(neighbour));
        }
    }

    proptest! {
        #[test]
        fn agrees_with_a_set_of_numbers(
            initial in prop_oneof![Just(u32::MAX - 20), Just(0), any::<u32>()],
            steps in prop::collection::vec((0_u8..8, 1_u64..60, 0_u64..12), 1..300),
        ) {
            let mut tsns = TsnTracker::new(Tsn(initial));
            let start = tsns.cumulative();
            let mut set: BTreeSet<u64> = BTreeSet::new();
            let mut cumulative = start;
            for (kind, offset, more) in steps {
                // The offsets are relative to the cumulative TSN, so that long runs cross the wrap.
                let index = cumulative.saturating_sub(10).max(start) + offset;
                let known = index <= cumulative || set.contains(&index);
                prop_assert_eq!(tsns.contains(index), known);
                prop_assert_eq!(tsns.index_of(tsn_of(index)), index);
                let last = index + more;
                if kind < 4 && index > cumulative && (index..=last).all(|index| set.contains(&index)) {
                    tsns.remove_all(index, last);
                    set.retain(|other| !(index..=last).contains(other));
                } else if kind == 7 {
                    prop_assert!(tsns.insert_all(index, last));
                    set.extend((index..=last).filter(|&index| index > cumulative));
                } else if !known {
                    tsns.insert(index);
                    set.insert(index);
                }
                while set.remove(&(cumulative + 1)) {
                    cumulative += 1;
                }
                prop_assert_eq!(tsns.cumulative(), cumulative);
                prop_assert_eq!(tsns.highest(), set.last().copied().unwrap_or(cumulative));
                prop_assert_eq!(tsns.missing(), tsns.highest() - cumulative - set.len() as u64);
                let reported: BTreeSet<u64> = tsns
                    .gap_blocks()
                    .flat_map(|block| block.start..=block.end)
                    .map(|offset| cumulative + u64::from(offset))
                    .collect();
                prop_assert_eq!(&reported, &set);
                prop_assert!(GapBlock::are_well_formed(tsns.gap_blocks()));
                let touching = tsns.runs().zip(tsns.runs().skip(1)).any(|(a, b)| a.last + 1 >= b.first);
                prop_assert!(!touching);
            }
        }
    }
}
