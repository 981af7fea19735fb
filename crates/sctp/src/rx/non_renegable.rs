//! The TSNs that NR-SACKs report as non-renegable.

use super::gaps::TsnTracker;
use wire::{GapBlock, Tsn};

/// TSNs above a gap that the receiver will not renege on (draft-natarajan-tsvwg-sctp-nrsack).
#[derive(Debug)]
pub(super) struct NonRenegable {
    /// `None` if the receiver never reneges: then every TSN that arrived is non-renegable.
    tsns: Option<TsnTracker>,
    /// Blocks of the NR-SACK that is being written.
    gaps: Vec<GapBlock>,
    nr_gaps: Vec<GapBlock>,
}

impl NonRenegable {
    /// Creates the set for a peer with this initial TSN. Without `reneging`, all TSNs are non-renegable.
    pub(super) fn new(initial: Tsn, reneging: bool) -> Self {
        NonRenegable {
            tsns: reneging.then(|| TsnTracker::new(initial)),
            gaps: Vec::new(),
            nr_gaps: Vec::new(),
        }
    }

    /// Makes `count` TSNs non-renegable, from index `first` on. `arrived`: all TSNs that arrived.
    pub(super) fn keep(&mut self, first: u64, count: u32, arrived: &TsnTracker) {
        let Some(tsns) = &mut self.tsns else { return };
        tsns.advance_to(arrived.cumulative());
        tsns.insert_all(first, first + u64::from(count) - 1);
    }

    /// Returns the renegable and the non-renegable Gap Ack Blocks, of each kind the lowest `most`.
    pub(super) fn blocks(&mut self, arrived: &TsnTracker, most: usize) -> (&[GapBlock], &[GapBlock]) {
        self.gaps.clear();
        self.nr_gaps.clear();
        match &mut self.tsns {
            None => self.nr_gaps.extend(arrived.gap_blocks().take(most)),
            Some(tsns) => {
                tsns.advance_to(arrived.cumulative());
                self.nr_gaps.extend(tsns.gap_blocks().take(most));
                without(arrived.gap_blocks().take(most), &self.nr_gaps, &mut self.gaps);
            }
        }
        (&self.gaps, &self.nr_gaps)
    }
}

/// Writes to `out` the TSNs that are in `all` but not in `holes`. Both inputs are sorted.
fn without(all: impl Iterator<Item = GapBlock>, holes: &[GapBlock], out: &mut Vec<GapBlock>) {
    let mut holes = holes.iter().peekable();
    for GapBlock { start, end } in all {
        let mut from = Some(start);
        while let Some(start) = from {
            while holes.next_if(|hole| hole.end < start).is_some() {}
            let hole = holes.peek().filter(|hole| hole.start <= end);
            let last = hole.map_or(end, |hole| hole.start - 1);
            if last >= start {
                out.push(GapBlock { start, end: last });
            }
            from = hole.and_then(|hole| hole.end.checked_add(1)).filter(|&start| start <= end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn members(blocks: &[GapBlock]) -> Vec<u64> {
        blocks.iter().flat_map(|b| b.start..=b.end).map(u64::from).collect()
    }

    proptest! {
        // draft-natarajan-tsvwg-sctp-nrsack: no TSN is in both lists
        #[test]
        fn both_lists_together_are_what_arrived(
            arrived in proptest::collection::btree_set(2u64..200, 0..80),
            kept in proptest::collection::vec(2u64..200, 0..80),
            advance in 0u64..60,
        ) {
            let mut tsns = TsnTracker::new(Tsn(u32::MAX - 50));
            let mut non_renegable = NonRenegable::new(Tsn(u32::MAX - 50), true);
            let base = tsns.cumulative();
            arrived.iter().for_each(|offset| tsns.insert(base + offset));
            let mut expected = BTreeSet::new();
            for offset in kept.into_iter().filter(|offset| arrived.contains(offset)) {
                non_renegable.keep(base + offset, 1, &tsns);
                expected.insert(base + offset);
            }
            for index in base + 1..=base + advance {
                if !tsns.contains(index) {
                    tsns.insert(index);
                }
            }
            let cumulative = tsns.cumulative();
            let (gaps, nr_gaps) = non_renegable.blocks(&tsns, 1000);
            let expected: Vec<u64> =
                expected.into_iter().filter(|&i| i > cumulative).map(|i| i - cumulative).collect();
            prop_assert_eq!(members(nr_gaps), expected);
            let mut all = [members(gaps), members(nr_gaps)].concat();
            all.sort_unstable();
            let arrived: Vec<u64> = members(&tsns.gap_blocks().collect::<Vec<_>>());
            prop_assert_eq!(all, arrived);
        }
    }

    #[test]
    fn the_last_offset_ends_the_lists() {
        let block = |start, end| GapBlock { start, end };
        let mut out = Vec::new();
        without([block(3, u16::MAX)].into_iter(), &[block(5, u16::MAX)], &mut out);
        assert_eq!(out, [block(3, 4)]);
    }
}
