//! The changes that one SACK causes.

use super::PerPath;
use crate::path::{PathId, Paths};
use std::ops::{Index, IndexMut};
use units::{ByteCount, Span};

/// The changes that one SACK causes on a path.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathDelta {
    pub(crate) new_bytes: ByteCount,
    pub(crate) flight_before: ByteCount,
    /// True if a chunk of this path is newly acknowledged. `lo` and `hi` are the lowest and the highest newly
    /// acknowledged chunk that may count as evidence that other chunks are lost.
    pub(crate) saw_new: bool,
    pub(crate) lo: Option<u64>,
    pub(crate) hi: Option<u64>,
    pub(crate) new_cum: bool,
    pub(crate) new_pc: bool,
    pub(crate) new_rpc: bool,
    /// True if the SACK acknowledges the chunk with the lowest TSN in flight on the path.
    pub(crate) oldest: bool,
    pub(crate) hit: bool,
    pub(crate) rtt: Option<Span>,
}

/// The changes that one SACK causes, by path.
#[derive(Clone, Debug, Default)]
pub(crate) struct SackDelta {
    paths: PerPath<PathDelta>,
}

impl SackDelta {
    /// Resets all changes, and notes the flight sizes before the SACK.
    #[inline]
    pub(super) fn begin(&mut self, paths: &Paths) {
        self.paths.clear();
        self.paths
            .extend(paths.iter().map(|p| PathDelta { flight_before: p.flight, ..PathDelta::default() }));
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, PathDelta> {
        self.paths.iter()
    }
}

impl Index<PathId> for SackDelta {
    type Output = PathDelta;
    #[inline]
    fn index(&self, p: PathId) -> &PathDelta {
        &self.paths[p.index()]
    }
}

impl IndexMut<PathId> for SackDelta {
    #[inline]
    fn index_mut(&mut self, p: PathId) -> &mut PathDelta {
        &mut self.paths[p.index()]
    }
}
