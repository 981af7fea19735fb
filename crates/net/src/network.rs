mod captures;
mod forward;
mod serve;

use crate::address::{AddressTable, InterfaceAddress};
use crate::capture::Capture;
use crate::channel::Channel;
use crate::counters::Counters;
use crate::event::{NetAction, NetEvent, Schedule};
use crate::flights::Parcel;
use crate::packet::{Outgoing, Packet, PacketId, Pool, Protocol};
use crate::queue::Backlog;
use crate::routing::Routes;
use crate::topology::{LinkDir, NodeId};
use des::Digest;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use units::Instant;

/// The network at run time. See the [crate's example](crate) for the loop around it.
///
/// **Every packet that [`Network::handle`] delivers must be given back with [`Network::release`].**
#[derive(Debug)]
pub struct Network {
    channels: Vec<Channel>,
    pool: Pool,
    routes: Routes,
    addresses: AddressTable,
    interfaces: Vec<InterfaceAddress>,
    nodes: Vec<NodeInfo>,
    captures: Vec<Capture>,
    arrivals: Vec<Arrival>,
    digest: Digest,
    unroutable: u64,
}

#[derive(Debug)]
pub(crate) struct NodeInfo {
    pub name: String,
    /// `None` for a router.
    pub host: Option<Host>,
}

/// A host's interfaces: `first..end` of all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Host {
    pub first: usize,
    pub end: usize,
}

/// A packet has reached a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// The host.
    pub node: NodeId,
    /// Look at it with [`Network::packet`], then [`Network::release`] it.
    pub packet: PacketId,
}

/// A packet has come to the queue of a link that is watched, whatever became of it there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When.
    pub at: Instant,
    /// Where.
    pub link: LinkDir,
    /// Source address.
    pub src: IpAddr,
    /// Destination address.
    pub dst: IpAddr,
    /// What it carries.
    pub protocol: Protocol,
    /// The first two words of its payload: in every transport the ports it comes from and goes to.
    pub ports: [u16; 2],
}

/// How a host reaches an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// The first link.
    pub link: LinkDir,
    /// The host's IPv4 address there.
    pub ipv4: Ipv4Addr,
    /// The host's IPv6 address there.
    pub ipv6: Ipv6Addr,
}

impl Network {
    pub(crate) fn new(
        nodes: Vec<NodeInfo>,
        interfaces: Vec<InterfaceAddress>,
        addresses: AddressTable,
        routes: Routes,
        channels: Vec<Channel>,
    ) -> Self {
        Network {
            channels,
            pool: Pool::default(),
            routes,
            addresses,
            interfaces,
            nodes,
            captures: Vec::new(),
            arrivals: Vec::new(),
            digest: Digest::new(),
            unroutable: 0,
        }
    }

    /// The addresses of a host, in the order of its links; none for a router.
    pub fn addresses(&self, node: NodeId) -> &[InterfaceAddress] {
        match self.nodes[node.index()].host {
            Some(Host { first, end }) => &self.interfaces[first..end],
            None => &[],
        }
    }

    /// A node's name.
    pub fn name(&self, node: NodeId) -> &str {
        &self.nodes[node.index()].name
    }

    /// How `node` sends towards `dst`; `None` if it has no way. For a router, which has no addresses, `None` too: see
    /// [`Network::next_hop`].
    pub fn route(&self, node: NodeId, dst: IpAddr) -> Option<Route> {
        let link = self.next_hop(node, dst)?;
        let own = self.addresses(node).iter().find(|interface| interface.link == link.link())?;
        Some(Route { link, ipv4: own.ipv4, ipv6: own.ipv6 })
    }

    /// Where `node` passes packets to `dst` on.
    pub fn next_hop(&self, node: NodeId, dst: IpAddr) -> Option<LinkDir> {
        let id = self.addresses.find(dst)?;
        self.routes.direction(node.0, id.interface()).map(LinkDir)
    }

    /// The links that packets from `node` to `dst` cross, in their order; as far as there is a way.
    pub fn way(&self, node: NodeId, dst: IpAddr) -> Vec<LinkDir> {
        let (mut way, mut at) = (Vec::new(), node);
        while let Some(next) = self.next_hop(at, dst) {
            way.push(next);
            let channel = &self.channels[next.index()];
            if channel.to_host {
                break;
            }
            at = NodeId(channel.to);
        }
        way
    }

    /// Whether packets from `node` find a way to the host that has the address `dst`.
    pub fn reaches(&self, node: NodeId, dst: IpAddr) -> bool {
        self.way(node, dst).last().is_some_and(|last| self.channels[last.index()].to_host)
    }

    /// Sends a packet of the bytes in `head`, followed by `outgoing.zeros` zero bytes, from a host. `head` is left
    /// empty, and keeps a buffer. What cannot be sent (an unknown address, two families, or no
    /// route) is counted and gone, as are packets dropped later.
    #[inline]
    pub fn send(
        &mut self,
        schedule: &mut impl Schedule,
        from: NodeId,
        outgoing: Outgoing,
        head: &mut Vec<u8>,
    ) {
        let Outgoing { src, dst, protocol, ecn, zeros } = outgoing;
        let way = self.addresses.find(src).zip(self.addresses.find(dst)).and_then(|(src, dst)| {
            let direction = self.routes.direction(from.0, dst.interface())?;
            (src.is_ipv6() == dst.is_ipv6()).then_some((src, dst, direction))
        });
        let Some((src, dst, direction)) = way else {
            self.unroutable += 1;
            head.clear();
            return;
        };
        let size = dst.header_len() + (head.len() + zeros) as u32;
        let packet = self.pool.store(head, zeros as u32, src, dst, protocol, ecn);
        self.pool.get_mut(packet).sent_at = schedule.now();
        self.enqueue(schedule, direction, packet, Parcel::new(dst.interface(), size, 0, ecn));
    }

    /// Does what `event` stands for, at its time. A packet that thereby reaches a host is handed over.
    #[inline]
    pub fn handle(&mut self, schedule: &mut impl Schedule, event: NetEvent) -> Option<Delivered> {
        match event.action() {
            NetAction::Arrive(direction) => {
                let (packet, parcel) = self.first_arrival(schedule, direction)?;
                self.arrive(schedule, direction, packet, parcel)
            }
            NetAction::ArriveAlone(direction, packet) => self.arrive_alone(schedule, direction, packet),
            NetAction::Transmit(direction) => {
                self.free(schedule, direction);
                None
            }
            NetAction::Fail(link) => {
                self.fail(schedule.now(), link.forward());
                self.fail(schedule.now(), link.backward());
                None
            }
            NetAction::Repair(link) => {
                for direction in [link.forward(), link.backward()] {
                    self.channels[direction.index()].up = true;
                }
                None
            }
        }
    }

    /// A delivered packet.
    #[inline]
    pub fn packet(&self, id: PacketId) -> Packet<'_> {
        let stored = self.pool.get(id);
        Packet {
            src: self.addresses.address(stored.src),
            dst: self.addresses.address(stored.dst),
            protocol: stored.protocol,
            ecn: stored.ecn,
            sent_at: stored.sent_at,
            head: self.pool.head(id),
            zeros: stored.zeros as usize,
            corrupted: stored.corrupted,
        }
    }

    /// Gives a delivered packet's storage back.
    #[inline]
    pub fn release(&mut self, id: PacketId) {
        self.pool.release(id);
    }

    /// Notes from now on what comes to the queue of this direction of a link, for [`Network::take_arrivals`].
    pub fn watch(&mut self, direction: LinkDir) {
        self.channels[direction.index()].taps.watched = true;
    }

    /// What has come to the links that are watched since the last call.
    pub fn take_arrivals(&mut self) -> std::vec::Drain<'_, Arrival> {
        self.arrivals.drain(..)
    }

    /// What one direction of a link has seen.
    pub fn counters(&self, direction: LinkDir) -> &Counters {
        &self.channels[direction.index()].counters
    }

    /// What waits for the transmitter of one direction at `now`, the time of the kernel.
    pub fn backlog(&mut self, direction: LinkDir, now: Instant) -> Backlog {
        self.channels[direction.index()].backlog(now)
    }

    /// RED's average queue length, in its own unit, as of the last arrival; `None` for other queues.
    pub fn red_average(&self, direction: LinkDir) -> Option<f64> {
        self.channels[direction.index()].average_queue()
    }

    /// Packets sent to an address that does not exist or that no link leads to.
    pub fn unroutable(&self) -> u64 {
        self.unroutable
    }

    /// Links crossed by packets, in all: what a simulator's work is measured in.
    pub fn packet_hops(&self) -> u64 {
        self.channels.iter().map(|channel| channel.counters.delivered).sum()
    }

    /// Packets under way, or delivered and not released.
    pub fn packets_in_use(&self) -> usize {
        self.pool.in_use()
    }

    /// Fingerprint of all deliveries to hosts: time, link, size, stored length and first 16 stored bytes of each.
    pub fn digest(&self) -> u64 {
        self.digest.value()
    }
}
