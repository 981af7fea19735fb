//! The two cipher suites, and which of them this end uses.

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
    /// The suite with this number in a handshake message.
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

    /// Sum of packet weights ([`Self::weight`]) after which this end requests new keys.
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

    /// What a packet of this length adds to the sums that [`Self::worn`] and [`Self::end`] bound: 1, or 2^28
    /// / 2^23 = 32 for a packet of more than 2048 bytes.
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
    /// Both suites if this processor has instructions for AES, otherwise ChaCha20-Poly1305 alone.
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
