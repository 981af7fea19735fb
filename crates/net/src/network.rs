use crate::address::{AddressTable, InterfaceAddress};
use crate::capture::{Capture, FinishPacket, Sighting, Tap};
use crate::channel::{BitError, Channel, Passage};
use crate::counters::{Counters, DropCause};
use crate::event::{NetAction, NetEvent, Schedule};
use crate::flights::{Flight, Parcel};
use crate::packet::{Outgoing, Packet, PacketId, Pool, Protocol};
use crate::queue::Backlog;
use crate::routing::Routes;
use crate::topology::{LinkDir, LinkId, NodeId};
use des::Digest;
use std::io::{self, Write};
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
        self.enqueue(schedule, direction, packet, Parcel::new(dst.interface(), size, 0));
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

    #[inline]
    fn enqueue(&mut self, schedule: &mut impl Schedule, direction: u32, packet: PacketId, parcel: Parcel) {
        let now = schedule.now();
        let channel = &mut self.channels[direction as usize];
        match channel.offer(now, parcel) {
            Ok(passage) => {
                if channel.to_host {
                    self.pool.prefetch(packet);
                }
                if channel.taps.sender.is_some() | channel.taps.watched {
                    self.note_arrival(now, direction, packet);
                    self.record_sent(now, direction, packet, parcel, Sighting::Sent);
                }
                if self.channels[direction as usize].wire.is_some() {
                    self.cross_bad_wire(schedule, direction, packet, parcel, passage);
                } else {
                    self.fly(schedule, direction, Some(packet), parcel, passage);
                }
            }
            Err(cause) => {
                self.note_arrival(now, direction, packet);
                self.lose(now, direction, packet, parcel, cause);
            }
        }
    }

    #[cold]
    fn note_arrival(&mut self, at: Instant, direction: u32, packet: PacketId) {
        if self.channels[direction as usize].taps.watched {
            let Packet { src, dst, protocol, head, .. } = self.packet(packet);
            let word = |n: usize| head.get(n..n + 2).map_or(0, |word| u16::from_be_bytes([word[0], word[1]]));
            let ports = [word(0), word(2)];
            self.arrivals.push(Arrival { at, link: LinkDir(direction), src, dst, protocol, ports });
        }
    }

    /// Notes from now on what comes to the queue of this direction of a link, for [`Network::take_arrivals`].
    pub fn watch(&mut self, direction: LinkDir) {
        self.channels[direction.index()].taps.watched = true;
    }

    /// What has come to the links that are watched since the last call.
    pub fn take_arrivals(&mut self) -> std::vec::Drain<'_, Arrival> {
        self.arrivals.drain(..)
    }

    /// Puts a packet in its place among those under way.
    #[inline]
    fn fly(
        &mut self,
        schedule: &mut impl Schedule,
        direction: u32,
        packet: Option<PacketId>,
        parcel: Parcel,
        passage: Passage,
    ) {
        let channel = &mut self.channels[direction as usize];
        let Passage { start, arrival } = passage;
        channel.flights.push(Flight { start, arrival, packet, parcel });
        if packet.is_some() && !channel.armed {
            channel.armed = true;
            schedule.at(arrival, NetEvent::arrive(LinkDir(direction)));
        }
    }

    /// Draws what a wire with impairments does to a packet that has passed the queue.
    fn cross_bad_wire(
        &mut self,
        schedule: &mut impl Schedule,
        direction: u32,
        packet: PacketId,
        parcel: Parcel,
        passage: Passage,
    ) {
        let now = schedule.now();
        let channel = &mut self.channels[direction as usize];
        channel.flights.pop_shadows();
        let stored = self.pool.get(packet);
        let payload = parcel.size() - stored.dst.header_len();
        let header = channel.framing_and(stored.dst.header_len());
        let Some(wire) = &mut channel.wire else { return };
        let mut harm = wire.loses().then_some(DropCause::Loss);
        for error in wire.bit_errors(header, u64::from(payload)) {
            match error {
                BitError::Header => harm = harm.or(Some(DropCause::Damaged)),
                BitError::Payload(bit) => self.pool.invert_bit(packet, bit),
            }
        }
        let (twice, alone) = (wire.duplicates(), wire.reorders());
        if let Some(cause) = harm {
            self.fly(schedule, direction, None, parcel, passage);
            self.lose(now, direction, packet, parcel, cause);
            return;
        }
        let arrival = passage.arrival + alone.unwrap_or_default();
        self.fly(schedule, direction, alone.is_none().then_some(packet), parcel, passage);
        if alone.is_some() {
            self.fly_alone(schedule, direction, packet, parcel, arrival);
        }
        if twice {
            let copy = self.pool.copy(packet);
            self.channels[direction as usize].counters.duplicated += 1;
            self.fly_alone(schedule, direction, copy, parcel, arrival);
        }
    }

    fn fly_alone(
        &mut self,
        schedule: &mut impl Schedule,
        direction: u32,
        packet: PacketId,
        parcel: Parcel,
        arrival: Instant,
    ) {
        let stored = self.pool.get_mut(packet);
        stored.hops = parcel.hops();
        stored.epoch = self.channels[direction as usize].epoch;
        schedule.at(arrival, NetEvent::arrive_alone(LinkDir(direction), packet));
    }

    /// Takes the first packet off the wire and arms the next; `None` if a failure has made the event stale.
    #[inline]
    fn first_arrival(
        &mut self,
        schedule: &mut impl Schedule,
        direction: LinkDir,
    ) -> Option<(PacketId, Parcel)> {
        let channel = &mut self.channels[direction.index()];
        if channel.wire.is_some() {
            channel.flights.backlog(schedule.now());
            channel.flights.pop_shadows();
        }
        if channel.flights.front()?.arrival != schedule.now() {
            return None;
        }
        let flight = channel.flights.pop()?;
        match channel.flights.next_arrival() {
            Some(arrival) => schedule.at(arrival, NetEvent::arrive(direction)),
            None => channel.armed = false,
        }
        Some((flight.packet?, flight.parcel))
    }

    fn arrive_alone(
        &mut self,
        schedule: &mut impl Schedule,
        direction: LinkDir,
        packet: PacketId,
    ) -> Option<Delivered> {
        let stored = self.pool.get(packet);
        let size = stored.dst.header_len() + self.pool.head(packet).len() as u32 + stored.zeros;
        let parcel = Parcel::new(stored.dst.interface(), size, stored.hops);
        if stored.epoch != self.channels[direction.index()].epoch {
            self.lose(schedule.now(), direction.0, packet, parcel, DropCause::LinkDown);
            return None;
        }
        self.arrive(schedule, direction, packet, parcel)
    }

    #[inline]
    fn arrive(
        &mut self,
        schedule: &mut impl Schedule,
        direction: LinkDir,
        packet: PacketId,
        parcel: Parcel,
    ) -> Option<Delivered> {
        let channel = &mut self.channels[direction.index()];
        channel.counters.delivered += 1;
        channel.counters.delivered_bytes += channel.wire_bytes(parcel.size());
        let node = channel.to;
        let to_host = channel.to_host;
        if let Some(tap) = channel.taps.receiver {
            self.record(schedule.now(), tap, packet, parcel.hops(), Sighting::Received);
        }
        if to_host {
            self.note_delivery(schedule.now(), direction, packet, parcel.size());
            return Some(Delivered { node: NodeId(node), packet });
        }
        match self.routes.direction(node, parcel.dst) {
            Some(next) => self.enqueue(schedule, next, packet, parcel.one_hop_on()),
            None => {
                self.unroutable += 1;
                self.pool.release(packet);
            }
        }
        None
    }

    #[inline]
    fn note_delivery(&mut self, now: Instant, direction: LinkDir, packet: PacketId, size: u32) {
        let head = self.pool.head(packet);
        self.digest.word(now.as_nanos());
        self.digest.word(u64::from(direction.0) << 32 | u64::from(size));
        self.digest.word(head.len() as u64);
        for word in head.chunks_exact(8).take(2) {
            self.digest.word(u64::from_le_bytes(word.try_into().expect("chunks of eight")));
        }
    }

    /// Counts and forgets a packet that `direction` has dropped.
    #[cold]
    fn lose(&mut self, now: Instant, direction: u32, packet: PacketId, parcel: Parcel, cause: DropCause) {
        self.channels[direction as usize].counters.count_drop(cause);
        self.record_sent(now, direction, packet, parcel, Sighting::Dropped(cause));
        self.pool.release(packet);
    }

    fn fail(&mut self, now: Instant, direction: LinkDir) {
        while let Some(flight) = self.channels[direction.index()].flights.pop() {
            if let Some(packet) = flight.packet {
                self.lose(now, direction.0, packet, flight.parcel, DropCause::LinkDown);
            }
        }
        let channel = &mut self.channels[direction.index()];
        channel.up = false;
        channel.reset(now);
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
        self.channels[direction.index()].red_average()
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

    /// Captures interfaces, each named by link and node, into one pcapng file from now on: packets a queue has
    /// accepted, packets that have arrived (at a host, after its processing time), and those dropped on the way out,
    /// the cause as a comment. `finish` completes the IP payload of each that is not corrupted.
    ///
    /// # Errors
    /// Those of `sink`; and [`io::ErrorKind::InvalidInput`] if a node is not at an end of its link, or the interface is
    /// captured already.
    pub fn capture(
        &mut self,
        interfaces: &[(LinkId, NodeId)],
        sink: Box<dyn Write + Send>,
        finish: Option<FinishPacket>,
    ) -> io::Result<()> {
        let invalid = |what: &str| io::Error::new(io::ErrorKind::InvalidInput, what);
        let mut names = Vec::with_capacity(interfaces.len());
        let mut directions = Vec::with_capacity(interfaces.len());
        for &(link, node) in interfaces {
            let ends = [link.forward(), link.backward()];
            let inward = ends.into_iter().find(|direction| self.channels[direction.index()].to == node.0);
            let inward = inward.ok_or_else(|| invalid("the node is not at an end of the link"))?;
            if self.channels[inward.index()].taps.receiver.is_some() || directions.contains(&inward) {
                return Err(invalid("the interface is captured already"));
            }
            let neighbour = NodeId(self.channels[inward.reverse().index()].to);
            names.push(format!("{} to {}", self.name(node), self.name(neighbour)));
            directions.push(inward);
        }
        self.captures.push(Capture::new(sink, &names, finish)?);
        for (interface, inward) in directions.into_iter().enumerate() {
            let tap = Some(Tap { capture: self.captures.len() as u16 - 1, interface: interface as u32 });
            self.channels[inward.index()].taps.receiver = tap;
            self.channels[inward.reverse().index()].taps.sender = tap;
        }
        Ok(())
    }

    /// Ends all captures and writes out what they still hold.
    ///
    /// # Errors
    /// The first error any of their sinks has had.
    pub fn finish_captures(&mut self) -> io::Result<()> {
        for channel in &mut self.channels {
            (channel.taps.sender, channel.taps.receiver) = (None, None);
        }
        let results: Vec<io::Result<()>> = self.captures.drain(..).map(Capture::finish).collect();
        results.into_iter().collect()
    }

    #[cold]
    fn record_sent(
        &mut self,
        now: Instant,
        direction: u32,
        packet: PacketId,
        parcel: Parcel,
        sighting: Sighting,
    ) {
        if let Some(tap) = self.channels[direction as usize].taps.sender {
            self.record(now, tap, packet, parcel.hops(), sighting);
        }
    }

    #[cold]
    fn record(&mut self, now: Instant, tap: Tap, packet: PacketId, hops: u8, sighting: Sighting) {
        let (stored, head) = (self.pool.get(packet), self.pool.head(packet));
        let capture = &mut self.captures[usize::from(tap.capture)];
        capture.record(now, tap.interface, sighting, &self.addresses, (stored, head), hops);
    }
}
