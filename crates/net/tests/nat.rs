//! A router that translates addresses and ports.

use crate::common;

use anabranch_net as net;
use common::STEADY;
use des::{Kernel, Streams};
use net::{
    ChannelSpec, ConfigError, Ecn, LinkId, LinkSpec, NatCounters, NatSpec, NetEvent, Network, NetworkBuilder,
    NodeId, NodeKind, Outgoing, Protocol,
};
use std::net::IpAddr;
use units::{Instant, Span};

/// Two hosts behind a NAT, and a server outside.
struct Home {
    network: Network,
    kernel: Kernel<NetEvent>,
    hosts: [NodeId; 2],
    nat: NodeId,
    server: NodeId,
}

fn builder() -> (NetworkBuilder, [NodeId; 4], LinkId) {
    let mut builder = NetworkBuilder::new();
    let [a, b, server] = ["a", "b", "server"].map(|name| builder.add_node(name, STEADY));
    let nat = builder.add_node("nat", NodeKind::Router);
    let isp = builder.add_node("isp", NodeKind::Router);
    let mut link = |a, b| builder.add_link(LinkSpec::symmetric(a, b, 1, ChannelSpec::default()));
    link(a, nat);
    link(b, nat);
    let outside = link(nat, isp);
    link(isp, server);
    (builder, [a, b, server, nat], outside)
}

/// A datagram that a host receives: the host, source, destination, and the ports of the UDP header.
type Got = (NodeId, IpAddr, IpAddr, [u16; 2]);

impl Home {
    fn new() -> Home {
        let (mut builder, [a, b, server, nat], outside) = builder();
        builder.set_nat(nat, NatSpec { outside, timeout: Span::from_secs(30) });
        let network = builder.configure(&Streams::new(1, 0)).unwrap();
        Home { network, kernel: Kernel::new(), hosts: [a, b], nat, server }
    }

    fn address(&self, node: NodeId) -> IpAddr {
        self.network.addresses(node)[0].ipv4.into()
    }

    fn address6(&self, node: NodeId) -> IpAddr {
        self.network.addresses(node)[0].ipv6.into()
    }

    /// Sends a UDP datagram and returns the datagram that arrives, if one does.
    fn send(&mut self, from: NodeId, src: IpAddr, dst: IpAddr, ports: [u16; 2]) -> Option<Got> {
        self.send_as(Protocol::Udp, from, src, dst, ports)
    }

    fn send_as(
        &mut self,
        protocol: Protocol,
        from: NodeId,
        src: IpAddr,
        dst: IpAddr,
        ports: [u16; 2],
    ) -> Option<Got> {
        let mut head: Vec<u8> = ports.iter().flat_map(|port| port.to_be_bytes()).collect();
        head.extend([0, 108, 0x12, 0x34]);
        let outgoing = Outgoing { src, dst, protocol, ecn: Ecn::NotCapable, zeros: 100 };
        self.network.send(&mut self.kernel, from, outgoing, &mut head);
        let mut got = None;
        while let Some(event) = self.kernel.pop(Instant::FAR) {
            if let Some(delivered) = self.network.handle(&mut self.kernel, event) {
                let packet = self.network.packet(delivered.packet);
                let word = |at: usize| u16::from_be_bytes([packet.head[at], packet.head[at + 1]]);
                assert_eq!((packet.head.len(), packet.zeros, word(4), word(6)), (8, 100, 108, 0));
                got = Some((delivered.node, packet.src, packet.dst, [word(0), word(2)]));
                self.network.release(delivered.packet);
            }
        }
        assert_eq!(self.network.packets_in_use(), 0);
        got
    }

    fn wait(&mut self, span: Span) {
        let end = self.kernel.now() + span;
        self.kernel.schedule(end, NetEvent::rebind(self.server));
        while self.kernel.pop(end).is_some() {}
    }

    fn counters(&self) -> NatCounters {
        let counters: Vec<_> = self.network.nats().collect();
        let [(node, counters)] = counters[..] else { panic!("one NAT") };
        assert_eq!(node, self.nat);
        counters
    }

    fn dropped(&self) -> u64 {
        self.counters().dropped
    }
}

#[test]
fn packets_that_leave_bear_the_address_of_the_nat_and_answers_come_back() {
    for ipv6 in [false, true] {
        let mut home = Home::new();
        let [a, b] = home.hosts;
        let of = |home: &Home, node| if ipv6 { home.address6(node) } else { home.address(node) };
        let (nat, server) = (of(&home, home.nat), of(&home, home.server));
        let mut ports = Vec::new();
        for host in [a, b] {
            let own = of(&home, host);
            let (at, src, dst, [port, to]) = home.send(host, own, server, [9899, 9899]).unwrap();
            assert_eq!((at, src, dst, to), (home.server, nat, server, 9899));
            assert_eq!(
                home.send(home.server, server, nat, [9899, port]),
                Some((host, server, own, [9899, 9899]))
            );
            assert_eq!(home.network.source_at(host, own, server), (nat, Some(home.nat)));
            assert_eq!(home.network.source_at(home.server, server, nat), (server, None));
            ports.push(port);
        }
        assert_ne!(ports[0], ports[1]);
        assert_eq!((home.dropped(), home.network.unroutable()), (0, 0));
    }
}

#[test]
fn packets_between_hosts_inside_are_not_translated() {
    let home = Home::new();
    let [(a, from), (b, to)] = home.hosts.map(|host| (host, home.address(host)));
    assert_eq!(home.network.source_at(a, from, to), (from, None));
    assert!(home.network.reaches(a, from, to) && home.network.reaches(b, to, from));
}

#[test]
fn a_nat_drops_what_has_no_mapping_or_is_not_udp() {
    let mut home = Home::new();
    let ([a, _], nat, server) = (home.hosts, home.address(home.nat), home.address(home.server));
    let inside = home.address(a);
    assert_eq!(home.send(home.server, server, nat, [9899, 49_152]), None);
    assert_eq!(home.send_as(Protocol::Sctp, a, inside, server, [9000, 9000]), None);
    assert_eq!(home.send(a, inside, nat, [9899, 9899]), None, "a NAT is no host");
    assert_eq!((home.dropped(), home.network.unroutable()), (3, 0));
    assert!(!home.network.reaches(home.server, server, inside), "inside addresses are unknown outside");
    assert_eq!(home.send(home.server, server, inside, [9899, 9899]), None);
    assert_eq!((home.dropped(), home.network.unroutable()), (3, 1));
    assert!(home.network.reaches(a, inside, server) && home.network.reaches(home.server, server, nat));
}

#[test]
fn a_mapping_times_out_and_a_rebinding_ends_it() {
    let mut home = Home::new();
    let ([a, _], nat, server) = (home.hosts, home.address(home.nat), home.address(home.server));
    let inside = home.address(a);
    let out = |home: &mut Home| home.send(a, inside, server, [9899, 9899]).unwrap().3[0];
    let back = |home: &mut Home, port| home.send(home.server, server, nat, [9899, port]).is_some();
    let first = out(&mut home);
    home.wait(Span::from_secs(29));
    assert!(back(&mut home, first));
    home.wait(Span::from_secs(1));
    assert!(!back(&mut home, first));
    let second = out(&mut home);
    assert!(second != first && back(&mut home, second));
    home.network.handle(&mut home.kernel, NetEvent::rebind(home.nat));
    assert!(!back(&mut home, second));
    let third = out(&mut home);
    assert!(third != second && back(&mut home, third));
    assert_eq!(home.counters(), NatCounters { mappings: 3, dropped: 2 });
}

#[test]
fn a_host_and_a_router_elsewhere_cannot_be_nats() {
    for wrong in [0, 4] {
        let (mut builder, nodes, outside) = builder();
        let node = if wrong == 0 { nodes[0] } else { builder.add_node("far", NodeKind::Router) };
        builder.set_nat(node, NatSpec { outside, timeout: Span::from_secs(30) });
        let name = if wrong == 0 { "a" } else { "far" };
        assert_eq!(builder.configure(&Streams::new(1, 0)).err(), Some(ConfigError::WrongNat(name.into())));
    }
}
