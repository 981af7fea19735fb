//! The host adapter: what a kernel does between the network and the sockets. It feeds delivered packets to the
//! endpoint of their port, drains what the endpoint has to say, and keeps one wake-up pending for each endpoint.

mod owners;
mod ports;
mod sctp;
mod tcp;
mod transport;
pub(crate) mod udp;

pub(crate) use transport::{ConnId, Counted, Ending, Endpoint, Event, PathCounts, PathView, Transport};

use crate::app::{Flow, Lane, Reaction, Side};
use crate::world::LabEvent;
use ::transport::{Datagram, Octets, PacketBuf, Transmit};
use des::{Alarm, Kernel, Wake};
use net::{Delivered, Network, NodeId, Outgoing, Packet};
use owners::Owners;
use ports::Ports;
use std::net::IpAddr;
use transport::with;
use units::Instant;

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

/// An endpoint in its host. What a packet looks at lies together: of many endpoints few are in the cache.
#[derive(Debug)]
#[repr(C, align(64))]
struct Slot {
    seat: Seat,
    endpoint: Endpoint,
}

/// What an endpoint has around it.
#[derive(Debug)]
struct Seat {
    id: EndpointId,
    node: NodeId,
    alarm: Alarm,
    owners: Owners,
    /// The flows that come to this endpoint, by the client's address and port.
    expected: Vec<(IpAddr, u16, usize)>,
}

/// One end of a flow, by its place among all flows; behind them come the lanes of transfers.
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
    /// Transfers, numbered on behind the flows.
    pub(crate) lanes: &'a mut [Lane],
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
        self.ports[node.index()].set(endpoint.protocol(), port, id);
        let seat = Seat { id, node, alarm: Alarm::new(), owners: Owners::default(), expected: Vec::new() };
        self.slots.push(Slot { endpoint, seat });
        id
    }

    /// Announces that the client of `flow` connects from any of `addresses` and `port` to this endpoint.
    pub(crate) fn expect(&mut self, id: EndpointId, addresses: &[IpAddr], port: u16, flow: usize) {
        let Slot { endpoint, seat } = &mut self.slots[id.0 as usize];
        seat.expected.extend(addresses.iter().map(|&address| (address, port, flow)));
        seat.expected.sort_unstable();
        endpoint.listen();
    }

    /// The endpoint itself. After a change it must be settled.
    pub(crate) fn endpoint(&mut self, id: EndpointId) -> &mut Endpoint {
        &mut self.slots[id.0 as usize].endpoint
    }

    /// Notes whose connection `conn` is.
    pub(crate) fn own(&mut self, id: EndpointId, conn: ConnId, owner: Owner) {
        self.slots[id.0 as usize].seat.owners.insert(conn, owner);
    }

    /// Hands a delivered packet to the endpoint of its port. What no endpoint waits for is lost, as on a host that
    /// does not speak the protocol. Returns the endpoint, settled.
    #[inline]
    pub(crate) fn deliver(
        &mut self,
        delivered: Delivered,
        around: &mut Surroundings<'_>,
    ) -> Option<EndpointId> {
        let packet = around.network.packet(delivered.packet);
        let port = packet.head.get(2..4).map(|port| u16::from_be_bytes([port[0], port[1]]));
        let id = port.and_then(|port| self.ports[delivered.node.index()].get(packet.protocol, port));
        let Some(id) = id else {
            around.network.release(delivered.packet);
            return None;
        };
        let Slot { endpoint, seat } = &mut self.slots[id.0 as usize];
        with!(endpoint, endpoint => {
            Transport::handle(endpoint, around.kernel.now(), datagram(&packet));
            around.network.release(delivered.packet);
            seat.settle(endpoint, &mut self.buf, around);
        });
        Some(id)
    }

    /// Runs the timers of an endpoint whose wake-up event has come. Returns true if there was one to run.
    #[inline]
    pub(crate) fn wake(&mut self, id: EndpointId, around: &mut Surroundings<'_>) -> bool {
        let Slot { endpoint, seat } = &mut self.slots[id.0 as usize];
        let now = around.kernel.now();
        match seat.alarm.fire(now) {
            Wake::Due => {
                with!(endpoint, endpoint => {
                    Transport::handle_timeout(endpoint, now);
                    seat.settle(endpoint, &mut self.buf, around);
                });
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
        let Slot { endpoint, seat } = &mut self.slots[id.0 as usize];
        with!(endpoint, endpoint => seat.settle(endpoint, &mut self.buf, around));
    }
}

/// A delivered packet as transports see it.
#[inline]
fn datagram<'a>(packet: &Packet<'a>) -> Datagram<'a> {
    let bytes = Octets::new(packet.head, packet.zeros);
    Datagram {
        ecn: packet.ecn,
        sent_at: Some(packet.sent_at),
        ..Datagram::new(packet.src, packet.dst, bytes)
    }
}

impl Seat {
    #[inline]
    fn settle<T: Transport>(&mut self, endpoint: &mut T, buf: &mut PacketBuf, around: &mut Surroundings<'_>) {
        let now = around.kernel.now();
        loop {
            while let Some((conn, event)) = endpoint.poll_event() {
                self.tell(now, endpoint, conn, event, around);
            }
            if !self.transmit(now, endpoint, buf, around) {
                break;
            }
        }
        let due = endpoint.poll_timeout().unwrap_or(Instant::FAR);
        if let Some(at) = self.alarm.set(due) {
            around.kernel.schedule(at, LabEvent::Wake(self.id));
        }
    }

    /// Sends all packets the endpoint has; true if there was one.
    #[inline]
    fn transmit<T: Transport>(
        &mut self,
        now: Instant,
        endpoint: &mut T,
        buf: &mut PacketBuf,
        around: &mut Surroundings<'_>,
    ) -> bool {
        let mut sent = false;
        while let Some(Transmit { src, dst, ecn, .. }) = endpoint.poll_transmit(now, buf) {
            let outgoing = Outgoing { src, dst, protocol: endpoint.protocol(), ecn, zeros: buf.zeros };
            around.network.send(around.kernel, self.node, outgoing, &mut buf.head);
            sent = true;
        }
        sent
    }

    /// Hands an event to the application it concerns.
    #[inline]
    fn tell<T: Transport>(
        &mut self,
        now: Instant,
        endpoint: &mut T,
        conn: ConnId,
        event: Event,
        around: &mut Surroundings<'_>,
    ) {
        let Some(owner) = self.owner(endpoint, conn) else { return };
        let place = owner.flow as usize;
        let reaction = match around.flows.get_mut(place) {
            Some(flow) => flow.on_event(now, owner.side, endpoint, conn, event),
            None => {
                if matches!(event, Event::Closed(_)) {
                    self.owners.remove(conn);
                }
                let lane = &mut around.lanes[place - around.flows.len()];
                lane.on_event(now, owner.side, endpoint, conn, event)
            }
        };
        if reaction != Reaction::None {
            around.signals.push(Signal { owner, reaction });
        }
    }

    /// Whose connection this is. One the peer began belongs to the flow that is expected from there.
    #[inline]
    fn owner(&mut self, endpoint: &impl Transport, conn: ConnId) -> Option<Owner> {
        self.owners.get(conn).or_else(|| self.accept(endpoint, conn))
    }

    #[cold]
    fn accept(&mut self, endpoint: &impl Transport, conn: ConnId) -> Option<Owner> {
        let peer = endpoint.peer(conn)?;
        let at = self.expected.binary_search_by_key(&peer, |&(address, port, _)| (address, port)).ok()?;
        let owner = Owner { flow: self.expected[at].2 as u32, side: Side::Server };
        self.owners.insert(conn, owner);
        Some(owner)
    }
}
