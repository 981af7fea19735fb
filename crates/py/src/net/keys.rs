//! The encryption of an endpoint, from the keyword arguments that Python programs give.

use super::error;
use noise::{Noise, Peers, PrivateKey, PublicKey, Secret, parse_peers};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::PathBuf;

/// The arguments about keys of an endpoint.
pub struct Keys {
    /// File of the private key; `None`: no encryption.
    pub key: Option<PathBuf>,
    /// Public keys, and names of files that list peers.
    pub peers: Vec<String>,
    pub accept_any: bool,
    /// Secret shared with all peers that have none of their own.
    pub psk: Option<String>,
}

impl Keys {
    /// Creates the encryption layer (guard) from the keys, with the public key of
    /// this end; `None` without a key.
    pub fn guard(self) -> PyResult<Option<(Noise, PublicKey)>> {
        let Keys { key, peers, accept_any, psk } = self;
        let Some(key) = key else {
            return match (peers.is_empty(), accept_any, psk) {
                (true, false, None) => Ok(None),
                (false, ..) => Err(without_key("peers")),
                (_, true, _) => Err(without_key("accept_any")),
                (.., Some(_)) => Err(without_key("psk")),
            };
        };
        if peers.is_empty() && !accept_any {
            return Err(PyValueError::new_err(
                "key: no peer could connect; give peers=[public keys or files that list them], or \
                 accept_any=True for everyone who knows the public key of this endpoint",
            ));
        }
        let listed = parse_peers(&peers).map_err(|error| error::key_file("peers", &error))?;
        let mut peers = Peers::from(listed);
        if accept_any {
            peers = peers.or_any();
        }
        if let Some(psk) = psk {
            let psk: Secret = psk.parse().map_err(|error| PyValueError::new_err(format!("psk: {error}")))?;
            peers = peers.psk_for_all(psk);
        }
        let key = PrivateKey::read_or_create(&key).map_err(|error| error::key_file("key", &error))?;
        let public = key.public();
        let guard =
            Noise::new(key, peers).map_err(|error| PyValueError::new_err(format!("peers: {error}")))?;
        Ok(Some((guard, public)))
    }
}

fn without_key(argument: &str) -> PyErr {
    PyValueError::new_err(format!(
        "{argument}: has no effect without a key; give key=FILE too, which is made with a new private key if it \
         does not exist"
    ))
}

/// The public key of the peer to connect to.
pub fn peer(text: &str) -> PyResult<PublicKey> {
    text.parse().map_err(|error| PyValueError::new_err(format!("peer: {text}: {error}")))
}
