//! The keys of one session.

use crate::cipher::Cipher;
use crate::suite::Suite;
use std::hint::black_box;
use zeroize::Zeroize;

/// One direction of a session. Its memory is wiped when it is dropped.
#[derive(Debug)]
pub(crate) struct Key {
    /// In a box, so that moves of a session leave no copies of the key.
    cipher: Box<Cipher>,
    suite: Suite,
}

impl Key {
    /// Takes the bytes of a key, and wipes them.
    pub(crate) fn new(suite: Suite, bytes: &mut [u8; 32]) -> Key {
        let cipher = Box::new(Cipher::new(suite, bytes));
        bytes.zeroize();
        Key { cipher, suite }
    }

    /// Overwrites the key with a key of zeros, since not every cipher wipes its keys.
    fn wipe(&mut self) {
        *self.cipher = Cipher::new(self.suite, &[0; 32]);
        // Without this use, the compiler may remove the assignment.
        black_box(&self.cipher);
    }

    /// The nonce of a counter: four zero bytes, then the counter, little-endian for ChaCha20 and big-endian
    /// for AES-GCM (Noise, section 12).
    fn nonce(&self, counter: u64) -> [u8; 12] {
        let mut nonce = [0; 12];
        nonce[4..].copy_from_slice(&match self.suite {
            Suite::ChaCha20Poly1305 => counter.to_le_bytes(),
            Suite::Aes256Gcm => counter.to_be_bytes(),
        });
        nonce
    }

    /// Encrypts the bytes of `out` from position `from` on, and appends the tag. The caller must not repeat a
    /// counter. False if the packet is too long for the cipher.
    pub(crate) fn seal(&self, counter: u64, out: &mut Vec<u8>, from: usize) -> bool {
        let tag = self.cipher.seal(self.nonce(counter), &mut out[from..]);
        out.extend(tag.iter().flatten());
        tag.is_some()
    }

    /// Decrypts a ciphertext that ends with its tag, and appends the packet to `out`. False, with `out`
    /// unchanged, if it is not authentic.
    pub(crate) fn open(&self, counter: u64, ciphertext: &[u8], out: &mut Vec<u8>) -> bool {
        let from = out.len();
        out.extend_from_slice(ciphertext);
        let length = self.cipher.open(self.nonce(counter), &mut out[from..]);
        out.truncate(from + length.unwrap_or(0));
        length.is_some()
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

    /// Test vector computed by another implementation: the ciphertext of `hello` with a key of the bytes 00
    /// to 1f. The counter is that of packet 5 on lane 2 (the lane, a pair of addresses, is the counter's
    /// highest byte).
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
