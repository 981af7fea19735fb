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

/// Clients with the same private address and SCTP port behind one NAT each of which has a UDP port of its own there, and a
/// server that they reach through it; in virtual time. A packet takes 10 ms.
pub struct Natted {
    /// The time.
    pub now: Instant,
    /// Every packet that reached the NAT or left the server.
    pub sent: Vec<NatSent>,
    /// The server, which listens.
    pub server: Endpoint,
    /// The clients.
    pub clients: Vec<Endpoint>,
    /// The UDP port that the NAT gives the packets of each client; 0: it lets them through as they are, not encapsulated.
    pub ports: Vec<u16>,
    /// Events of the server since they were taken.
    pub events: Vec<(AssocId, Event)>,
    flying: BinaryHeap<Reverse<(Instant, usize)>>,
}

/// A packet on the public side of the NAT.
#[derive(Clone, Debug)]
pub struct NatSent {
    /// When.
    pub at: Instant,
    /// UDP port of the NAT that it comes from, or goes to.
    pub port: u16,
    /// True if it goes to the server.
    pub to_server: bool,
    /// Its bytes.
    pub bytes: PacketBuf,
}

impl NatSent {
    /// The names of its chunks.
    pub fn chunks(&self) -> String {
        describe(&self.bytes)
    }
}

/// The delay of a packet one way.
const DELAY: Span = Span::from_millis(10);

impl Natted {
    /// The public address of the NAT.
    pub const PUBLIC: [u8; 4] = [192, 0, 2, 1];
    /// The address of each client, which the server never sees.
    pub const PRIVATE: [u8; 4] = [10, 0, 0, 7];
    /// The address of the server.
    pub const SERVER: [u8; 4] = [198, 51, 100, 1];
    /// The SCTP port of the server.
    pub const SERVER_PORT: u16 = 5002;
    /// The SCTP port of each client.
    pub const CLIENT_PORT: u16 = 5001;

    /// A server and as many clients, none of them associated, behind UDP ports 40000 and so on.
    ///
    /// # Panics
    /// If the configuration cannot work.
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
            Endpoint::new(config).expect("it can work")
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

    /// Lets a client begin an association, and runs until the handshake is over.
    ///
    /// # Panics
    /// If it cannot begin.
    pub fn connect(&mut self, client: usize) -> AssocId {
        let server = [Self::SERVER.into()];
        let begun = self.clients[client].connect(self.now, Self::SERVER_PORT, &server);
        self.run_for(DELAY * 5);
        begun.expect("nothing speaks against it")
    }

    /// Gives the server a message of filler for an association.
    ///
    /// # Panics
    /// If it is not taken.
    pub fn send_to(&mut self, id: AssocId, length: u32) {
        self.server.send(self.now, id, Message::new(Payload::Filler(length))).expect("there is room");
        self.drain();
    }

    /// Gives a client a message of filler for the server.
    ///
    /// # Panics
    /// If it is not taken, or the client has no association.
    pub fn send_from(&mut self, client: usize, length: u32) {
        let id = self.clients[client].associations().next().expect("it has an association");
        let message = Message::new(Payload::Filler(length));
        self.clients[client].send(self.now, id, message).expect("there is room");
        self.drain();
    }

    /// User bytes that an association of the server can read now.
    pub fn read(&mut self, id: AssocId) -> usize {
        let mut bytes = 0;
        while let Some(received) = self.server.receive(self.now, id, usize::MAX) {
            bytes += received.payload.len();
        }
        self.drain();
        bytes
    }

    /// Hands the server a packet as if it had come from this address and UDP port.
    pub fn inject(&mut self, src: impl Into<IpAddr>, udp_port: u16, bytes: &PacketBuf) {
        let datagram = Datagram::new(src.into(), Self::SERVER.into(), bytes.as_octets());
        self.server.handle(self.now, Datagram { udp_port, ..datagram });
        self.drain();
    }

    /// Accepts an arrival.
    ///
    /// # Panics
    /// If it is gone.
    pub fn accept(&mut self, id: ArrivalId) -> AssocId {
        let accepted = self.server.accept(self.now, id).expect("it waits");
        self.drain();
        accepted
    }

    /// Takes everything that anybody wants to send or to tell.
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

    /// Does everything that happens within `span`. A packet to a UDP port that no client has any more is lost.
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

    /// UDP ports that packets of the server since number `from` went to.
    pub fn server_wrote_to(&self, from: usize) -> Vec<u16> {
        let written = self.sent[from..].iter().filter(|sent| !sent.to_server);
        let mut ports: Vec<u16> = written.map(|sent| sent.port).collect();
        ports.dedup();
        ports
    }
}
