//! Rate limits of the handshakes that cost curve computations.

use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::net::IpAddr;
use units::{Instant, Span};

/// Rate limit of handshakes with addresses that have no open session: 64 a second, and 128 at once.
const ALL: Rate = Rate { interval: Span::from_micros(15_625), burst: Span::from_secs(2) };
/// While less than half of the burst of [`ALL`] is used, an address has no limit of its own, since many
/// clients may be behind one NAT.
const SPARE: Rate = Rate { burst: Span::from_secs(1), ..ALL };
/// Limit of one IPv4 address, or one /64 of IPv6, while more than half is used: 8 handshakes in ten seconds.
const ONE: Rate = Rate { interval: Span::from_millis(1250), burst: Span::from_secs(10) };
/// An address and port of an open session may begin one handshake per `KNOWN` that none of these limits
/// counts.
const KNOWN: Span = Span::from_secs(5);
/// For this time after its latest authentic packet, an address and port count as those of an open session.
const MEMORY: Span = Span::from_secs(60);
/// Number of token buckets for addresses. Addresses with the same hash share a bucket.
const BUCKETS: usize = 1024;
/// Largest number of addresses and ports of open sessions that are stored.
const MOST_KNOWN: usize = 8192;

/// Decides which handshakes are computed. A flood of strangers cannot stop the peers of open sessions from
/// renewing their keys.
#[derive(Debug)]
pub(crate) struct Limits {
    all: Bucket,
    ones: Vec<Bucket>,
    known: BTreeMap<(IpAddr, u16), Known>,
    hasher: RandomState,
}

/// Times of an address of an open session.
#[derive(Debug)]
struct Known {
    /// Time at which an authentic packet from this address and port was last recorded.
    heard: Instant,
    /// Time of the last handshake that was allowed because this address and port belong to an open session.
    began: Option<Instant>,
}

impl Limits {
    pub(crate) fn new() -> Limits {
        let hasher = RandomState::new();
        Limits {
            all: Bucket::default(),
            ones: vec![Bucket::default(); BUCKETS],
            known: BTreeMap::new(),
            hasher,
        }
    }

    /// Stores the source of an authentic packet.
    pub(crate) fn note_known(&mut self, now: Instant, address: IpAddr, port: u16) {
        if let Some(known) = self.known.get_mut(&(address, port)) {
            known.heard = now;
            return;
        }
        if self.known.len() == MOST_KNOWN {
            self.known.retain(|_, known| now.since(known.heard) < MEMORY);
        }
        if self.known.len() < MOST_KNOWN {
            self.known.insert((address, port), Known { heard: now, began: None });
        }
    }

    /// True if this end may compute a handshake with this source now; counts the handshake.
    pub(crate) fn allow(&mut self, now: Instant, address: IpAddr, port: u16) -> bool {
        if let Some(known) = self.known.get_mut(&(address, port))
            && now.since(known.heard) < MEMORY
            && known.began.is_none_or(|at| now.since(at) >= KNOWN)
        {
            known.began = Some(now);
            return true;
        }
        if self.all.take(now, SPARE) {
            return true;
        }
        let bucket = self.hasher.hash_one(network(address)) as usize % BUCKETS;
        self.ones[bucket].has_room(now, ONE) && self.all.take(now, ALL) && self.ones[bucket].take(now, ONE)
    }
}

/// An IPv4 address, or the first 64 bits of an IPv6 address.
fn network(address: IpAddr) -> u64 {
    match address {
        IpAddr::V4(address) => address.to_bits().into(),
        IpAddr::V6(address) => (address.to_bits() >> 64) as u64,
    }
}

/// A token bucket: one event per interval on average, and `burst / interval` events at once.
#[derive(Clone, Copy, Debug)]
struct Rate {
    interval: Span,
    burst: Span,
}

/// The state of a token bucket: the time at which it is full again.
#[derive(Clone, Copy, Debug)]
struct Bucket(Instant);

impl Default for Bucket {
    fn default() -> Self {
        Bucket(Instant::ZERO)
    }
}

impl Bucket {
    fn has_room(self, now: Instant, rate: Rate) -> bool {
        self.0.max(now) + rate.interval <= now + rate.burst
    }

    fn take(&mut self, now: Instant, rate: Rate) -> bool {
        let room = self.has_room(now, rate);
        if room {
            self.0 = self.0.max(now) + rate.interval;
        }
        room
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn an_address_gets_half_of_what_all_get_and_8_in_ten_seconds_of_the_other_half() {
        let mut limits = Limits::new();
        let one = IpAddr::from([10, 0, 0, 1]);
        let mut allowed = |now| (0..200).filter(|_| limits.allow(now, one, 5)).count();
        assert_eq!(allowed(at(0)), 64 + 8);
        assert_eq!(allowed(at(100)), 0);
        assert_eq!(allowed(at(1000)), 64 - 8);
        assert_eq!(allowed(at(11_000)), 64 + 8);
        let two = IpAddr::from([10, 0, 0, 2]);
        assert!(limits.allow(at(11_000), two, 5), "one address leaves room for others");
    }

    #[test]
    fn all_strangers_get_128_at_once_and_64_a_second() {
        let mut limits = Limits::new();
        let mut allowed =
            |now| (0..20_000_u32).filter(|&n| limits.allow(now, n.to_be_bytes().into(), 5)).count();
        assert_eq!(allowed(at(0)), 128);
        assert_eq!(allowed(at(1000)), 64);
        assert_eq!(allowed(at(9000)), 128);
    }

    #[test]
    fn addresses_of_open_sessions_do_not_wait_behind_strangers() {
        let mut limits = Limits::new();
        for n in 0..1000_u32 {
            limits.note_known(at(0), (n << 8).to_be_bytes().into(), 7);
        }
        for n in 0..20_000_u32 {
            limits.allow(at(0), n.to_be_bytes().into(), 5);
        }
        let mut allowed = |now, port| {
            (0..1000_u32).filter(|&n| limits.allow(now, (n << 8).to_be_bytes().into(), port)).count()
        };
        assert_eq!(allowed(at(0), 5), 0, "with another port they are strangers");
        assert_eq!(allowed(at(0), 7), 1000);
        assert_eq!(allowed(at(1), 7), 0);
        assert!(allowed(at(60_000), 7) <= 128, "after a minute they are strangers");
    }

    #[test]
    fn memory_is_bounded() {
        let mut limits = Limits::new();
        for n in 0..20_000_u32 {
            limits.note_known(at(n.into()), n.to_be_bytes().into(), 7);
        }
        assert_eq!(limits.known.len(), MOST_KNOWN);
        limits.note_known(at(200_000), [1, 1, 1, 1].into(), 7);
        assert_eq!(limits.known.len(), 1);
    }
}
