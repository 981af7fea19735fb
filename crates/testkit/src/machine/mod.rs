//! Two endpoints, or one whose peer has gone, under a sequence of commands, each read from a [`Tape`]: calls of the
//! application, packets that are delivered, lost, duplicated, replayed, crossed, changed or forged with the right tags, and
//! time that jumps.
//!
//! [`play`] panics where an invariant breaks. So the same code serves a coverage-guided fuzzer, property tests and the
//! replay of every case that was ever found.

mod forge;
mod options;
mod reports;
mod tape;

pub use options::any_config;
pub use tape::Tape;

use crate::Side;
use forge::Secrets;
use reports::Reports;
use sctp::{
    AssocId, AssocOptions, Config, Datagram, Endpoint, EndpointConfig, Event, Message, PathId, Payload, Seed,
    State,
};
use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use transport::{Checksum, PacketBuf};
use units::{Instant, Span};
use wire::{Chunk, Packet, Ppid, StreamId, Tsn};

/// Plays the commands in `bytes`.
///
/// # Panics
/// If an invariant breaks: an endpoint panics, holds more than its buffers, answers one packet with many or without
/// end, delivers what was not sent, or makes no progress once the network is whole.
pub fn play(bytes: &[u8]) {
    let mut tape = Tape::new(bytes);
    let mut machine = Machine::new(&mut tape);
    for _ in 0..MOST_COMMANDS {
        if tape.is_over() {
            break;
        }
        machine.command(&mut tape);
    }
    machine.finish();
}

/// Networks between the endpoints.
const NETS: u8 = 2;

/// Commands played at most.
const MOST_COMMANDS: usize = 400;

/// Most packets in flight; also the number of past packets that are kept for replays.
const MOST_FLYING: usize = 256;

/// Packets that one call may bring forth beside those with user data.
const MOST_ANSWERS: u64 = 40;

/// Packets that an endpoint may send in a simulated second beside those with user data and their acknowledgements.
const PACKETS_A_SECOND: u64 = 200;

#[derive(Clone, Debug)]
struct Flying {
    to: Side,
    src: IpAddr,
    dst: IpAddr,
    bytes: PacketBuf,
}

/// What one side of an association said to the other, and what of it was heard: each message is a run of one byte.
#[derive(Debug, Default)]
struct Said {
    /// By stream, ordered ones in their order.
    ordered: BTreeMap<u16, VecDeque<Vec<u8>>>,
    unordered: Vec<Vec<u8>>,
}

#[derive(Debug)]
struct Host {
    endpoint: Endpoint,
    config: Config,
    /// The association it began or accepted last.
    association: Option<AssocId>,
    said: Said,
    reports: Reports,
    /// Parts of messages that are being read, by their first TSN.
    parts: BTreeMap<u32, Vec<u8>>,
    read: u64,
    messages: u8,
    /// What a forger knows who sends packets to it.
    secrets: Option<Secrets>,
    sent: u64,
}

struct Machine {
    now: Instant,
    hosts: [Host; 2],
    flying: Vec<Flying>,
    history: Vec<Flying>,
    /// Nobody changes or forges packets: what is delivered must have been sent.
    honest: bool,
    /// Once there is an association nothing reaches the server: the client has but a forger to talk to.
    alone: bool,
    /// The application ended an association, or packets of an older one were replayed.
    ended: bool,
    buf: PacketBuf,
}

impl Machine {
    fn new(tape: &mut Tape<'_>) -> Machine {
        let first = tape.byte();
        let alone = first & 0x80 != 0;
        let honest = first & 1 != 0 && !alone;
        let hosts = [Side::Client, Side::Server].map(|side| Host::new(side, any_config(tape)));
        let (flying, history) = (Vec::new(), Vec::new());
        let mut machine = Machine {
            now: Instant::ZERO,
            hosts,
            flying,
            history,
            honest,
            alone: false,
            ended: false,
            buf: PacketBuf::default(),
        };
        if !tape.once_in(4) {
            machine.establish();
            machine.alone = alone;
        }
        machine
    }

    /// A handshake that nobody disturbs.
    fn establish(&mut self) {
        self.connect(Side::Client, NETS);
        for _ in 0..8 {
            self.deliver_all();
        }
    }

    fn command(&mut self, tape: &mut Tape<'_>) {
        let side = if tape.flag() { Side::Client } else { Side::Server };
        match tape.below(32) {
            0 => self.connect(side, tape.between(1, u64::from(NETS)) as u8),
            1..=6 => self.say(side, tape),
            7..=9 => self.read(side, tape.pick(&[1, 100, usize::MAX])),
            10..=14 => self.fly(tape, false),
            15 => self.fly(tape, true),
            16 => {
                if !self.flying.is_empty() {
                    let lost = tape.below(self.flying.len() as u64) as usize;
                    self.flying.swap_remove(lost);
                }
            }
            17 => self.replay(tape),
            18 | 19 => self.deliver_all(),
            20 | 21 => self.forge(tape),
            22 => self.change(tape),
            23..=25 => self.pass(Span::from_millis(tape.below(300))),
            26 | 27 => self.expire(),
            28 => self.pass(Span::from_secs(tape.below(70))),
            29 => self.ask(side, tape),
            30 => self.end(side, tape),
            _ => self.set_options(side, tape),
        }
    }

    fn host(&mut self, side: Side) -> &mut Host {
        &mut self.hosts[side as usize]
    }

    /// Something was done to an endpoint: takes what it sends and tells, and checks its bounds.
    fn drain(&mut self, side: Side) {
        let now = self.now;
        let host = &mut self.hosts[side as usize];
        let before = host.data_packets();
        let mut packets = 0;
        while let Some(sent) = host.endpoint.poll_transmit(now, &mut self.buf) {
            packets += 1;
            host.sent += 1;
            let data = host.data_packets() - before;
            assert!(
                packets <= MOST_ANSWERS + data,
                "{side:?} sends {packets} packets, {data} of them with data"
            );
            check_order(&self.buf);
            let flying = Flying { to: side.other(), src: sent.src, dst: sent.dst, bytes: self.buf.clone() };
            if self.flying.len() < MOST_FLYING {
                self.flying.push(flying.clone());
            }
            if self.history.len() == MOST_FLYING {
                self.history.remove(0);
            }
            self.history.push(flying);
        }
        self.spy(side);
        let host = &mut self.hosts[side as usize];
        let mut events = 0;
        while let Some((id, event)) = host.endpoint.poll_event() {
            events += 1;
            assert!(events <= 10_000, "{side:?} tells more and more");
            host.reports.told(id, &event);
            match event {
                Event::Connected { .. } => host.association = Some(id),
                Event::Closed { .. } | Event::Restarted => self.ended = true,
                _ => {}
            }
        }
        host.check_bounds();
    }

    /// Reads the tags and TSNs that a forger on the way would see.
    fn spy(&mut self, from: Side) {
        let Some(sent) = self.history.last().filter(|sent| sent.to == from.other()) else { return };
        let Ok(packet) = Packet::parse(sent.bytes.as_octets(), Checksum::Offloaded) else { return };
        if packet.header.verification_tag == 0 {
            return;
        }
        let (header, mut theirs) = (packet.header, None);
        for chunk in packet.chunks().map_while(Result::ok) {
            match chunk {
                Chunk::Data(data) => theirs = Some(data.tsn.next()),
                Chunk::InitAck(ack) => theirs = Some(ack.0.initial_tsn),
                _ => {}
            }
        }
        let other = self.host(from).secrets.map_or(Tsn(0), |secrets| secrets.theirs);
        let victim = self.host(from.other());
        let theirs = theirs.or(victim.secrets.map(|secrets| secrets.theirs)).unwrap_or(Tsn(0));
        victim.secrets = Some(Secrets { header, theirs, ours: other });
    }

    fn connect(&mut self, side: Side, nets: u8) {
        let (now, port) = (self.now, side.other().port());
        let addresses: Vec<IpAddr> = (1..=nets).map(|net| side.other().address(net)).collect();
        let host = self.host(side);
        if let Ok(id) = host.endpoint.connect(now, port, &addresses) {
            host.association = Some(id);
        }
        self.drain(side);
    }

    fn say(&mut self, side: Side, tape: &mut Tape<'_>) {
        let (now, honest) = (self.now, self.honest);
        let host = self.host(side);
        let Some(id) = host.association else { return };
        let length = if tape.once_in(4) { tape.between(1, 6_000) } else { tape.between(1, 300) } as usize;
        let (stream, unordered) = (tape.below(4) as u16, tape.once_in(3));
        let path = tape.once_in(6).then(|| PathId(tape.below(3) as u8));
        host.messages = host.messages.wrapping_add(1);
        let bytes = vec![host.messages; length];
        let payload = Payload::Bytes(bytes.clone().into());
        let end_of_record = honest || !tape.once_in(5);
        let message = Message {
            stream: StreamId(stream),
            ppid: Ppid(tape.below(2) as u32),
            unordered,
            immediate_sack: tape.flag(),
            end_of_record,
            path,
            tracked: host.messages & 1 == 0,
            payload,
        };
        if let Ok(message) = host.endpoint.send(now, id, message) {
            if let Some(message) = message {
                host.reports.taken(id, message);
            }
            if honest {
                host.said.push(stream, unordered, bytes);
            }
        }
        self.drain(side);
    }

    fn read(&mut self, side: Side, most: usize) {
        let (now, honest) = (self.now, self.honest && !self.ended);
        let [client, server] = &mut self.hosts;
        let (reader, writer) = if side == Side::Client { (client, server) } else { (server, client) };
        let Some(id) = reader.association else { return };
        while let Some(part) = reader.endpoint.receive(now, id, most) {
            reader.read += part.payload.len() as u64;
            let message = reader.parts.entry(part.tsn.0).or_default();
            message.extend_from_slice(&part.payload.to_bytes());
            if part.end_of_record {
                let message = reader.parts.remove(&part.tsn.0).unwrap_or_default();
                assert!(
                    !honest || writer.said.hear(part.stream.0, part.unordered, &message),
                    "{side:?} read {} bytes of {:?} on stream {} that were not sent or not next",
                    message.len(),
                    message.first(),
                    part.stream.0
                );
            }
        }
        self.drain(side);
    }

    /// One packet on its way arrives, maybe crossed: from another address, or back where it came from.
    fn fly(&mut self, tape: &mut Tape<'_>, crossed: bool) {
        if self.flying.is_empty() {
            return;
        }
        let at = tape.below(self.flying.len() as u64) as usize;
        let mut packet = self.flying.swap_remove(at);
        if crossed && !self.honest {
            match tape.below(3) {
                0 => packet.src = [10, tape.below(4) as u8, 0, tape.below(3) as u8].into(),
                1 => std::mem::swap(&mut packet.src, &mut packet.dst),
                _ => packet.to = packet.to.other(),
            }
        }
        self.deliver(&packet);
        if crossed && self.honest {
            self.deliver(&packet); // a duplicate
        }
    }

    fn deliver(&mut self, packet: &Flying) {
        if self.alone && packet.to == Side::Server {
            return;
        }
        let now = self.now;
        let datagram = Datagram::new(packet.src, packet.dst, packet.bytes.as_octets());
        self.host(packet.to).endpoint.handle(now, datagram);
        self.drain(packet.to);
    }

    fn deliver_all(&mut self) {
        for packet in std::mem::take(&mut self.flying) {
            self.deliver(&packet);
        }
    }

    /// A packet from long ago arrives once more.
    fn replay(&mut self, tape: &mut Tape<'_>) {
        if !self.history.is_empty() {
            let old = self.history[tape.below(self.history.len() as u64) as usize].clone();
            self.deliver(&old);
        }
    }

    fn change(&mut self, tape: &mut Tape<'_>) {
        if self.history.is_empty() || self.honest {
            return;
        }
        let mut packet = self.history[tape.below(self.history.len() as u64) as usize].clone();
        packet.bytes = forge::change(tape, &packet.bytes);
        self.deliver(&packet);
    }

    fn forge(&mut self, tape: &mut Tape<'_>) {
        let to = if tape.flag() { Side::Client } else { Side::Server };
        let Some(secrets) = self.host(to).secrets.filter(|_| !self.honest) else { return };
        let net = tape.between(1, 3) as u8;
        let bytes = forge::packet(tape, &secrets);
        self.deliver(&Flying { to, src: to.other().address(net), dst: to.address(net.min(NETS)), bytes });
    }

    /// Time passes; timers that run out do so at their time.
    fn pass(&mut self, span: Span) {
        let (start, end) = (self.now, self.now + span);
        let before = self.hosts.each_ref().map(|host| host.sent - host.data_packets());
        let mut turns = 0;
        while let Some(due) = self.next_timeout().filter(|&due| due <= end) {
            turns += 1;
            assert!(turns < 20_000, "timers without end at {start:?}");
            self.now = self.now.max(due);
            self.fire();
        }
        self.now = end;
        let seconds = span.as_nanos() / 1_000_000_000 + 1;
        for (side, before) in [Side::Client, Side::Server].into_iter().zip(before) {
            let host = self.host(side);
            let sent = host.sent - host.data_packets() - before;
            assert!(sent <= PACKETS_A_SECOND * seconds, "{side:?} sends {sent} packets in {seconds} s");
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.hosts.iter().filter_map(|host| host.endpoint.poll_timeout()).min()
    }

    fn fire(&mut self) {
        for side in [Side::Client, Side::Server] {
            let now = self.now;
            if self.host(side).endpoint.poll_timeout().is_some_and(|due| due <= now) {
                self.host(side).endpoint.handle_timeout(now);
                self.drain(side);
            }
        }
    }

    fn expire(&mut self) {
        if let Some(due) = self.next_timeout() {
            self.now = self.now.max(due);
            self.fire();
        }
    }

    fn ask(&mut self, side: Side, tape: &mut Tape<'_>) {
        let (now, address) = (self.now, side.other().address(tape.between(1, 3) as u8));
        let host = self.host(side);
        let Some(id) = host.association else { return };
        if tape.flag() {
            host.endpoint.heartbeat(now, id, address);
        } else {
            host.endpoint.set_primary(id, address);
        }
        self.drain(side);
    }

    fn end(&mut self, side: Side, tape: &mut Tape<'_>) {
        let now = self.now;
        let host = self.host(side);
        let Some(id) = host.association else { return };
        if tape.once_in(3) {
            host.endpoint.abort(now, id, b"tired");
        } else {
            host.endpoint.shutdown(now, id);
        }
        self.ended = true;
        self.drain(side);
    }

    fn set_options(&mut self, side: Side, tape: &mut Tape<'_>) {
        let now = self.now;
        let host = self.host(side);
        let options = AssocOptions::of(&any_config(tape));
        if let Some(id) = host.association {
            let _ = host.endpoint.set_options(now, id, &options);
        }
        self.drain(side);
    }

    /// The network is whole from here on: what was sent arrives, unless the association ended or was tampered with.
    fn finish(&mut self) {
        for _ in 0..4_000 {
            self.deliver_all();
            self.read(Side::Client, usize::MAX);
            self.read(Side::Server, usize::MAX);
            if self.flying.is_empty() {
                if self.is_quiet() {
                    break;
                }
                self.expire();
            }
        }
        // A COOKIE ECHO that arrives when its sender has begun a new handshake with the same tag leaves one side established
        // and the other without hope (rfc9260#section-5.2.4, no case of table 12): that ends with Max.Init.Retransmits.
        let established =
            |host: &Host| host.association.and_then(|id| host.endpoint.state(id)) == Some(State::Established);
        if !self.honest || self.ended || !self.hosts.iter().all(established) {
            return;
        }
        for (host, other) in [(0, 1), (1, 0)] {
            let unheard = self.hosts[host].said.unheard();
            assert_eq!(unheard, 0, "host {other} never heard them; {}", self.describe());
        }
    }

    /// The associations of both hosts, for the message of a failure.
    fn describe(&self) -> String {
        let mut text = format!("at {} s", self.now.as_secs_f64());
        for host in &self.hosts {
            for id in host.endpoint.associations() {
                let (state, stats) = (host.endpoint.state(id), host.endpoint.stats(id));
                let paths: Vec<_> = host.endpoint.paths(id).into_iter().flatten().collect();
                let used = host.association == Some(id);
                text += &format!("\n{id:?}, used {used}: {state:?}, {stats:?}, {paths:?}");
            }
        }
        text
    }

    /// Nothing waits to be sent or acknowledged.
    fn is_quiet(&self) -> bool {
        self.hosts.iter().all(|host| {
            host.stats().is_none_or(|stats| stats.unsent_messages == 0 && stats.outstanding_chunks == 0)
        })
    }
}

/// TSNs ascend within a packet (`rfc9260#section-6.10`).
fn check_order(sent: &PacketBuf) {
    let packet = Packet::parse(sent.as_octets(), Checksum::Offloaded).expect("a packet");
    let mut last: Option<Tsn> = None;
    for chunk in packet.chunks() {
        if let Ok(Chunk::Data(data)) = chunk {
            assert!(last.is_none_or(|last| last.precedes(data.tsn)), "{:?} after {last:?}", data.tsn);
            last = Some(data.tsn);
        }
    }
}

impl Host {
    fn new(side: Side, config: Config) -> Host {
        let mut endpoint = Endpoint::new(EndpointConfig {
            port: side.port(),
            addresses: (1..=NETS).map(|net| side.address(net)).collect(),
            seed: Seed::for_simulation(u64::from(side.port())),
            checksum: Checksum::Offloaded,
            max_associations: 4,
            encapsulation: None,
            config: config.clone().into(),
        })
        .expect("a configuration that can work");
        endpoint.listen(true);
        Host {
            endpoint,
            config,
            association: None,
            said: Said::default(),
            reports: Reports::default(),
            parts: BTreeMap::new(),
            read: 0,
            messages: 0,
            secrets: None,
            sent: 0,
        }
    }

    fn stats(&self) -> Option<sctp::AssocStats> {
        self.endpoint.stats(self.association?)
    }

    /// Packets with user data of all associations that live.
    fn data_packets(&self) -> u64 {
        let paths = self.endpoint.associations().filter_map(|id| self.endpoint.paths(id)).flatten();
        paths.map(|path| path.stats.data_packets).sum()
    }

    fn check_bounds(&self) {
        for stats in self.endpoint.associations().filter_map(|id| self.endpoint.stats(id)) {
            assert!(stats.buffered <= self.config.send_buffer, "{stats:?}");
            assert!(stats.outstanding_chunks <= 1 << 15, "{stats:?}");
        }
        let associations = self.endpoint.associations().count();
        assert!(associations <= 4, "{associations} associations");
    }
}

impl Said {
    fn push(&mut self, stream: u16, unordered: bool, message: Vec<u8>) {
        if unordered {
            self.unordered.push(message);
        } else {
            self.ordered.entry(stream).or_default().push_back(message);
        }
    }

    /// False if the message was not sent, or is not the next of its stream.
    fn hear(&mut self, stream: u16, unordered: bool, message: &[u8]) -> bool {
        if unordered {
            let sent = self.unordered.iter().position(|sent| sent == message);
            return sent.map(|at| self.unordered.swap_remove(at)).is_some();
        }
        let next = self.ordered.get_mut(&stream).and_then(VecDeque::pop_front);
        next.is_some_and(|next| next == message)
    }

    fn unheard(&self) -> usize {
        self.unordered.len() + self.ordered.values().map(VecDeque::len).sum::<usize>()
    }
}
