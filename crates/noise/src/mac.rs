//! Keyed hashes: HMAC (RFC 2104) with BLAKE2s (RFC 7693), cut to 16 bytes.

use crate::keys::{KEY, PublicKey, Secret};
use snow::params::HashChoice;
use snow::resolvers::{CryptoResolver, DefaultResolver};
use zeroize::Zeroize;

/// Bytes of a MAC.
pub(crate) const MAC: usize = 16;

/// A key of MACs; wiped when dropped.
#[derive(Clone)]
pub(crate) struct MacKey([u8; KEY]);

impl MacKey {
    /// The key for handshake messages to the owner of a public key. The two directions between two ends have
    /// different keys, so that no message can be reflected.
    pub(crate) fn toward(receiver: &PublicKey, door: &Secret) -> MacKey {
        MacKey(hmac(door.bytes(), &[LABEL, receiver.bytes()]))
    }

    /// The key for the MACs in cookie replies that the owner of a public key sends.
    pub(crate) fn of_cookies(responder: &PublicKey, door: &Secret) -> MacKey {
        MacKey(hmac(door.bytes(), &[LABEL, responder.bytes(), b"cookie"]))
    }

    /// A secret key of this process.
    pub(crate) fn secret(key: [u8; KEY]) -> MacKey {
        MacKey(key)
    }

    /// The MAC of the concatenated parts. Each part must have a fixed length.
    pub(crate) fn mac(&self, parts: &[&[u8]]) -> [u8; MAC] {
        let mut mac = [0; MAC];
        mac.copy_from_slice(&hmac(&self.0, parts)[..MAC]);
        mac
    }

    /// True if a MAC is that of these parts; takes the same time for all wrong MACs.
    pub(crate) fn verify(&self, parts: &[&[u8]], mac: &[u8; MAC]) -> bool {
        self.mac(parts).iter().zip(mac).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
    }
}

const LABEL: &[u8] = b"anabranch noise 2 mac";

impl Drop for MacKey {
    fn drop(&mut self) {
        self.0.zeroize();
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
    use crate::keys::{BOB, PrivateKey, hex};

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

    /// Test vectors computed by another implementation.
    #[test]
    fn keys_and_macs_are_those_of_another_implementation() {
        let bob: PublicKey = BOB.parse().expect("64 digits");
        let open = MacKey::toward(&bob, &Secret::ZERO);
        assert_eq!(hex(&open.0), "5fdc59977c53a088af8474b6f030438df4187d8bf1862bfe82a81c0ff5b42211");
        let message = [1, 1, 0, 0, 0x44, 0x33, 0x22, 0x11];
        assert_eq!(hex(&open.mac(&[&message])), "729f7f553ca3186ebbe9a58da61061f3");
        let alice: PrivateKey = crate::keys::ALICE.parse().expect("64 digits");
        let door = alice.agree(&bob).expect("a good key");
        let pair = MacKey::toward(&bob, &door);
        assert_eq!(hex(&pair.0), "aca462eceda4c85ca55d6267c60cb96f7a9f913e341b406156a325637d495934");
    }
}
