//! The associations of an endpoint, each in a numbered slot.

use crate::assoc::{Association, Remote};
use crate::event::AssocId;
use transport::Slab;

/// The associations of an endpoint.
#[derive(Debug)]
pub(super) struct Associations(Slab<Entry>);

/// An association and the keys by which the endpoint finds it for a packet.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) association: Association,
    /// Our verification tag, under which the table of tags lists the association; zero if it is not listed.
    pub(super) tag: u32,
    /// Addresses and ports of the peer under which the table of addresses lists the association.
    pub(super) remotes: Vec<Remote>,
}

impl Associations {
    pub(super) fn new(limit: usize) -> Self {
        Associations(Slab::new(limit))
    }

    pub(super) fn is_full(&self) -> bool {
        self.0.is_full()
    }

    /// Assigns a slot and an id to an association; `None` if all slots are used.
    pub(super) fn insert(&mut self, association: Association) -> Option<u32> {
        let slot = self.0.insert(Entry { association, tag: 0, remotes: Vec::new() })?;
        let id = AssocId(self.0.id(slot));
        if let Some(association) = self.get_mut(slot) {
            association.id = id;
        }
        Some(slot)
    }

    pub(super) fn remove(&mut self, slot: u32) {
        self.0.remove(slot);
    }

    #[inline]
    pub(super) fn entry(&mut self, slot: u32) -> Option<&mut Entry> {
        self.0.get_mut(slot)
    }

    #[inline]
    pub(super) fn get(&self, slot: u32) -> Option<&Association> {
        self.0.get(slot).map(|entry| &entry.association)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, slot: u32) -> Option<&mut Association> {
        self.0.get_mut(slot).map(|entry| &mut entry.association)
    }

    /// The slot of an association; `None` if it no longer exists.
    #[inline]
    pub(super) fn slot(&self, id: AssocId) -> Option<u32> {
        self.0.slot(id.0)
    }

    /// The association of an identifier, and its slot.
    #[inline]
    pub(super) fn find_mut(&mut self, id: AssocId) -> Option<(u32, &mut Association)> {
        self.0.find_mut(id.0).map(|(slot, entry)| (slot, &mut entry.association))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Association> {
        self.0.iter().map(|(_, entry)| &entry.association)
    }
}
