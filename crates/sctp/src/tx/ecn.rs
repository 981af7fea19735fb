//! ECN marks that the peer echoes (draft-stewart-tsvwg-sctpecn-07): they reduce cwnd once per window of data.

use super::Sender;
use crate::path::{PathId, Paths};
use cc::LossKind;
use units::Instant;
use wire::{Cwr, Ecne};

/// The sender's state of ECN marks on all paths.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// One bit per path: an ECNE in the current packet reports a mark of this path.
    pub(super) echoed: u32,
    /// True if both ends support ECN.
    enabled: bool,
    /// By path, up to the last path with an echo or a reduction.
    paths: Vec<PathMarks>,
}

#[derive(Clone, Copy, Debug, Default)]
struct PathMarks {
    /// Highest TSN index sent when cwnd was last reduced.
    reduced: u64,
    /// Highest index of a TSN that the peer echoed.
    echoed: u64,
}

/// The result of an ECNE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Echoed {
    /// The path of the TSN; `None` if the sender no longer knows this path.
    pub(crate) path: Option<PathId>,
    /// The CWR chunk that answers the ECNE.
    pub(crate) cwr: Cwr,
}

impl Marks {
    /// Records a reduction of cwnd of path `p`; `highest` is the highest TSN index sent before. Marks of TSNs
    /// up to this index do not reduce cwnd again.
    #[inline]
    pub(super) fn note_reduction(&mut self, p: PathId, highest: u64) {
        if self.enabled {
            self.of(p).reduced = highest;
        }
    }

    /// Of the paths in `hit` (with newly lost chunks), those whose cwnd was reduced after the lost chunks had
    /// been sent: one bit per path. A mark and a loss in one window of data reduce cwnd once
    /// (`rfc3168#section-6.1.2`).
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
    pub(crate) fn set_ecn(&mut self, enabled: bool) {
        self.ecn.enabled = enabled;
    }

    /// Processes an ECNE: reduces cwnd of the path that carried the TSN, unless cwnd was reduced since then.
    pub(crate) fn on_ecne(&mut self, now: Instant, ecne: &Ecne, paths: &mut Paths) -> Echoed {
        let i = self.out.index_of(ecne.lowest_tsn);
        let mut cwr = Cwr { all_paths: false, same_window: true, tsn: ecne.lowest_tsn };
        let path = if self.out.indices().contains(&i) {
            Some(self.out[i].path)
        } else {
            // A TSN that is no longer outstanding was reported by an earlier ECNE, which came before the SACK
            // that acknowledges it. The sender remembers the highest TSN reported for each path. If this TSN
            // is none of them, the CWR names no path: the receiver repeats the ECNE until it gets a CWR.
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
