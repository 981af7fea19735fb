//! Which packets leave on several uplinks.

use crate::packet::{Inner, TCP, UDP};

/// The packets that leave on several uplinks in addition to the urgent ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Redundant {
    /// No packets except the urgent ones.
    #[default]
    Nothing,
    /// All packets, on all uplinks.
    Everything,
    /// The packets of some flows, which become urgent whatever their length.
    Flows(Flows),
}

/// Flows that are chosen by their headers. Packets of TCP are never chosen: they would lose their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flows {
    /// DSCPs, each 0 to 63.
    pub dscp: Vec<u8>,
    /// UDP ports of either end.
    pub ports: Vec<u16>,
}

impl Redundant {
    /// True if a packet belongs to a chosen flow.
    pub(crate) fn chooses(&self, packet: &[u8], inner: &Inner) -> bool {
        let Redundant::Flows(flows) = self else { return false };
        inner.protocol != TCP && (flows.dscp.contains(&dscp(packet)) || flows.has_port(packet, inner))
    }
}

impl Flows {
    fn has_port(&self, packet: &[u8], inner: &Inner) -> bool {
        let header = inner.transport.filter(|_| inner.protocol == UDP).and_then(|at| packet.get(at..at + 4));
        let ports = header.map_or(&[][..], |header| header);
        ports.chunks_exact(2).any(|port| self.ports.contains(&u16::from_be_bytes([port[0], port[1]])))
    }
}

/// The DSCP of an IP packet (`rfc2474#section-3`).
fn dscp(packet: &[u8]) -> u8 {
    match packet {
        [first, second, ..] if first >> 4 == 6 => (first << 4 | second >> 4) >> 2,
        [_, second, ..] => second >> 2,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet;
    use crate::packet::tests::{ipv4_packet, ipv6_packet};
    use std::hash::RandomState;

    fn chooses(redundant: &Redundant, packet: &[u8]) -> bool {
        redundant.chooses(packet, &packet::inspect(&RandomState::new(), packet).expect("a packet"))
    }

    #[test]
    fn flows_are_chosen_by_dscp_or_udp_port() {
        let flows = Redundant::Flows(Flows { dscp: vec![46], ports: vec![5060] });
        let udp = |from: u16, to: u16| [&from.to_be_bytes()[..], &to.to_be_bytes(), &[0; 1000]].concat();
        for make in [ipv4_packet, ipv6_packet] {
            assert!(chooses(&flows, &make(UDP, &udp(5060, 9))) && chooses(&flows, &make(UDP, &udp(9, 5060))));
            assert!(!chooses(&flows, &make(UDP, &udp(9, 9))));
            assert!(!chooses(&flows, &make(TCP, &udp(9, 5060))), "TCP needs order");
            assert!(!chooses(&flows, &make(1, &udp(9, 5060))), "ICMP has no ports");
            for length in 0..4 {
                assert!(!chooses(&flows, &make(UDP, &udp(5060, 5060)[..length])));
            }
        }
        // DSCP 46 (EF), and the two bits of ECN.
        let mut v4 = ipv4_packet(1, &[0; 8]);
        v4[1] = 46 << 2 | 3;
        let mut v6 = ipv6_packet(1, &[0; 8]);
        // In IPv6 the traffic class lies between the version and the flow label.
        (v6[0], v6[1]) = (0x6b, 0xb0);
        assert!(chooses(&flows, &v4) && chooses(&flows, &v6));
        v6[0] ^= 1;
        assert!(!chooses(&flows, &v6));
        assert!(!chooses(&Redundant::Nothing, &v4) && !chooses(&Redundant::Everything, &v4));
    }
}
