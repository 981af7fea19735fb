//! Cookies, which a responder requires before expensive computations: they prove that the initiator receives
//! at its address, and that the initiation is new.

use crate::keys::{KEY, fill_random};
use crate::mac::MacKey;
use crate::wire::Mac;
use std::collections::{BTreeSet, VecDeque};
use std::io;
use std::net::IpAddr;
use units::{Instant, Span};

/// Time for which cookies are made with one secret. Cookies of the secret before it are still accepted.
const EPOCH: Span = Span::from_secs(60);
/// Largest number of remembered initiations. The rate limit of handshakes allows fewer within two epochs,
/// unless thousands of peers renew their keys at once.
const MOST_SEEN: usize = 16_384;

/// Makes cookies, and remembers the initiations that came with a valid one.
#[derive(Debug)]
pub(crate) struct Jar {
    secret: MacKey,
    before: Option<MacKey>,
    since: Instant,
    /// MACs of the initiations, by arrival time.
    seen: VecDeque<(Instant, Mac)>,
    macs: BTreeSet<Mac>,
}

impl Jar {
    pub(crate) fn new(now: Instant) -> io::Result<Jar> {
        Ok(Jar {
            secret: new_secret()?,
            before: None,
            since: now,
            seen: VecDeque::new(),
            macs: BTreeSet::new(),
        })
    }

    /// The cookie for an address.
    pub(crate) fn cookie(&mut self, now: Instant, address: IpAddr, port: u16) -> Mac {
        self.rotate(now);
        cookie(&self.secret, address, port)
    }

    /// True if `given` is the cookie of the address.
    pub(crate) fn is_valid(&mut self, now: Instant, address: IpAddr, port: u16, given: &Mac) -> bool {
        self.rotate(now);
        let bytes = bytes_of(address, port);
        let of = |secret: &MacKey| secret.verify(&[&bytes], given);
        of(&self.secret) || self.before.as_ref().is_some_and(of)
    }

    /// True if an initiation with this MAC is remembered.
    pub(crate) fn was_seen(&self, mac: &Mac) -> bool {
        self.macs.contains(mac)
    }

    /// Remembers an initiation by its MAC for as long as its cookie is valid; false if there is no room.
    pub(crate) fn note_seen(&mut self, now: Instant, mac: &Mac) -> bool {
        while let Some((at, old)) = self.seen.front()
            && now.since(*at) > EPOCH + EPOCH
        {
            self.macs.remove(old);
            self.seen.pop_front();
        }
        let has_room = self.seen.len() < MOST_SEEN;
        if has_room && self.macs.insert(*mac) {
            self.seen.push_back((now, *mac));
        }
        has_room
    }

    fn rotate(&mut self, now: Instant) {
        let age = now.since(self.since);
        // Without randomness the old secret is kept.
        if age >= EPOCH
            && let Ok(secret) = new_secret()
        {
            let before = std::mem::replace(&mut self.secret, secret);
            self.before = (age < EPOCH + EPOCH).then_some(before);
            self.since = now;
        }
    }
}

fn new_secret() -> io::Result<MacKey> {
    let mut key = [0; KEY];
    fill_random(&mut key)?;
    Ok(MacKey::secret(key))
}

fn cookie(secret: &MacKey, address: IpAddr, port: u16) -> Mac {
    secret.mac(&[&bytes_of(address, port)])
}

fn bytes_of(address: IpAddr, port: u16) -> [u8; 18] {
    let mut bytes = [0; 18];
    let address = match address {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    };
    bytes[..16].copy_from_slice(&address.octets());
    bytes[16..].copy_from_slice(&port.to_be_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Instant {
        Instant::ZERO + Span::from_secs(seconds)
    }

    #[test]
    fn a_cookie_is_for_one_address_and_port_and_for_one_to_two_minutes() {
        let mut jar = Jar::new(at(0)).expect("randomness");
        let [one, two] = [IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2])];
        let cookie = jar.cookie(at(1), one, 5);
        assert!(jar.is_valid(at(1), one, 5, &cookie));
        assert!(!jar.is_valid(at(1), one, 6, &cookie));
        assert!(!jar.is_valid(at(1), two, 5, &cookie));
        assert!(!jar.is_valid(at(1), one, 5, &[0; 16]));
        assert!(jar.is_valid(at(61), one, 5, &cookie));
        assert!(!jar.is_valid(at(122), one, 5, &cookie));
    }

    #[test]
    fn an_initiation_is_remembered_for_two_minutes_and_memory_is_bounded() {
        let mut jar = Jar::new(at(0)).expect("randomness");
        let mac = |n: u64| std::array::from_fn(|at| if at < 8 { n.to_le_bytes()[at] } else { 0 });
        assert!(jar.note_seen(at(0), &mac(0)) && jar.was_seen(&mac(0)) && !jar.was_seen(&mac(1)));
        let noted = (1..20_000).filter(|&n| jar.note_seen(at(100), &mac(n))).count();
        assert_eq!(noted, MOST_SEEN - 1);
        assert!(jar.note_seen(at(121), &mac(20_001)), "the first one is forgotten");
        assert!(!jar.was_seen(&mac(0)) && jar.was_seen(&mac(1)));
        assert!(!jar.note_seen(at(121), &mac(20_002)));
    }
}
