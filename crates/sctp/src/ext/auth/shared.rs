//! Endpoint pair shared keys, set by the user (`rfc4895#section-6.1`, `rfc6458#section-8.1.18`).

use std::collections::BTreeMap;

/// The keys that the user has set, by identifier. Until key 0 is set, it is empty.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedKeys {
    keys: BTreeMap<u16, Box<[u8]>>,
    active: u16,
    /// Deactivated keys, each with the index of the first chunk that was sent without it.
    retiring: Vec<(u16, u64)>,
}

/// Largest number of keys of an association.
const MOST: usize = 64;

impl SharedKeys {
    /// Adds or replaces a key; false if there are too many keys.
    pub(crate) fn set(&mut self, id: u16, key: &[u8]) -> bool {
        if self.keys.len() >= MOST && !self.keys.contains_key(&id) {
            return false;
        }
        self.retiring.retain(|&(retiring, _)| retiring != id);
        self.keys.insert(id, key.into());
        true
    }

    /// Makes a key active: packets are sent with it. False if there is no key with this identifier.
    pub(crate) fn activate(&mut self, id: u16) -> bool {
        let known = self.get(id).is_some();
        if known {
            self.retiring.retain(|&(retiring, _)| retiring != id);
            self.active = id;
        }
        known
    }

    /// Deactivates a key: packets are sent without it from chunk `sent` on, which is the next. False if the
    /// key does not exist or is active.
    pub(crate) fn deactivate(&mut self, id: u16, sent: u64) -> bool {
        if self.get(id).is_none() || id == self.active {
            return false;
        }
        if !self.retiring.iter().any(|&(retiring, _)| retiring == id) {
            self.retiring.push((id, sent));
        }
        true
    }

    /// Removes a key; false if it does not exist or is active.
    pub(crate) fn remove(&mut self, id: u16) -> bool {
        self.retiring.retain(|&(retiring, _)| retiring != id);
        id != self.active && self.keys.remove(&id).is_some()
    }

    /// Takes a deactivated key with which no chunk from index `first` on was sent.
    pub(crate) fn next_unused(&mut self, first: u64) -> Option<u16> {
        let n = self.retiring.iter().position(|&(_, sent)| sent <= first)?;
        Some(self.retiring.remove(n).0)
    }

    /// Identifier and bytes of the active key.
    pub(crate) fn active(&self) -> (u16, &[u8]) {
        (self.active, self.get(self.active).unwrap_or_default())
    }

    pub(crate) fn get(&self, id: u16) -> Option<&[u8]> {
        self.keys.get(&id).map(|key| &**key).or((id == 0).then_some(&[]))
    }
}
