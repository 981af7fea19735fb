//! Measures the protocol alone (two endpoints in memory, virtual time, with checksums), and idle
//! associations.

use crate::cpu;
use crate::rivals::random_bytes;
use anabranch_sctp::{
    AssocId, Config, Datagram, Endpoint, EndpointConfig, Event, Message, Payload, Seed, SendError,
};
use anabranch_transport::PacketBuf;
use anabranch_units::{ByteCount, Instant, Span};
use std::collections::VecDeque;
use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::net::IpAddr;

const ONE_WAY: Span = Span::from_millis(5);
const BUFFER: u64 = 4 << 20;
const MESSAGE: usize = 65_536;

/// Two endpoints and the packets between them. All packets have the same delay, so that they arrive in order.
struct World {
    now: Instant,
    endpoints: [Endpoint; 2],
    flying: [VecDeque<(Instant, PacketBuf)>; 2],
    spare: Vec<PacketBuf>,
    packet: PacketBuf,
}

fn address(side: usize) -> IpAddr {
    [10, 0, 0, 1 + side as u8].into()
}

fn endpoint(side: usize, port: u16, config: Config) -> Result<Endpoint, Box<dyn Error>> {
    let seed = Seed::for_simulation(u64::from(port));
    Ok(Endpoint::new(EndpointConfig {
        config: config.into(),
        max_associations: 1 << 15,
        ..EndpointConfig::new(port, vec![address(side)], seed)
    })?)
}

impl World {
    /// Takes all packets that an endpoint sends.
    fn drain(&mut self, side: usize) {
        while self.endpoints[side].poll_transmit(self.now, &mut self.packet).is_some() {
            let mut packet = self.spare.pop().unwrap_or_default();
            packet.head.clone_from(&self.packet.head);
            packet.zeros = self.packet.zeros;
            self.flying[1 - side].push_back((self.now + ONE_WAY, packet));
        }
    }

    /// Moves to the next arrival or timeout, and handles it. Returns false if there is none.
    fn step(&mut self) -> bool {
        let arrivals = self.flying.iter().filter_map(|packets| packets.front().map(|&(at, _)| at));
        let timeouts = self.endpoints.iter().filter_map(Endpoint::poll_timeout);
        let Some(next) = arrivals.chain(timeouts).min() else { return false };
        self.now = self.now.max(next);
        for side in 0..2 {
            while self.flying[side].front().is_some_and(|&(at, _)| at <= self.now) {
                let Some((_, packet)) = self.flying[side].pop_front() else { break };
                let datagram = Datagram::new(address(1 - side), address(side), packet.as_octets());
                self.endpoints[side].handle(self.now, datagram);
                self.spare.push(packet);
                self.drain(side);
            }
            if self.endpoints[side].poll_timeout().is_some_and(|at| at <= self.now) {
                self.endpoints[side].handle_timeout(self.now);
                self.drain(side);
            }
        }
        true
    }
}

/// Transfers messages of 64 KiB for about `seconds` of CPU time, once of random bytes and once of zeros that
/// are not stored. Prints megabytes per CPU-second of both ends.
pub fn measure(seconds: f64) -> Result<(), Box<dyn Error>> {
    // Allocates and frees a large block. From then on glibc keeps the memory of freed messages, as in crate
    // `io`.
    drop(black_box(Vec::<u8>::with_capacity(BUFFER as usize)));
    transfer(seconds, "random bytes", &Payload::Bytes(random_bytes(MESSAGE).into()))?;
    transfer(seconds, "zeros", &Payload::Filler(MESSAGE as u32))
}

fn transfer(seconds: f64, name: &str, message: &Payload) -> Result<(), Box<dyn Error>> {
    let mut config = Config::recommended();
    config.send_buffer = ByteCount::new(BUFFER).into();
    config.receive_buffer = ByteCount::new(BUFFER).into();
    let mut world = World {
        now: Instant::ZERO,
        endpoints: [endpoint(0, 5001, config.clone())?, endpoint(1, 5002, config)?],
        flying: Default::default(),
        spare: Vec::new(),
        packet: PacketBuf::default(),
    };
    world.endpoints[1].listen(true);
    let id = world.endpoints[0].connect(world.now, 5002, &[address(1)])?;
    world.drain(0);
    let (mut received, mut messages) = (0, 0_u64);
    let begin = cpu::used();
    while cpu::used() - begin < seconds {
        for _ in 0..1000 {
            if !world.step() {
                return Err("the transfer stopped".into());
            }
            received += exchange(&mut world, id, message, &mut messages)?;
        }
    }
    let used = cpu::used() - begin;
    println!(
        "{:.0} MB per CPU-second of both ends, in memory, messages of 64 KiB of {name}, {} messages, {:.1} s of virtual time",
        received as f64 / used / 1e6,
        messages,
        world.now.as_secs_f64()
    );
    Ok(())
}

/// Sends and reads messages. Returns the number of received bytes.
fn exchange(
    world: &mut World,
    id: AssocId,
    message: &Payload,
    given: &mut u64,
) -> Result<u64, Box<dyn Error>> {
    let now = world.now;
    while let Some((_, event)) = world.endpoints[0].poll_event() {
        if !matches!(event, Event::Connected { .. } | Event::Writable) {
            continue;
        }
        loop {
            match world.endpoints[0].send(now, id, Message::new(message.clone())) {
                Ok(_) => *given += 1,
                Err(SendError::WouldBlock) => break,
                Err(error) => return Err(error.into()),
            }
        }
        world.drain(0);
    }
    let mut received = 0;
    while let Some((theirs, event)) = world.endpoints[1].poll_event() {
        if event == Event::Readable {
            while let Some(message) = world.endpoints[1].receive(theirs, usize::MAX) {
                received += message.payload.len() as u64;
            }
            world.drain(1);
        }
    }
    Ok(received)
}

/// Creates associations with one endpoint. Prints the memory and the wake-ups of each association while
/// nothing is sent.
pub fn idle(associations: u16) -> Result<(), Box<dyn Error>> {
    let before = resident()?;
    let (mut server, _, _) = with_associations(associations, false)?;
    let memory = resident()?.saturating_sub(before);
    let standing = server.associations().count();
    println!("{standing} idle associations: {} bytes of resident memory each", memory / standing.max(1));
    drop(server);

    let (idle, mut clients, mut now);
    (idle, clients, now) = with_associations(associations, true)?;
    server = idle;
    const WATCHED: Span = Span::from_secs(60);
    let (end, mut wakeups, mut packet) = (now + WATCHED, 0, PacketBuf::default());
    while let Some(at) = server.poll_timeout().filter(|&at| at < end) {
        now = now.max(at);
        server.handle_timeout(now);
        wakeups += 1;
        answer(&mut server, &mut clients, now, &mut packet);
    }
    println!("{:.0} wake-ups a second for their heartbeats", f64::from(wakeups) / WATCHED.as_secs_f64());
    Ok(())
}

/// Returns a server with associations that began one after the other within 30 s, the clients if `keep`, and
/// the time.
fn with_associations(number: u16, keep: bool) -> Result<(Endpoint, Vec<Endpoint>, Instant), Box<dyn Error>> {
    let mut server = endpoint(1, 5002, Config::default())?;
    server.listen(true);
    let (mut now, mut packet, mut clients) = (Instant::ZERO, PacketBuf::default(), Vec::new());
    for n in 0..number {
        // Only the server's heartbeats are counted, so the clients send none.
        let mut config = Config::default();
        config.hb_interval = None;
        let mut client = endpoint(0, FIRST_CLIENT + n, config)?;
        client.connect(now, 5002, &[address(1)])?;
        while carry(&mut client, &mut server, now, 0, &mut packet)
            | carry(&mut server, &mut client, now, 1, &mut packet)
        {}
        while server.poll_event().is_some() {}
        if keep {
            clients.push(client);
        }
        now += Span::from_millis(30_000) / u64::from(number);
    }
    Ok((server, clients, now))
}

/// The SCTP port of the first client; the other clients have the following ports.
const FIRST_CLIENT: u16 = 10_000;

/// Passes the packets of one endpoint to the other. Returns true if there were any.
fn carry(from: &mut Endpoint, to: &mut Endpoint, now: Instant, side: usize, packet: &mut PacketBuf) -> bool {
    let mut any = false;
    while from.poll_transmit(now, packet).is_some() {
        to.handle(now, Datagram::new(address(side), address(1 - side), packet.as_octets()));
        any = true;
    }
    any
}

/// Passes the server's packets to their clients, and the answers back.
fn answer(server: &mut Endpoint, clients: &mut [Endpoint], now: Instant, packet: &mut PacketBuf) {
    while server.poll_transmit(now, packet).is_some() {
        let port = u16::from_be_bytes([packet.head[2], packet.head[3]]);
        let client = &mut clients[usize::from(port - FIRST_CLIENT)];
        client.handle(now, Datagram::new(address(1), address(0), packet.as_octets()));
        carry(client, server, now, 0, packet);
    }
    while server.poll_event().is_some() {}
}

/// Resident memory of this process in bytes.
fn resident() -> Result<usize, Box<dyn Error>> {
    let pages: usize = fs::read_to_string("/proc/self/statm")?.split(' ').nth(1).ok_or("no size")?.parse()?;
    Ok(pages * 4096)
}
