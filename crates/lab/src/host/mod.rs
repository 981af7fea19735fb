//! The host adapter: the counterpart of the operating system's kernel between network and sockets.
//!
//! The adapter passes delivered packets to the endpoint at their port, the events of an endpoint to the
//! application, and the packets of an endpoint to the network. It keeps one wake-up event pending for each
//! endpoint.

mod any;
pub(crate) mod encapsulation;
mod endpoint;
mod log;
mod owners;
mod ports;
mod sctp;
mod tcp;
pub(crate) mod udp;

pub(crate) use any::Endpoint;
pub(crate) use endpoint::{ConnId, Counted, Ending, Event, PathCounts, PathView, Service, Transport};

pub(crate) use log::{ChunkLog, Note, Noted, numbers};

use any::with;
use des::{Alarm, Kernel, Wake};
use endpoint::Protocolled;
use net::{Delivered, InterfaceAddress, NetEvent, Network, NodeId, Outgoing, Packet, Protocol};
use owners::Owners;
use ports::Ports;
use std::net::IpAddr;
use transport::{Datagram, Octets, PacketBuf, Transmit};
use units::Instant;

/// Number of an endpoint of the simulation, in the order of creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EndpointId(u32);

/// All endpoints of all hosts.
#[derive(Debug, Default)]
pub(crate) struct Hosts {
    slots: Vec<Slot>,
    /// Ports by node.
    ports: Vec<Ports>,
    buf: PacketBuf,
    /// The folder for the qlog files of associations, if they are wanted.
    qlog: Option<qlog::Folder>,
}

/// An endpoint with its socket, adjacent in memory to reduce cache misses.
#[derive(Debug)]
#[repr(C, align(64))]
struct Slot {
    socket: Socket,
    endpoint: Endpoint,
}

/// Data of the host about an endpoint.
#[derive(Debug)]
#[repr(C)] // the fields that each packet needs come first
struct Socket {
    id: EndpointId,
    node: NodeId,
    alarm: Alarm,
    /// Recorded chunks, while a probe watches the endpoint.
    log: Option<Box<ChunkLog>>,
    owners: Owners,
    /// The applications whose clients will connect to this endpoint, by the client's address and port.
    expected: Vec<(IpAddr, u16, u32)>,
}

/// An end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// The end that connects.
    Client,
    /// The end that listens.
    Server,
}

/// One end of an application: the number of the application, and the side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) number: u32,
    pub(crate) side: Side,
}

/// The applications that use the endpoints.
pub(crate) trait Application {
    /// Processes an event of the connection `conn` of `endpoint`, which belongs to `owner`. Returns true if
    /// the owner needs no more events of this connection.
    fn on_event<T: Transport>(
        &mut self,
        now: Instant,
        owner: Owner,
        endpoint: &mut T,
        conn: ConnId,
        event: Event,
    ) -> bool;
}

/// The event type of the simulation, which includes network events and wake-ups of endpoints.
pub(crate) trait HostEvent: Copy + From<NetEvent> + From<EndpointId> {}

impl<E: Copy + From<NetEvent> + From<EndpointId>> HostEvent for E {}

/// The parts of the simulation that an endpoint uses.
pub(crate) struct Surroundings<'a, E, A> {
    pub(crate) kernel: &'a mut Kernel<E>,
    pub(crate) network: &'a mut Network,
    pub(crate) applications: A,
}

impl Hosts {
    /// Hosts without endpoints, for a network of `nodes` nodes.
    pub(crate) fn new(nodes: usize, qlog: Option<qlog::Folder>) -> Self {
        Hosts { slots: Vec::new(), ports: vec![Ports::default(); nodes], buf: PacketBuf::default(), qlog }
    }

    /// Binds an endpoint to `port` of `node`, which must be free.
    pub(crate) fn add(&mut self, node: NodeId, port: u16, mut endpoint: Endpoint) -> EndpointId {
        if let (Endpoint::Sctp(endpoint), Some(folder)) = (&mut endpoint, &self.qlog) {
            endpoint.observe(folder.clone());
        }
        let id = EndpointId(self.slots.len() as u32);
        self.ports[node.index()].set(endpoint.protocol(), port, id);
        let socket = Socket {
            id,
            node,
            alarm: Alarm::new(),
            owners: Owners::default(),
            expected: Vec::new(),
            log: None,
        };
        self.slots.push(Slot { endpoint, socket });
        id
    }

    /// Announces that the client of application `number` will connect to this endpoint from `port` and any of
    /// `addresses`.
    pub(crate) fn expect(&mut self, id: EndpointId, addresses: &[IpAddr], port: u16, number: usize) {
        let Slot { endpoint, socket } = &mut self.slots[id.0 as usize];
        socket.expected.extend(addresses.iter().map(|&address| (address, port, number as u32)));
        socket.expected.sort_unstable();
        endpoint.listen();
    }

    /// Returns the endpoint. After a change of the endpoint the caller must call [`Self::settle`].
    pub(crate) fn endpoint(&mut self, id: EndpointId) -> &mut Endpoint {
        &mut self.slots[id.0 as usize].endpoint
    }

    /// The log of an SCTP endpoint: its chunks since the log was last taken. The first call begins the
    /// recording. `None` for other protocols.
    pub(crate) fn log(&mut self, id: EndpointId) -> Option<&mut ChunkLog> {
        let Slot { endpoint, socket } = &mut self.slots[id.0 as usize];
        matches!(endpoint, Endpoint::Sctp(_)).then(|| &mut **socket.log.get_or_insert_default())
    }

    /// As [`Hosts::log`], but also records sent data segments of TCP.
    pub(crate) fn watch(&mut self, id: EndpointId) -> Option<&mut ChunkLog> {
        let Slot { endpoint, socket } = &mut self.slots[id.0 as usize];
        let watched = !matches!(endpoint, Endpoint::Udp(_));
        watched.then(|| &mut **socket.log.get_or_insert_default())
    }

    /// Ends the recording of an endpoint.
    pub(crate) fn unwatch(&mut self, id: EndpointId) {
        self.slots[id.0 as usize].socket.log = None;
    }

    /// Sets the owner of the connection `conn`.
    pub(crate) fn own(&mut self, id: EndpointId, conn: ConnId, owner: Owner) {
        self.slots[id.0 as usize].socket.owners.insert(conn, owner);
    }

    /// Passes a delivered packet to the endpoint at its port, polls this endpoint and returns its id. Drops a
    /// packet for a port without an endpoint.
    #[inline]
    pub(crate) fn deliver(
        &mut self,
        delivered: Delivered,
        around: &mut Surroundings<'_, impl HostEvent, impl Application>,
    ) -> Option<EndpointId> {
        if around.network.is_to_old_address(delivered) {
            around.network.release(delivered.packet);
            return None;
        }
        let packet = around.network.packet(delivered.packet);
        let Some((id, datagram)) = receiver(&self.ports[delivered.node.index()], &packet) else {
            around.network.release(delivered.packet);
            return None;
        };
        let Slot { endpoint, socket } = &mut self.slots[id.0 as usize];
        if let (Some(log), Endpoint::Sctp(_)) = (&mut socket.log, &*endpoint) {
            log.received(around.kernel.now(), datagram.dst, datagram.src, datagram.bytes);
        }
        with!(endpoint, endpoint => {
            transport::Endpoint::handle(endpoint, around.kernel.now(), datagram);
            around.network.release(delivered.packet);
            socket.settle(endpoint, &mut self.buf, around);
        });
        Some(id)
    }

    /// Notifies the hosts at both ends of a link that it failed or was repaired: SCTP associations remove
    /// their address on the link, or add it again.
    pub(crate) fn carrier(
        &mut self,
        link: usize,
        up: bool,
        around: &mut Surroundings<'_, impl HostEvent, impl Application>,
    ) {
        self.change_addresses(around, |now, socket, network, endpoint, id| {
            let interfaces = network.addresses(socket.node).iter();
            for address in interfaces.filter(|interface| interface.link.index() == link).flat_map(both) {
                // An association that has no other path, or never had the address, goes on as before.
                let _ = match up {
                    true => endpoint.restore_local_address(now, id, address),
                    false => endpoint.remove_local_address(now, id, address),
                };
            }
        });
    }

    /// Changes an address of a host: SCTP associations remove the old address and add the new one.
    pub(crate) fn renumber(
        &mut self,
        node: NodeId,
        [old, new]: [InterfaceAddress; 2],
        around: &mut Surroundings<'_, impl HostEvent, impl Application>,
    ) {
        self.change_addresses(around, |now, socket, _, endpoint, id| {
            for (old, new) in both(&old).into_iter().zip(both(&new)).filter(|_| socket.node == node) {
                if endpoint.remove_local_address(now, id, old).is_ok() {
                    // The new address cannot be added if the peer does not support ASCONF.
                    let _ = endpoint.add_local_address(now, id, new);
                }
            }
        });
    }

    /// Changes the local addresses of all SCTP associations of a host.
    fn change_addresses<E: HostEvent, A: Application>(
        &mut self,
        around: &mut Surroundings<'_, E, A>,
        change: impl Fn(Instant, &Socket, &Network, &mut ::sctp::Endpoint, ::sctp::AssocId),
    ) {
        let now = around.kernel.now();
        for Slot { endpoint, socket } in &mut self.slots {
            let Endpoint::Sctp(endpoint) = endpoint else { continue };
            let associations: Vec<_> = endpoint.associations().collect();
            for id in associations {
                change(now, socket, around.network, endpoint, id);
            }
            socket.settle(endpoint, &mut self.buf, around);
        }
    }

    /// Runs the timers of an endpoint at its wake-up event. Returns true if a timer was due.
    #[inline]
    pub(crate) fn wake(
        &mut self,
        id: EndpointId,
        around: &mut Surroundings<'_, impl HostEvent, impl Application>,
    ) -> bool {
        let Slot { endpoint, socket } = &mut self.slots[id.0 as usize];
        let now = around.kernel.now();
        match socket.alarm.fire(now) {
            Wake::Due => {
                with!(endpoint, endpoint => {
                    transport::Endpoint::handle_timeout(endpoint, now);
                    socket.settle(endpoint, &mut self.buf, around);
                });
                true
            }
            Wake::Later(at) => {
                around.kernel.schedule(at, id.into());
                false
            }
            Wake::Stale => false,
        }
    }

    /// Polls an endpoint after a change: passes its events to the applications and its packets to the
    /// network, then schedules its wake-up.
    #[inline]
    pub(crate) fn settle(
        &mut self,
        id: EndpointId,
        around: &mut Surroundings<'_, impl HostEvent, impl Application>,
    ) {
        let Slot { endpoint, socket } = &mut self.slots[id.0 as usize];
        with!(endpoint, endpoint => socket.settle(endpoint, &mut self.buf, around));
    }
}

/// The addresses of both IP versions.
fn both(interface: &InterfaceAddress) -> [IpAddr; 2] {
    [interface.ipv4.into(), interface.ipv6.into()]
}

/// The destination endpoint of a packet, and the packet as a [`Datagram`].
#[inline]
fn receiver<'a>(ports: &Ports, packet: &Packet<'a>) -> Option<(EndpointId, Datagram<'a>)> {
    match at_port(ports, packet.protocol, packet.head) {
        Some(id) => Some((id, datagram(packet))),
        None => {
            let inner = encapsulation::unwrap(packet)?;
            Some((at_port(ports, Protocol::Sctp, inner.bytes.head)?, inner))
        }
    }
}

/// The endpoint at the destination port of a packet.
#[inline]
fn at_port(ports: &Ports, protocol: Protocol, head: &[u8]) -> Option<EndpointId> {
    let port = head.get(2..4)?;
    ports.get(protocol, u16::from_be_bytes([port[0], port[1]]))
}

#[inline]
fn datagram<'a>(packet: &Packet<'a>) -> Datagram<'a> {
    let bytes = Octets::new(packet.head, packet.zeros);
    Datagram {
        ecn: packet.ecn,
        sent_at: Some(packet.sent_at),
        ..Datagram::new(packet.src, packet.dst, bytes)
    }
}

impl Socket {
    #[inline]
    fn settle<T: Protocolled>(
        &mut self,
        endpoint: &mut T,
        buf: &mut PacketBuf,
        around: &mut Surroundings<'_, impl HostEvent, impl Application>,
    ) {
        let now = around.kernel.now();
        loop {
            while let Some((id, event)) = endpoint.poll_event() {
                let (conn, event) = T::shared(id, event);
                self.tell(now, endpoint, conn, event, around);
            }
            if !self.transmit(now, endpoint, buf, around) {
                break;
            }
        }
        let due = endpoint.poll_timeout().unwrap_or(Instant::FAR);
        if let Some(at) = self.alarm.set(due) {
            around.kernel.schedule(at, self.id.into());
        }
    }

    /// Sends all packets of the endpoint. Returns true if there was a packet.
    #[inline]
    fn transmit<T: Protocolled>(
        &mut self,
        now: Instant,
        endpoint: &mut T,
        buf: &mut PacketBuf,
        around: &mut Surroundings<'_, impl HostEvent, impl Application>,
    ) -> bool {
        let mut sent = false;
        while let Some(Transmit { src, dst, udp_port, ecn, .. }) = endpoint.poll_transmit(now, buf) {
            let mut protocol = endpoint.protocol();
            if let Some(log) = &mut self.log {
                log.sent(now, protocol, [src, dst], buf.as_octets());
            }
            if udp_port != 0 {
                encapsulation::wrap(buf, udp_port);
                protocol = Protocol::Udp;
            }
            let outgoing = Outgoing { src, dst, protocol, ecn, zeros: buf.zeros };
            around.network.send(around.kernel, self.node, outgoing, &mut buf.head);
            sent = true;
        }
        sent
    }

    /// Passes an event to the application that owns the connection.
    #[inline]
    fn tell<T: Transport>(
        &mut self,
        now: Instant,
        endpoint: &mut T,
        conn: ConnId,
        event: Event,
        around: &mut Surroundings<'_, impl HostEvent, impl Application>,
    ) {
        let Some(owner) = self.owner(endpoint, conn) else { return };
        if around.applications.on_event(now, owner, endpoint, conn, event) {
            self.owners.remove(conn);
        }
    }

    /// The owner of a connection. A connection that a peer opened belongs to the application announced for
    /// that peer.
    #[inline]
    fn owner(&mut self, endpoint: &impl Transport, conn: ConnId) -> Option<Owner> {
        self.owners.get(conn).or_else(|| self.accept(endpoint, conn))
    }

    #[cold]
    fn accept(&mut self, endpoint: &impl Transport, conn: ConnId) -> Option<Owner> {
        let peer = endpoint.peer(conn)?;
        let at = self.expected.binary_search_by_key(&peer, |&(address, port, _)| (address, port)).ok()?;
        let owner = Owner { number: self.expected[at].2, side: Side::Server };
        self.owners.insert(conn, owner);
        Some(owner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::transport::Checksum;
    use des::Streams;
    use net::{NetworkBuilder, NodeKind};
    use units::Span;

    /// A substitute for the events of the simulation; its content is not used.
    #[derive(Clone, Copy, Debug)]
    struct Any;

    impl From<NetEvent> for Any {
        fn from(_: NetEvent) -> Self {
            Any
        }
    }

    impl From<EndpointId> for Any {
        fn from(_: EndpointId) -> Self {
            Any
        }
    }

    /// Records every event, and needs no more events of a closed connection.
    #[derive(Default)]
    struct Recorder(Vec<(Owner, Event)>);

    impl Application for &mut Recorder {
        fn on_event<T: Transport>(
            &mut self,
            _: Instant,
            owner: Owner,
            _: &mut T,
            _: ConnId,
            event: Event,
        ) -> bool {
            self.0.push((owner, event.clone()));
            matches!(event, Event::Closed(_))
        }
    }

    #[test]
    fn events_go_to_the_application_that_expects_the_peer_until_it_needs_no_more() {
        let [server, client] = [[10, 0, 0, 1], [10, 0, 0, 2]].map(IpAddr::from);
        let mut builder = NetworkBuilder::new();
        let node = builder.add_node("server", NodeKind::Host { jitter: Span::ZERO });
        let mut network = builder.configure(&Streams::new(1, 0)).unwrap();
        let (mut kernel, mut recorder) = (Kernel::<Any>::new(), Recorder::default());
        let mut hosts = Hosts::new(1, None);
        let endpoint = udp::Endpoint::new(9000, vec![server], Checksum::Offloaded);
        let id = hosts.add(node, 9000, Endpoint::Udp(endpoint));
        hosts.expect(id, &[client], 9001, 7);

        let mut settle = |hosts: &mut Hosts| {
            let applications = &mut recorder;
            hosts.settle(id, &mut Surroundings { kernel: &mut kernel, network: &mut network, applications });
            std::mem::take(&mut recorder.0)
        };
        let owner = Owner { number: 7, side: Side::Server };
        let Endpoint::Udp(udp) = hosts.endpoint(id) else { unreachable!("it was added as UDP") };
        let conn = udp.open(server, client, 9001);
        assert_eq!(settle(&mut hosts), [(owner, Event::Connected)]);
        let Endpoint::Udp(udp) = hosts.endpoint(id) else { unreachable!("it was added as UDP") };
        udp.open(server, client, 9002);
        assert_eq!(settle(&mut hosts), [], "no application expects a client at that port");

        let later = Owner { number: 8, side: Side::Client };
        hosts.own(id, conn, later);
        hosts.endpoint(id).shutdown(Instant::ZERO, conn);
        assert_eq!(settle(&mut hosts), [(later, Event::Closed(Ending::Graceful))]);
        assert_eq!(hosts.slots[0].socket.owners.get(conn), None);
    }
}
