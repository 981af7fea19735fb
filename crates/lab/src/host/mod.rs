//! The host adapter: what a kernel does between the network and the sockets. It feeds delivered packets to the
//! endpoint of their port, drains what the endpoint has to say, and keeps one wake-up pending for each endpoint.

mod ports;

use crate::app::{Flow, Reaction, Side};
use crate::world::LabEvent;
use des::{Alarm, Kernel, Wake};
use net::{Delivered, Ecn, Network, NodeId, Outgoing, Protocol};
use ports::Ports;
use sctp::{AssocId, Datagram, Endpoint, Event};
use std::net::IpAddr;
use units::Instant;
use wire::{Octets, PacketBuf};

/// An endpoint of the simulation, in the order of creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EndpointId(u32);

/// All endpoints of all hosts.
#[derive(Debug, Default)]
pub(crate) struct Hosts {
    slots: Vec<Slot>,
    /// By node.
    ports: Vec<Ports>,
    buf: PacketBuf,
}

/// An endpoint in its host.
#[derive(Debug)]
struct Slot {
    endpoint: Endpoint,
    node: NodeId,
    alarm: Alarm,
    /// Whose associations these are, in the order of their ids.
    owners: Vec<(AssocId, Owner)>,
    /// The flows that come to this endpoint, by the client's address and port.
    expected: Vec<(IpAddr, u16, usize)>,
}

/// One end of a flow, by its place among all flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) flow: u32,
    pub(crate) side: Side,
}

/// Something a flow has to react to as a whole.
#[derive(Clone, Debug)]
pub(crate) struct Signal {
    pub(crate) owner: Owner,
    pub(crate) reaction: Reaction,
}

/// What an endpoint needs of the world around it.
pub(crate) struct Surroundings<'a> {
    pub(crate) kernel: &'a mut Kernel<LabEvent>,
    pub(crate) network: &'a mut Network,
    pub(crate) flows: &'a mut [Flow],
    /// What the flows have to react to, in the order it happened.
    pub(crate) signals: &'a mut Vec<Signal>,
}

impl Hosts {
    /// Hosts without endpoints, for a network of `nodes` nodes.
    pub(crate) fn new(nodes: usize) -> Self {
        Hosts { slots: Vec::new(), ports: vec![Ports::default(); nodes], buf: PacketBuf::default() }
    }

    /// Puts an endpoint on `port` of `node`, which must be free.
    pub(crate) fn add(&mut self, node: NodeId, port: u16, endpoint: Endpoint) -> EndpointId {
        let id = EndpointId(self.slots.len() as u32);
        self.ports[node.index()].set(port, id);
        self.slots.push(Slot {
            endpoint,
            node,
            alarm: Alarm::new(),
            owners: Vec::new(),
            expected: Vec::new(),
        });
        id
    }

    /// Announces that the client of `flow` connects from any of `addresses` and `port` to this endpoint.
    pub(crate) fn expect(&mut self, id: EndpointId, addresses: &[IpAddr], port: u16, flow: usize) {
        let slot = &mut self.slots[id.0 as usize];
        slot.expected.extend(addresses.iter().map(|&address| (address, port, flow)));
        slot.expected.sort_unstable();
        slot.endpoint.listen(true);
    }

    /// The endpoint itself. After a change it must be settled.
    pub(crate) fn endpoint(&mut self, id: EndpointId) -> &mut Endpoint {
        &mut self.slots[id.0 as usize].endpoint
    }

    /// Notes whose association `assoc` is.
    pub(crate) fn own(&mut self, id: EndpointId, assoc: AssocId, owner: Owner) {
        self.slots[id.0 as usize].own(assoc, owner);
    }

    /// Hands a delivered packet to the endpoint of its port. What no endpoint waits for is lost, as on a host that
    /// does not speak SCTP. Returns the endpoint, settled.
    #[inline]
    pub(crate) fn deliver(
        &mut self,
        delivered: Delivered,
        around: &mut Surroundings<'_>,
    ) -> Option<EndpointId> {
        let packet = around.network.packet(delivered.packet);
        let id = packet
            .head
            .get(2..4)
            .and_then(|port| self.ports[delivered.node.index()].get(u16::from_be_bytes([port[0], port[1]])));
        if let Some(id) = id {
            let bytes = Octets::new(packet.head, packet.zeros);
            let datagram = Datagram { src: packet.src, dst: packet.dst, bytes };
            self.slots[id.0 as usize].endpoint.handle(around.kernel.now(), datagram);
        }
        around.network.release(delivered.packet);
        self.settle(id?, around);
        id
    }

    /// Runs the timers of an endpoint whose wake-up event has come. Returns true if there was one to run.
    #[inline]
    pub(crate) fn wake(&mut self, id: EndpointId, around: &mut Surroundings<'_>) -> bool {
        let slot = &mut self.slots[id.0 as usize];
        let now = around.kernel.now();
        match slot.alarm.fire(now) {
            Wake::Due => {
                slot.endpoint.handle_timeout(now);
                self.settle(id, around);
                true
            }
            Wake::Later(at) => {
                around.kernel.schedule(at, LabEvent::Wake(id));
                false
            }
            Wake::Stale => false,
        }
    }

    /// Drains an endpoint after a change: events to the applications, packets to the network, then the wake-up.
    #[inline]
    pub(crate) fn settle(&mut self, id: EndpointId, around: &mut Surroundings<'_>) {
        let slot = &mut self.slots[id.0 as usize];
        let now = around.kernel.now();
        loop {
            while let Some((assoc, event)) = slot.endpoint.poll_event() {
                slot.tell(now, assoc, event, around);
            }
            if !slot.transmit(now, &mut self.buf, around) {
                break;
            }
        }
        let due = slot.endpoint.poll_timeout().unwrap_or(Instant::FAR);
        if let Some(at) = slot.alarm.set(due) {
            around.kernel.schedule(at, LabEvent::Wake(id));
        }
    }
}

impl Slot {
    /// Sends all packets the endpoint has; true if there was one.
    #[inline]
    fn transmit(&mut self, now: Instant, buf: &mut PacketBuf, around: &mut Surroundings<'_>) -> bool {
        let mut sent = false;
        while let Some(transmit) = self.endpoint.poll_transmit(now, buf) {
            let (src, dst, zeros) = (transmit.src, transmit.dst, buf.zeros);
            let outgoing = Outgoing { src, dst, protocol: Protocol::Sctp, ecn: Ecn::NotCapable, zeros };
            around.network.send(around.kernel, self.node, outgoing, &mut buf.head);
            sent = true;
        }
        sent
    }

    /// Hands an event to the application it concerns.
    #[inline]
    fn tell(&mut self, now: Instant, assoc: AssocId, event: Event, around: &mut Surroundings<'_>) {
        let Some(owner) = self.owner(assoc) else { return };
        let meter = around.flows[owner.flow as usize].meter(owner.side);
        let reaction = meter.on_event(now, &mut self.endpoint, assoc, event);
        if reaction != Reaction::None {
            around.signals.push(Signal { owner, reaction });
        }
    }

    /// Whose association this is. One the peer began belongs to the flow that is expected from there.
    #[inline]
    fn owner(&mut self, assoc: AssocId) -> Option<Owner> {
        // Ids count up from zero, so the first guess nearly always hits.
        match self.owners.get(assoc.0 as usize) {
            Some(&(id, owner)) if id == assoc => Some(owner),
            _ => self.search(assoc),
        }
    }

    #[cold]
    fn search(&mut self, assoc: AssocId) -> Option<Owner> {
        match self.owners.binary_search_by_key(&assoc, |(id, _)| *id) {
            Ok(place) => Some(self.owners[place].1),
            Err(_) => self.accept(assoc),
        }
    }

    fn accept(&mut self, assoc: AssocId) -> Option<Owner> {
        let port = self.endpoint.peer_port(assoc)?;
        let remote = self.endpoint.paths(assoc)?.next()?.remote;
        let at = self
            .expected
            .binary_search_by_key(&(remote, port), |&(address, port, _)| (address, port))
            .ok()?;
        let owner = Owner { flow: self.expected[at].2 as u32, side: Side::Server };
        self.own(assoc, owner);
        Some(owner)
    }

    fn own(&mut self, assoc: AssocId, owner: Owner) {
        let at = self.owners.partition_point(|(id, _)| *id < assoc);
        self.owners.insert(at, (assoc, owner));
    }
}
