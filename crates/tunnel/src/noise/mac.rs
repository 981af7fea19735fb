//! Keyed hashes: HMAC (RFC 2104) with BLAKE2s (RFC 7693), cut to 16 bytes.

use crate::keys::{KEY, PublicKey};
use snow::params::HashChoice;
use snow::resolvers::{CryptoResolver, DefaultResolver};

/// Bytes of a MAC.
pub(super) const MAC: usize = 16;

/// A key of MACs.
#[derive(Clone)]
pub(super) struct MacKey([u8; KEY]);

impl MacKey {
    /// The key for messages to the owner of a public key, from the secret that both ends share. The two
    /// directions have different keys, so that no message can be reflected.
    pub(super) fn toward(receiver: &PublicKey, shared: &[u8; KEY]) -> MacKey {
        let label = b"anabranch tunnel 1 mac";
        MacKey(hmac(shared, &[label, receiver.bytes()]))
    }

    /// A secret key of this process.
    pub(super) fn secret(key: [u8; KEY]) -> MacKey {
        MacKey(key)
    }

    /// The MAC of some parts of fixed lengths.
    pub(super) fn mac(&self, parts: &[&[u8]]) -> [u8; MAC] {
        let mut mac = [0; MAC];
        mac.copy_from_slice(&hmac(&self.0, parts)[..MAC]);
        mac
    }

    /// True if a MAC is that of these parts; takes the same time for all wrong MACs.
    pub(super) fn verify(&self, parts: &[&[u8]], mac: &[u8; MAC]) -> bool {
        self.mac(parts).iter().zip(mac).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
    }
}

impl std::fmt::Debug for MacKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MacKey(..)")
    }
}

fn hmac(key: &[u8; KEY], parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = DefaultResolver.resolve_hash(&HashChoice::Blake2s).expect("the feature of BLAKE2 is on");
    let mut result = [0; 32];
    hash.hmac(key, &parts.concat(), &mut result);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mac_depends_on_key_and_data() {
        let key = MacKey::secret([1; KEY]);
        let mac = key.mac(&[b"a", b"b"]);
        assert!(key.verify(&[b"ab"], &mac));
        assert!(!key.verify(&[b"ac"], &mac));
        assert!(!MacKey::secret([2; KEY]).verify(&[b"ab"], &mac));
        for bit in 0..8 * MAC {
            let mut other = mac;
            other[bit / 8] ^= 1 << (bit % 8);
            assert!(!key.verify(&[b"ab"], &other));
        }
    }
}
