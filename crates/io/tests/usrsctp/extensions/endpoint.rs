//! Our endpoint on UDP sockets without the driver, so that tests see each event.
#![expect(clippy::disallowed_types, reason = "the exchange takes real time")]

use sctp::{
    AssocId, Datagram, Encapsulation, Endpoint, EndpointConfig, Event, Message, Payload, Received, Seed,
};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::thread;
use std::time::{Duration, Instant as Clock};
use transport::PacketBuf;
use units::Instant;
use wire::StreamId;

/// The UDP port of both sides.
pub const UDP_PORT: u16 = 9899;
/// The SCTP port of both sides.
pub const PORT: u16 = 5001;
/// Pause of the loop when no packet has arrived.
const REST: Duration = Duration::from_micros(300);

/// Our endpoint, its sockets, and its events and messages so far.
pub struct Ours {
    pub endpoint: Endpoint,
    pub id: Option<AssocId>,
    sockets: BTreeMap<IpAddr, UdpSocket>,
    start: Clock,
    /// All events except those that report that data can be read or written.
    pub events: Vec<Event>,
    pub received: Vec<Received>,
    /// Numbers of the next messages, by stream.
    numbers: BTreeMap<u16, u32>,
    /// The damage of sent packets, and that of received packets.
    pub damage: [Damage; 2],
}

/// Damages some of the packets whose length shows that they carry data.
#[derive(Debug, Default)]
pub struct Damage {
    /// One packet is damaged for each `period` packets with data; 0: no packet is damaged.
    pub period: u64,
    seen: u64,
    /// Packets damaged so far.
    pub damaged: u64,
}

impl Damage {
    fn pass(&mut self, packet: &mut [u8]) {
        if self.period == 0 || packet.len() < 1000 {
            return;
        }
        self.seen += 1;
        if let Some(last) = packet.last_mut()
            && self.seen.is_multiple_of(self.period)
        {
            *last ^= 1;
            self.damaged += 1;
        }
    }
}

impl Ours {
    /// Creates an endpoint with these addresses of this side.
    pub fn new(addresses: &[IpAddr], config: sctp::Config) -> Ours {
        let settings = EndpointConfig {
            config: config.into(),
            encapsulation: Some(Encapsulation { remote_port: UDP_PORT }),
            ..EndpointConfig::new(
                PORT,
                addresses.to_vec(),
                Seed::from_system().expect("the system has entropy"),
            )
        };
        let endpoint = Endpoint::new(settings).expect("the options are valid");
        let mut ours = Ours {
            endpoint,
            id: None,
            sockets: BTreeMap::new(),
            start: Clock::now(),
            events: Vec::new(),
            received: Vec::new(),
            numbers: BTreeMap::new(),
            damage: Default::default(),
        };
        addresses.iter().for_each(|&address| ours.open(address));
        ours
    }

    /// Opens the socket of an address of this side.
    pub fn open(&mut self, address: IpAddr) {
        let socket = UdpSocket::bind((address, UDP_PORT)).expect("it is an address of this side");
        socket.set_nonblocking(true).expect("it can be");
        self.sockets.insert(address, socket);
    }

    /// The association, which must have begun.
    pub fn id(&self) -> AssocId {
        self.id.expect("it was begun")
    }

    /// True if one of the events so far satisfies the condition.
    pub fn saw(&self, condition: impl Fn(&Event) -> bool) -> bool {
        self.events.iter().any(condition)
    }

    pub fn now(&self) -> Instant {
        Instant::from_nanos(self.start.elapsed().as_nanos() as u64)
    }

    /// Handles received packets and expired timers, and sends all packets.
    pub fn turn(&mut self) {
        let mut bytes = vec![0; 1 << 16];
        let mut quiet = true;
        for (&local, socket) in &self.sockets {
            loop {
                match socket.recv_from(&mut bytes) {
                    Ok((length, from)) => {
                        quiet = false;
                        let now = Instant::from_nanos(self.start.elapsed().as_nanos() as u64);
                        self.damage[1].pass(&mut bytes[..length]);
                        let packet = bytes[..length].into();
                        let datagram =
                            Datagram { udp_port: from.port(), ..Datagram::new(from.ip(), local, packet) };
                        self.endpoint.handle(now, datagram);
                        transmit(&mut self.endpoint, &self.sockets, &mut self.damage[0], now);
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    // The error comes from an ICMP message about an earlier datagram.
                    Err(_) => {}
                }
            }
        }
        let now = self.now();
        if self.endpoint.poll_timeout().is_some_and(|at| at <= now) {
            self.endpoint.handle_timeout(now);
        }
        transmit(&mut self.endpoint, &self.sockets, &mut self.damage[0], now);
        self.take_events(now);
        if quiet {
            thread::sleep(REST);
        }
    }

    fn take_events(&mut self, now: Instant) {
        while let Some((id, event)) = self.endpoint.poll_event() {
            self.id.get_or_insert(id);
            if !matches!(event, Event::Readable | Event::Writable) {
                self.events.push(event);
            }
        }
        if let Some(id) = self.id {
            while let Some(message) = self.endpoint.receive(id, usize::MAX) {
                self.received.push(message);
            }
        }
        transmit(&mut self.endpoint, &self.sockets, &mut self.damage[0], now);
    }

    /// Queues at most `count` messages of a length on a stream, while the send buffer has room. Returns the
    /// number of queued messages.
    pub fn send(
        &mut self,
        count: usize,
        length: usize,
        make: impl Fn(Message) -> Message,
        stream: u16,
    ) -> usize {
        let (now, id) = (self.now(), self.id());
        for sent in 0..count {
            let number = self.numbers.entry(stream).or_default();
            let mut bytes = vec![0; length];
            bytes[..4].copy_from_slice(&number.to_be_bytes());
            let message =
                make(Message { stream: StreamId(stream), ..Message::new(Payload::Bytes(bytes.into())) });
            match self.endpoint.send(now, id, message) {
                Ok(_) => *number += 1,
                Err(sctp::SendError::WouldBlock) => return sent,
                Err(error) => {
                    let closed = |event: &&Event| matches!(event, Event::Closed { .. });
                    panic!("{error}: {:?}", self.events.iter().find(closed))
                }
            }
        }
        count
    }
}

/// Sends all packets. A packet that the system refuses counts as lost.
fn transmit(
    endpoint: &mut Endpoint,
    sockets: &BTreeMap<IpAddr, UdpSocket>,
    damage: &mut Damage,
    now: Instant,
) {
    let mut packet = PacketBuf::default();
    while let Some(transmit) = endpoint.poll_transmit(now, &mut packet) {
        let to = SocketAddr::new(transmit.dst, transmit.udp_port);
        let mut bytes = packet.as_octets().to_vec();
        damage.pass(&mut bytes);
        let _ = sockets[&transmit.src].send_to(&bytes, to);
    }
}
