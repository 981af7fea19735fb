//! Maintains the keys by which packets find an association: its tag, and its peer's channel, addresses and
//! ports.

use super::Endpoint;
use crate::assoc::{Association, Remote};
use transport::{Agenda, Turn};

impl Endpoint {
    /// Schedules an association for polling after a possible change, and updates the keys under which it is
    /// found if they changed.
    pub(super) fn schedule(&mut self, slot: u32) {
        if let Some(association) = self.associations.get_mut(slot)
            && enter(&mut self.agenda, slot, association)
        {
            self.rename(slot);
        }
    }

    /// The association that has confirmed one of these addresses of its peer.
    pub(super) fn find(&self, remotes: impl IntoIterator<Item = Remote>) -> Option<u32> {
        remotes.into_iter().find_map(|remote| self.addresses.owner(&remote))
    }

    /// Returns a random tag that no association and no arrival has. (An arrival waits for the user's
    /// decision.)
    pub(super) fn fresh_tag(&mut self) -> u32 {
        loop {
            let tag = self.secrets.random.tag();
            if self.tags.get(tag).is_none() && !self.arrivals.contains(tag) {
                return tag;
            }
        }
    }

    /// Updates the keys of an association after a change of its tag, addresses or ports, or after its end.
    #[cold]
    pub(super) fn rename(&mut self, slot: u32) {
        self.forget_names(slot);
        if self.associations.get_mut(slot).is_some_and(Association::take_adopted) {
            self.end_duplicate(slot);
        }
        let Some(entry) = self.associations.entry(slot) else { return };
        let association = &mut entry.association;
        if association.is_closed() {
            return self.agenda.disarm(slot);
        }
        while association.is_opening() && self.tags.get(association.local_tag()).is_some() {
            association.draw_tag(); // another association has the same tag
        }
        entry.tag = association.local_tag();
        self.tags.insert(entry.tag, slot);
        for (remote, confirmed) in association.remotes() {
            if self.addresses.claim(remote, slot, confirmed) {
                entry.remotes.push(remote);
            }
        }
    }

    /// Compares the addresses that the peer of an association has listed with those of the other
    /// associations. If another association has the same peer, this association ends, or sends its COOKIE
    /// ECHO later.
    fn end_duplicate(&mut self, slot: u32) {
        let others = self.others_with_peer_of(slot);
        let Some(this) = self.associations.get(slot) else { return };
        let mut found = others.iter().filter_map(|&other| self.associations.get(other));
        let of = found.find(|other| this.yields_to(other)).map(|first| first.id);
        let Some(this) = self.associations.get_mut(slot) else { return };
        match of {
            Some(of) => {
                this.end_as_duplicate(of);
                self.agenda.enter(Turn::Tell, slot);
                // The other associations can now be found by the addresses that this association had.
                others.into_iter().for_each(|other| self.rename(other));
            }
            None if !others.is_empty() => this.hold_cookie(),
            None => {}
        }
    }

    /// Other associations that confirmed an address of this association's peer, and whose peer has
    /// listed its addresses.
    fn others_with_peer_of(&self, slot: u32) -> Vec<u32> {
        let Some(this) = self.associations.get(slot) else { return Vec::new() };
        let owners = this.remotes().filter_map(|(remote, _)| self.addresses.owner(&remote));
        let named =
            |owner: &u32| *owner != slot && self.associations.get(*owner).is_some_and(Association::has_peer);
        let mut others: Vec<u32> = owners.filter(named).collect();
        others.dedup();
        others
    }

    fn forget_names(&mut self, slot: u32) {
        let Some(entry) = self.associations.entry(slot) else { return };
        self.tags.remove(std::mem::take(&mut entry.tag));
        for remote in entry.remotes.drain(..) {
            self.addresses.release(&remote, slot);
        }
    }

    /// Frees the slot of an ended association once no packet, event or data of it is left.
    #[cold]
    pub(super) fn reap(&mut self, slot: u32) {
        let read = self.associations.get(slot).is_some_and(|association| !association.is_readable());
        if read && self.agenda.is_idle(slot) {
            self.associations.remove(slot);
        }
    }
}

/// Schedules an association for polling after a possible change. Returns true if the caller must call
/// [`Endpoint::rename`], because the association has ended or its lookup keys may have changed.
#[inline(always)] // inlined into the calls for each packet and each message
pub(super) fn enter(agenda: &mut Agenda, slot: u32, association: &mut Association) -> bool {
    agenda.enter(Turn::Send, slot);
    if association.has_events() {
        agenda.enter(Turn::Tell, slot);
    }
    association.is_closed() || association.take_renamed()
}
