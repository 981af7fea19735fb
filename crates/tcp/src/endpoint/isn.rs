use crate::conn::{Birth, Ends};
use crate::sequence::Seq;
use hmac::{Hmac, Mac};
use sha2::Sha256;
use std::net::IpAddr;
use units::Instant;

/// Draws initial sequence numbers (`rfc9293#section-3.4.1`, `rfc6528#section-3`): a clock plus a secret
/// function of the two ends.
pub(super) struct Births(Hmac<Sha256>);

/// The clock ticks every four microseconds.
const TICK: u64 = 4_000;

impl Births {
    pub(super) fn new(seed: u64) -> Self {
        Births(Hmac::new_from_slice(&seed.to_be_bytes()).expect("HMAC takes keys of any length"))
    }

    pub(super) fn draw(&self, now: Instant, ends: &Ends, port: u16) -> Birth {
        let mut mac = self.0.clone();
        hash_ends(&mut mac, ends, port);
        let secret = mac.finalize().into_bytes();
        let word =
            |at: usize| u32::from_be_bytes([secret[at], secret[at + 1], secret[at + 2], secret[at + 3]]);
        let clock = (now.as_nanos() / TICK) as u32;
        Birth { isn: Seq(word(0).wrapping_add(clock)), clock_offset: word(4) }
    }
}

/// Hashes both addresses and ports of a connection.
pub(super) fn hash_ends(mac: &mut Hmac<Sha256>, ends: &Ends, port: u16) {
    for (address, port) in [(ends.local, port), (ends.remote, ends.remote_port)] {
        match address {
            IpAddr::V4(address) => mac.update(&address.octets()),
            IpAddr::V6(address) => mac.update(&address.octets()),
        }
        mac.update(&port.to_be_bytes());
    }
}

impl std::fmt::Debug for Births {
    /// Hides the key, with which sequence numbers could be predicted.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Births")
    }
}
