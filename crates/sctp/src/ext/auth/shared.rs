//! Endpoint pair shared keys, set by the user (`rfc4895#section-6.1`, `rfc6458#section-8.1.18`).

use crate::error::KeyError;
use std::collections::BTreeMap;

/// The keys that the user has set, by identifier. Key 0 is empty until it is set.
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
    /// Adds or replaces a key.
    pub(crate) fn set(&mut self, id: u16, key: &[u8]) -> Result<(), KeyError> {
        if self.keys.len() >= MOST && !self.keys.contains_key(&id) {
            return Err(KeyError::TooMany { limit: MOST });
        }
        self.retiring.retain(|&(retiring, _)| retiring != id);
        self.keys.insert(id, key.into());
        Ok(())
    }

    /// Authenticates packets with this key from now on.
    pub(crate) fn activate(&mut self, id: u16) -> Result<(), KeyError> {
        if self.get(id).is_none() {
            return Err(KeyError::NoSuchKey { key: id });
        }
        self.retiring.retain(|&(retiring, _)| retiring != id);
        self.active = id;
        Ok(())
    }

    /// Deactivates a key. `sent` is the index of the next chunk, the first that is sent without the key.
    pub(crate) fn deactivate(&mut self, id: u16, sent: u64) -> Result<(), KeyError> {
        if self.get(id).is_none() {
            return Err(KeyError::NoSuchKey { key: id });
        }
        if id == self.active {
            return Err(KeyError::Active { key: id });
        }
        if !self.retiring.iter().any(|&(retiring, _)| retiring == id) {
            self.retiring.push((id, sent));
        }
        Ok(())
    }

    /// Forgets a key.
    pub(crate) fn remove(&mut self, id: u16) -> Result<(), KeyError> {
        self.retiring.retain(|&(retiring, _)| retiring != id);
        if id == self.active {
            return Err(KeyError::Active { key: id });
        }
        self.keys.remove(&id).map(drop).ok_or(KeyError::NoSuchKey { key: id })
    }

    /// Removes and returns a deactivated key, if no chunk from index `first` on was sent with it.
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
