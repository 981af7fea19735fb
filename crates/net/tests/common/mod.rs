//! A network with a kernel, and packets that carry their number.
#![allow(dead_code, reason = "each test file uses its part")]

pub mod disciplines;

use anabranch_net as net;
use des::{Kernel, Streams};
use net::{
    ChannelSpec, Ecn, LinkId, LinkSpec, NetEvent, Network, NetworkBuilder, NodeId, NodeKind, Outgoing,
    Protocol,
};
use std::net::IpAddr;
use units::{Instant, Span};

pub struct World {
    pub network: Network,
    pub kernel: Kernel<NetEvent>,
    /// ECN field of the packets to send.
    pub ecn: Ecn,
}

/// A packet that has arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrived {
    pub at: Instant,
    pub node: NodeId,
    pub number: u32,
    pub bytes: Vec<u8>,
    pub corrupted: bool,
    pub ecn: Ecn,
}

impl World {
    pub fn new(builder: NetworkBuilder) -> Self {
        Self::seeded(builder, 1)
    }

    pub fn seeded(builder: NetworkBuilder, seed: u64) -> Self {
        let network = builder.configure(&Streams::new(seed, 0)).expect("a sound network");
        World { network, kernel: Kernel::new(), ecn: Ecn::NotCapable }
    }

    pub fn ipv4(&self, node: NodeId, interface: usize) -> IpAddr {
        self.network.addresses(node)[interface].ipv4.into()
    }

    /// Sends a packet of `size` bytes, IP header included, over IPv4 between first addresses.
    pub fn send(&mut self, from: NodeId, to: NodeId, number: u32, size: usize) {
        let (src, dst) = (self.ipv4(from, 0), self.ipv4(to, 0));
        self.send_to(from, src, dst, number, size);
    }

    pub fn send_to(&mut self, from: NodeId, src: IpAddr, dst: IpAddr, number: u32, size: usize) {
        let header = if dst.is_ipv6() { 40 } else { 20 };
        let outgoing =
            Outgoing { src, dst, protocol: Protocol::Sctp, ecn: self.ecn, zeros: size - header - 4 };
        self.network.send(&mut self.kernel, from, outgoing, &mut number.to_be_bytes().to_vec());
    }

    /// Runs until `until` and returns the packets that arrive at hosts.
    pub fn run(&mut self, until: Instant) -> Vec<Arrived> {
        let mut arrived = Vec::new();
        while let Some(event) = self.kernel.pop(until) {
            if let Some(delivered) = self.network.handle(&mut self.kernel, event) {
                let packet = self.network.packet(delivered.packet);
                let mut bytes = packet.head.to_vec();
                bytes.resize(packet.head.len() + packet.zeros, 0);
                let number = u32::from_be_bytes(bytes[..4].try_into().unwrap());
                let (corrupted, ecn) = (packet.corrupted, packet.ecn);
                arrived.push(Arrived {
                    at: self.kernel.now(),
                    node: delivered.node,
                    number,
                    bytes,
                    corrupted,
                    ecn,
                });
                self.network.release(delivered.packet);
            }
        }
        arrived
    }

    pub fn run_all(&mut self) -> Vec<Arrived> {
        self.run(Instant::FAR)
    }
}

pub const STEADY: NodeKind = NodeKind::Host { jitter: Span::ZERO };

/// Two hosts with a link between them.
pub struct Pair {
    pub world: World,
    pub client: NodeId,
    pub server: NodeId,
    pub link: LinkId,
}

pub fn pair(channel: ChannelSpec) -> Pair {
    pair_of(STEADY, channel, 1)
}

pub fn pair_of(kind: NodeKind, channel: ChannelSpec, seed: u64) -> Pair {
    let mut builder = NetworkBuilder::new();
    let client = builder.add_node("client", kind);
    let server = builder.add_node("server", kind);
    let link = builder.add_link(LinkSpec::symmetric(client, server, 1, channel));
    Pair { world: World::seeded(builder, seed), client, server, link }
}

pub fn numbers(arrived: &[Arrived]) -> Vec<u32> {
    arrived.iter().map(|packet| packet.number).collect()
}

pub fn nanos(ns: u64) -> Instant {
    Instant::from_nanos(ns)
}
