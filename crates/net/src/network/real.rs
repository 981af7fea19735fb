//! Whole IP packets of real hosts.

use super::{Network, NodeInfo};
use crate::address::InterfaceAddress;
use crate::event::Schedule;
use crate::ids::{LinkId, NodeId};
use crate::ip::Whole;
use crate::packet::Protocol;
use crate::parcel::Parcel;
use std::net::IpAddr;

impl Network {
    /// The node with this name.
    pub fn node(&self, name: &str) -> Option<NodeId> {
        (0..).zip(&self.nodes).find(|(_, node)| node.name == name).map(|(number, _)| NodeId(number))
    }

    /// The host that has this address now.
    pub fn host_of(&self, address: IpAddr) -> Option<NodeId> {
        let has = |own: &InterfaceAddress| address == own.ipv4 || address == own.ipv6;
        let at = self.current.iter().position(has)?;
        let owns = |node: &NodeInfo| node.host.is_some_and(|host| (host.first..host.end).contains(&at));
        (0..).zip(&self.nodes).find(|(_, node)| owns(node)).map(|(number, _)| NodeId(number))
    }

    /// All links, in the order of creation.
    pub fn links(&self) -> impl Iterator<Item = LinkId> + use<> {
        (0..self.channels.len() as u32 / 2).map(LinkId)
    }

    /// Sends a whole IP packet from a real host. Leaves an empty buffer in `bytes`.
    ///
    /// A packet to an unknown address or without a route is dropped and counted: see [`Network::unroutable`].
    pub fn send_whole(
        &mut self,
        schedule: &mut impl Schedule,
        from: NodeId,
        whole: &Whole,
        bytes: &mut Vec<u8>,
    ) {
        let way = self.addresses.find(whole.src).zip(self.addresses.find(whole.dst));
        let way = way.and_then(|(src, dst)| Some((src, dst, self.first_hop(from, src, dst)?)));
        let Some((src, dst, direction)) = way else {
            self.unroutable += 1;
            return bytes.clear();
        };
        let size = bytes.len() as u32;
        let packet = self.pool.store(bytes, 0, src, dst, Protocol::Opaque, whole.ecn);
        self.pool.get_mut(packet).sent_at = schedule.now();
        self.enqueue_translated(
            schedule,
            direction,
            packet,
            Parcel::new(dst.interface(), size, 0, whole.ecn),
        );
    }
}
