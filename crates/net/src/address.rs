use crate::ids::LinkId;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The addresses of a host on one of its links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterfaceAddress {
    /// The link.
    pub link: LinkId,
    /// Number of the network to which the link belongs: see [`LinkSpec`](crate::LinkSpec).
    pub net_id: u8,
    /// The IPv4 address: `10.net_id.x.y`, unless [set](crate::NetworkBuilder::set_address). The number x.y of
    /// the interface is unique in its network.
    pub ipv4: Ipv4Addr,
    /// The IPv6 address: `fd00:net_id::n` with the same number n, unless
    /// [set](crate::NetworkBuilder::set_address).
    pub ipv6: Ipv6Addr,
}

/// The automatic addresses of the `number`-th host interface (from 1) in the network `net_id`.
pub(crate) fn automatic(net_id: u8, number: u16) -> (Ipv4Addr, Ipv6Addr) {
    let [x, y] = number.to_be_bytes();
    let ipv4 = Ipv4Addr::new(10, net_id, x, y);
    (ipv4, Ipv6Addr::new(0xfd00, u16::from(net_id), 0, 0, 0, 0, 0, number))
}

/// Number of an address: twice the number of its interface, plus one for IPv6.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct AddressId(u32);

impl AddressId {
    pub fn new(interface: u32, ipv6: bool) -> Self {
        AddressId(2 * interface + u32::from(ipv6))
    }

    #[inline]
    pub fn interface(self) -> u32 {
        self.0 / 2
    }

    #[inline]
    pub fn is_ipv6(self) -> bool {
        self.0 % 2 == 1
    }

    /// Length in bytes of an IP header without options, for addresses of this family.
    #[inline]
    pub fn header_len(self) -> u32 {
        if self.is_ipv6() { 40 } else { 20 }
    }

    #[inline]
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// All addresses of a network by number, and their numbers by address.
///
/// A hash table with open addressing and a fixed hash function: the addresses of each packet sent are looked
/// up here.
#[derive(Debug)]
pub(crate) struct AddressTable {
    addresses: Vec<IpAddr>,
    slots: Vec<Slot>,
    shift: u32,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    /// The [`key`] of an address, or [`FREE`].
    key: u128,
    id: AddressId,
}

/// The key of a free slot: a multicast address, which no host has.
const FREE: u128 = u128::MAX;

/// The key of an address. IPv4 addresses become IPv4-mapped IPv6 addresses ([RFC
/// 4291](https://www.rfc-editor.org/rfc/rfc4291#section-2.5.5.2)), because numbers of 128 bits compare faster
/// than arrays of two lengths.
#[inline]
fn key(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(v4) => 0xffff << 32 | u128::from(v4.to_bits()),
        IpAddr::V6(v6) => v6.to_bits(),
    }
}

/// Error: two interfaces have this address.
pub(crate) struct Ambiguous(pub IpAddr);

impl AddressTable {
    pub fn new(interfaces: &[InterfaceAddress]) -> Result<Self, Ambiguous> {
        let addresses: Vec<IpAddr> =
            interfaces.iter().flat_map(|i| [IpAddr::V4(i.ipv4), IpAddr::V6(i.ipv6)]).collect();
        // Three quarters of the slots are free, so that each search is short and ends.
        let capacity = (addresses.len() * 4).next_power_of_two().max(2);
        let shift = 64 - capacity.trailing_zeros();
        let free = Slot { key: FREE, id: AddressId(0) };
        let mut table = AddressTable { addresses, slots: vec![free; capacity], shift };
        for index in 0..table.addresses.len() {
            let address = table.addresses[index];
            let key = key(address);
            let slot = table.search(key);
            if table.slots[slot].key == key {
                return Err(Ambiguous(address));
            }
            table.slots[slot] = Slot { key, id: AddressId(index as u32) };
        }
        Ok(table)
    }

    #[inline]
    pub fn find(&self, address: IpAddr) -> Option<AddressId> {
        let key = key(address);
        let slot = &self.slots[self.search(key)];
        (slot.key == key && key != FREE).then_some(slot.id)
    }

    #[inline]
    pub fn address(&self, id: AddressId) -> IpAddr {
        self.addresses[id.index()]
    }

    /// The slot that holds `key`; if there is none, the free slot for it.
    #[inline]
    fn search(&self, key: u128) -> usize {
        let word = (key >> 64) as u64 ^ (key as u64).rotate_left(32);
        let mut slot = (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize;
        while self.slots[slot].key != key && self.slots[slot].key != FREE {
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interfaces(number: u16) -> Vec<InterfaceAddress> {
        (0..number)
            .map(|n| {
                let (ipv4, ipv6) = automatic((n % 3) as u8, n / 3 + 1);
                InterfaceAddress { link: LinkId(u32::from(n)), net_id: (n % 3) as u8, ipv4, ipv6 }
            })
            .collect()
    }

    #[test]
    fn the_table_finds_each_address_and_no_other() {
        for number in [0, 1, 2, 3, 1000] {
            let interfaces = interfaces(number);
            let Ok(table) = AddressTable::new(&interfaces) else { panic!("all addresses differ") };
            for (index, interface) in interfaces.iter().enumerate() {
                for address in [IpAddr::V4(interface.ipv4), IpAddr::V6(interface.ipv6)] {
                    let id = table.find(address).expect("assigned");
                    assert_eq!(
                        (id.interface() as usize, id.is_ipv6(), table.address(id)),
                        (index, address.is_ipv6(), address)
                    );
                }
            }
            assert_eq!(table.find("10.9.0.1".parse().unwrap()), None);
            assert_eq!(table.find("fd00:9::1".parse().unwrap()), None);
        }
    }

    #[test]
    fn an_address_given_twice_is_refused() {
        let mut interfaces = interfaces(5);
        interfaces[4].ipv6 = interfaces[0].ipv6;
        let Err(Ambiguous(address)) = AddressTable::new(&interfaces) else { panic!("fd00:: twice") };
        assert_eq!(address, IpAddr::V6(interfaces[0].ipv6));
    }
}
