//! One-way delays of packets, which the receiver reports to the peer together with SACKs.

use wire::{LedbatControl, PacketDelay, PacketWriter};

/// One-way delays of packets that the next SACK reports.
#[derive(Debug, Default)]
pub(crate) struct Delays {
    waiting: Vec<PacketDelay>,
}

/// Maximum number of delays in one report. Further delays are dropped.
const MOST: usize = 32;

impl Delays {
    /// Adds the delay of a packet, if the delay is known, to the next report.
    pub(crate) fn extend(&mut self, delay: Option<PacketDelay>) {
        if self.waiting.len() < MOST {
            self.waiting.extend(delay);
        }
    }

    /// Drops all delays.
    pub(super) fn clear(&mut self) {
        self.waiting.clear();
    }

    /// Length in bytes of the chunk that reports the delays.
    #[inline]
    pub(super) fn len(&self) -> usize {
        if self.waiting.is_empty() { 0 } else { LedbatControl::len_of(self.waiting.len()) }
    }

    /// Writes the report if a SACK of `sack` bytes still fits after the report. Drops the delays in any case.
    #[cold]
    pub(super) fn write(&mut self, w: &mut PacketWriter<'_>, sack: usize) {
        if !self.waiting.is_empty() && self.len() + sack <= w.room() {
            w.ledbat_control(&self.waiting);
        }
        self.waiting.clear();
    }
}
