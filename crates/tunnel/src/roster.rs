//! The peers of a running tunnel, which may change.

use crate::peers::TunnelPeer;
use noise::PublicKey;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

/// The peers of a running tunnel. A number always means the same peer: one that is removed keeps its number
/// and its name, and loses its key and its addresses.
#[derive(Clone, Debug)]
pub(crate) struct Roster(Arc<RwLock<Vec<TunnelPeer>>>);

impl Roster {
    pub(crate) fn new(peers: Vec<TunnelPeer>) -> Roster {
        Roster(Arc::new(RwLock::new(peers)))
    }

    pub(crate) fn read(&self) -> RwLockReadGuard<'_, Vec<TunnelPeer>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The peers after a change to this list, and the numbers and keys of the peers that the change removes.
    pub(crate) fn with(&self, list: Vec<TunnelPeer>) -> (Vec<TunnelPeer>, Vec<(usize, PublicKey)>) {
        let mut peers = self.read().clone();
        let mut removed = Vec::new();
        for (n, peer) in peers.iter_mut().enumerate() {
            if let Some(key) = peer.key.filter(|key| list.iter().all(|other| other.key != Some(*key))) {
                removed.push((n, key));
                *peer = TunnelPeer { name: std::mem::take(&mut peer.name), ..TunnelPeer::default() };
            }
        }
        for new in list {
            let is_same = |peer: &TunnelPeer| match peer.key {
                None => peer.name == new.name,
                key => key == new.key,
            };
            match peers.iter_mut().find(|peer| is_same(peer)) {
                Some(peer) => *peer = new,
                None => peers.push(new),
            }
        }
        (peers, removed)
    }

    pub(crate) fn set(&self, peers: Vec<TunnelPeer>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = peers;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(n: u8, name: &str) -> TunnelPeer {
        let addresses = vec![([10, 0, 0, n].into(), 32)];
        TunnelPeer { name: name.to_owned(), key: Some(PublicKey::from([n; 32])), psk: None, addresses }
    }

    #[test]
    fn a_peer_keeps_its_number_and_one_that_is_removed_has_no_key_and_no_address() {
        let roster = Roster::new(vec![peer(1, "office"), peer(2, "van")]);
        let replace = |list| {
            let (peers, removed) = roster.with(list);
            roster.set(peers);
            removed
        };
        let removed = replace(vec![peer(3, "boat"), peer(2, "bus")]);
        assert_eq!(removed, [(0, PublicKey::from([1; 32]))]);
        let all = |roster: &Roster| -> Vec<(String, bool, usize)> {
            let peers = roster.read();
            peers.iter().map(|peer| (peer.name.clone(), peer.key.is_some(), peer.addresses.len())).collect()
        };
        let expected = [("office", false, 0), ("bus", true, 1), ("boat", true, 1)];
        assert_eq!(all(&roster), expected.map(|(name, key, addresses)| (name.to_owned(), key, addresses)));
        assert!(replace(vec![peer(2, "bus"), peer(3, "boat"), peer(1, "office")]).is_empty());
        assert_eq!(all(&roster)[0], ("office".to_owned(), true, 1), "it returns to its number");
    }
}
