//! Encryption of SCTP in a measurement.

use noise::{ListedPeer, Noise, NoiseError, Peers, PrivateKey, PublicKey};

/// The private key of one side, and the keys of the peers that it knows.
#[derive(Clone, Debug)]
pub struct Keys {
    /// Private key of this side. While it is in use, no other endpoint may use it.
    pub private: PrivateKey,
    /// The known peers; for the active side, the passive side alone.
    pub peers: Vec<ListedPeer>,
    /// True if peers that are not listed may open associations, too. They need the public key of this side.
    pub accept_any: bool,
}

impl Keys {
    /// The public key of this side.
    pub fn public(&self) -> PublicKey {
        self.private.public()
    }

    /// Creates the encryption layer (guard) of an endpoint that uses these keys.
    pub(crate) fn guard(&self) -> Result<Noise, NoiseError> {
        let peers = Peers::from(self.peers.clone());
        Noise::new(self.private.clone(), if self.accept_any { peers.or_any() } else { peers })
    }
}
