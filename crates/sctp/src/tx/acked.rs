//! The chunks above the cumulative TSN that count as acknowledged.

use super::limits::MOST_BLOCKS;
use super::ranges::{Range, cut_below, normalise, union};
use crate::steps;
use wire::GapBlock;

/// Ranges of chunks above the cumulative TSN.
#[derive(Debug, Default)]
pub(super) struct Acked {
    /// Chunks that count as acknowledged after the SACKs processed so far.
    pub(super) gaps: Vec<Range>,
    /// Gap Ack Blocks of the SACK that is being processed.
    pub(super) said: Vec<Range>,
    /// Non-renegable chunks; empty unless the peer sends NR-SACKs.
    pub(super) non_renegable: Vec<Range>,
}

impl Acked {
    /// Reads Gap Ack Blocks as ranges of indices, sorted and disjoint. An index of `end` or above is an
    /// error. Unsorted blocks are no error: `rfc9260#section-3.3.4` does not require an abort for them.
    pub(super) fn read(
        &mut self,
        cum: u64,
        gaps: impl Iterator<Item = GapBlock>,
        end: u64,
    ) -> Result<(), &'static str> {
        let (mut floor, mut sane) = (cum, true);
        self.said.extend(gaps.take(MOST_BLOCKS).map(|gap| {
            let range = Range { first: cum + u64::from(gap.start), last: cum + u64::from(gap.end) };
            sane &= floor < range.first && range.first <= range.last;
            floor = range.last;
            range
        }));
        steps::count_pass(self.said.len());
        if !sane {
            normalise(&mut self.said, cum + 1);
        }
        match self.said.last() {
            Some(highest) if highest.last >= end => Err("gap ack block for a TSN never sent"),
            _ => Ok(()),
        }
    }

    /// Adds the non-renegable chunks that an NR-SACK reports. Returns the non-renegable chunks known before.
    pub(super) fn add_non_renegable(&mut self, cum: u64, told: &[Range]) -> Vec<Range> {
        cut_below(&mut self.non_renegable, cum);
        let known = std::mem::take(&mut self.non_renegable);
        union(&known, told, &mut self.non_renegable);
        if self.non_renegable.len() > MOST_BLOCKS {
            // There are too many ranges. So the new chunks count as acknowledged, but still as renegable.
            self.non_renegable.clone_from(&known);
            let gaps = std::mem::take(&mut self.said);
            union(&gaps, told, &mut self.said);
        }
        known
    }

    /// Adds the non-renegable chunks of earlier SACKs to the Gap Ack Blocks of the present SACK.
    pub(super) fn say_non_renegable(&mut self, cum: u64) {
        cut_below(&mut self.non_renegable, cum);
        let said = std::mem::take(&mut self.said);
        union(&said, &self.non_renegable, &mut self.said);
    }

    pub(super) fn keep(&mut self, kept: &[Range]) {
        let gaps = std::mem::take(&mut self.gaps);
        union(&gaps, kept, &mut self.gaps);
    }

    pub(super) fn clear(&mut self) {
        self.gaps.clear();
        self.non_renegable.clear();
    }
}
