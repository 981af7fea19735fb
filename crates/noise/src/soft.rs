//! The ciphers of RustCrypto, for processors and systems on which `ring` does not build.

use crate::suite::{Suite, TAG};
use aes_gcm::Aes256Gcm;
use chacha20poly1305::ChaCha20Poly1305;
use chacha20poly1305::aead::{AeadInPlace, KeyInit};

pub(crate) enum Cipher {
    ChaCha20Poly1305(ChaCha20Poly1305),
    /// In a box, since it is thirty times as large as the state of ChaCha20-Poly1305.
    Aes256Gcm(Box<Aes256Gcm>),
}

impl Cipher {
    pub(crate) fn new(suite: Suite, key: &[u8; 32]) -> Cipher {
        match suite {
            Suite::ChaCha20Poly1305 => Cipher::ChaCha20Poly1305(ChaCha20Poly1305::new(key.into())),
            Suite::Aes256Gcm => Cipher::Aes256Gcm(Box::new(Aes256Gcm::new(key.into()))),
        }
    }

    /// Encrypts a packet in its place. Returns the tag, or `None` if the packet is too long for the cipher.
    pub(crate) fn seal(&self, nonce: [u8; 12], packet: &mut [u8]) -> Option<[u8; TAG]> {
        let tag = match self {
            Cipher::ChaCha20Poly1305(cipher) => cipher.encrypt_in_place_detached(&nonce.into(), &[], packet),
            Cipher::Aes256Gcm(cipher) => cipher.encrypt_in_place_detached(&nonce.into(), &[], packet),
        };
        tag.ok().map(Into::into)
    }

    /// Decrypts a ciphertext that ends with its tag, in its place. Returns the length of the packet, or
    /// `None` if it is not authentic.
    pub(crate) fn open(&self, nonce: [u8; 12], ciphertext: &mut [u8]) -> Option<usize> {
        let length = ciphertext.len().checked_sub(TAG)?;
        let (packet, tag) = ciphertext.split_at_mut(length);
        let (nonce, tag) = (nonce.into(), (&*tag).into());
        let opened = match self {
            Cipher::ChaCha20Poly1305(cipher) => cipher.decrypt_in_place_detached(&nonce, &[], packet, tag),
            Cipher::Aes256Gcm(cipher) => cipher.decrypt_in_place_detached(&nonce, &[], packet, tag),
        };
        opened.ok().map(|()| length)
    }
}

impl std::fmt::Debug for Cipher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Cipher")
    }
}
