mod captures;
mod changes;
mod forward;
mod real;
mod serve;
mod translate;
mod under_way;

pub use under_way::UnderWay;

use crate::address::{AddressId, AddressTable, InterfaceAddress};
use crate::capture::Capture;
use crate::channel::Channel;
use crate::counters::Counters;
use crate::event::{NetAction, NetEvent, Schedule};
use crate::ids::{LinkDir, LinkId, NodeId};
use crate::nat::Nat;
use crate::packet::{Outgoing, Packet, PacketId, Pool, Protocol};
use crate::parcel::Parcel;
use crate::queue::Backlog;
use crate::routing::Routes;
use des::Digest;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use units::Instant;

/// The network at run time. The [example of the crate](crate) shows the event loop.
///
/// **The caller must return each packet that [`Network::handle`] delivers with [`Network::release`].**
#[derive(Debug)]
pub struct Network {
    channels: Vec<Channel>,
    pool: Pool,
    routes: Routes,
    addresses: AddressTable,
    /// All interfaces by number; spare addresses are at the end.
    interfaces: Vec<InterfaceAddress>,
    /// The interfaces without spare addresses, each with its present address.
    current: Vec<InterfaceAddress>,
    /// Addresses that interfaces may get later. An interface gets its own spare addresses in this order.
    spares: Vec<Spare>,
    nodes: Vec<NodeInfo>,
    captures: Vec<Capture>,
    arrivals: Vec<Arrival>,
    digest: Digest,
    unroutable: u64,
    /// True once an interface has got another address.
    renumbered: bool,
    /// NATs by the number of the node.
    nats: BTreeMap<u32, Nat>,
}

#[derive(Debug)]
pub(crate) struct NodeInfo {
    pub name: String,
    /// `None` for a router.
    pub host: Option<Host>,
}

/// The interfaces of a host or a NAT: the range `first..end` of all interfaces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Host {
    pub first: usize,
    pub end: usize,
}

/// A further address of a host's interface, which replaces
/// the current one when [`Network::renumber`] is called.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spare {
    pub node: NodeId,
    pub address: InterfaceAddress,
}

/// A packet that has arrived at a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// The host.
    pub node: NodeId,
    /// The packet, for [`Network::packet`] and then [`Network::release`].
    pub packet: PacketId,
}

/// A packet that has arrived at a queue under [`Network::watch`], even if it is dropped there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Time of arrival.
    pub at: Instant,
    /// Direction of the link.
    pub link: LinkDir,
    /// Source address.
    pub src: IpAddr,
    /// Destination address.
    pub dst: IpAddr,
    /// Transport protocol.
    pub protocol: Protocol,
    /// Source and destination port.
    pub ports: [u16; 2],
}

/// How a host reaches an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// The link over which the host sends, in the direction away from the host.
    pub link: LinkDir,
    /// The IPv4 address of the host on this link.
    pub ipv4: Ipv4Addr,
    /// The IPv6 address of the host on this link.
    pub ipv6: Ipv6Addr,
}

impl Network {
    pub(crate) fn new(
        nodes: Vec<NodeInfo>,
        interfaces: Vec<InterfaceAddress>,
        spares: Vec<Spare>,
        addresses: AddressTable,
        routes: Routes,
        channels: Vec<Channel>,
        nats: BTreeMap<u32, Nat>,
    ) -> Self {
        Network {
            channels,
            pool: Pool::default(),
            routes,
            addresses,
            current: interfaces[..interfaces.len() - spares.len()].to_vec(),
            interfaces,
            spares,
            nodes,
            captures: Vec::new(),
            arrivals: Vec::new(),
            digest: Digest::new(),
            unroutable: 0,
            renumbered: false,
            nats,
        }
    }

    /// The addresses of a node: of a host on all its links, in the order
    /// of the links; of a NAT on its outside link. A router has none.
    pub fn addresses(&self, node: NodeId) -> &[InterfaceAddress] {
        match self.nodes[node.index()].host {
            Some(Host { first, end }) => &self.current[first..end],
            None => &[],
        }
    }

    /// Gives a host's interface its next spare address. Returns the old address and the new address; `None`
    /// if no spare address is left. Packets to the old address are still delivered: see
    /// [`Network::is_to_old_address`].
    pub fn renumber(&mut self, node: NodeId, link: LinkId) -> Option<[InterfaceAddress; 2]> {
        let next = self.spares.iter().position(|spare| spare.node == node && spare.address.link == link)?;
        let new = self.spares.remove(next).address;
        let Host { first, end } = self.nodes[node.index()].host?;
        let own = self.current[first..end].iter_mut().find(|own| own.link == link)?;
        self.renumbered = true;
        Some([std::mem::replace(own, new), new])
    }

    /// True if a delivered packet goes to an address that its host no longer has.
    #[inline]
    pub fn is_to_old_address(&self, delivered: Delivered) -> bool {
        self.renumbered && {
            let dst = self.packet(delivered.packet).dst;
            let has = |own: &InterfaceAddress| dst == own.ipv4 || dst == own.ipv6;
            !self.addresses(delivered.node).iter().any(has)
        }
    }

    /// A node's name.
    pub fn name(&self, node: NodeId) -> &str {
        &self.nodes[node.index()].name
    }

    /// The route from a host to `dst`; `None` if there is no route.
    ///
    /// For a router the result is also `None`, because it has no addresses: see [`Network::next_hop`].
    pub fn route(&self, node: NodeId, dst: IpAddr) -> Option<Route> {
        let link = self.next_hop(node, dst)?;
        let own = self.addresses(node).iter().find(|interface| interface.link == link.link())?;
        Some(Route { link, ipv4: own.ipv4, ipv6: own.ipv6 })
    }

    /// The direction of the link over which `node` sends packets to `dst`.
    pub fn next_hop(&self, node: NodeId, dst: IpAddr) -> Option<LinkDir> {
        let interface = self.addresses.find(dst)?.interface();
        let outward = || self.nats.get(&node.0).filter(|nat| nat.outside[interface as usize]);
        let direction = self.routes.direction(node.0, interface);
        direction.or_else(|| outward().map(|nat| nat.outward)).map(LinkDir)
    }

    /// The links that packets from address `src` of `node` to `dst` cross, in order.
    /// If the route is incomplete, the list ends with the last link of the route.
    pub fn way(&self, node: NodeId, src: IpAddr, dst: IpAddr) -> Vec<LinkDir> {
        let first = self
            .addresses
            .find(src)
            .zip(self.addresses.find(dst))
            .and_then(|(src, dst)| Some(LinkDir(self.first_hop(node, src, dst)?)));
        let (mut way, mut next) = (Vec::new(), first);
        while let Some(direction) = next {
            way.push(direction);
            let channel = &self.channels[direction.index()];
            next = if channel.to_host { None } else { self.next_hop(NodeId(channel.to), dst) };
        }
        way
    }

    /// True if there is a route from address `src` of `node` to the host or NAT that has the address `dst`.
    pub fn reaches(&self, node: NodeId, src: IpAddr, dst: IpAddr) -> bool {
        let owns = |node: u32| {
            self.addresses(NodeId(node)).iter().any(|own| [own.ipv4.into(), own.ipv6.into()].contains(&dst))
        };
        self.way(node, src, dst).last().is_some_and(|last| owns(self.channels[last.index()].to))
    }

    /// The first link of packets from `src` of a host, as hosts with several uplinks route by source address:
    /// the link with the address `src`, if `dst` can be reached over it; otherwise the first link of the
    /// route to `dst`.
    #[inline]
    fn first_hop(&self, node: NodeId, src: AddressId, dst: AddressId) -> Option<u32> {
        let direction = self.routes.direction(node.0, dst.interface())?;
        let own = self.interfaces[src.interface() as usize].link;
        Some(if LinkDir(direction).link() == own {
            direction
        } else {
            self.by_source(node, own, dst, direction)
        })
    }

    #[cold]
    fn by_source(&self, node: NodeId, own: LinkId, dst: AddressId, otherwise: u32) -> u32 {
        let leads = |direction: &LinkDir| {
            let channel = &self.channels[direction.index()];
            let there = NodeId(channel.to);
            let found =
                self.addresses(there).iter().any(|own| *own == self.interfaces[dst.interface() as usize]);
            let leaves = self.channels[direction.reverse().index()].to == node.0;
            let further = !channel.to_host && self.next_hop(there, self.addresses.address(dst)).is_some();
            leaves && (found || further)
        };
        [own.forward(), own.backward()].into_iter().find(leads).map_or(otherwise, |direction| direction.0)
    }

    /// Sends a packet from a host: the bytes in `head`, then `outgoing.zeros` zero bytes.
    ///
    /// Leaves an empty buffer in `head`. A packet that cannot be sent (unknown address, addresses of two
    /// families, or no route) is dropped and counted: see [`Network::unroutable`].
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
            let direction = self.first_hop(from, src, dst)?;
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

    /// Handles an event at its time. Returns the packet if the event delivers one to a host.
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
            NetAction::Rebind(node) => {
                self.nats.entry(node.0).and_modify(Nat::rebind);
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

    /// The packet of a delivery.
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

    /// Returns the storage of a delivered packet.
    #[inline]
    pub fn release(&mut self, id: PacketId) {
        self.pool.release(id);
    }

    /// From now on, records the packets that arrive at a queue, for [`Network::take_arrivals`].
    pub fn watch(&mut self, direction: LinkDir) {
        self.channels[direction.index()].taps.get_or_insert_default().watched = true;
    }

    /// The packets that have arrived at watched queues since the last call.
    pub fn take_arrivals(&mut self) -> std::vec::Drain<'_, Arrival> {
        self.arrivals.drain(..)
    }

    /// The counters of one direction of a link.
    pub fn counters(&self, direction: LinkDir) -> &Counters {
        &self.channels[direction.index()].counters
    }

    /// The packets that wait for a transmitter at `now`, which must be the time of the kernel.
    pub fn backlog(&mut self, direction: LinkDir, now: Instant) -> Backlog {
        self.channels[direction.index()].backlog(now)
    }

    /// The average queue length of RED at the last arrival, in the unit of the queue.
    ///
    /// `None` for disciplines without an average, and on links that can change
    /// ([`NetworkBuilder::let_change`](crate::NetworkBuilder::let_change)).
    pub fn red_average(&self, direction: LinkDir) -> Option<f64> {
        self.channels[direction.index()].average_queue()
    }

    /// Number of packets dropped because of an unknown address or a missing route.
    pub fn unroutable(&self) -> u64 {
        self.unroutable
    }

    /// Number of links crossed, summed over all packets.
    pub fn packet_hops(&self) -> u64 {
        self.channels.iter().map(|channel| channel.counters.delivered).sum()
    }

    /// Number of packets in the network, or delivered and not released.
    pub fn packets_in_use(&self) -> usize {
        self.pool.in_use()
    }

    /// Hash of all deliveries to hosts, and of all changes of links.
    ///
    /// For each delivery the hash covers the time, link, size, number of
    /// stored bytes, and the first 16 stored bytes in whole words of 8 bytes.
    pub fn digest(&self) -> u64 {
        self.digest.value()
    }
}
