//! Packets at a NAT, and packets that have no route.

use super::Network;
use crate::address::AddressId;
use crate::event::Schedule;
use crate::ids::{LinkDir, NodeId};
use crate::nat::{Inside, NatCounters};
use crate::packet::{PacketId, Protocol};
use crate::parcel::Parcel;
use std::net::IpAddr;
use units::Instant;

impl Network {
    /// The counters of each NAT.
    pub fn nats(&self) -> impl Iterator<Item = (NodeId, NatCounters)> {
        self.nats.iter().map(|(&node, nat)| (NodeId(node), nat.counters))
    }

    /// The source address of packets from `src` at `node` when they arrive at `dst`, and the NAT nearest to
    /// `dst` that translated it, if there is one.
    pub fn source_at(&self, node: NodeId, src: IpAddr, dst: IpAddr) -> (IpAddr, Option<NodeId>) {
        let mut seen = (src, None);
        for direction in self.way(node, src, dst) {
            let at = self.channels[direction.reverse().index()].to;
            if let Some(nat) = self.nats.get(&at).filter(|nat| nat.outward == direction.0) {
                let address = AddressId::new(nat.interface, dst.is_ipv6());
                seen = (self.addresses.address(address), Some(NodeId(at)));
            }
        }
        seen
    }

    /// Handles a packet at a node without a route for it: a NAT translates the packet, any other node drops
    /// it.
    #[cold]
    pub(super) fn arrive_without_route(
        &mut self,
        schedule: &mut impl Schedule,
        direction: LinkDir,
        packet: PacketId,
        parcel: Parcel,
    ) {
        let node = self.channels[direction.index()].to;
        if !self.nats.contains_key(&node) {
            self.unroutable += 1;
            return self.pool.release(packet);
        }
        match self.translate(schedule.now(), node, direction, packet, parcel) {
            Some((next, parcel)) => self.enqueue_translated(schedule, next, packet, parcel.one_hop_on()),
            None => {
                self.nats.entry(node).and_modify(|nat| nat.counters.dropped += 1);
                self.pool.release(packet);
            }
        }
    }

    /// Translates a packet that has arrived at a NAT. Returns
    /// the next direction; `None` if the NAT drops the packet.
    fn translate(
        &mut self,
        now: Instant,
        node: u32,
        direction: LinkDir,
        packet: PacketId,
        parcel: Parcel,
    ) -> Option<(u32, Parcel)> {
        let ports = self.ports(packet);
        let nat = self.nats.get_mut(&node)?;
        let stored = self.pool.get_mut(packet);
        if stored.protocol != Protocol::Udp {
            return None;
        }
        if direction.reverse().0 == nat.outward {
            if parcel.dst != nat.interface {
                return None;
            }
            let to = nat.incoming(now, ports[1])?;
            if to.address.is_ipv6() != stored.dst.is_ipv6() {
                return None;
            }
            stored.dst = to.address;
            self.write_port(packet, 2, to.port);
            let dst = to.address.interface();
            return Some((self.routes.direction(node, dst)?, parcel.to(dst)));
        }
        if !nat.outside[parcel.dst as usize] {
            return None;
        }
        let port = nat.outgoing(now, Inside { address: stored.src, port: ports[0] })?;
        stored.src = AddressId::new(nat.interface, stored.src.is_ipv6());
        let outward = nat.outward;
        self.write_port(packet, 0, port);
        Some((outward, parcel))
    }

    /// Writes a port of a UDP header, and sets the checksum to zero (no checksum).
    fn write_port(&mut self, packet: PacketId, at: usize, port: u16) {
        let head = self.pool.head_mut(packet);
        for (at, value) in [(at, port), (6, 0)] {
            head.get_mut(at..at + 2)
                .into_iter()
                .for_each(|field| field.copy_from_slice(&value.to_be_bytes()));
        }
    }
}
