use crate::packet::describe;
use sctp::{
    AssocId, Config, Datagram, Encapsulation, Endpoint, EndpointConfig, Event, Message, Payload, Received,
    Seed, State,
};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::net::IpAddr;
use transport::{Channel, Checksum, Ecn, PacketBuf, Transmit};
use units::{Instant, Span};

/// A time of `n` milliseconds, in short.
pub const fn ms(n: u64) -> Span {
    Span::from_millis(n)
}

/// One of the two endpoints of a [`Pair`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// The side that usually connects: port 5001, addresses 10.1.0.1, 10.2.0.1 and so on.
    Client,
    /// The side that listens: port 5002, addresses 10.1.0.2, 10.2.0.2 and so on.
    Server,
}

impl Side {
    /// The other side.
    pub fn other(self) -> Side {
        match self {
            Side::Client => Side::Server,
            Side::Server => Side::Client,
        }
    }

    /// SCTP port of the side.
    pub fn port(self) -> u16 {
        match self {
            Side::Client => 5001,
            Side::Server => 5002,
        }
    }

    /// Address of the side in network `net`, a number from 1.
    pub fn address(self, net: u8) -> IpAddr {
        [10, net, 0, if self == Side::Client { 1 } else { 2 }].into()
    }
}

/// A packet as it was sent.
#[derive(Clone, Debug)]
pub struct Sent {
    /// Time of transmission.
    pub at: Instant,
    /// The sender.
    pub from: Side,
    /// Source address.
    pub src: IpAddr,
    /// Destination address.
    pub dst: IpAddr,
    /// UDP destination port; 0 without UDP encapsulation.
    pub udp_port: u16,
    /// True if the DF bit is not set.
    pub may_fragment: bool,
    /// The ECN field of the IP header.
    pub ecn: Ecn,
    /// The authenticated peer (channel) for which an encryption layer would seal the packet.
    pub channel: Channel,
    /// Bytes of the packet.
    pub bytes: PacketBuf,
    /// Index of the packet in [`Pair::sent`].
    pub number: usize,
}

impl Sent {
    /// The names of the chunks of the packet, as in `"COOKIE_ECHO DATA"`.
    pub fn chunks(&self) -> String {
        describe(&self.bytes)
    }

    /// The network that carries the packet: the second byte of the IPv4 addresses.
    pub fn net(&self) -> u8 {
        match self.dst {
            IpAddr::V4(address) => address.octets()[1],
            IpAddr::V6(_) => 0,
        }
    }
}

/// What the simulated network does with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The packet arrives after the one-way delay.
    Arrives,
    /// The packet is lost.
    Lost,
    /// The packet arrives after this additional delay.
    Late(Span),
    /// The packet arrives, and a duplicate arrives later by this time.
    Twice(Span),
    /// The packet arrives with the mark "congestion experienced" if the packet is ECN-capable.
    Marked,
    /// The packet arrives with all bits of this byte inverted. A TCP receiver discards the packet,
    /// because the checksum is wrong.
    Damaged(usize),
}

/// Two endpoints connected by a simulated wire, in virtual time. All packets are recorded.
pub struct Pair {
    /// Current time.
    pub now: Instant,
    /// All packets sent so far, including lost ones.
    pub sent: Vec<Sent>,
    client: Node,
    server: Node,
    delay: Span,
    /// UDP source ports of encapsulated packets, by side and network; by default 9899.
    udp_ports: BTreeMap<(Side, u8), u16>,
    fate: Box<dyn FnMut(&Sent) -> Fate>,
    flying: BinaryHeap<Reverse<(Instant, u64, usize)>>,
    arrivals: u64,
    /// The fate (marked or damaged) of packets in flight, by the number of their arrival.
    altered: BTreeMap<u64, Fate>,
    buf: PacketBuf,
}

struct Node {
    endpoint: Endpoint,
    /// The channel (number of an authenticated peer) by which this side knows the other side.
    peer: Channel,
    events: Vec<(AssocId, Event)>,
}

/// The endpoint configuration of one side, with `nets` addresses.
pub fn endpoint_config(side: Side, nets: u8, config: &Config) -> EndpointConfig {
    EndpointConfig {
        port: side.port(),
        addresses: (1..=nets).map(|net| side.address(net)).collect(),
        seed: Seed::for_simulation(u64::from(side.port())),
        checksum: Checksum::Computed,
        max_associations: 16,
        encapsulation: None,
        config: config.clone().into(),
    }
}

impl Pair {
    /// Two endpoints with the same configuration in `nets` networks. The server listens; the one-way delay is
    /// 10 ms.
    pub fn new(nets: u8, config: &Config) -> Pair {
        Pair::of(endpoint_config(Side::Client, nets, config), endpoint_config(Side::Server, nets, config))
    }

    /// Two endpoints with the given configurations. The server listens; the one-way delay is 10 ms.
    ///
    /// # Panics
    /// If a configuration is invalid.
    pub fn of(client: EndpointConfig, server: EndpointConfig) -> Pair {
        let node = |config| Node {
            endpoint: Endpoint::new(config).expect("a valid configuration"),
            peer: Channel::NONE,
            events: Vec::new(),
        };
        let mut pair = Pair {
            now: Instant::ZERO + Span::from_secs(1000),
            sent: Vec::new(),
            client: node(client),
            server: node(server),
            delay: Span::from_millis(10),
            udp_ports: BTreeMap::new(),
            fate: Box::new(|_| Fate::Arrives),
            flying: BinaryHeap::new(),
            arrivals: 0,
            altered: BTreeMap::new(),
            buf: PacketBuf::default(),
        };
        pair.server.endpoint.listen(true);
        pair
    }

    /// Sets the function that decides the fate of each packet sent from now on.
    pub fn on_wire(&mut self, fate: impl FnMut(&Sent) -> Fate + 'static) {
        self.fate = Box::new(fate);
    }

    /// Delivers all packets sent from now on.
    pub fn heal(&mut self) {
        self.on_wire(|_| Fate::Arrives);
    }

    /// Sets the one-way delay of packets sent from now on.
    pub fn set_delay(&mut self, delay: Span) {
        self.delay = delay;
    }

    /// Sets the UDP source port of encapsulated packets from a side in network `net`.
    pub fn set_udp_port(&mut self, side: Side, net: u8, port: u16) {
        self.udp_ports.insert((side, net), port);
    }

    /// Sets the channel (number of an authenticated peer) by which `side` knows the other side,
    /// as if an encryption layer had authenticated it. Packets that `side` sends on another
    /// channel do not reach the other side.
    pub fn set_channel(&mut self, side: Side, channel: Channel) {
        self.node(side).peer = channel;
    }

    fn node(&mut self, side: Side) -> &mut Node {
        match side {
            Side::Client => &mut self.client,
            Side::Server => &mut self.server,
        }
    }

    /// The endpoint of a side. Call [`Self::drain`] after each call that changes it.
    pub fn endpoint(&mut self, side: Side) -> &mut Endpoint {
        &mut self.node(side).endpoint
    }

    /// Replaces the endpoint of a side by a new one, as if its host had restarted.
    ///
    /// # Panics
    /// If the configuration is invalid.
    pub fn replace(&mut self, side: Side, config: EndpointConfig) {
        self.node(side).endpoint = Endpoint::new(config).expect("a valid configuration");
    }

    /// Events of one side since the last call.
    pub fn events(&mut self, side: Side) -> Vec<Event> {
        self.node(side).events.drain(..).map(|(_, event)| event).collect()
    }

    /// True if one side has events that the test has not read.
    pub fn has_events(&mut self, side: Side) -> bool {
        !self.node(side).events.is_empty()
    }

    /// Events of one side since the last call, each with the id of its association.
    pub fn named_events(&mut self, side: Side) -> Vec<(AssocId, Event)> {
        std::mem::take(&mut self.node(side).events)
    }

    /// The only association of one side.
    ///
    /// # Panics
    /// If the side has no association, or more than one.
    pub fn only(&mut self, side: Side) -> AssocId {
        let ids: Vec<AssocId> = self.endpoint(side).associations().collect();
        assert_eq!(ids.len(), 1, "{side:?} has {ids:?}");
        ids[0]
    }

    /// The state of the first association of one side; `None` if the side has no association.
    pub fn state(&mut self, side: Side) -> Option<State> {
        let id = self.endpoint(side).associations().next()?;
        self.endpoint(side).state(id)
    }

    /// Starts an association from one side to the addresses of the other in networks 1 to `nets`.
    ///
    /// # Panics
    /// If the endpoint refuses.
    pub fn connect(&mut self, side: Side, nets: u8) -> AssocId {
        let peer = side.other();
        let remotes: Vec<IpAddr> = (1..=nets).map(|net| peer.address(net)).collect();
        let now = self.now;
        let id = self.endpoint(side).connect(now, peer.port(), &remotes).expect("a new association");
        self.drain();
        id
    }

    /// Starts an association from the client through network 1. Runs until both sides are established.
    ///
    /// # Panics
    /// If one side is not established in time.
    pub fn establish(&mut self) -> (AssocId, AssocId) {
        self.connect(Side::Client, 1);
        self.run_for(self.delay * 5);
        assert_eq!(self.state(Side::Client), Some(State::Established));
        assert_eq!(self.state(Side::Server), Some(State::Established));
        self.events(Side::Client);
        self.events(Side::Server);
        (self.only(Side::Client), self.only(Side::Server))
    }

    /// Sends a message of zeros.
    ///
    /// # Panics
    /// If the send buffer does not accept it.
    pub fn send(&mut self, side: Side, length: u32) {
        let (id, now) = (self.only(side), self.now);
        self.endpoint(side).send(now, id, Message::new(Payload::Filler(length))).expect("there is room");
        self.drain();
    }

    /// Reads all data that one side has received.
    pub fn read_all(&mut self, side: Side) -> Vec<Received> {
        let ids: Vec<AssocId> = self.endpoint(side).associations().collect();
        let mut all = Vec::new();
        for id in ids {
            while let Some(received) = self.endpoint(side).receive(id, usize::MAX) {
                all.push(received);
            }
        }
        self.drain();
        all
    }

    /// Shuts down the only association of a side.
    pub fn shutdown(&mut self, side: Side) {
        let (id, now) = (self.only(side), self.now);
        self.endpoint(side).shutdown(now, id);
        self.drain();
    }

    /// Delivers a packet to a side immediately.
    pub fn inject(&mut self, to: Side, src: IpAddr, dst: IpAddr, bytes: &PacketBuf) {
        self.inject_on(Channel::NONE, to, src, dst, bytes);
    }

    /// As [`Self::inject`], for a packet that the encryption layer assigned to the peer with number
    /// `channel`.
    pub fn inject_on(&mut self, channel: Channel, to: Side, src: IpAddr, dst: IpAddr, bytes: &PacketBuf) {
        self.deliver(to, Datagram { channel, ..Datagram::new(src, dst, bytes.as_octets()) });
    }

    fn deliver(&mut self, to: Side, datagram: Datagram<'_>) {
        let now = self.now;
        self.endpoint(to).handle(now, datagram);
        self.drain();
    }

    /// Collects all packets and events that both sides have ready.
    pub fn drain(&mut self) {
        for side in [Side::Client, Side::Server] {
            let (now, mut buf) = (self.now, std::mem::take(&mut self.buf));
            while let Some(transmit) = self.endpoint(side).poll_transmit(now, &mut buf) {
                let number = self.sent.len();
                let bytes = buf.clone();
                let Transmit { src, dst, udp_port, may_fragment, ecn, channel } = transmit;
                let (at, from) = (now, side);
                let sent = Sent { at, from, src, dst, udp_port, may_fragment, ecn, channel, bytes, number };
                if channel == self.node(side).peer {
                    self.launch(&sent);
                }
                self.sent.push(sent);
            }
            self.buf = buf;
            let node = self.node(side);
            while let Some(event) = node.endpoint.poll_event() {
                node.events.push(event);
            }
        }
    }

    fn launch(&mut self, sent: &Sent) {
        let due = self.now + self.delay;
        match (self.fate)(sent) {
            Fate::Lost => {}
            Fate::Arrives => self.arrive_at(due, sent.number),
            fate @ (Fate::Marked | Fate::Damaged(_)) => {
                self.arrive_at(due, sent.number);
                self.altered.insert(self.arrivals, fate);
            }
            Fate::Late(by) => self.arrive_at(due + by, sent.number),
            Fate::Twice(by) => {
                self.arrive_at(due, sent.number);
                self.arrive_at(due + by, sent.number);
            }
        }
    }

    fn arrive_at(&mut self, at: Instant, number: usize) {
        self.arrivals += 1;
        self.flying.push(Reverse((at, self.arrivals, number)));
    }

    /// Time of the next arrival or timeout.
    pub fn next_change(&self) -> Option<Instant> {
        let arrival = self.flying.peek().map(|Reverse((at, ..))| *at);
        let timers = [&self.client, &self.server].into_iter().filter_map(|node| node.endpoint.poll_timeout());
        arrival.into_iter().chain(timers).min()
    }

    /// Runs until `end`, which becomes the current time.
    pub fn run_until(&mut self, end: Instant) {
        self.drain();
        while let Some(at) = self.next_change().filter(|&at| at <= end) {
            self.now = self.now.max(at);
            while let Some(&Reverse((at, arrival, number))) = self.flying.peek()
                && at <= self.now
            {
                self.flying.pop();
                let mut sent = self.sent[number].clone();
                match self.altered.remove(&arrival) {
                    Some(Fate::Marked) if sent.ecn != Ecn::NotCapable => {
                        sent.ecn = Ecn::CongestionExperienced
                    }
                    Some(Fate::Damaged(at)) => {
                        sent.bytes.materialise();
                        sent.bytes.head[at] ^= 0xff;
                    }
                    _ => {}
                }
                let source = self.udp_ports.get(&(sent.from, sent.net())).copied();
                let to = sent.from.other();
                let datagram = Datagram {
                    sent_at: Some(sent.at),
                    channel: self.node(to).peer,
                    ecn: sent.ecn,
                    udp_port: if sent.udp_port == 0 { 0 } else { source.unwrap_or(Encapsulation::PORT) },
                    ..Datagram::new(sent.src, sent.dst, sent.bytes.as_octets())
                };
                self.deliver(to, datagram);
            }
            for side in [Side::Client, Side::Server] {
                let now = self.now;
                self.endpoint(side).handle_timeout(now);
            }
            self.drain();
        }
        self.now = end;
    }

    /// Runs for `span`.
    pub fn run_for(&mut self, span: Span) {
        self.run_until(self.now + span);
    }

    /// The chunk names of each packet that one side has sent, from index `number` of [`Self::sent`] on.
    pub fn said(&self, side: Side, number: usize) -> Vec<String> {
        self.sent[number..].iter().filter(|sent| sent.from == side).map(Sent::chunks).collect()
    }
}
