//! Tests with two ends and a network that loses, repeats and forges datagrams as the test says.

mod control;
mod keys;
mod restart;
mod soak;

use crate::guard::Noise;
use crate::keys::{PrivateKey, PublicKey, Secret};
use crate::mac::MacKey;
use crate::peer::{KEPT, Peer, WAITING};
use crate::peers::Peers;
use crate::session::{OVERHEAD, REKEY, REKEY_LATE, Session};
use crate::stats::NoiseStats;
use crate::suite::Suite;
use crate::wire;
use io::Guard;
use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use transport::{Channel, Datagram, Octets, Transmit};
use units::{Instant, Span};

/// A datagram in transit.
#[derive(Clone, Debug)]
struct Flying {
    route: Transmit,
    bytes: Vec<u8>,
}

/// Two ends, numbered 0 and 1, and their datagrams.
struct World {
    ends: [Noise; 2],
    addresses: [IpAddr; 2],
    now: Instant,
    flying: VecDeque<(usize, Flying)>,
    /// Packets that each end opened.
    opened: [Vec<Vec<u8>>; 2],
    /// All sent datagrams, with the end that sent them.
    sent: Vec<(usize, Flying)>,
}

const ADDRESSES: [IpAddr; 2] =
    [IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1)), IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 2))];

fn route(from: usize) -> Transmit {
    let route = Transmit::new(ADDRESSES[from], ADDRESSES[1 - from]);
    Transmit { udp_port: 9901, channel: Channel(1), ..route }
}

fn key() -> PrivateKey {
    PrivateKey::generate().expect("randomness")
}

fn noise(own: &PrivateKey, peer: &PrivateKey) -> Noise {
    Noise::new(own.clone(), Peers::known([peer.public()])).expect("good keys")
}

fn read(counter: &AtomicU64) -> u64 {
    counter.load(Relaxed)
}

impl World {
    fn new() -> World {
        World::with(&key(), &key())
    }

    fn with(one: &PrivateKey, two: &PrivateKey) -> World {
        World::of([noise(one, two), noise(two, one)])
    }

    fn of(ends: [Noise; 2]) -> World {
        let now = Instant::ZERO + Span::from_secs(1);
        World {
            ends,
            addresses: ADDRESSES,
            now,
            flying: VecDeque::new(),
            opened: Default::default(),
            sent: Vec::new(),
        }
    }

    fn collect(&mut self, end: usize) {
        let mut bytes = Vec::new();
        while let Some(route) = self.ends[end].poll_transmit(self.now, &mut bytes) {
            self.launch(end, route, std::mem::take(&mut bytes));
        }
    }

    fn launch(&mut self, end: usize, route: Transmit, bytes: Vec<u8>) {
        let flying = Flying { route, bytes };
        self.sent.push((end, flying.clone()));
        self.flying.push_back((end, flying));
    }

    fn seal(&mut self, end: usize, packet: &[u8]) {
        let mut out = Vec::new();
        let route = Transmit { src: self.addresses[end], ..route(end) };
        if self.ends[end].seal(self.now, &route, packet.into(), &mut out) {
            self.launch(end, route, out);
        }
        self.collect(end);
    }

    /// Delivers a datagram of one end to the other; true if a packet was opened.
    fn deliver(&mut self, from: usize, flying: &Flying) -> bool {
        let mut out = Vec::new();
        let arrived = Datagram::new(flying.route.src, flying.route.dst, Octets::from(&flying.bytes[..]));
        let arrived = Datagram { udp_port: flying.route.udp_port, ..arrived };
        let opened = self.ends[1 - from].open(self.now, &arrived, &mut out).is_some();
        if opened {
            self.opened[1 - from].push(out);
        }
        self.collect(1 - from);
        opened
    }

    /// Delivers all datagrams except those for which `lost` returns true, by datagram number.
    fn run(&mut self, mut lost: impl FnMut(usize) -> bool) {
        let mut n = 0;
        while let Some((from, flying)) = self.flying.pop_front() {
            if !lost(n) {
                self.deliver(from, &flying);
            }
            n += 1;
            assert!(n < 1000, "they answer each other for ever");
        }
    }

    fn run_all(&mut self) {
        self.run(|_| false);
    }

    /// Lets time pass and runs the expired timers.
    fn wait(&mut self, span: Span) {
        let end = self.now + span;
        loop {
            let next = self.ends.iter().filter_map(|end| end.poll_timeout()).min();
            let Some(at) = next.filter(|&at| at <= end) else { break };
            self.now = at.max(self.now);
            for n in 0..2 {
                if self.ends[n].poll_timeout().is_some_and(|at| at <= self.now) {
                    self.ends[n].handle_timeout(self.now);
                }
                self.collect(n);
            }
            self.run_all();
        }
        self.now = end;
    }

    /// Checks that both directions carry a packet.
    fn assert_works(&mut self) {
        for end in 0..2 {
            let packet = [7, end as u8, self.sent.len() as u8];
            self.seal(end, &packet);
            self.run_all();
            assert_eq!(self.opened[1 - end].last().map(Vec::as_slice), Some(&packet[..]), "from {end}");
        }
    }

    fn connected() -> World {
        let mut world = World::new();
        world.seal(0, b"hello");
        world.run_all();
        world.assert_works();
        world
    }

    fn stats(&self, end: usize) -> std::sync::Arc<NoiseStats> {
        self.ends[end].stats()
    }

    /// The state that an end keeps of the other one.
    fn peer(&mut self, end: usize) -> &mut Peer {
        self.ends[end].only_peer()
    }

    fn session(&mut self, end: usize) -> Option<&mut Session> {
        self.peer(end).current.as_mut()
    }
}

fn kinds(world: &World) -> Vec<(usize, u8)> {
    world.sent.iter().map(|(end, flying)| (*end, flying.bytes[0])).collect()
}

#[test]
fn a_handshake_takes_two_round_trips_and_then_the_packet_that_waited_leaves() {
    let mut world = World::new();
    world.seal(0, b"hello");
    world.run_all();
    assert_eq!(kinds(&world), [(0, 1), (1, 3), (0, 1), (1, 2), (0, 4), (0, 4)]);
    assert_eq!(world.opened[1], [b"hello"]);
    assert_eq!(world.sent[5].1.bytes.len(), 5 + OVERHEAD);
    world.assert_works();
}

#[test]
fn every_flipped_bit_of_a_data_packet_is_noticed() {
    let mut world = World::connected();
    world.seal(0, b"data");
    let (_, original) = world.flying.pop_back().expect("was sent");
    for bit in 0..8 * original.bytes.len() {
        let mut changed = original.clone();
        changed.bytes[bit / 8] ^= 1 << (bit % 8);
        assert!(!world.deliver(0, &changed), "bit {bit}");
    }
    assert!(world.deliver(0, &original), "changed packets do not use up the counter");
}

#[test]
fn a_changed_handshake_makes_no_session_and_the_next_attempt_does() {
    for step in 0..4 {
        for byte in (0..40).step_by(3) {
            let mut world = World::new();
            world.seal(0, b"hello");
            for n in 0.. {
                let Some((from, mut flying)) = world.flying.pop_front() else { break };
                if n == step {
                    flying.bytes[byte] ^= 16;
                }
                world.deliver(from, &flying);
            }
            assert!(world.session(0).is_none() && world.session(1).is_none(), "{step}, {byte}");
            world.wait(Span::from_secs(2));
            world.assert_works();
        }
    }
}

#[test]
fn a_handshake_survives_the_loss_of_each_of_its_datagrams() {
    for lost in 0..6 {
        let mut world = World::new();
        world.seal(0, b"hello");
        world.run(|n| n == lost);
        world.wait(Span::from_secs(2));
        world.seal(0, b"again");
        world.run_all();
        assert_eq!(world.opened[1].last().map(Vec::as_slice), Some(&b"again"[..]), "datagram {lost}");
        world.assert_works();
    }
}

#[test]
fn no_datagram_counts_twice_and_replays_cost_no_curves() {
    let mut world = World::connected();
    let before = [0, 1].map(|end| (read(&world.stats(end).curves), read(&world.stats(end).sessions)));
    for (from, flying) in world.sent.clone() {
        assert!(!world.deliver(from, &flying));
    }
    world.run_all();
    let after = [0, 1].map(|end| (read(&world.stats(end).curves), read(&world.stats(end).sessions)));
    assert_eq!(before, after);
    world.assert_works();
}

#[test]
fn nothing_can_be_sent_back_to_its_sender() {
    let mut world = World::connected();
    let curves = read(&world.stats(0).curves);
    for (from, flying) in world.sent.clone() {
        // Returns the datagram to its sender, with the addresses that the other end would use.
        assert!(!world.deliver(1 - from, &flying));
    }
    assert_eq!(read(&world.stats(0).curves), curves);
    world.flying.clear();
    world.assert_works();
}

#[test]
fn packets_overtake_4096_others_at_most() {
    let mut world = World::connected();
    for n in 0..4200_u32 {
        world.seal(0, &n.to_le_bytes());
    }
    let flying: Vec<_> = world.flying.drain(..).collect();
    let opened = flying.iter().rev().filter(|(from, flying)| world.deliver(*from, flying)).count();
    assert_eq!(opened, 4096);
}

#[test]
fn a_path_or_nat_that_changes_needs_no_handshake() {
    let mut world = World::connected();
    let handshakes = world.sent.iter().filter(|(_, flying)| flying.bytes[0] != 4).count();
    for (last, port) in [(9, 9901), (1, 5000), (77, 1)] {
        world.seal(0, b"moved");
        let (_, mut flying) = world.flying.pop_back().expect("was sent");
        flying.route.src = [203, 0, 113, last].into();
        flying.route.udp_port = port;
        assert!(world.deliver(0, &flying));
    }
    assert_eq!(world.sent.iter().filter(|(_, flying)| flying.bytes[0] != 4).count(), handshakes);
}

#[test]
fn both_ends_may_begin_at_once() {
    let mut world = World::new();
    world.seal(0, b"from 0");
    world.seal(1, b"from 1");
    world.run_all();
    assert_eq!(world.opened, [[b"from 1"], [b"from 0"]]);
    for _ in 0..3 {
        world.assert_works();
    }
    assert_eq!([0, 1].map(|end| world.peer(end).attempt.is_some()), [false; 2]);
}

#[test]
fn a_packet_that_waited_half_a_second_for_a_later_session_is_dropped() {
    let mut world = World::connected();
    world.now += Span::from_secs(180);
    world.seal(0, b"late");
    world.flying.clear();
    world.now += Span::from_millis(250);
    world.ends[0].handle_timeout(world.now);
    world.collect(0);
    world.flying.clear();
    world.seal(0, b"fresh");
    world.wait(Span::from_millis(400));
    let opened: Vec<&[u8]> = world.opened[1].iter().map(Vec::as_slice).collect();
    assert!(opened.contains(&&b"fresh"[..]) && !opened.contains(&&b"late"[..]), "{opened:?}");
    assert_eq!(read(&world.stats(0).unsent), 1);
}

#[test]
fn forged_initiations_cost_a_mac_each_and_are_not_answered() {
    let mut world = World::new();
    let mut forged = wire::initiation(0, 7, &[9; wire::MESSAGE_1]);
    forged.extend([0; 32]);
    for n in 0..10_000_u32 {
        forged[4..8].copy_from_slice(&n.to_le_bytes());
        let src = IpAddr::from(n.to_be_bytes());
        let route = Transmit { udp_port: 9901, ..Transmit::new(src, ADDRESSES[1]) };
        world.deliver(0, &Flying { route, bytes: forged.clone() });
    }
    assert_eq!(read(&world.stats(1).refused), 10_000);
    assert_eq!((read(&world.stats(1).curves), world.sent.len()), (0, 0));
    world.seal(0, b"hello");
    world.run_all();
    world.assert_works();
}

#[test]
fn a_captured_initiation_from_many_addresses_costs_no_curves_and_gets_less_than_it_has() {
    let mut world = World::new();
    world.seal(0, b"hello");
    let captured = world.flying.pop_back().expect("was sent").1;
    for n in 0..1000_u32 {
        let mut copy = captured.clone();
        copy.route.src = IpAddr::from(n.to_be_bytes());
        world.deliver(0, &copy);
        let answer = world.sent.last().expect("a cookie");
        assert!(answer.0 == 1 && answer.1.bytes.len() * 3 < copy.bytes.len());
        // A cookie is valid only for the address it was sent to.
        let (_, cookie) = world.flying.pop_back().expect("a cookie");
        copy.bytes.truncate(138 - 16);
        copy.bytes.extend(&cookie.bytes[8..24]);
        copy.route.src = ADDRESSES[0];
        world.deliver(0, &copy);
        world.flying.clear();
    }
    assert_eq!(read(&world.stats(1).curves), 0);
}

#[test]
fn an_end_that_does_not_know_the_public_key_of_the_other_gets_no_answer() {
    let [one, two, other] = [key(), key(), key()];
    let mut world = World::of([noise(&one, &other), noise(&two, &one)]);
    world.seal(0, b"let me in");
    world.run_all();
    world.wait(Span::from_secs(20));
    assert!(kinds(&world).iter().all(|&sent| sent == (0, 1)));
    assert_eq!(read(&world.stats(1).curves), 0);
}

#[test]
fn an_end_with_another_key_gets_cookies_but_no_response() {
    let [one, two, other] = [key(), key(), key()];
    let mut world = World::of([noise(&other, &two), noise(&two, &one)]);
    world.seal(0, b"let me in");
    world.run_all();
    world.wait(Span::from_secs(20));
    assert!(kinds(&world).iter().all(|&(end, kind)| (end, kind) == (0, 1) || (end, kind) == (1, 3)));
    assert!(world.opened[1].is_empty() && read(&world.stats(1).sessions) == 0);
}

#[test]
fn random_datagrams_do_no_harm() {
    let mut world = World::connected();
    let mut state = 1_u64;
    for n in 0..20_000_usize {
        let bytes: Vec<u8> = (0..n % 150)
            .map(|at| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                match at {
                    0 => 1 + (state >> 62) as u8,
                    1..4 => 0,
                    _ => (state >> 56) as u8,
                }
            })
            .collect();
        assert!(!world.deliver(n % 2, &Flying { route: route(n % 2), bytes }));
    }
    assert!(world.flying.is_empty());
    world.assert_works();
}

#[test]
fn keys_end_after_as_many_packets_as_their_suite_allows_and_new_ones_come_before() {
    for suite in [Suite::ChaCha20Poly1305, Suite::Aes256Gcm] {
        let [one, two] = [key(), key()];
        let mut world = World::of([noise(&one, &two).suite(suite), noise(&two, &one).suite(suite)]);
        world.seal(0, b"hello");
        world.run_all();
        let local = |world: &mut World| world.session(0).map(|session| session.local);
        let first = local(&mut world);
        assert_eq!(world.session(0).map(|session| session.suite()), Some(suite));
        world.session(0).expect("a session").skip_to(suite.worn());
        world.assert_works();
        assert_ne!(local(&mut world), first);
        world.session(0).expect("a session").skip_to(suite.end());
        world.seal(0, b"no more");
        assert_eq!(world.flying.back().map(|(_, flying)| flying.bytes[0]), Some(1));
    }
}

#[test]
fn a_path_may_be_slower_by_far_than_one_that_carries_200_mbit_per_second() {
    // One path carries 200 Mbit/s in packets of 1440 bytes, and the other path takes 300 ms longer. In 300 ms
    // 5200 packets arrive, more than fit a replay window.
    let mut world = World::connected();
    let slow = Transmit { src: [10, 0, 1, 1].into(), ..route(0) };
    let mut late = VecDeque::new();
    for n in 0..20_000_u32 {
        if n % 10 == 0 {
            let mut out = Vec::new();
            assert!(world.ends[0].seal(world.now, &slow, n.to_le_bytes()[..].into(), &mut out));
            late.push_back((n + 5200, Flying { route: slow, bytes: out }));
        }
        world.seal(0, &n.to_le_bytes());
        world.run_all();
        while late.front().is_some_and(|(at, _)| *at <= n) {
            let (_, flying) = late.pop_front().expect("there is one");
            assert!(world.deliver(0, &flying), "packet {n}");
        }
    }
    assert_eq!(read(&world.stats(1).refused), 0);
}

#[test]
fn ends_with_different_suites_agree_if_one_accepts_both() {
    let [one, two] = [key(), key()];
    let chacha = || noise(&two, &one).suite(Suite::ChaCha20Poly1305);
    for first in 0..2 {
        let mut world = World::of([noise(&one, &two), chacha()]);
        world.seal(first, b"hello");
        world.run_all();
        world.assert_works();
        assert_eq!(world.session(0).map(|session| session.suite()), Some(Suite::ChaCha20Poly1305));
    }
}

#[test]
fn ends_without_a_common_suite_get_no_session() {
    let [one, two] = [key(), key()];
    let mut world = World::of([
        noise(&one, &two).suite(Suite::Aes256Gcm),
        noise(&two, &one).suite(Suite::ChaCha20Poly1305),
    ]);
    world.seal(0, b"hello");
    world.run_all();
    world.wait(Span::from_secs(20));
    assert!(world.session(0).is_none());
    assert!(read(&world.stats(1).wrong_suite) > 0);
    assert_eq!(read(&world.stats(1).curves), 0);
}

/// A server for `peers`, and a client that knows it.
fn server_and_client(peers: impl FnOnce(PublicKey, Peers) -> (Peers, Peers)) -> World {
    let [server, client] = [key(), key()];
    let (of_server, of_client) = peers(client.public(), Peers::known([server.public()]));
    World::of([
        Noise::new(client, of_client).expect("good keys"),
        Noise::new(server, of_server).expect("good keys"),
    ])
}

#[test]
fn a_shared_secret_must_be_the_same_at_both_ends() {
    let secret = || Secret::generate().expect("randomness");
    let (one, two) = (secret(), secret());
    for (of_server, of_client, works) in [(&one, &one, true), (&one, &two, false)] {
        let mut world = server_and_client(|client, to_server| {
            let of_server = Peers::known([client]).psk(client, of_server.clone());
            (of_server, to_server.psk_for_all(of_client.clone()))
        });
        world.seal(0, b"hello");
        world.run_all();
        assert_eq!(world.session(0).is_some(), works);
    }
}

#[test]
fn a_server_for_any_key_accepts_a_stranger_and_one_with_a_list_does_not() {
    let mut world = server_and_client(|_, to_server| (Peers::any(), to_server));
    world.seal(0, b"hello");
    world.run_all();
    assert_eq!(world.opened[1], [b"hello"]);
    for refuse in [|| Peers::known([key().public()]), || Peers::any_if(|_| false)] {
        let mut world = server_and_client(|_, to_server| (refuse(), to_server));
        world.seal(0, b"hello");
        world.run_all();
        assert!(world.opened[1].is_empty());
        assert_eq!(world.stats(1).stranger().map(|(_, count)| count), Some(1));
        assert_eq!(kinds(&world), [(0, 1), (1, 3), (0, 1)], "a cookie, but no response");
    }
}

#[test]
fn without_the_key_of_the_door_nobody_gets_an_answer() {
    let door = Secret::generate().expect("randomness");
    let mut world = server_and_client(|_, to_server| (Peers::any().door(door.clone()), to_server));
    world.seal(0, b"hello");
    world.run_all();
    assert_eq!(kinds(&world), [(0, 1)]);
    let both = |_, to_server: Peers| (Peers::any().door(door.clone()), to_server.door(door.clone()));
    let mut world = server_and_client(both);
    world.seal(0, b"hello");
    world.run_all();
    assert_eq!(world.opened[1], [b"hello"]);
}

#[test]
fn a_forged_response_does_not_end_the_attempt() {
    let [one, two] = [key(), key()];
    let mut world = World::with(&one, &two);
    world.seal(0, b"hello");
    world.run(|n| n == 3);
    let response = world.sent[3].1.clone();
    assert_eq!(response.bytes[0], 2);
    // Whoever knows the public key of the initiator can make the MAC.
    let mut forged = response.clone();
    forged.bytes[12..62].fill(9);
    let mac = MacKey::toward(&one.public(), &Secret::ZERO).mac(&[&forged.bytes[..62]]);
    forged.bytes[62..].copy_from_slice(&mac);
    for _ in 0..63 {
        world.deliver(1, &forged);
    }
    assert!(world.session(0).is_none());
    world.deliver(1, &response);
    assert!(world.session(0).is_some());
    world.run_all();
    world.assert_works();
}

#[test]
fn a_forged_cookie_or_one_for_another_attempt_changes_nothing() {
    let mut world = World::new();
    world.seal(0, b"hello");
    world.run(|n| n == 1);
    let cookie = world.sent[1].1.clone();
    assert_eq!(cookie.bytes[0], 3);
    for byte in 0..cookie.bytes.len() {
        let mut forged = cookie.clone();
        forged.bytes[byte] ^= 1;
        world.deliver(1, &forged);
        assert!(world.flying.is_empty(), "byte {byte}");
    }
    world.wait(Span::from_millis(250));
    let sent = world.sent.len();
    world.deliver(1, &cookie);
    assert_eq!(world.sent.len(), sent, "it belongs to the first attempt");
}

#[test]
fn a_server_has_a_session_with_each_of_many_clients() {
    let server = key();
    let mut ours = Noise::new(server.clone(), Peers::any()).expect("a good key");
    let mut worlds: Vec<World> = Vec::new();
    for n in 0..100_u32 {
        let client = Noise::new(key(), Peers::known([server.public()])).expect("good keys");
        let mut world = World::of([client, ours]);
        world.now += Span::from_millis(50 * u64::from(n));
        world.addresses[0] = [10, 1, 0, n as u8].into();
        world.seal(0, &n.to_le_bytes());
        world.run_all();
        assert_eq!(world.opened[1].last().map(Vec::as_slice), Some(&n.to_le_bytes()[..]), "client {n}");
        ours = std::mem::replace(&mut world.ends[1], Noise::new(key(), Peers::any()).expect("a good key"));
        worlds.push(world);
    }
    assert_eq!(read(&ours.stats().sessions), 100);
    // All sessions work, and a packet costs one decryption, since its index names the session.
    for (n, world) in worlds.iter_mut().enumerate() {
        std::mem::swap(&mut world.ends[1], &mut ours);
        world.seal(0, b"again");
        world.run_all();
        assert_eq!(world.opened[1].last().map(Vec::as_slice), Some(&b"again"[..]), "client {n}");
        std::mem::swap(&mut world.ends[1], &mut ours);
    }
}

#[test]
fn a_full_table_of_strangers_makes_room_for_a_new_one_after_ten_seconds() {
    let mut server = Noise::new(key(), Peers::any()).expect("a good key");
    let stranger =
        |n: u32| PublicKey::from(std::array::from_fn(|at| if at < 4 { n.to_le_bytes()[at] } else { 9 }));
    let now = Instant::ZERO + Span::from_secs(1);
    for n in 1..=4096 {
        assert_eq!(server.admit(now, stranger(n)), Some(n), "numbers are given in order");
    }
    assert_eq!(server.admit(now, stranger(4097)), None);
    assert_eq!(server.admit(now, stranger(1)), Some(1), "it is known");
    let later = now + Span::from_secs(10);
    assert_eq!(server.admit(later, stranger(4097)), Some(4097));
    assert_eq!(server.admit(later, stranger(1)), Some(4098), "it was forgotten, and gets another number");
}

#[test]
fn what_waits_without_a_session_is_bounded_and_given_up_after_half_a_minute() {
    let mut world = World::new();
    for n in 0..100_u8 {
        world.seal(0, &[n]);
    }
    let unsent = read(&world.stats(0).unsent);
    assert_eq!((world.peer(0).waiting.len(), unsent), (WAITING, 92));
    for _ in 0..60 {
        world.flying.clear();
        world.now += Span::from_secs(1);
        if world.ends[0].poll_timeout().is_some_and(|at| at <= world.now) {
            world.ends[0].handle_timeout(world.now);
        }
        world.collect(0);
    }
    let timeout = world.ends[0].poll_timeout();
    assert_eq!((timeout, world.peer(0).waiting.len()), (None, 0));
    assert!(world.sent.len() < 15, "{}", world.sent.len());
}

/// The log lines of one thread. The subscriber gets the lines of the whole process, in which other tests run.
#[cfg(feature = "tracing")]
#[derive(Clone)]
struct Lines(std::thread::ThreadId, std::sync::Arc<std::sync::Mutex<Vec<u8>>>);

#[cfg(feature = "tracing")]
impl std::io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if std::thread::current().id() == self.0 {
            self.1.lock().expect("no panic").extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(feature = "tracing")]
#[test]
fn handshakes_are_events_and_refused_ones_are_told_once_a_second() {
    let lines = Lines(std::thread::current().id(), std::sync::Arc::default());
    let writer = lines.clone();
    tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::DEBUG)
        .with_ansi(false)
        .without_time()
        .with_writer(move || writer.clone())
        .init();
    let mut world = World::connected();
    let mut stranger = World::with(&key(), &key());
    stranger.seal(0, b"hello");
    let (_, initiation) = stranger.sent[0].clone();
    for _ in 0..100 {
        world.deliver(0, &initiation);
    }
    world.now += Span::from_secs(1);
    world.deliver(0, &initiation);
    let text = String::from_utf8(lines.1.lock().expect("no panic").clone()).expect("is text");
    let expected = [
        " INFO anabranch_noise: handshake complete peer=10.0.0.2 began_here=true",
        " INFO anabranch_noise: handshake complete peer=10.0.0.1 began_here=false",
        "DEBUG anabranch_noise: handshake refused peer=10.0.0.1 reason=\"other keys\" count=1",
        "DEBUG anabranch_noise: handshake refused peer=10.0.0.1 reason=\"other keys\" count=100",
    ];
    assert_eq!(text.lines().collect::<Vec<_>>(), expected);
}
