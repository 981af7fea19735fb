use crate::packet::describe;
use sctp::{
    ArrivalId, AssocId, Config, Datagram, Encapsulation, Endpoint, EndpointConfig, Event, Message, Payload,
    Seed,
};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::IpAddr;
use transport::{Checksum, PacketBuf, Transmit};
use units::{Instant, Span};

/// A server and several clients behind one NAT, in virtual time. The clients have the same private address
/// and SCTP port; the NAT maps each to its own UDP port. The one-way delay is 10 ms.
pub struct Natted {
    /// Current time.
    pub now: Instant,
    /// All packets that arrived at the NAT or left the server.
    pub sent: Vec<NatSent>,
    /// The server, which listens.
    pub server: Endpoint,
    /// The clients.
    pub clients: Vec<Endpoint>,
    /// The UDP port to which the NAT maps each client; 0: the NAT forwards the packets of this client without
    /// UDP encapsulation.
    pub ports: Vec<u16>,
    /// Events of the server that the test has not read yet.
    pub events: Vec<(AssocId, Event)>,
    flying: BinaryHeap<Reverse<(Instant, usize)>>,
}

/// A packet as seen on the public side of the NAT.
#[derive(Clone, Debug)]
pub struct NatSent {
    /// Time at which the packet arrived at the NAT or left the server.
    pub at: Instant,
    /// UDP port of the NAT: source port of a packet to the server, destination port of a packet from the
    /// server.
    pub port: u16,
    /// True if the packet goes to the server.
    pub to_server: bool,
    /// Bytes of the packet.
    pub bytes: PacketBuf,
}

impl NatSent {
    /// The names of the chunks of the packet, as [`describe`](crate::describe) writes them.
    pub fn chunks(&self) -> String {
        describe(&self.bytes)
    }
}

/// One-way delay.
const DELAY: Span = Span::from_millis(10);

impl Natted {
    /// The public address of the NAT.
    pub const PUBLIC: [u8; 4] = [192, 0, 2, 1];
    /// The private address of every client.
    pub const PRIVATE: [u8; 4] = [10, 0, 0, 7];
    /// The address of the server.
    pub const SERVER: [u8; 4] = [198, 51, 100, 1];
    /// The SCTP port of the server.
    pub const SERVER_PORT: u16 = 5002;
    /// The SCTP port of each client.
    pub const CLIENT_PORT: u16 = 5001;

    /// A server and `clients` clients without associations. The NAT maps the clients to UDP ports 40000,
    /// 40001 and so on.
    ///
    /// # Panics
    /// If the configuration is invalid.
    pub fn new(clients: u16, config: &Config) -> Natted {
        let endpoint = |port, address: [u8; 4], seed: u64| {
            let config = EndpointConfig {
                port,
                addresses: vec![address.into()],
                seed: Seed::for_simulation(seed),
                checksum: Checksum::Computed,
                max_associations: 16,
                encapsulation: Some(Encapsulation::default()),
                config: config.clone().into(),
            };
            Endpoint::new(config).expect("a valid configuration")
        };
        let mut server = endpoint(Self::SERVER_PORT, Self::SERVER, 1);
        server.listen(true);
        Natted {
            now: Instant::ZERO + Span::from_secs(1000),
            sent: Vec::new(),
            server,
            clients: (0..clients)
                .map(|n| endpoint(Self::CLIENT_PORT, Self::PRIVATE, 2 + u64::from(n)))
                .collect(),
            ports: (0..clients).map(|n| 40_000 + n).collect(),
            events: Vec::new(),
            flying: BinaryHeap::new(),
        }
    }

    /// Starts an association from a client and runs until its handshake has ended.
    ///
    /// # Panics
    /// If the endpoint refuses.
    pub fn connect(&mut self, client: usize) -> AssocId {
        let server = [Self::SERVER.into()];
        let begun = self.clients[client].connect(self.now, Self::SERVER_PORT, &server);
        self.run_for(DELAY * 5);
        begun.expect("a new association")
    }

    /// Sends a message of zeros from the server on an association.
    ///
    /// # Panics
    /// If the send buffer does not accept it.
    pub fn send_to(&mut self, id: AssocId, length: u32) {
        self.server.send(self.now, id, Message::new(Payload::Filler(length))).expect("there is room");
        self.drain();
    }

    /// Sends a message of zeros from a client to the server.
    ///
    /// # Panics
    /// If the send buffer does not accept it, or the client has no association.
    pub fn send_from(&mut self, client: usize, length: u32) {
        let id = self.clients[client].associations().next().expect("an association");
        let message = Message::new(Payload::Filler(length));
        self.clients[client].send(self.now, id, message).expect("there is room");
        self.drain();
    }

    /// Reads all data of an association of the server. Returns the number of user bytes.
    pub fn read(&mut self, id: AssocId) -> usize {
        let mut bytes = 0;
        while let Some(received) = self.server.receive(id, usize::MAX) {
            bytes += received.payload.len();
        }
        self.drain();
        bytes
    }

    /// Delivers a packet from this source address and UDP port to the server immediately.
    pub fn inject(&mut self, src: impl Into<IpAddr>, udp_port: u16, bytes: &PacketBuf) {
        let datagram = Datagram::new(src.into(), Self::SERVER.into(), bytes.as_octets());
        self.server.handle(self.now, Datagram { udp_port, ..datagram });
        self.drain();
    }

    /// Accepts an association that a client requested from the server.
    ///
    /// # Panics
    /// If the request no longer waits for a decision.
    pub fn accept(&mut self, id: ArrivalId) -> AssocId {
        let accepted = self.server.accept(self.now, id).expect("it waits");
        self.drain();
        accepted
    }

    /// Collects all packets and events that the endpoints have ready.
    pub fn drain(&mut self) {
        let mut buf = PacketBuf::default();
        for (n, client) in self.clients.iter_mut().enumerate() {
            while let Some(Transmit { udp_port, .. }) = client.poll_transmit(self.now, &mut buf) {
                let port = if udp_port == 0 { 0 } else { self.ports[n] };
                self.sent.push(NatSent { at: self.now, port, to_server: true, bytes: buf.clone() });
                self.flying.push(Reverse((self.now + DELAY, self.sent.len() - 1)));
            }
            while client.poll_event().is_some() {}
        }
        while let Some(Transmit { udp_port, .. }) = self.server.poll_transmit(self.now, &mut buf) {
            self.sent.push(NatSent { at: self.now, port: udp_port, to_server: false, bytes: buf.clone() });
            self.flying.push(Reverse((self.now + DELAY, self.sent.len() - 1)));
        }
        self.events.extend(std::iter::from_fn(|| self.server.poll_event()));
    }

    /// Runs for `span`. Packets to a UDP port that is not mapped to a client are lost.
    pub fn run_for(&mut self, span: Span) {
        let end = self.now + span;
        self.drain();
        loop {
            let timers = self.clients.iter().chain([&self.server]).filter_map(Endpoint::poll_timeout);
            let arrival = self.flying.peek().map(|Reverse((at, _))| *at);
            let Some(next) = timers.chain(arrival).min().filter(|&at| at <= end) else { break };
            self.now = self.now.max(next);
            while let Some(&Reverse((at, n))) = self.flying.peek()
                && at <= self.now
            {
                self.flying.pop();
                self.deliver(n);
                self.drain();
            }
            let now = self.now;
            self.clients
                .iter_mut()
                .chain([&mut self.server])
                .for_each(|endpoint| endpoint.handle_timeout(now));
            self.drain();
        }
        self.now = end;
    }

    fn deliver(&mut self, n: usize) {
        let NatSent { port, to_server, bytes, .. } = self.sent[n].clone();
        if to_server {
            return self.inject(Self::PUBLIC, port, &bytes);
        }
        let Some(client) = self.ports.iter().position(|&held| held == port) else { return };
        let datagram = Datagram::new(Self::SERVER.into(), Self::PRIVATE.into(), bytes.as_octets());
        let udp_port = if port == 0 { 0 } else { Encapsulation::PORT };
        self.clients[client].handle(self.now, Datagram { udp_port, ..datagram });
    }

    /// Destination UDP ports of the server's packets, from index `from` of [`Self::sent`] on. Equal ports in
    /// a row count once.
    pub fn server_wrote_to(&self, from: usize) -> Vec<u16> {
        let written = self.sent[from..].iter().filter(|sent| !sent.to_server);
        let mut ports: Vec<u16> = written.map(|sent| sent.port).collect();
        ports.dedup();
        ports
    }
}
