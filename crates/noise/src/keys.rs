//! Static keys (Curve25519, RFC 7748) and shared secrets: 32 bytes each, written as 64 hexadecimal digits or
//! as 44 characters of base64.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;

use snow::params::DHChoice;
use snow::resolvers::{CryptoResolver, DefaultResolver};
use snow::types::{Dh, Random};
use std::fmt;
use std::io as std_io;
use std::str::FromStr;
use zeroize::Zeroize;

/// Bytes of a key.
pub(crate) const KEY: usize = 32;

/// Error: a key cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The text is neither 64 hexadecimal digits nor 44 characters of base64.
    #[error("a key has 64 hexadecimal digits, or 44 characters of base64")]
    Form,
    /// The key gives no shared secret: it is a point of small order.
    #[error("this public key is of no use: it gives the same secret with every private key")]
    Weak,
}

/// The secret half of a key pair. Its `Debug` output does not show it, and its memory is wiped when it is
/// dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct PrivateKey([u8; KEY]);

/// A secret that two ends share beside their keys, for [`psk`](crate::Peers::psk)
/// or [`door`](crate::Peers::door). Its `Debug` output does not show it, and its
/// memory is wiped when it is dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret([u8; KEY]);

/// The public half of a key pair, by which the other end identifies its owner.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublicKey([u8; KEY]);

impl PrivateKey {
    /// A new key from the randomness of the operating system.
    ///
    /// # Errors
    /// The system has no randomness.
    pub fn generate() -> std_io::Result<PrivateKey> {
        let mut bytes = [0; KEY];
        fill_random(&mut bytes)?;
        Ok(PrivateKey(bytes))
    }

    /// The public half.
    pub fn public(&self) -> PublicKey {
        let mut public = [0; KEY];
        public.copy_from_slice(self.curve().pubkey());
        PublicKey(public)
    }

    /// The secret shared with the owner of a public key.
    ///
    /// # Errors
    /// [`KeyError::Weak`].
    pub(crate) fn agree(&self, with: &PublicKey) -> Result<Secret, KeyError> {
        let mut secret = Secret::ZERO;
        self.curve().dh(&with.0, &mut secret.0).map_err(|_| KeyError::Weak)?;
        if secret == Secret::ZERO { Err(KeyError::Weak) } else { Ok(secret) }
    }

    pub(crate) fn bytes(&self) -> &[u8; KEY] {
        &self.0
    }

    /// The key as text, to be stored in a file.
    pub fn to_hex(&self) -> String {
        hex(&self.0)
    }

    fn curve(&self) -> Box<dyn Dh> {
        let mut curve =
            DefaultResolver.resolve_dh(&DHChoice::Curve25519).expect("the feature of Curve25519 is on");
        curve.set(&self.0);
        curve
    }
}

impl PublicKey {
    /// The 32 bytes of the key.
    pub fn bytes(&self) -> &[u8; KEY] {
        &self.0
    }
}

impl From<PublicKey> for io::Identity {
    fn from(key: PublicKey) -> Self {
        io::Identity::PublicKey(key.0)
    }
}

impl From<[u8; KEY]> for PublicKey {
    fn from(bytes: [u8; KEY]) -> Self {
        PublicKey(bytes)
    }
}

impl Secret {
    /// The secret that is used where none is configured, as in WireGuard.
    pub(crate) const ZERO: Secret = Secret([0; KEY]);

    /// A new secret from the randomness of the operating system.
    ///
    /// # Errors
    /// The system has no randomness.
    pub fn generate() -> std_io::Result<Secret> {
        let mut secret = Secret::ZERO;
        fill_random(&mut secret.0)?;
        Ok(secret)
    }

    /// The secret as text, to be stored in a file.
    pub fn to_hex(&self) -> String {
        hex(&self.0)
    }

    pub(crate) fn bytes(&self) -> &[u8; KEY] {
        &self.0
    }
}

impl Drop for PrivateKey {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

/// Fills memory from the randomness of the operating system.
pub(crate) fn fill_random(bytes: &mut [u8]) -> std_io::Result<()> {
    let mut source: Box<dyn Random> = DefaultResolver.resolve_rng().expect("the feature of getrandom is on");
    source.try_fill_bytes(bytes).map_err(|_| std_io::Error::other("the system gives no randomness"))
}

impl FromStr for PrivateKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        parse(text).map(PrivateKey)
    }
}

impl FromStr for Secret {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        parse(text).map(Secret)
    }
}

impl FromStr for PublicKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        parse(text).map(PublicKey)
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PrivateKey(..)")
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({self})")
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn parse(text: &str) -> Result<[u8; KEY], KeyError> {
    let text = text.trim().as_bytes();
    if text.len() == 2 * KEY && text.iter().all(u8::is_ascii_hexdigit) {
        let digit = |digit: u8| (digit as char).to_digit(16).unwrap_or_default() as u8;
        return Ok(std::array::from_fn(|n| digit(text[2 * n]) << 4 | digit(text[2 * n + 1])));
    }
    let bytes = BASE64.decode(text).map_err(|_| KeyError::Form)?;
    bytes.try_into().map_err(|_| KeyError::Form)
}

/// Alice's private key and Bob's public key of `rfc7748#section-6.1`.
#[cfg(test)]
pub(crate) const ALICE: &str = "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a";
#[cfg(test)]
pub(crate) const BOB: &str = "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_key_is_that_of_rfc_7748() {
        // rfc7748#section-6.1
        let alice: PrivateKey = ALICE.parse().expect("64 digits");
        assert_eq!(
            alice.public().to_string(),
            "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a"
        );
        let bob: PublicKey = BOB.parse().expect("64 digits");
        let shared = alice.agree(&bob).expect("a good key");
        assert_eq!(hex(shared.bytes()), "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742");
    }

    #[test]
    fn text_of_another_form_is_refused() {
        for text in ["", "77", &"g".repeat(64), &"7".repeat(65), &"é".repeat(32)] {
            assert_eq!(text.parse::<PublicKey>(), Err(KeyError::Form), "{text}");
        }
    }

    #[test]
    fn a_key_may_be_written_in_base64() {
        let hex: PublicKey = BOB.parse().expect("64 digits");
        let base64: PublicKey =
            "3p7bfXt9wbTTW2HC7OQ1Nz+DQ8hbeGdNrfx+FG+IK08=".parse().expect("44 characters");
        assert_eq!(hex, base64);
    }

    #[test]
    fn a_public_key_of_small_order_is_refused() {
        let key = PrivateKey::generate().expect("randomness");
        assert_eq!(key.agree(&PublicKey([0; KEY])), Err(KeyError::Weak));
    }

    #[test]
    fn a_private_key_survives_its_text_and_is_not_shown() {
        let key = PrivateKey::generate().expect("randomness");
        assert_eq!(format!("{}\n", key.to_hex()).parse(), Ok(key.clone()));
        assert!(!format!("{key:?}").contains(&key.to_hex()[..8]));
    }
}
