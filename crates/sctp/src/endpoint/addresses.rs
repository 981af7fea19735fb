//! Finds associations by source address and port, for packets without one of our tags.

use crate::assoc::Remote;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::net::IpAddr;
use transport::Channel;

/// The slots of associations by the channel (number of an authenticated peer), address and ports of
/// the peer. Peers behind one NAT share an address and may share an SCTP port; their UDP ports differ.
///
/// A confirmed address belongs to the association that confirmed it first. An unconfirmed address may belong
/// to another host. An association that confirms it replaces the entry, so that a peer cannot block another
/// host by listing its address (`rfc5062#section-2.1`).
#[derive(Debug, Default)]
pub(super) struct Addresses {
    owners: BTreeMap<Remote, Owner>,
}

/// Largest number of peers behind one NAT, with one SCTP port, that are searched for a conflict.
const NEIGHBOURS: usize = 16;

#[derive(Clone, Copy, Debug)]
struct Owner {
    slot: u32,
    confirmed: bool,
}

impl Addresses {
    /// The association that confirmed the address.
    pub(super) fn owner(&self, remote: &Remote) -> Option<u32> {
        self.owners.get(remote).filter(|owner| owner.confirmed).map(|owner| owner.slot)
    }

    /// The association that has the address, confirmed or unconfirmed.
    pub(super) fn user(&self, remote: &Remote) -> Option<u32> {
        self.owners.get(remote).map(|owner| owner.slot)
    }

    /// Finds an association that confirmed the same address and SCTP port with another UDP port for which
    /// `conflicts` is true. Returns this UDP port and the slot. Checks at most [`NEIGHBOURS`] associations.
    pub(super) fn elsewhere(&self, remote: &Remote, conflicts: impl Fn(u16) -> bool) -> Option<(u16, u32)> {
        let of = |udp_port| Remote { udp_port, ..*remote };
        let neighbours = self.owners.range(of(0)..=of(u16::MAX)).take(NEIGHBOURS);
        let mut others =
            neighbours.filter(|(other, owner)| owner.confirmed && other.udp_port != remote.udp_port);
        others.find(|(other, _)| conflicts(other.udp_port)).map(|(other, owner)| (other.udp_port, owner.slot))
    }

    /// The associations of a channel whose peer has this address and UDP port. At most [`NEIGHBOURS`]
    /// entries are checked.
    pub(super) fn of_channel(&self, channel: Channel, address: IpAddr, udp_port: u16) -> Vec<u32> {
        let of = |port, udp_port| Remote { channel, address, port, udp_port };
        let all = self.owners.range(of(0, 0)..=of(u16::MAX, u16::MAX)).take(NEIGHBOURS);
        all.filter(|(remote, _)| remote.udp_port == udp_port).map(|(_, owner)| owner.slot).collect()
    }

    /// Enters an association under an address of its peer. Returns false if another association keeps the
    /// address: that is so if the other entry is confirmed or the new entry is not.
    pub(super) fn claim(&mut self, remote: Remote, slot: u32, confirmed: bool) -> bool {
        let claim = Owner { slot, confirmed };
        match self.owners.entry(remote) {
            Entry::Vacant(entry) => {
                entry.insert(claim);
                true
            }
            Entry::Occupied(mut entry) if confirmed && !entry.get().confirmed => {
                entry.insert(claim);
                true
            }
            Entry::Occupied(_) => false,
        }
    }

    /// Removes the entry of an address, if it is that of this association.
    pub(super) fn release(&mut self, remote: &Remote, slot: u32) {
        if self.user(remote) == Some(slot) {
            self.owners.remove(remote);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use transport::Channel;

    fn at(udp_port: u16) -> Remote {
        Remote { channel: Channel::NONE, address: [10, 0, 0, 1].into(), port: 9, udp_port }
    }

    // rfc9260#section-5.4, rfc5062#section-2.1
    #[test]
    fn an_unconfirmed_address_gives_way_to_the_association_that_confirms_it() {
        let (mut addresses, a) = (Addresses::default(), at(0));
        assert!(addresses.claim(a, 1, false));
        assert_eq!((addresses.owner(&a), addresses.user(&a)), (None, Some(1)));
        assert!(!addresses.claim(a, 2, false));
        assert!(addresses.claim(a, 2, true));
        assert_eq!((addresses.owner(&a), addresses.user(&a)), (Some(2), Some(2)));
        assert!(!addresses.claim(a, 1, true), "it was confirmed first");
        addresses.release(&a, 1);
        assert_eq!(addresses.owner(&a), Some(2));
        addresses.release(&a, 2);
        assert_eq!(addresses.user(&a), None);
        assert_eq!(addresses.user(&Remote { port: 8, ..a }), None);
    }

    #[test]
    fn a_conflict_is_a_confirmed_address_with_another_udp_port() {
        let mut addresses = Addresses::default();
        addresses.claim(at(5000), 1, true);
        addresses.claim(at(6000), 2, false);
        assert_eq!(addresses.owner(&at(5001)), None);
        assert_eq!(addresses.elsewhere(&at(7000), |_| true), Some((5000, 1)));
        assert_eq!(addresses.elsewhere(&at(7000), |other| other == 0), None);
        assert_eq!(addresses.elsewhere(&at(5000), |_| true), None, "that is the peer itself");
        assert_eq!(addresses.elsewhere(&Remote { port: 8, ..at(7000) }, |_| true), None);
        let stranger = Remote { channel: Channel(1), ..at(7000) };
        assert_eq!(addresses.elsewhere(&stranger, |_| true), None, "a peer of another channel");
    }
}
