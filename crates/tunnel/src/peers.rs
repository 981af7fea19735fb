//! The other ends of a tunnel, and which of them has which inner address.

use noise::{PublicKey, Secret};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Another end of the tunnel.
#[derive(Clone, Debug, Default)]
pub struct TunnelPeer {
    /// Name for people; empty if there is one peer.
    pub name: String,
    /// The peer's public key; `None` without encryption.
    pub key: Option<PublicKey>,
    /// Secret shared with the peer in addition to the keys.
    pub psk: Option<Secret>,
    /// Inner addresses that the peer may use, with their prefix lengths. If there is only one peer, an empty
    /// list allows all addresses.
    pub addresses: Vec<(IpAddr, u8)>,
}

impl TunnelPeer {
    /// True if the peer was on the list and is no longer.
    pub(crate) fn is_removed(&self) -> bool {
        self.key.is_none() && !self.name.is_empty()
    }
}

/// Finds the peer that has an inner address, by the longest prefix.
#[derive(Debug)]
pub(crate) struct Routes {
    /// For each prefix length, the longest first: the number of the peer for each prefix. IPv4 addresses are
    /// mapped to IPv6.
    by_length: Vec<(u8, BTreeMap<u128, usize>)>,
}

impl Routes {
    pub(crate) fn new(peers: &[TunnelPeer]) -> Routes {
        let mut by_length: BTreeMap<u8, BTreeMap<u128, usize>> = BTreeMap::new();
        for (n, peer) in peers.iter().enumerate() {
            let mut add = |length, bits| by_length.entry(length).or_default().insert(masked(bits, length), n);
            if peer.addresses.is_empty() && peer.name.is_empty() {
                add(0, 0);
            }
            for &prefix in &peer.addresses {
                let (bits, length) = mapped(prefix);
                add(length, bits);
            }
        }
        Routes { by_length: by_length.into_iter().rev().collect() }
    }

    /// The peer that has this address; `None` if no peer has it.
    pub(crate) fn peer_of(&self, address: IpAddr) -> Option<usize> {
        let bits = bits_of(address);
        self.by_length.iter().find_map(|(length, peers)| peers.get(&masked(bits, *length)).copied())
    }
}

/// The first prefix that two peers have, with the names of both.
pub(crate) fn shared_prefix(peers: &[TunnelPeer]) -> Option<(IpAddr, u8, &str, &str)> {
    let mut owners: BTreeMap<(u8, u128), &str> = BTreeMap::new();
    for peer in peers {
        for &(address, length) in &peer.addresses {
            let (bits, mapped_length) = mapped((address, length));
            let key = (mapped_length, masked(bits, mapped_length));
            if let Some(other) = owners.insert(key, &peer.name) {
                return Some((address, length, other, &peer.name));
            }
        }
    }
    None
}

fn mapped((address, length): (IpAddr, u8)) -> (u128, u8) {
    (bits_of(address), if address.is_ipv4() { 96 + length } else { length })
}

fn bits_of(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

fn masked(bits: u128, length: u8) -> u128 {
    if length == 0 { 0 } else { bits & (u128::MAX << (128 - length)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(name: &str, prefixes: &[(&str, u8)]) -> TunnelPeer {
        let address = |&(text, length): &(&str, u8)| (text.parse().expect("an address"), length);
        let addresses = prefixes.iter().map(address).collect();
        TunnelPeer { name: name.to_owned(), addresses, ..TunnelPeer::default() }
    }

    #[test]
    fn an_address_belongs_to_the_peer_with_the_longest_prefix() {
        let peers = [
            peer("office", &[("10.9.0.2", 32), ("192.168.0.0", 16), ("fd00::", 8)]),
            peer("lab", &[("10.9.0.3", 32), ("192.168.7.1", 24), ("fd00:7::", 32)]),
        ];
        let routes = Routes::new(&peers);
        for (address, expected) in [
            ("10.9.0.2", Some(0)),
            ("10.9.0.3", Some(1)),
            ("10.9.0.4", None),
            ("192.168.6.255", Some(0)),
            ("192.168.7.200", Some(1)),
            ("fd00:8::1", Some(0)),
            ("fd00:7::1", Some(1)),
            ("fe80::1", None),
        ] {
            assert_eq!(routes.peer_of(address.parse().expect("an address")), expected, "{address}");
        }
    }

    #[test]
    fn the_only_peer_has_all_addresses() {
        let routes = Routes::new(&[TunnelPeer::default()]);
        assert_eq!(
            ["1.2.3.4", "::1"].map(|text| routes.peer_of(text.parse().expect("an address"))),
            [Some(0); 2]
        );
    }

    #[test]
    fn a_prefix_of_two_peers_is_found() {
        let peers = [peer("a", &[("10.0.0.1", 24)]), peer("b", &[("10.0.0.9", 24)])];
        assert_eq!(shared_prefix(&peers), Some(([10, 0, 0, 9].into(), 24, "a", "b")));
        assert_eq!(shared_prefix(&[peer("a", &[("10.0.0.1", 24)]), peer("b", &[("10.0.0.9", 32)])]), None);
    }
}
