//! Who may open a session.

use crate::keyfile::ListedPeer;
use crate::keys::{PublicKey, Secret};
use std::collections::BTreeMap;
use std::fmt;

/// The peers that may open a session with this end, and the secrets shared with them.
pub struct Peers {
    pub(crate) known: Vec<PublicKey>,
    /// Accepts or refuses the owners of keys that are not in `known`; `None` refuses all of them.
    pub(crate) others: Option<Rule>,
    pub(crate) psks: BTreeMap<PublicKey, Secret>,
    pub(crate) psk_for_all: Secret,
    pub(crate) door: Secret,
}

/// A function that accepts or refuses a public key.
pub(crate) type Rule = Box<dyn FnMut(&PublicKey) -> bool + Send>;

impl Peers {
    /// Exactly the owners of these keys.
    pub fn known(keys: impl IntoIterator<Item = PublicKey>) -> Peers {
        let mut known: Vec<PublicKey> = Vec::new();
        for key in keys {
            if !known.contains(&key) {
                known.push(key);
            }
        }
        Peers { known, others: None, psks: BTreeMap::new(), psk_for_all: Secret::ZERO, door: Secret::ZERO }
    }

    /// Everyone who knows the public key of this end.
    pub fn any() -> Peers {
        Peers::any_if(|_| true)
    }

    /// Everyone for whose public key `accept` returns true. It is called once for each
    /// handshake of a new peer, in the thread of the sockets, so it must return within a
    /// millisecond. If it panics, the peer is refused.
    pub fn any_if(accept: impl FnMut(&PublicKey) -> bool + Send + 'static) -> Peers {
        Peers { others: Some(Box::new(accept)), ..Peers::known([]) }
    }

    /// Also accepts everyone else who knows the public key of this end.
    #[must_use]
    pub fn or_any(self) -> Peers {
        Peers { others: Peers::any().others, ..self }
    }

    /// The secret shared with the owner of this key. It also keeps a quantum computer
    /// from decrypting recorded packets.
    #[must_use]
    pub fn psk(mut self, key: PublicKey, secret: Secret) -> Peers {
        self.psks.insert(key, secret);
        self
    }

    /// The secret shared with all peers that have none of their own.
    #[must_use]
    pub fn psk_for_all(mut self, secret: Secret) -> Peers {
        self.psk_for_all = secret;
        self
    }

    /// Sets a secret that both ends must have: this end does not answer a handshake without it. Unless it is
    /// set, a handshake is answered if its sender knows the public key of this end.
    #[must_use]
    pub fn door(mut self, door: Secret) -> Peers {
        self.door = door;
        self
    }
}

impl From<Vec<ListedPeer>> for Peers {
    fn from(list: Vec<ListedPeer>) -> Peers {
        let mut peers = Peers::known(list.iter().map(|peer| peer.key));
        peers.psks.extend(list.into_iter().filter_map(|peer| Some((peer.key, peer.psk?))));
        peers
    }
}

impl fmt::Debug for Peers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Peers");
        out.field("known", &self.known).field("others", &self.others.is_some()).finish_non_exhaustive()
    }
}
