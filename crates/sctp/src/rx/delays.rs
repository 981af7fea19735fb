//! One-way delays that the receiver reports.

use wire::{LedbatControl, PacketDelay, PacketWriter};

/// One-way delays of packets that the next SACK reports.
#[derive(Debug, Default)]
pub(crate) struct Delays {
    waiting: Vec<PacketDelay>,
}

/// Delays reported at most with one SACK: those of more packets are forgotten.
const MOST: usize = 32;

impl Delays {
    /// A packet arrived; its delay, if known, waits for the next SACK.
    pub(crate) fn extend(&mut self, delay: Option<PacketDelay>) {
        if self.waiting.len() < MOST {
            self.waiting.extend(delay);
        }
    }

    /// None is reported.
    pub(super) fn clear(&mut self) {
        self.waiting.clear();
    }

    /// Bytes of the chunk that reports them.
    #[inline]
    pub(super) fn len(&self) -> usize {
        if self.waiting.is_empty() { 0 } else { LedbatControl::len_of(self.waiting.len()) }
    }

    /// Reports them if that leaves room for a SACK of so many bytes; forgets them either way.
    #[cold]
    pub(super) fn write(&mut self, w: &mut PacketWriter<'_>, sack: usize) {
        if !self.waiting.is_empty() && self.len() + sack <= w.room() {
            w.ledbat_control(&self.waiting);
        }
        self.waiting.clear();
    }
}
