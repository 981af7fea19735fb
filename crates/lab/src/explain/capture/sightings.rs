//! Recognises packets that were captured at several places, so that each packet counts only once.
//!
//! A packet may pass several interfaces of a capture (a bridge and its ports, both ends of a link). The first
//! interface with packets between two addresses provides the times. A packet at another interface counts only
//! if the first one does not have it.

use net::{Fragment, Frame, IpPacket};
use std::collections::{BTreeMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::IpAddr;
use units::{Instant, Span};

/// Largest number of address pairs whose first interface is kept.
const MOST_PAIRS: usize = 4096;

/// Largest number of packets that are kept, and of places (interface and time to live) for each packet.
const MOST_PACKETS: usize = 1 << 18;
const MOST_PLACES: usize = 8;

/// Largest time between the sightings of a packet at two places.
const MOST_APART: Span = Span::from_secs(1);

/// A packet that is seen again at one place within this time is a copy. A retransmission comes later, because
/// it waits at least for a SACK.
const SAME_PLACE: Span = Span::from_micros(100);

/// Place of a sighting: the interface, and the time to live, which distinguishes the sides of a router.
type Place = ((u32, u64), u8);

/// Numbers of sightings of a packet at a place: among the packets read so far, and among those examined so
/// far.
struct Count {
    place: Place,
    read: u32,
    taken: u32,
    last: Option<Instant>,
}

/// The sightings of all packets within the last seconds of the capture.
#[derive(Default)]
pub(super) struct Sightings {
    counts: BTreeMap<u64, Vec<Count>>,
    /// Packets in the order of reading, to be dropped in this order.
    order: VecDeque<(Instant, u64)>,
    /// The first interface that had packets between two addresses.
    first: BTreeMap<(IpAddr, IpAddr), (u32, u64)>,
}

/// A hash of a packet. Two different packets almost never have the same one.
fn digest(ip: &IpPacket<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    let fragment = ip.fragment.map(|Fragment { offset, more }| (offset, more));
    (ip.src, ip.dst, ip.protocol, ip.id, fragment, ip.payload_length, ip.payload).hash(&mut hasher);
    hasher.finish()
}

impl Sightings {
    /// Records a packet that was read. [`Self::is_new`] examines it later, after packets of earlier times.
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

    /// Returns true if the packet was not seen at another place. Must be called in the order of time.
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
