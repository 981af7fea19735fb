//! Network address translation at a router ([RFC 4787](https://www.rfc-editor.org/rfc/rfc4787)).

use crate::address::AddressId;
use crate::ids::LinkId;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use units::{Instant, Span};

/// A router that translates addresses and UDP ports.
///
/// The NAT has an address on its outside link only. A packet that leaves over this link gets this address and
/// an outside port, the same port for all destinations (endpoint-independent mapping). A packet that arrives
/// over this link for an outside port goes to the mapped address and port, from any sender
/// (endpoint-independent filtering). The NAT drops all other packets that would cross it: packets without a
/// mapping, and packets of other protocols than UDP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NatSpec {
    /// The link that leads outside; all other links of the router lead inside.
    pub outside: LinkId,
    /// A mapping expires when no packet has left through it for this time.
    pub timeout: Span,
}

/// Counters of a NAT since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NatCounters {
    /// Number of mappings made.
    pub mappings: u64,
    /// Packets dropped: packets without a mapping, not of UDP, or while all outside ports are in use.
    pub dropped: u64,
}

/// Outside ports: the dynamic ports of [RFC 6335](https://www.rfc-editor.org/rfc/rfc6335#section-6).
const PORTS: RangeInclusive<u16> = 49_152..=u16::MAX;

/// A NAT at run time.
#[derive(Debug)]
pub(crate) struct Nat {
    /// The direction of the outside link that leads away from the NAT.
    pub outward: u32,
    /// Interface of the NAT on the outside link.
    pub interface: u32,
    /// For each destination interface: true if packets to it leave over the outside link.
    pub outside: Vec<bool>,
    pub counters: NatCounters,
    timeout: Span,
    mappings: BTreeMap<Inside, Mapping>,
    by_port: BTreeMap<u16, Inside>,
    next_port: u16,
}

/// Address and port of a sender on the inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Inside {
    pub address: AddressId,
    pub port: u16,
}

#[derive(Clone, Copy, Debug)]
struct Mapping {
    port: u16,
    /// Time at which the last packet left through the mapping.
    used: Instant,
}

impl Nat {
    pub fn new(timeout: Span, outward: u32, interface: u32, outside: Vec<bool>) -> Self {
        Nat {
            outward,
            interface,
            outside,
            counters: NatCounters::default(),
            timeout,
            mappings: BTreeMap::new(),
            by_port: BTreeMap::new(),
            next_port: *PORTS.start(),
        }
    }

    /// The outside port of a packet that leaves; `None` if all ports are in use.
    pub fn outgoing(&mut self, now: Instant, from: Inside) -> Option<u16> {
        if !self.is_alive(now, from) {
            self.forget(from);
            let port = self.free_port(now)?;
            self.mappings.insert(from, Mapping { port, used: now });
            self.by_port.insert(port, from);
            self.counters.mappings += 1;
        }
        let mapping = self.mappings.get_mut(&from)?;
        mapping.used = now;
        Some(mapping.port)
    }

    /// The inside address and port that an outside port is mapped to; `None` without a mapping.
    pub fn incoming(&self, now: Instant, port: u16) -> Option<Inside> {
        self.by_port.get(&port).copied().filter(|&inside| self.is_alive(now, inside))
    }

    /// Forgets all mappings. New mappings get other ports.
    pub fn rebind(&mut self) {
        self.mappings.clear();
        self.by_port.clear();
    }

    fn is_alive(&self, now: Instant, inside: Inside) -> bool {
        self.mappings.get(&inside).is_some_and(|mapping| now < mapping.used + self.timeout)
    }

    fn forget(&mut self, inside: Inside) {
        if let Some(mapping) = self.mappings.remove(&inside) {
            self.by_port.remove(&mapping.port);
        }
    }

    /// The next port without a live mapping.
    fn free_port(&mut self, now: Instant) -> Option<u16> {
        for _ in PORTS {
            let port = self.next_port;
            self.next_port = port.checked_add(1).unwrap_or(*PORTS.start());
            match self.by_port.get(&port).copied() {
                Some(inside) if self.is_alive(now, inside) => {}
                Some(inside) => {
                    self.forget(inside);
                    return Some(port);
                }
                None => return Some(port),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nat() -> Nat {
        Nat::new(Span::from_secs(30), 0, 0, Vec::new())
    }

    fn at(seconds: u64) -> Instant {
        Instant::ZERO + Span::from_secs(seconds)
    }

    fn inside(port: u16) -> Inside {
        Inside { address: AddressId::default(), port }
    }

    // rfc4787#section-4.3
    #[test]
    fn a_mapping_lasts_until_no_packet_has_left_for_the_timeout() {
        let mut nat = nat();
        let port = nat.outgoing(at(0), inside(9899)).unwrap();
        assert_eq!(nat.outgoing(at(29), inside(9899)), Some(port));
        assert_eq!(nat.incoming(at(58), port), Some(inside(9899)), "what comes in does not keep it");
        assert_eq!(nat.incoming(at(59), port), None);
        assert_ne!(nat.outgoing(at(59), inside(9899)), Some(port));
        assert_eq!(nat.incoming(at(59), port), None);
    }

    #[test]
    fn a_rebinding_gives_another_port_and_the_old_one_stands_for_nothing() {
        let mut nat = nat();
        let old = nat.outgoing(at(0), inside(1)).unwrap();
        nat.rebind();
        let new = nat.outgoing(at(1), inside(1)).unwrap();
        assert_ne!(new, old);
        assert_eq!((nat.incoming(at(1), old), nat.incoming(at(1), new)), (None, Some(inside(1))));
        assert_eq!(nat.counters.mappings, 2);
    }

    #[test]
    fn when_all_ports_are_in_use_those_of_ended_mappings_are_given_again() {
        let mut nat = nat();
        for port in 0..16_384 {
            assert!(nat.outgoing(at(u64::from(port == 7)), inside(port)).is_some());
        }
        assert_eq!(nat.outgoing(at(2), inside(20_000)), None);
        let seven = nat.outgoing(at(2), inside(7)).unwrap();
        // All mappings except number 7 have expired.
        let given: Vec<_> =
            (20_000..36_383).map(|port| nat.outgoing(at(30), inside(port)).unwrap()).collect();
        assert!(!given.contains(&seven));
        assert_eq!(nat.outgoing(at(30), inside(40_000)), None);
        assert_eq!((nat.mappings.len(), nat.by_port.len()), (16_384, 16_384));
    }
}
