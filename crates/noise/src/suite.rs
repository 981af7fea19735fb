//! The two cipher suites, and the keys of one session.

use ring::aead::{AES_256_GCM, Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use std::hint::black_box;
use zeroize::Zeroize;

/// Bytes of the tag of a ciphertext.
pub(crate) const TAG: usize = 16;

/// A cipher for packets and handshakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suite {
    /// ChaCha20-Poly1305, fast on every processor.
    ChaCha20Poly1305 = 0,
    /// AES-256-GCM, faster on processors with instructions for it.
    Aes256Gcm = 1,
}

impl Suite {
    /// The suite of a number in a handshake.
    pub(crate) fn from_number(number: u8) -> Option<Suite> {
        [Suite::ChaCha20Poly1305, Suite::Aes256Gcm].into_iter().find(|&suite| suite as u8 == number)
    }

    /// Noise's name of the protocol with this suite.
    pub(crate) fn protocol(self) -> &'static str {
        match self {
            Suite::ChaCha20Poly1305 => "Noise_IKpsk2_25519_ChaChaPoly_BLAKE2s",
            Suite::Aes256Gcm => "Noise_IKpsk2_25519_AESGCM_BLAKE2s",
        }
    }

    /// Sum of packet weights after which new keys are requested.
    pub(crate) fn worn(self) -> u64 {
        match self {
            Suite::ChaCha20Poly1305 => 1 << 32,
            Suite::Aes256Gcm => 1 << 26,
        }
    }

    /// Sum of packet weights after which the keys are no longer used. For AES-GCM, RFC 9001 B.1.1 allows
    /// 2^28 packets of at most 2^11 bytes, or 2^23 of at most 2^16 bytes.
    pub(crate) fn end(self) -> u64 {
        match self {
            Suite::ChaCha20Poly1305 => 1 << 48,
            Suite::Aes256Gcm => 1 << 28,
        }
    }

    /// What a packet of this length adds to the sum: 1, or 32 for a packet of more than 2048 bytes, which is
    /// 2^28 / 2^23.
    pub(crate) fn weight(length: usize) -> u64 {
        if length <= 2048 { 1 } else { 32 }
    }
}

/// The suites that this end uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Suites {
    /// AES where the processor has instructions for it; ChaCha20 if the peer wants it.
    Both,
    /// This suite alone.
    Only(Suite),
}

impl Suites {
    /// The choice for this processor.
    pub(crate) fn of_processor() -> Suites {
        if has_aes() { Suites::Both } else { Suites::Only(Suite::ChaCha20Poly1305) }
    }

    /// The suite of the first initiation.
    pub(crate) fn first(self) -> Suite {
        match self {
            Suites::Both => Suite::Aes256Gcm,
            Suites::Only(suite) => suite,
        }
    }

    pub(crate) fn accepts(self, suite: Suite) -> bool {
        self == Suites::Both || self == Suites::Only(suite)
    }
}

/// True if the processor has instructions for AES and for carry-less multiplication.
fn has_aes() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("aes") && std::arch::is_x86_feature_detected!("pclmulqdq");
    #[cfg(target_arch = "aarch64")]
    return std::arch::is_aarch64_feature_detected!("aes")
        && std::arch::is_aarch64_feature_detected!("pmull");
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    false
}

/// One direction of a session. Its memory is wiped when it is dropped.
#[derive(Debug)]
pub(crate) struct Key {
    /// In a box, so that moves of a session leave no copies of the key.
    key: Box<LessSafeKey>,
    suite: Suite,
}

impl Key {
    /// Takes the bytes of a key, and wipes them.
    pub(crate) fn new(suite: Suite, bytes: &mut [u8; 32]) -> Key {
        let key = Box::new(key_of(suite, bytes));
        bytes.zeroize();
        Key { key, suite }
    }

    /// Overwrites the key with that of zeros, since `ring` does not wipe its keys.
    fn wipe(&mut self) {
        *self.key = key_of(self.suite, &[0; 32]);
        // Without a use after it, the compiler may leave the assignment out.
        black_box(&self.key);
    }

    /// The nonce of a counter: four zero bytes, then the counter, little-endian for ChaCha20 and big-endian
    /// for AES-GCM (Noise, section 12).
    fn nonce(&self, counter: u64) -> Nonce {
        let mut nonce = [0; 12];
        nonce[4..].copy_from_slice(&match self.suite {
            Suite::ChaCha20Poly1305 => counter.to_le_bytes(),
            Suite::Aes256Gcm => counter.to_be_bytes(),
        });
        Nonce::assume_unique_for_key(nonce)
    }

    /// Encrypts what `out` holds from `from` on, and appends the tag. The caller never repeats a counter.
    /// False if the packet is too long for the cipher.
    pub(crate) fn seal(&self, counter: u64, out: &mut Vec<u8>, from: usize) -> bool {
        let nonce = self.nonce(counter);
        let Ok(tag) = self.key.seal_in_place_separate_tag(nonce, Aad::empty(), &mut out[from..]) else {
            return false;
        };
        out.extend_from_slice(tag.as_ref());
        true
    }

    /// Appends the packet of a ciphertext with its tag. False, with `out` unchanged, if it is not authentic.
    pub(crate) fn open(&self, counter: u64, ciphertext: &[u8], out: &mut Vec<u8>) -> bool {
        let from = out.len();
        out.extend_from_slice(ciphertext);
        let opened = self.key.open_in_place(self.nonce(counter), Aad::empty(), &mut out[from..]);
        let length = opened.map(|packet| packet.len());
        out.truncate(from + length.unwrap_or(0));
        length.is_ok()
    }

    pub(crate) fn suite(&self) -> Suite {
        self.suite
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        self.wipe();
    }
}

fn key_of(suite: Suite, bytes: &[u8; 32]) -> LessSafeKey {
    let algorithm = match suite {
        Suite::ChaCha20Poly1305 => &CHACHA20_POLY1305,
        Suite::Aes256Gcm => &AES_256_GCM,
    };
    LessSafeKey::new(UnboundKey::new(algorithm, bytes).expect("both suites have keys of 32 bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::hex;

    #[test]
    fn a_wiped_key_is_that_of_zeros() {
        for suite in [Suite::ChaCha20Poly1305, Suite::Aes256Gcm] {
            let sealed = |key: &Key| {
                let mut out = b"packet".to_vec();
                key.seal(7, &mut out, 0).then_some(out)
            };
            let mut key = Key::new(suite, &mut [3; 32]);
            let zeros = sealed(&Key::new(suite, &mut [0; 32]));
            assert_ne!(sealed(&key), zeros);
            key.wipe();
            assert_eq!(sealed(&key), zeros);
        }
    }

    /// `spec/SECURE.md` T5: `hello` with the key 00 to 1f and the counter of lane 2, count 5, computed by
    /// another implementation.
    #[test]
    fn ciphertexts_are_those_of_another_implementation() {
        let counter = (2 << 56) | 5;
        for (suite, expected) in [
            (Suite::Aes256Gcm, "378380e06c7240f527c558bc553719e55a95ca5d3d"),
            (Suite::ChaCha20Poly1305, "fdb7a6cd5fbf891cd8c7d223e75a62d949f7eeabcb"),
        ] {
            let key = || Key::new(suite, &mut std::array::from_fn(|n| n as u8));
            let mut out = b"before hello".to_vec();
            assert!(key().seal(counter, &mut out, 7));
            assert_eq!(&out[..7], b"before ");
            assert_eq!(hex(&out[7..]), expected);
            let mut packet = Vec::new();
            assert!(key().open(counter, &out[7..], &mut packet));
            assert_eq!(packet, b"hello");
            assert!(!key().open(counter + 1, &out[7..], &mut packet));
            assert_eq!(packet, b"hello", "a packet that is not authentic leaves nothing");
        }
    }
}
