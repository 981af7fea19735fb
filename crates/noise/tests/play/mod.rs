//! Two ends with encryption, and a network that loses, repeats, changes, forges and misdirects datagrams.
//! Bytes of input say what happens.

use anabranch_noise::{Noise, Peers, PrivateKey};
use io::Guard;
use std::collections::{BTreeSet, VecDeque};
use std::net::IpAddr;
use transport::{Channel, Datagram, Octets, Transmit};
use units::{Instant, Span};

/// Largest number of datagrams in flight.
const MOST: usize = 64;

struct World {
    ends: [Noise; 2],
    now: Instant,
    /// Datagrams in flight, with the end that sent them.
    flying: VecDeque<(usize, Vec<u8>)>,
    /// Datagrams that were sent before.
    sent: Vec<(usize, Vec<u8>)>,
    /// Number of packets sealed so far. The content of each packet is its number.
    packets: u32,
    /// Packets sealed by each end and not yet opened by the other.
    open: [BTreeSet<u32>; 2],
}

/// Runs the commands in `input`, each of a byte and its arguments, and then checks that both ends work.
///
/// # Panics
/// An end opened what the other one did not seal, or opened it twice; or the ends do not recover.
pub fn play(input: &[u8]) {
    let keys = [1, 2].map(|byte| hex_of(byte).parse::<PrivateKey>().expect("64 digits"));
    let [one, two] = keys.each_ref().map(PrivateKey::public);
    let [first, second] = keys;
    let ends = [Noise::new(first, Peers::known([two])), Noise::new(second, Peers::known([one]))];
    let ends = ends.map(|end| end.expect("good keys"));
    let now = Instant::ZERO + Span::from_secs(1);
    let mut world =
        World { ends, now, flying: VecDeque::new(), sent: Vec::new(), packets: 0, open: Default::default() };
    let mut input = input.iter().copied();
    while let Some(command) = input.next() {
        world.obey(command, &mut input);
    }
    world.recover();
}

fn hex_of(byte: u8) -> String {
    format!("{byte:02x}").repeat(32)
}

fn address(end: usize) -> IpAddr {
    [10, 0, 0, end as u8 + 1].into()
}

impl World {
    fn obey(&mut self, command: u8, input: &mut impl Iterator<Item = u8>) {
        let end = usize::from(command >> 7);
        let mut next = || input.next().unwrap_or_default();
        match command % 8 {
            0 => self.seal(end),
            1 => self.deliver_next(|_| ()),
            2 => drop(self.flying.pop_front()),
            3 => {
                let (at, bits) = (next(), next());
                self.deliver_next(|datagram| {
                    let at = usize::from(at) % datagram.len();
                    datagram[at] ^= bits;
                });
            }
            // Delivers an earlier datagram once more: to its receiver, or back to its sender.
            4 => {
                let at = usize::from(next());
                if let Some((from, datagram)) = self.sent.get(at % self.sent.len().max(1)).cloned() {
                    self.deliver(from ^ end, &datagram);
                }
            }
            5 => self.pass(Span::from_millis(10 * u64::from(next()))),
            6 => self.pass(Span::from_secs(u64::from(next()))),
            _ => {
                let length = usize::from(next());
                let datagram: Vec<u8> = std::iter::repeat_with(next).take(length).collect();
                self.deliver(end, &datagram);
            }
        }
    }

    fn seal(&mut self, end: usize) {
        self.packets += 1;
        self.open[end].insert(self.packets);
        let route =
            Transmit { channel: Channel(1), udp_port: 9901, ..Transmit::new(address(end), address(1 - end)) };
        let (packet, mut out) = (self.packets.to_be_bytes(), Vec::new());
        if self.ends[end].seal(self.now, &route, packet[..].into(), &mut out) {
            self.launch(end, out);
        }
        self.collect(end);
    }

    fn collect(&mut self, end: usize) {
        let mut out = Vec::new();
        while self.ends[end].poll_transmit(self.now, &mut out).is_some() {
            self.launch(end, std::mem::take(&mut out));
        }
    }

    fn launch(&mut self, end: usize, datagram: Vec<u8>) {
        self.sent.push((end, datagram.clone()));
        if self.flying.len() < MOST {
            self.flying.push_back((end, datagram));
        }
    }

    fn deliver_next(&mut self, change: impl FnOnce(&mut Vec<u8>)) {
        if let Some((from, mut datagram)) = self.flying.pop_front() {
            change(&mut datagram);
            self.deliver(from, &datagram);
        }
    }

    fn deliver(&mut self, from: usize, datagram: &[u8]) {
        let mut out = Vec::new();
        let arrived = Datagram::new(address(from), address(1 - from), Octets::from(datagram));
        let arrived = Datagram { udp_port: 9901, ..arrived };
        let before = self.sent.len();
        if self.ends[1 - from].open(self.now, &arrived, &mut out).is_some() {
            let packet = u32::from_be_bytes(out[..].try_into().expect("a whole packet"));
            assert!(self.open[from].remove(&packet), "packet {packet} was not sealed, or was opened before");
        }
        self.collect(1 - from);
        let answers = self.sent.len() - before;
        // Packets that waited for the session may leave with the confirmation.
        assert!(answers <= 10, "{answers} answers to a datagram");
    }

    fn pass(&mut self, span: Span) {
        self.now += span;
        for end in 0..2 {
            if self.ends[end].poll_timeout().is_some_and(|at| at <= self.now) {
                self.ends[end].handle_timeout(self.now);
            }
            self.collect(end);
        }
    }

    /// Loses no datagrams any more, and checks that both directions carry packets within a minute.
    fn recover(&mut self) {
        // After two minutes, the rate limit of handshakes no longer counts the earlier ones.
        self.pass(Span::from_secs(120));
        for _ in 0..120 {
            let before = self.packets;
            (0..2).for_each(|end| self.seal(end));
            for _ in 0..1000 {
                self.deliver_next(|_| ());
            }
            let arrived = |end: usize, packet| !self.open[end].contains(&packet);
            if arrived(0, before + 1) && arrived(1, before + 2) {
                return;
            }
            self.pass(Span::from_millis(500));
        }
        panic!("the ends do not recover");
    }
}
