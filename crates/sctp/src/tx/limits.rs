//! Limits of the work that a peer can cause with acknowledgements.
//!
//! A chunk is acknowledged for the first time once, and reported missing three times at most: its
//! transmission pays for that work. But a peer can renege on Gap Ack Blocks and acknowledge the same chunks
//! again, without end (`rfc9260#section-6.2.1`, step D iii). So a packet brings one SACK, and a SACK may
//! withdraw a limited number of chunks, the lowest first, for which the cumulative TSN waits. The others
//! count as acknowledged until a later SACK.
//!
//! The association with a peer that withdraws without end is aborted. An honest peer, which discards arrived
//! data or whose SACKs overtake each other, sends at most one SACK for a packet with data and one when its
//! window opens (`rfc9260#section-6.2`). If the network doubles all packets, these are eight for a packet
//! with data. Only every second one can withdraw chunks: a SACK that acknowledges lies between two that
//! withdraw.

use super::ranges::Range;

/// Maximum number of ranges that are read from the Gap Ack Blocks of a SACK, and that are kept of
/// non-renegable chunks. A SACK in a packet of 1500 bytes has fewer than 400.
pub(super) const MOST_BLOCKS: usize = 1536;

/// Maximum number of acknowledged ranges, with those that the peer withdrew beyond its limit.
const MOST_RANGES: usize = 3072;

/// Maximum number of chunks that are withdrawn, and not acknowledged again yet, at the same time.
const MOST_WITHDRAWN: u32 = 1024;

/// Maximum number of steps for withdrawn and lost chunks in a packet.
const STEPS: u32 = 1024;

/// SACKs that may withdraw chunks, for each packet with data.
const SACKS_PER_PACKET: u64 = 4;

/// SACKs that may withdraw chunks before packets with data are counted.
const FIRST_SACKS: u64 = 1024;

/// Largest number of SACKs left that may withdraw chunks.
const MOST_SACKS: u64 = 1 << 17;

/// The remaining limits of a peer.
#[derive(Debug)]
pub(super) struct Limits {
    /// Steps left for this SACK.
    pub(super) steps: u32,
    /// Chunks that were acknowledged once and are not acknowledged now.
    withdrawn: u32,
    /// SACKs left that may withdraw chunks, after `packets` packets with data.
    sacks: u64,
    packets: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { steps: STEPS, withdrawn: 0, sacks: FIRST_SACKS, packets: 0 }
    }
}

impl Limits {
    /// Renews the steps for a SACK that changes Gap Ack Blocks.
    pub(super) fn next_sack(&mut self) {
        self.steps = STEPS;
    }

    /// True if one more chunk may be withdrawn; counts a step.
    pub(super) fn allow(&mut self) -> bool {
        let allowed = self.steps > 0 && self.withdrawn < MOST_WITHDRAWN;
        self.steps = self.steps.saturating_sub(1);
        allowed
    }

    /// Counts a chunk whose acknowledgement was withdrawn.
    pub(super) fn withdrew(&mut self) {
        self.withdrawn += 1;
    }

    /// Counts a withdrawn chunk that is acknowledged again.
    #[cold]
    pub(super) fn restored(&mut self) {
        debug_assert!(self.withdrawn > 0);
        self.withdrawn = self.withdrawn.saturating_sub(1);
    }

    #[cfg(test)]
    pub(super) fn withdrawn(&self) -> u32 {
        self.withdrawn
    }

    /// Counts a SACK that withdrew chunks after `packets` packets with data; `acked` now count as
    /// acknowledged. Returns an error if a limit is exceeded.
    pub(super) fn check(&mut self, packets: u64, acked: &[Range]) -> Result<(), &'static str> {
        self.sacks = MOST_SACKS.min(self.sacks + SACKS_PER_PACKET * (packets - self.packets));
        self.packets = packets;
        self.sacks = self.sacks.checked_sub(1).ok_or("gap ack blocks withdrawn again and again")?;
        if acked.len() > MOST_RANGES { Err("gap ack blocks withdrawn in too many places") } else { Ok(()) }
    }
}
