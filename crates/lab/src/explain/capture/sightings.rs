//! Tells packets that were captured at several places: of one packet only one sighting counts.
//!
//! A file may have several interfaces that a packet passes (a bridge and its ports, both ends of a link). The
//! first interface that shows a pair of addresses is the one whose times count. A packet at another one
//! counts if the first does not have it.

use net::{Fragment, Frame, IpPacket};
use std::collections::{BTreeMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::IpAddr;
use units::{Instant, Span};

/// Pairs of addresses whose interfaces are remembered.
const MOST_PAIRS: usize = 4096;

/// Packets that are remembered, and places of each.
const MOST_PACKETS: usize = 1 << 18;
const MOST_PLACES: usize = 8;

/// How far apart the sightings of a packet at two places may be.
const MOST_APART: Span = Span::from_secs(1);

/// How far apart the sightings of a packet at one place may be. A retransmission takes longer, as it waits
/// for a SACK at least.
const SAME_PLACE: Span = Span::from_micros(100);

/// Where a packet was seen: the interface, and the time to live, which tells the sides of a router.
type Place = ((u32, u64), u8);

/// How often a packet was seen at a place: in what was read so far, and in what was looked at so far.
struct Count {
    place: Place,
    read: u32,
    taken: u32,
    last: Option<Instant>,
}

/// The sightings of all packets within the last seconds.
#[derive(Default)]
pub(super) struct Sightings {
    counts: BTreeMap<u64, Vec<Count>>,
    /// The packets in the order in which they were read, to be forgotten.
    order: VecDeque<(Instant, u64)>,
    /// The place that was the first to show packets between two addresses.
    first: BTreeMap<(IpAddr, IpAddr), (u32, u64)>,
}

/// A number that two different packets hardly share.
fn digest(ip: &IpPacket<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    let fragment = ip.fragment.map(|Fragment { offset, more }| (offset, more));
    (ip.src, ip.dst, ip.protocol, ip.id, fragment, ip.payload_length, ip.payload).hash(&mut hasher);
    hasher.finish()
}

impl Sightings {
    /// A packet was read that [`Self::is_new`] will be asked about later, after packets of earlier times.
    pub(super) fn read(&mut self, frame: &Frame<'_>, ip: &IpPacket<'_>) {
        let (digest, place) = (digest(ip), (frame.sight(), ip.ttl));
        let counts = self.counts.entry(digest).or_default();
        match counts.iter().position(|count| count.place == place) {
            Some(known) => counts[known].read += 1,
            None if counts.len() < MOST_PLACES => counts.push(Count { place, read: 1, taken: 0, last: None }),
            None => return,
        }
        self.order.push_back((frame.at, digest));
    }

    /// True if a packet is no further sighting of another one. Packets are asked about in the order of time.
    pub(super) fn is_new(&mut self, frame: &Frame<'_>, ip: &IpPacket<'_>) -> bool {
        self.forget(frame.at);
        let between = (ip.src.min(ip.dst), ip.src.max(ip.dst));
        let first = match self.first.get(&between) {
            Some(first) => *first,
            None => {
                if self.first.len() < MOST_PAIRS {
                    self.first.insert(between, frame.sight());
                }
                frame.sight()
            }
        };
        let (digest, place) = (digest(ip), (frame.sight(), ip.ttl));
        let Some(counts) = self.counts.get_mut(&digest) else { return true };
        let Some(own) = counts.iter_mut().find(|count| count.place == place) else { return true };
        let again = own.last.is_some_and(|last| frame.at.since(last) <= SAME_PLACE);
        own.last = Some(frame.at);
        if again {
            own.read = own.read.saturating_sub(1);
            return false;
        }
        own.taken += 1;
        let taken = own.taken;
        let rank = |place: Place| (place.0 != first, place);
        !counts.iter().any(|other| rank(other.place) < rank(place) && other.read >= taken)
    }

    fn forget(&mut self, now: Instant) {
        while let Some(&(at, digest)) = self.order.front()
            && (now.since(at) > MOST_APART || self.order.len() > MOST_PACKETS)
        {
            self.order.pop_front();
            self.counts.remove(&digest);
        }
    }
}
