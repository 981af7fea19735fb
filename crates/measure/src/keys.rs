//! Encryption of SCTP in a measurement.

use noise::{ListedPeer, Noise, NoiseError, Peers, PrivateKey, PublicKey};

/// The private key of one side, and the keys of the peers that it knows.
#[derive(Clone, Debug)]
pub struct Keys {
    /// Private key of this side. While it is in use, no other endpoint may use it.
    pub private: PrivateKey,
    /// The known peers; for the active side, the passive side alone.
    pub peers: Vec<ListedPeer>,
    /// Whether everyone else who knows the public key of this side may open an association.
    pub accept_any: bool,
}

impl Keys {
    /// The public key of this side.
    pub fn public(&self) -> PublicKey {
        self.private.public()
    }

    /// The guard of an endpoint.
    pub(crate) fn guard(&self) -> Result<Noise, NoiseError> {
        let peers = Peers::from(self.peers.clone());
        Noise::new(self.private.clone(), if self.accept_any { peers.or_any() } else { peers })
    }
}
