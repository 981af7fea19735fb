//! What paths carried, kept for later paths between the same addresses (`rfc9959`).

use cc::SavedPath;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use units::{ByteCount, Instant, Span};

/// Largest number of saved sets.
const MOST: usize = 1024;

/// Version of the encoding.
const VERSION: u8 = 1;

/// Saved sets by local and remote address. All clones are the same sets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Saved(Arc<Mutex<BTreeMap<(IpAddr, IpAddr), SavedPath>>>);

/// Reason why saved paths could not be restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("these are no paths that Endpoint::saved_paths of this version saved")]
pub struct RestoreError;

impl Saved {
    fn sets<T>(&self, f: impl FnOnce(&mut BTreeMap<(IpAddr, IpAddr), SavedPath>) -> T) -> T {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Keeps a set. If there are too many, the oldest is forgotten.
    pub(crate) fn put(&self, pair: (IpAddr, IpAddr), set: SavedPath) {
        self.sets(|sets| {
            sets.insert(pair, set);
            if sets.len() > MOST
                && let Some((&oldest, _)) = sets.iter().min_by_key(|(_, set)| set.until)
            {
                sets.remove(&oldest);
            }
        });
    }

    /// Takes the set of a path: one path of one association uses it.
    pub(crate) fn take(&self, now: Instant, pair: (IpAddr, IpAddr)) -> Option<SavedPath> {
        self.sets(|sets| sets.remove(&pair)).filter(|set| now <= set.until)
    }

    /// The sets as bytes, with the times for which they may still be used.
    pub(crate) fn encode(&self, now: Instant) -> Vec<u8> {
        let mut out = vec![VERSION];
        self.sets(|sets| {
            for (&(local, remote), set) in sets.iter() {
                for address in [local, remote] {
                    match address {
                        IpAddr::V4(address) => out.extend_from_slice(&address.to_ipv6_mapped().octets()),
                        IpAddr::V6(address) => out.extend_from_slice(&address.octets()),
                    }
                }
                for number in [set.cwnd.get(), set.rtt.as_nanos(), set.until.since(now).as_nanos()] {
                    out.extend_from_slice(&number.to_be_bytes());
                }
            }
        });
        out
    }

    /// Adds encoded sets.
    pub(crate) fn decode(&self, now: Instant, bytes: &[u8]) -> Result<(), RestoreError> {
        let Some((&VERSION, entries)) = bytes.split_first() else { return Err(RestoreError) };
        let (entries, []) = entries.as_chunks::<ENTRY>() else { return Err(RestoreError) };
        if entries.len() > MOST {
            return Err(RestoreError);
        }
        for entry in entries {
            let address = |at: usize| -> Option<IpAddr> {
                let octets: [u8; 16] = *entry.get(at..)?.first_chunk()?;
                Some(IpAddr::from(octets).to_canonical())
            };
            let number = |at: usize| Some(u64::from_be_bytes(*entry.get(at..)?.first_chunk()?));
            let all = || Some((address(0)?, address(16)?, number(32)?, number(40)?, number(48)?));
            let (local, remote, cwnd, rtt, left) = all().ok_or(RestoreError)?;
            let left = Span::from_nanos(left).min(SavedPath::LIFETIME);
            if !left.is_zero() && rtt > 0 {
                let (cwnd, rtt) = (ByteCount::new(cwnd), Span::from_nanos(rtt));
                self.put((local, remote), SavedPath { cwnd, rtt, until: now + left });
            }
        }
        Ok(())
    }
}

/// Bytes of an encoded set.
const ENTRY: usize = 2 * 16 + 3 * 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn set(cwnd: u64, until: u64) -> SavedPath {
        SavedPath { cwnd: ByteCount::new(cwnd), rtt: Span::from_millis(50), until: at(until) }
    }

    fn pair(n: u32) -> (IpAddr, IpAddr) {
        ([10, 0, 0, 1].into(), IpAddr::from(n.to_be_bytes()))
    }

    fn at(secs: u64) -> Instant {
        Instant::ZERO + Span::from_secs(secs)
    }

    #[test]
    fn sets_survive_an_endpoint_with_their_ages() {
        let (first, second) = (Saved::default(), Saved::default());
        let six = ("2001:db8::1".parse().unwrap(), "2001:db8::2".parse().unwrap());
        first.put(pair(1), set(500_000, 4100));
        first.put(six, set(600_000, 5000));
        second.decode(at(7), &first.encode(at(4200))).unwrap();
        assert_eq!(second.take(at(7), pair(1)), None, "too old");
        assert_eq!(second.take(at(7), six), Some(set(600_000, 807)));
        assert_eq!(second.take(at(7), six), None, "one path uses it");
    }

    #[test]
    fn bytes_that_are_no_sets_change_nothing() {
        let saved = Saved::default();
        saved.put(pair(1), set(500_000, 3600));
        let bytes = saved.encode(at(1));
        let other = Saved::default();
        for wrong in [&[][..], &[2], &bytes[..bytes.len() - 1], &[&bytes[..], &[0]].concat()] {
            assert_eq!(other.decode(at(1), wrong), Err(RestoreError));
        }
        assert_eq!(other.encode(at(1)), [VERSION]);
    }

    #[test]
    fn the_oldest_of_too_many_sets_is_forgotten() {
        let saved = Saved::default();
        for n in 0..=MOST as u32 {
            saved.put(pair(n), set(500_000, 9 + u64::from(n == 3)));
        }
        assert_eq!(saved.sets(|sets| sets.len()), MOST);
        assert!(saved.take(at(2), pair(3)).is_some());
        assert!(saved.take(at(2), pair(0)).is_none());
    }
}
