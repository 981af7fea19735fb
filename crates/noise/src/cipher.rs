//! The ciphers of `ring`.

use crate::suite::{Suite, TAG};
use ring::aead::{AES_256_GCM, Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};

#[derive(Debug)]
pub(crate) struct Cipher(LessSafeKey);

impl Cipher {
    pub(crate) fn new(suite: Suite, key: &[u8; 32]) -> Cipher {
        let algorithm = match suite {
            Suite::ChaCha20Poly1305 => &CHACHA20_POLY1305,
            Suite::Aes256Gcm => &AES_256_GCM,
        };
        Cipher(LessSafeKey::new(UnboundKey::new(algorithm, key).expect("both suites have keys of 32 bytes")))
    }

    /// Encrypts a packet in its place. Returns the tag, or `None` if the packet is too long for the cipher.
    pub(crate) fn seal(&self, nonce: [u8; 12], packet: &mut [u8]) -> Option<[u8; TAG]> {
        let nonce = Nonce::assume_unique_for_key(nonce);
        let tag = self.0.seal_in_place_separate_tag(nonce, Aad::empty(), packet).ok()?;
        tag.as_ref().try_into().ok()
    }

    /// Decrypts a ciphertext that ends with its tag, in its place. Returns the length of the packet, or
    /// `None` if it is not authentic.
    pub(crate) fn open(&self, nonce: [u8; 12], ciphertext: &mut [u8]) -> Option<usize> {
        let nonce = Nonce::assume_unique_for_key(nonce);
        self.0.open_in_place(nonce, Aad::empty(), ciphertext).ok().map(|packet| packet.len())
    }
}
