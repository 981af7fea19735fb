//! Limits of the work that a peer can cause with acknowledgements.
//!
//! A chunk is acknowledged for the first time only once, and at most three missing reports are counted for
//! it. So this work is limited by the number of transmissions. But a peer can withdraw Gap Ack Blocks
//! (renege) and acknowledge the same chunks again, without end (`rfc9260#section-6.2.1`, step D iii). So only
//! one SACK of a packet is processed, and a SACK may withdraw a limited number of chunks: the lowest ones,
//! for which the cumulative TSN waits. Further withdrawn chunks count as acknowledged until a later SACK.
//!
//! If the peer withdraws without end, the association is aborted. An honest peer may discard arrived data,
//! and its SACKs may be reordered. It sends at most one SACK for a packet with data and one when its window
//! opens (`rfc9260#section-6.2`). If the network doubles all packets, the two copies of a packet with data
//! cause four SACKs, of which eight copies arrive. Only every second SACK can withdraw chunks, since between
//! two of them another SACK must acknowledge these chunks again. So at most four SACKs per packet
//! ([`SACKS_PER_PACKET`]) withdraw chunks.

use super::ranges::Range;

/// Maximum number of ranges that are read from the Gap Ack Blocks of a SACK, and maximum number of stored
/// ranges of non-renegable chunks. A SACK in a packet of 1500 bytes has fewer than 400.
pub(super) const MOST_BLOCKS: usize = 1536;

/// Maximum number of ranges of acknowledged chunks. Ranges on which the peer reneged but that still count as
/// acknowledged are included.
const MOST_RANGES: usize = 3072;

/// Maximum number of chunks on which the peer has reneged at the same time.
const MOST_WITHDRAWN: u32 = 1024;

/// Maximum number of steps (visits of chunks) that one packet may spend on chunks that the peer reneged on or
/// that are lost.
const STEPS: u32 = 1024;

/// Number of reneging SACKs (SACKs that no longer report a chunk they reported before) that a peer may send
/// for each packet with data.
const SACKS_PER_PACKET: u64 = 4;

/// Number of reneging SACKs that a peer may send on top of [`SACKS_PER_PACKET`].
const FIRST_SACKS: u64 = 1024;

/// Largest number of further reneging SACKs that a peer may have saved up.
const MOST_SACKS: u64 = 1 << 17;

/// How much work the SACKs of the peer may still cause.
#[derive(Debug)]
pub(super) struct Limits {
    /// Steps (visits of chunks) that are left for the present SACK.
    pub(super) steps: u32,
    /// Number of chunks that the peer acknowledged and then reneged on, and that are not acknowledged again.
    withdrawn: u32,
    /// Number of reneging SACKs that the peer could still send when `packets` packets with data had been
    /// sent.
    sacks: u64,
    packets: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { steps: STEPS, withdrawn: 0, sacks: FIRST_SACKS, packets: 0 }
    }
}

impl Limits {
    /// Restores the steps for a SACK that changes Gap Ack Blocks.
    pub(super) fn next_sack(&mut self) {
        self.steps = STEPS;
    }

    /// Returns true if the peer may renege on one more chunk, and counts a step.
    pub(super) fn allow(&mut self) -> bool {
        let allowed = self.steps > 0 && self.withdrawn < MOST_WITHDRAWN;
        self.steps = self.steps.saturating_sub(1);
        allowed
    }

    /// Counts a chunk on which the peer reneged.
    pub(super) fn withdrew(&mut self) {
        self.withdrawn += 1;
    }

    /// Counts a chunk that is acknowledged again after the peer reneged on it.
    #[cold]
    pub(super) fn restored(&mut self) {
        debug_assert!(self.withdrawn > 0);
        self.withdrawn = self.withdrawn.saturating_sub(1);
    }

    #[cfg(test)]
    pub(super) fn withdrawn(&self) -> u32 {
        self.withdrawn
    }

    /// Counts a SACK that reneged on chunks, received when `packets` packets with data had been sent. `acked`
    /// are the ranges that count as acknowledged. Returns an error if a limit is exceeded.
    pub(super) fn check(&mut self, packets: u64, acked: &[Range]) -> Result<(), &'static str> {
        self.sacks = MOST_SACKS.min(self.sacks + SACKS_PER_PACKET * (packets - self.packets));
        self.packets = packets;
        self.sacks = self.sacks.checked_sub(1).ok_or("gap ack blocks withdrawn again and again")?;
        if acked.len() > MOST_RANGES { Err("gap ack blocks withdrawn in too many places") } else { Ok(()) }
    }
}
