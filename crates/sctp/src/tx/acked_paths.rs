//! Finds the path to which a reported one-way delay belongs. The peer reports the delay of a packet together
//! with the SACK that answers the packet. A SACK on a faster path may have acknowledged the packet's chunks
//! earlier, so that the sender no longer has them.

use super::Sender;
use crate::chunks::{Mark, TxChunk};
use crate::path::{PathId, Paths};
use cc::OneWayDelay;
use std::collections::VecDeque;
use wire::{LedbatControl, PacketDelay};

/// Number of chunks whose path is remembered: as many as are sent in 200 ms at 1 Gbit/s.
const MOST: usize = 1 << 14;

/// The paths of the last [`MOST`] chunks that the cumulative TSN passed, by TSN.
#[derive(Debug, Default)]
pub(super) struct AckedPaths {
    paths: VecDeque<Option<PathId>>,
}

/// The path of a chunk; `None` if the chunk was retransmitted or copied: then it is unknown which
/// transmission arrived.
fn path_of(chunk: &TxChunk) -> Option<PathId> {
    (chunk.transmissions == 1 && !chunk.is(Mark::Copied)).then_some(chunk.path)
}

impl AckedPaths {
    /// Adds a chunk that the cumulative TSN has passed.
    #[cold]
    pub(super) fn push(&mut self, chunk: &TxChunk) {
        if self.paths.len() == MOST {
            self.paths.pop_front();
        }
        self.paths.push_back(path_of(chunk));
    }

    /// The path of the chunk that is `back` chunks below the lowest outstanding chunk.
    pub(super) fn path(&self, back: u64) -> Option<PathId> {
        let back = usize::try_from(back).ok()?;
        *self.paths.get(self.paths.len().checked_sub(back)?)?
    }
}

impl Sender {
    /// Stores, for each path, the smallest one-way delay that the peer reports. The next SACK uses it.
    pub(crate) fn on_delays(&mut self, control: &LedbatControl<'_>, paths: &mut Paths) {
        for PacketDelay { tsn, micros } in control.delays() {
            let i = self.out.index_of(tsn);
            let path = if self.out.indices().contains(&i) {
                path_of(&self.out[i])
            } else {
                self.out.first_index().checked_sub(i).and_then(|back| self.acked_paths.path(back))
            };
            if let Some(p) = path {
                let delay = OneWayDelay::from_nanos(micros.saturating_mul(1000));
                let path = &mut paths[p];
                path.owd = Some(path.owd.map_or(delay, |least| least.min(delay)));
            }
        }
    }
}
