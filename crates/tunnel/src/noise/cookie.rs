//! Cookies, which a responder requires before expensive computations: they prove that the initiator receives
//! at its address, and that the initiation is new.

use super::mac::MacKey;
use super::wire::Mac;
use crate::keys::{KEY, fill_random};
use std::collections::VecDeque;
use std::io;
use std::net::IpAddr;
use units::{Instant, Span};

/// Time for which a secret makes cookies. The secret before it is still accepted.
const EPOCH: Span = Span::from_secs(60);
/// Largest number of initiations in two epochs that cause key computations. A peer that loses all our answers
/// sends fewer than 30.
pub(super) const MOST_HANDSHAKES: usize = 64;

/// Makes cookies, and remembers the initiations that came with a valid one.
#[derive(Debug)]
pub(super) struct Jar {
    secret: MacKey,
    before: Option<MacKey>,
    since: Instant,
    /// MACs of the initiations, and their arrival times.
    seen: VecDeque<(Instant, Mac)>,
}

impl Jar {
    pub(super) fn new(now: Instant) -> io::Result<Jar> {
        Ok(Jar { secret: new_secret()?, before: None, since: now, seen: VecDeque::new() })
    }

    /// The cookie for an address.
    pub(super) fn cookie(&mut self, now: Instant, address: IpAddr, port: u16) -> Mac {
        self.rotate(now);
        cookie(&self.secret, address, port)
    }

    /// True if `given` is the cookie of the address.
    pub(super) fn is_valid(&mut self, now: Instant, address: IpAddr, port: u16, given: &Mac) -> bool {
        self.rotate(now);
        let bytes = bytes_of(address, port);
        let of = |secret: &MacKey| secret.verify(&[&bytes], given);
        of(&self.secret) || self.before.as_ref().is_some_and(of)
    }

    /// Accepts an initiation once, by its MAC; false also after too many initiations.
    pub(super) fn take(&mut self, now: Instant, mac: &Mac) -> bool {
        while self.seen.front().is_some_and(|&(at, _)| now.since(at) > EPOCH + EPOCH) {
            self.seen.pop_front();
        }
        if self.seen.len() == MOST_HANDSHAKES || self.seen.iter().any(|(_, seen)| seen == mac) {
            return false;
        }
        self.seen.push_back((now, *mac));
        true
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
    fn an_initiation_counts_once_and_at_most_64_in_two_minutes() {
        let mut jar = Jar::new(at(0)).expect("randomness");
        let mac = |n: usize| [n as u8; 16];
        assert!(jar.take(at(0), &mac(0)));
        assert!(!jar.take(at(100), &mac(0)));
        let taken = (1..200).filter(|&n| jar.take(at(100), &mac(n))).count();
        assert_eq!(taken, MOST_HANDSHAKES - 1);
        assert!(jar.take(at(121), &mac(201)), "the first one is forgotten");
        assert!(!jar.take(at(121), &mac(202)));
    }
}
