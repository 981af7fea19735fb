//! Which paths chunks took that are acknowledged already. One-way delays come with the SACK that answers the packet, and
//! where paths differ in length a SACK on a faster one has often acknowledged it before.

use super::outstanding::{Mark, TxChunk};
use crate::path::PathId;
use std::collections::VecDeque;

/// Chunks that are remembered: at a gigabit a second, those of 200 ms.
const MOST: usize = 1 << 14;

/// The paths of the last chunks below the cumulative TSN.
#[derive(Debug, Default)]
pub(super) struct AckedPaths {
    paths: VecDeque<Option<PathId>>,
}

/// The path of a chunk, if nobody can doubt it: it was sent once.
pub(super) fn path_of(chunk: &TxChunk) -> Option<PathId> {
    (chunk.transmissions == 1 && !chunk.is(Mark::Copied)).then_some(chunk.path)
}

impl AckedPaths {
    /// The cumulative TSN passed a chunk.
    pub(super) fn push(&mut self, chunk: &TxChunk) {
        if self.paths.len() == MOST {
            self.paths.pop_front();
        }
        self.paths.push_back(path_of(chunk));
    }

    /// The path of the chunk so many before the lowest outstanding one.
    pub(super) fn path(&self, back: u64) -> Option<PathId> {
        let back = usize::try_from(back).ok()?;
        *self.paths.get(self.paths.len().checked_sub(back)?)?
    }
}
