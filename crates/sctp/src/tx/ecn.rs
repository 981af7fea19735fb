//! Marks of congestion that the peer echoes (draft-stewart-tsvwg-sctpecn-07): one reduction for each window of data.

use super::Sender;
use crate::path::{PathId, Paths};
use cc::LossKind;
use units::Instant;
use wire::{Cwr, Ecne};

/// What the sender knows of marks on its paths.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// A bit for each path that an ECNE of the current packet is about.
    pub(super) echoed: u32,
    /// True if both ends support ECN.
    enabled: bool,
    /// By path, up to the last with an echo or a reduction.
    paths: Vec<PathMarks>,
}

#[derive(Clone, Copy, Debug, Default)]
struct PathMarks {
    /// Index of the highest TSN that was sent when the window was last reduced.
    reduced: u64,
    /// Index of the TSN that was echoed last.
    echoed: u64,
}

/// What an ECNE leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Echoed {
    /// The path of the TSN; none if that is not known any more.
    pub(crate) path: Option<PathId>,
    /// The answer, for the path.
    pub(crate) cwr: Cwr,
}

impl Marks {
    /// Notes that the window of path `p` was reduced after TSNs up to the index `highest` were sent. Marks of these TSNs do
    /// not reduce it again.
    #[inline]
    pub(super) fn note_reduction(&mut self, p: PathId, highest: u64) {
        if self.enabled {
            self.of(p).reduced = highest;
        }
    }

    /// Those of `hit` whose window was reduced after all of their lost chunks were sent, as a set of bits: a mark and a loss
    /// in one window of data reduce it once (`rfc3168#section-6.1.2`).
    pub(super) fn reduced_before(&self, hit: impl Iterator<Item = PathId>, paths: &Paths) -> u32 {
        let before = |p: &PathId| {
            let highest = paths[*p].lost_fast.last();
            self.paths.get(p.index()).zip(highest).is_some_and(|(marks, highest)| highest <= marks.reduced)
        };
        hit.filter(before).fold(0, |set, p| set | 1 << p.0)
    }

    #[cold]
    fn of(&mut self, p: PathId) -> &mut PathMarks {
        if self.paths.len() <= p.index() {
            self.paths.resize(p.index() + 1, PathMarks::default());
        }
        &mut self.paths[p.index()]
    }
}

impl Sender {
    /// Enables ECN if both ends support it.
    pub(crate) fn set_ecn(&mut self, enabled: bool) {
        self.ecn.enabled = enabled;
    }

    /// Processes an ECNE. The window of the path that the TSN was last sent on is reduced, unless it was reduced since.
    pub(crate) fn on_ecne(&mut self, now: Instant, ecne: &Ecne, paths: &mut Paths) -> Echoed {
        let i = self.out.index_of(ecne.lowest_tsn);
        let mut cwr = Cwr { all_paths: false, same_window: true, tsn: ecne.lowest_tsn };
        let path = if self.out.indices().contains(&i) {
            Some(self.out[i].path)
        } else {
            // An ECNE goes in front of the SACK that acknowledges its TSN. So a TSN that is no longer outstanding was echoed
            // before, and its path was noted. If it was not, the ECNE is answered all the same: the receiver repeats it until
            // it gets an answer.
            self.ecn.paths.iter().position(|marks| marks.echoed == i).map(|p| PathId(p as u8))
        };
        let Some(p) = path else { return Echoed { path, cwr: Cwr { all_paths: true, ..cwr } } };
        self.ecn.echoed |= 1 << p.0;
        let highest = self.out.next_index() - 1;
        let in_recovery = paths[p].recovery.is_some_and(|exit| i <= exit);
        let marks = self.ecn.of(p);
        marks.echoed = marks.echoed.max(i);
        if i > marks.reduced && !in_recovery {
            marks.reduced = highest;
            cwr.same_window = false;
            paths[p].stats.ecn_reductions += 1;
            if let Some(rack) = &mut paths[p].rack {
                rack.forget_recovery();
            }
            self.control(now, paths, |control, views, windows| {
                control.on_loss(now, views, p.index(), LossKind::Mark, windows);
            });
        }
        Echoed { path, cwr }
    }
}
