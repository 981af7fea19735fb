//! Counts everything in a capture that was not decoded, by its reason.

use net::Undecoded;
use std::collections::BTreeMap;
use std::fmt;

/// Why something in a capture does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Missed {
    /// A packet whose IP packet was not found.
    Packet(Undecoded),
    /// A fragment of an IP packet of which another one is missing.
    Fragment,
    /// A packet of SCTP with a wrong header.
    Header,
    /// A packet of SCTP that was not captured up to its last chunk: how many chunks stand behind the cut is
    /// not known.
    CutPacket,
    /// A SACK of which only a part was captured.
    CutSack,
    /// A packet of SCTP with a chunk that breaks the rules: chunks behind it cannot be found.
    Chunk,
    /// A packet of SCTP of one association too many.
    Association,
    /// A further sighting of a packet at another interface, or at the same one at the same time.
    SeenAgain,
}

impl fmt::Display for Missed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Missed::Packet(why) => write!(f, "packets: {why}"),
            Missed::Fragment => f.write_str("IP fragments whose other fragments are missing"),
            Missed::Header => f.write_str("SCTP packets with a malformed header"),
            Missed::CutPacket => f.write_str("SCTP packets cut before their last chunk (snap length)"),
            Missed::CutSack => f.write_str("SACKs of which only a part was captured"),
            Missed::Chunk => f.write_str("SCTP packets with a malformed chunk"),
            Missed::Association => f.write_str("SCTP packets of too many associations"),
            Missed::SeenAgain => f.write_str("packets that were captured twice, counted once"),
        }
    }
}

/// Most reasons that are kept apart: packets of further link types and the like count as malformed.
const MOST_REASONS: usize = 64;

/// How often something does not count, by its reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotDecoded(BTreeMap<Missed, u64>);

impl NotDecoded {
    /// Counts `times` for a reason.
    pub(super) fn add(&mut self, why: Missed, times: u64) {
        let full = self.0.len() >= MOST_REASONS && matches!(why, Missed::Packet(_));
        let why = if full && !self.0.contains_key(&why) { Missed::Packet(Undecoded::Malformed) } else { why };
        if times > 0 {
            *self.0.entry(why).or_default() += times;
        }
    }

    /// How often a reason holds.
    pub fn count(&self, why: Missed) -> u64 {
        self.0.get(&why).copied().unwrap_or_default()
    }

    /// All reasons that hold, and how often.
    pub fn iter(&self) -> impl Iterator<Item = (Missed, u64)> {
        self.0.iter().map(|(&why, &times)| (why, times))
    }
}
