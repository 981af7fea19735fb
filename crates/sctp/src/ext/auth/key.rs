//! Association shared keys (`rfc4895#section-6.1`) and HMACs (`rfc4895#section-6.2`).

use hmac::{Hmac, Mac};
use sha1::Sha1;
use sha2::Sha256;
use std::cmp::Ordering;
use transport::Octets;

/// An HMAC algorithm (`rfc4895#section-8.4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Algorithm {
    /// SHA-1, which is mandatory.
    Sha1,
    /// SHA-256.
    Sha256,
}

impl Algorithm {
    /// Bytes of the longest HMAC.
    pub(crate) const LONGEST: usize = 32;
    /// All algorithms.
    pub(crate) const ALL: [Algorithm; 2] = [Algorithm::Sha256, Algorithm::Sha1];

    /// The algorithm with this identifier.
    pub(crate) fn of(id: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.id() == id)
    }

    pub(crate) const fn id(self) -> u16 {
        match self {
            Algorithm::Sha1 => 1,
            Algorithm::Sha256 => 3,
        }
    }

    /// Bytes of the HMAC.
    pub(crate) const fn len(self) -> usize {
        match self {
            Algorithm::Sha1 => 20,
            Algorithm::Sha256 => 32,
        }
    }

    /// The HMAC over the `fixed` part of an AUTH chunk, a zero HMAC, and the rest of the packet.
    pub(crate) fn compute(self, key: &[u8], fixed: &[u8], rest: Octets<'_>) -> Vec<u8> {
        match self {
            Algorithm::Sha1 => self.feed::<Hmac<Sha1>>(key, fixed, rest).finalize().into_bytes().to_vec(),
            Algorithm::Sha256 => self.feed::<Hmac<Sha256>>(key, fixed, rest).finalize().into_bytes().to_vec(),
        }
    }

    /// Compares an HMAC in constant time.
    pub(crate) fn verify(self, key: &[u8], fixed: &[u8], rest: Octets<'_>, hmac: &[u8]) -> bool {
        match self {
            Algorithm::Sha1 => self.feed::<Hmac<Sha1>>(key, fixed, rest).verify_slice(hmac).is_ok(),
            Algorithm::Sha256 => self.feed::<Hmac<Sha256>>(key, fixed, rest).verify_slice(hmac).is_ok(),
        }
    }

    fn feed<M: Mac + hmac::digest::KeyInit>(self, key: &[u8], fixed: &[u8], rest: Octets<'_>) -> M {
        const ZEROS: [u8; 64] = [0; 64];
        let mut mac = <M as Mac>::new_from_slice(key).expect("any length makes a key");
        mac.update(fixed);
        mac.update(&ZEROS[..self.len()]);
        mac.update(rest.head);
        let mut left = rest.zeros;
        while left > 0 {
            let step = left.min(ZEROS.len());
            mac.update(&ZEROS[..step]);
            left -= step;
        }
        mac
    }
}

/// The association shared key: endpoint pair shared key, then both key vectors, the smaller first.
pub(crate) fn association_key(secret: &[u8], one: &[u8], other: &[u8]) -> Vec<u8> {
    let (first, second) = if by_number(one, other).is_le() { (one, other) } else { (other, one) };
    [secret, first, second].concat()
}

/// Compares key vectors as numbers in network byte order; of equal numbers, the shorter vector is less.
fn by_number(one: &[u8], other: &[u8]) -> Ordering {
    let significant = |vector: &[u8]| vector.iter().position(|&byte| byte != 0).unwrap_or(vector.len());
    let (a, b) = (&one[significant(one)..], &other[significant(other)..]);
    a.len().cmp(&b.len()).then_with(|| a.cmp(b)).then(one.len().cmp(&other.len()))
}
