//! Which association an address of a peer belongs to: for packets that bear no tag of ours.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::net::IpAddr;

/// Associations, by their places, under the addresses and ports of their peers.
///
/// A confirmed address belongs to the association that confirmed it first. An unconfirmed one may be somebody else's: it
/// gives way, so that whoever lists the address of another does not stand in its way (`rfc5062#section-2.1`).
#[derive(Debug, Default)]
pub(super) struct Addresses {
    owners: BTreeMap<(IpAddr, u16), Owner>,
}

#[derive(Clone, Copy, Debug)]
struct Owner {
    slot: u32,
    confirmed: bool,
}

impl Addresses {
    /// The association that confirmed the address.
    pub(super) fn owner(&self, address: IpAddr, port: u16) -> Option<u32> {
        self.owners.get(&(address, port)).filter(|owner| owner.confirmed).map(|owner| owner.slot)
    }

    /// The association that has the address, confirmed or not.
    pub(super) fn user(&self, address: IpAddr, port: u16) -> Option<u32> {
        self.owners.get(&(address, port)).map(|owner| owner.slot)
    }

    /// An association has the address. False if another one is found under it all the same.
    pub(super) fn claim(&mut self, address: IpAddr, port: u16, slot: u32, confirmed: bool) -> bool {
        let claim = Owner { slot, confirmed };
        match self.owners.entry((address, port)) {
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

    /// An association has the address no more.
    pub(super) fn release(&mut self, address: IpAddr, port: u16, slot: u32) {
        if self.user(address, port) == Some(slot) {
            self.owners.remove(&(address, port));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // rfc9260#section-5.4, rfc5062#section-2.1
    #[test]
    fn an_unconfirmed_address_gives_way_to_the_association_that_confirms_it() {
        let (mut addresses, a) = (Addresses::default(), IpAddr::from([10, 0, 0, 1]));
        assert!(addresses.claim(a, 9, 1, false));
        assert_eq!((addresses.owner(a, 9), addresses.user(a, 9)), (None, Some(1)));
        assert!(!addresses.claim(a, 9, 2, false));
        assert!(addresses.claim(a, 9, 2, true));
        assert_eq!((addresses.owner(a, 9), addresses.user(a, 9)), (Some(2), Some(2)));
        assert!(!addresses.claim(a, 9, 1, true), "it was confirmed first");
        addresses.release(a, 9, 1);
        assert_eq!(addresses.owner(a, 9), Some(2));
        addresses.release(a, 9, 2);
        assert_eq!(addresses.user(a, 9), None);
        assert_eq!(addresses.user(a, 8), None);
    }
}
