//! Counts everything in a capture that was not decoded, by its reason.

use net::Undecoded;
use std::collections::BTreeMap;
use std::fmt;

/// The reason why a part of a capture was not decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Missed {
    /// A captured packet in which no IP packet was found.
    Packet(Undecoded),
    /// A fragment of an IP packet of which another fragment is missing.
    Fragment,
    /// An SCTP packet with a wrong header.
    Header,
    /// An SCTP packet that was not captured completely: the number of chunks after the cut is unknown.
    CutPacket,
    /// A SACK that was captured in part.
    CutSack,
    /// An SCTP packet with an invalid chunk: chunks after it cannot be found.
    Chunk,
    /// An SCTP packet that was left out because the capture has too many associations.
    Association,
    /// A further copy of a captured packet: from another
    /// interface, or from the same interface at the same time.
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

/// Largest number of distinguished reasons. Further ones, such as unknown link types, count as malformed
/// packets.
const MOST_REASONS: usize = 64;

/// Number of parts that were not decoded, by reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotDecoded(BTreeMap<Missed, u64>);

impl NotDecoded {
    /// Adds `times` to the count of a reason.
    pub(super) fn add(&mut self, why: Missed, times: u64) {
        let full = self.0.len() >= MOST_REASONS && matches!(why, Missed::Packet(_));
        let why = if full && !self.0.contains_key(&why) { Missed::Packet(Undecoded::Malformed) } else { why };
        if times > 0 {
            *self.0.entry(why).or_default() += times;
        }
    }

    /// The count of a reason.
    pub fn count(&self, why: Missed) -> u64 {
        self.0.get(&why).copied().unwrap_or_default()
    }

    /// All reasons with a count above zero.
    pub fn iter(&self) -> impl Iterator<Item = (Missed, u64)> {
        self.0.iter().map(|(&why, &times)| (why, times))
    }
}
