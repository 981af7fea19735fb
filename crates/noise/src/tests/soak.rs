//! Long sessions over paths of unequal delay, in virtual time.

use super::*;
use std::collections::{BTreeMap, BTreeSet};

/// One-way delays of the paths, in milliseconds.
const DELAYS: [u64; 3] = [5, 150, 305];

/// Two ends with three lossless paths between them.
struct Paths {
    world: World,
    /// Datagrams in transit, by arrival time and number, with the end that sent them.
    transit: BTreeMap<(Instant, usize), (usize, Flying)>,
    launched: usize,
    /// Number of packets of each end so far.
    packets: u64,
    /// Packets of each end that have not arrived.
    missing: [BTreeSet<u64>; 2],
    /// Largest number of session indices (for sessions and handshakes) that an end had at once.
    most: usize,
}

impl Paths {
    fn new() -> Paths {
        let world = World::new();
        Paths {
            world,
            transit: BTreeMap::new(),
            launched: 0,
            packets: 0,
            missing: Default::default(),
            most: 0,
        }
    }

    /// Puts the datagrams that the ends sent on the paths that belong to their addresses.
    fn launch(&mut self) {
        self.world.sent.clear();
        for (from, flying) in self.world.flying.drain(..) {
            let path = flying.route.src.is_ipv4().then(|| usize::from(octets(flying.route.src)[2]));
            let delay = Span::from_millis(DELAYS[path.expect("an IPv4 address")]);
            self.launched += 1;
            self.transit.insert((self.world.now + delay, self.launched), (from, flying));
        }
    }

    fn seal(&mut self, end: usize, path: usize, packet: u64) {
        let mut out = Vec::new();
        let on = |address| {
            let [a, b, _, d] = octets(address);
            IpAddr::from([a, b, path as u8, d])
        };
        let route = Transmit { src: on(ADDRESSES[end]), dst: on(ADDRESSES[1 - end]), ..route(end) };
        self.missing[end].insert(packet);
        if self.world.ends[end].seal(self.world.now, &route, packet.to_le_bytes()[..].into(), &mut out) {
            self.world.launch(end, route, out);
        }
        self.world.collect(end);
        self.launch();
    }

    /// Delivers datagrams and runs timers until this time.
    fn run_until(&mut self, until: Instant) {
        loop {
            let arrival = self.transit.first_key_value().map(|(&(at, _), _)| at);
            let timer = self.world.ends.iter().filter_map(|end| end.poll_timeout()).min();
            let Some(at) = arrival.into_iter().chain(timer).min().filter(|&at| at <= until) else { break };
            self.world.now = at.max(self.world.now);
            for end in 0..2 {
                if self.world.ends[end].poll_timeout().is_some_and(|at| at <= self.world.now) {
                    self.world.ends[end].handle_timeout(self.world.now);
                }
                self.world.collect(end);
            }
            if let Some(entry) = self.transit.first_entry().filter(|entry| entry.key().0 <= at) {
                let (from, flying) = entry.remove();
                self.world.deliver(from, &flying);
                for packet in self.world.opened[1 - from].drain(..) {
                    let packet = u64::from_le_bytes(packet.try_into().expect("a number"));
                    assert!(self.missing[from].remove(&packet), "packet {packet} arrives twice");
                }
            }
            self.launch();
            self.most = self.most.max(self.indices(0)).max(self.indices(1));
        }
        self.world.now = until;
    }

    fn indices(&self, end: usize) -> usize {
        self.world.ends[end].indices()
    }

    /// Both ends send a packet on each path in turn, one in each interval, for this time.
    fn exchange(&mut self, time: Span, interval: Span) {
        let begin = self.world.now;
        for n in 0.. {
            let now = begin + interval * n;
            if now.since(begin) >= time {
                return;
            }
            self.run_until(now);
            self.packets += 1;
            for end in 0..2 {
                self.seal(end, n as usize % DELAYS.len(), self.packets);
            }
        }
    }

    /// Checks that each packet arrived once, and that both ends wiped all keys after their lifetime.
    fn finish(mut self, rekeyings: u64) {
        self.run_until(self.world.now + Span::from_secs(2));
        for end in 0..2 {
            let first = self.missing[end].first();
            assert_eq!((first, self.missing[end].len()), (None, 0), "of {end}");
            let stats = self.world.stats(end);
            assert_eq!((read(&stats.refused), read(&stats.unsent)), (0, 0), "of {end}");
            assert!(read(&stats.sessions) > rekeyings, "{} sessions", read(&stats.sessions));
            assert!(self.world.ends[end].poll_timeout().is_some(), "a timer wipes the keys");
        }
        assert!(self.most <= 5, "{} indices", self.most);
        self.run_until(self.world.now + KEPT);
        assert_eq!([0, 1].map(|end| self.indices(end)), [1, 1], "only the current keys are kept");
        self.run_until(self.world.now + Span::from_secs(180));
        assert_eq!([0, 1].map(|end| self.indices(end)), [0, 0], "no key outlives its session");
        assert_eq!([0, 1].map(|end| self.world.ends[end].poll_timeout()), [None, None]);
    }
}

fn octets(address: IpAddr) -> [u8; 4] {
    match address {
        IpAddr::V4(address) => address.octets(),
        IpAddr::V6(_) => panic!("all addresses are of IPv4"),
    }
}

#[test]
fn no_packet_is_lost_in_24_rekeyings_on_paths_300_ms_apart() {
    let mut paths = Paths::new();
    paths.exchange(Span::from_secs(24 * 120), Span::from_millis(20));
    paths.finish(24);
}

#[test]
fn a_session_of_a_day_loses_no_packet_and_its_memory_stays_bounded() {
    let mut paths = Paths::new();
    paths.exchange(Span::from_secs(24 * 3600), Span::from_secs(1));
    paths.finish(24 * 3600 / 120);
}

#[test]
fn both_ends_agree_on_a_session_if_both_renew_the_keys_at_once() {
    for lead in [0, 3, 100, 140, 160, 290, 320, 500] {
        let mut paths = Paths::new();
        paths.exchange(Span::from_secs(5), Span::from_millis(10));
        let worn = |world: &mut World, end| {
            let session = world.session(end).expect("a session");
            session.skip_to(session.suite().worn());
        };
        worn(&mut paths.world, 0);
        paths.exchange(Span::from_millis(lead), Span::from_millis(10));
        worn(&mut paths.world, 1);
        paths.exchange(Span::from_secs(60), Span::from_millis(10));
        let names = [0, 1].map(|end| paths.world.session(end).map(|session| (session.local, session.remote)));
        assert_eq!(names[0], names[1].map(|(local, remote)| (remote, local)), "after {lead} ms");
        paths.finish(1);
    }
}
