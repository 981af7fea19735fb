//! Limits of the work that a peer can cause with acknowledgements.
//!
//! A chunk is acknowledged for the first time once, and reported missing three times at most: its transmission
//! pays for that work. A peer can repeat one thing: to renege on gap ack blocks and to acknowledge the same chunks again
//! (`rfc9260#section-6.2.1`, step D iii). So a SACK may withdraw a number of chunks, and a packet brings one SACK; what is withdrawn beyond counts as
//! acknowledged until a later SACK says so again. The lowest chunks come first, so that what the cumulative TSN waits for is
//! sent again in any case.
//!
//! The association with a peer that withdraws without end is aborted. One that discards what arrived, or whose SACKs overtake each other, sends
//! at most one SACK for a packet with data and one when its window opens (`rfc9260#section-6.2`). With every data packet and
//! every SACK doubled by the network that makes eight for a packet with data, and only every second one can withdraw
//! anything: between two that do lies one that acknowledges.

use super::ranges::Range;

/// Ranges of gap ack blocks that one SACK is read up to, and ranges kept of what the peer has for good. A SACK in a packet
/// of 1500 bytes has less than 400.
pub(super) const MOST_BLOCKS: usize = 1536;

/// Ranges kept of what the peer has, with what it withdrew beyond its limit.
const MOST_RANGES: usize = 3072;

/// Chunks withdrawn, and not acknowledged again yet, at the same time.
const MOST_WITHDRAWN: u32 = 1024;

/// Steps that withdrawing and marking as lost may take in a packet.
const STEPS: u32 = 1024;

/// SACKs that may withdraw something for each packet with data.
const SACKS_PER_PACKET: u64 = 4;

/// SACKs that may withdraw something before packets with data are counted.
const FIRST_SACKS: u64 = 1024;

/// The most that packets with data are counted for.
const MOST_SACKS: u64 = 1 << 17;

/// What is left of a peer's limits.
#[derive(Debug)]
pub(super) struct Limits {
    /// Steps left for this SACK.
    pub(super) steps: u32,
    /// Chunks that were acknowledged once and are not now.
    withdrawn: u32,
    /// SACKs left that may withdraw something, as of so many packets with data.
    sacks: u64,
    packets: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { steps: STEPS, withdrawn: 0, sacks: FIRST_SACKS, packets: 0 }
    }
}

impl Limits {
    /// The next SACK changes gap ack blocks.
    pub(super) fn next_sack(&mut self) {
        self.steps = STEPS;
    }

    /// True if one chunk more may be withdrawn.
    pub(super) fn allow(&mut self) -> bool {
        let allowed = self.steps > 0 && self.withdrawn < MOST_WITHDRAWN;
        self.steps = self.steps.saturating_sub(1);
        allowed
    }

    /// A chunk that was acknowledged once is not any more.
    pub(super) fn withdrew(&mut self) {
        self.withdrawn += 1;
    }

    /// A chunk that was withdrawn is acknowledged again.
    #[cold]
    pub(super) fn restored(&mut self) {
        debug_assert!(self.withdrawn > 0);
        self.withdrawn = self.withdrawn.saturating_sub(1);
    }

    #[cfg(test)]
    pub(super) fn withdrawn(&self) -> u32 {
        self.withdrawn
    }

    /// A SACK withdrew something, after so many packets with data were sent, and `acked` is what counts as acknowledged
    /// from now on. An error if the peer does nothing else.
    pub(super) fn check(&mut self, packets: u64, acked: &[Range]) -> Result<(), &'static str> {
        self.sacks = MOST_SACKS.min(self.sacks + SACKS_PER_PACKET * (packets - self.packets));
        self.packets = packets;
        self.sacks = self.sacks.checked_sub(1).ok_or("gap ack blocks withdrawn again and again")?;
        if acked.len() > MOST_RANGES { Err("gap ack blocks withdrawn in too many places") } else { Ok(()) }
    }
}
