//! Path MTU discovery (rfc8899), and packets that fit the path MTU without path MTU discovery.

use anabranch_sctp::*;
use std::cell::RefCell;
use std::net::{IpAddr, Ipv6Addr};
use std::rc::Rc;
use testkit::*;
use transport::PacketBuf;
use units::{ByteCount, Instant, Span};

/// Length of a packet on the link: with its IP header and UDP header.
fn on_the_way(sent: &Sent) -> usize {
    let ip_header = if sent.dst.is_ipv4() { 20 } else { 40 };
    sent.bytes.len() + ip_header + if sent.udp_port == 0 { 0 } else { 8 }
}

/// A link that silently drops packets longer than its MTU if they have the DF bit.
fn link(mtu: impl Fn(&Sent) -> usize) -> impl FnMut(&Sent) -> Fate {
    move |sent| if sent.may_fragment || on_the_way(sent) <= mtu(sent) { Fate::Arrives } else { Fate::Lost }
}

/// Two endpoints in `nets` networks that use UDP.
fn encapsulated(nets: u8, config: &Config) -> Pair {
    let side = |side| EndpointConfig {
        encapsulation: Some(Encapsulation::default()),
        ..endpoint_config(side, nets, config)
    };
    Pair::of(side(Side::Client), side(Side::Server))
}

fn searching() -> Config {
    Config { pmtud: true, send_buffer: ByteCount::new(120_000).into(), ..Config::recommended() }
}

/// Lengths in bytes of the probes that a side sent, without IP and UDP header.
fn probes(pair: &Pair, side: Side) -> Vec<usize> {
    let probes = pair.sent.iter().filter(|sent| sent.from == side && sent.chunks() == "HEARTBEAT PAD");
    probes.map(|sent| sent.bytes.len()).collect()
}

fn path(pair: &mut Pair, id: AssocId, n: usize) -> PathInfo {
    pair.endpoint(Side::Client).paths(id).unwrap().nth(n).unwrap()
}

/// Keeps the send buffer of the client full for `span`, and reads all data at the server.
fn keep_busy(pair: &mut Pair, client: AssocId, span: Span) {
    let end = pair.now + span;
    while pair.now < end {
        let now = pair.now;
        let message = || Message::new(Payload::Filler(60_000));
        while pair.endpoint(Side::Client).send(now, client, message()).is_ok() {}
        pair.drain();
        pair.run_for(ms(20));
        pair.read_all(Side::Server);
    }
}

// rfc8899#section-5.3, rfc9260#section-7.3
#[test]
fn the_packet_size_grows_to_what_the_link_takes_without_any_icmp() {
    let mut pair = encapsulated(1, &Config { rto_min: ms(200), ..searching() });
    pair.on_wire(link(|_| 1400));
    let (client, _) = pair.establish();
    assert_eq!(path(&mut pair, client, 0).mtu.get(), 1228);
    pair.run_for(Span::from_secs(20));
    // After each lost probe, a probe of 516 bytes shows that the path works.
    let lost = [[1392, 516].repeat(10), [1380, 516].repeat(10)].concat();
    assert_eq!(probes(&pair, Side::Client), [&[1200, 1232, 1280, 1372][..], &lost].concat());
    let PathInfo { mtu, errors, state, .. } = path(&mut pair, client, 0);
    assert_eq!((mtu.get(), errors, state), (1400, 0, PathState::Active));
    let address = Side::Server.address(1);
    let told: Vec<Event> = [1260, 1308, 1400]
        .map(|mtu| Event::MtuChanged { path: PathId(0), address, mtu: ByteCount::new(mtu) })
        .into();
    assert_eq!(pair.events(Side::Client), told);
    assert!(pair.sent.iter().all(|sent| !sent.may_fragment));
}

// rfc8899#section-3, rfc8899#section-6.2
#[test]
fn a_lost_probe_is_neither_congestion_nor_an_error_of_the_path() {
    let mut pair = encapsulated(1, &searching());
    // Only long probes are lost.
    let lost = |sent: &Sent| sent.chunks().contains("PAD") && sent.bytes.len() > 1280;
    pair.on_wire(move |sent| if lost(sent) { Fate::Lost } else { Fate::Arrives });
    let (client, _) = pair.establish();
    let mut cwnd = ByteCount::ZERO;
    for _ in 0..80 {
        keep_busy(&mut pair, client, ms(100));
        let now = path(&mut pair, client, 0);
        assert!(now.cwnd >= cwnd, "{now:?}");
        assert_eq!((now.errors, now.stats.timeouts, now.stats.fast_recoveries), (0, 0, 0));
        cwnd = now.cwnd;
    }
    let probes = pair.sent.iter().filter(|sent| sent.from == Side::Client && lost(sent)).count();
    assert!(probes >= 6, "{probes}");
}

#[test]
fn a_probe_travels_alone_and_must_not_be_fragmented_whatever_waits() {
    let mut pair = encapsulated(2, &searching());
    let (client, _) = pair.establish();
    keep_busy(&mut pair, client, Span::from_secs(2));
    let with_padding: Vec<&Sent> = pair.sent.iter().filter(|sent| sent.chunks().contains("PAD")).collect();
    assert!(with_padding.len() > 15);
    assert!(with_padding.iter().all(|sent| sent.chunks() == "HEARTBEAT PAD" && !sent.may_fragment));
    // Each path has its own MTU. On both paths the search found the MTU of the interface.
    let mtus: Vec<u64> = (0..2).map(|n| path(&mut pair, client, n).mtu.get()).collect();
    assert_eq!(mtus, [1500, 1500]);
    let longest = |net| pair.sent.iter().filter(|sent| sent.net() == net).map(on_the_way).max();
    assert_eq!((longest(1), longest(2)), (Some(1500), Some(1500)));
}

// rfc8899#section-4.3
#[test]
fn a_link_that_becomes_smaller_stalls_its_own_path_for_three_rto_at_most() {
    let config = Config { rto_min: ms(300), ..searching() };
    let mut pair = encapsulated(2, &config);
    let (client, _) = pair.establish();
    keep_busy(&mut pair, client, Span::from_secs(5));
    assert_eq!(path(&mut pair, client, 0).mtu.get(), 1500);
    // Times at which data arrived in each network.
    let arrived: Rc<RefCell<[Vec<Instant>; 2]>> = Rc::default();
    let (writer, shrunk) = (arrived.clone(), pair.now);
    let mut link = link(|sent| if sent.net() == 1 { 1300 } else { 1500 });
    pair.on_wire(move |sent| {
        let fate = link(sent);
        if fate == Fate::Arrives && sent.from == Side::Client && sent.chunks().contains("DATA") {
            writer.borrow_mut()[usize::from(sent.net()) - 1].push(sent.at);
        }
        fate
    });
    let rto = path(&mut pair, client, 0).rto;
    pair.events(Side::Client);
    keep_busy(&mut pair, client, Span::from_secs(20));
    let gaps = |net: usize| -> Vec<Span> {
        let times = arrived.borrow()[net].clone();
        let before = std::iter::once(shrunk).chain(times.iter().copied());
        before.zip(&times).map(|(before, &at)| at.since(before)).collect()
    };
    // In network 1 only the first gap counts: later, network 2 may carry all data of the send buffer.
    let (stall, round_trips) = (gaps(0)[0], ms(20) * 4);
    assert!(stall <= rto * 3 + round_trips, "{stall:?} with an RTO of {rto:?}");
    assert!(gaps(1).iter().all(|&gap| gap <= ms(100)), "{:?}", gaps(1).iter().max());
    assert_eq!(path(&mut pair, client, 0).mtu.get(), 1300);
    assert_eq!(path(&mut pair, client, 1).mtu.get(), 1500);
    let sizes: Vec<u64> = pair
        .events(Side::Client)
        .into_iter()
        .filter_map(|event| match event {
            Event::MtuChanged { path: PathId(0), mtu, .. } => Some(mtu.get()),
            _ => None,
        })
        .collect();
    assert_eq!(sizes, [1228, 1260, 1284, 1296, 1300]);
}

// rfc8899#section-4.3
#[test]
fn on_a_single_path_the_second_expiry_of_t3_makes_packets_short_enough() {
    let config = Config {
        pmtud: true,
        send_buffer: ByteCount::new(60_000).into(),
        rto_min: ms(300),
        ..Config::default()
    };
    let mut pair = encapsulated(1, &config);
    let (client, _) = pair.establish();
    keep_busy(&mut pair, client, Span::from_secs(5));
    let (shrunk, at) = (pair.sent.len(), pair.now);
    pair.on_wire(link(|_| 1300));
    keep_busy(&mut pair, client, Span::from_secs(20));
    let PathInfo { mtu, stats, state, .. } = path(&mut pair, client, 0);
    assert_eq!((mtu.get(), stats.timeouts, state), (1300, 2, PathState::Active));
    // After the first expiry, probes show that long packets are lost. IP may then fragment the chunks built
    // before.
    let first = pair.sent[shrunk..].iter().find(|sent| sent.may_fragment).expect("a chunk that is too long");
    assert!(first.at.since(at) < ms(600), "{:?}", first.at.since(at));
    let later = pair.sent[shrunk..].iter().filter(|sent| sent.at > at + Span::from_secs(3));
    assert!(later.clone().count() > 500 && later.clone().all(|sent| !sent.may_fragment));
}

// rfc8899#section-4.3
#[test]
fn a_fast_retransmission_of_a_long_chunk_raises_a_doubt_as_an_expiry_of_t3_does() {
    for loss_detection in [LossDetection::MissingReports, LossDetection::Rack] {
        // The sender uses the paths alternately, so that later chunks on the path of the lost chunk cause
        // missing reports.
        let cmt = Cmt {
            path_selection: PathSelection::RoundRobin,
            reinjection: Reinjection::None,
            rescheduling: BufferSide::None,
            // After the loss the other path has the larger cwnd.
            rtx: RtxPolicy::Cwnd,
            ..searching().cmt
        };
        // The congestion control of RFC 9260 leaves four packets in flight, which three missing reports need.
        let congestion_control = cc::Algorithm::Standard.into();
        let config = Config { cmt, loss_detection, congestion_control, bundling: false, ..searching() };
        let mut pair = encapsulated(2, &config);
        let (client, _) = pair.establish();
        let send = |pair: &mut Pair, rounds: u32| {
            for round in 0..rounds {
                let now = pair.now;
                for _ in 0..4 {
                    let length = if round % 3 == 0 { 1400 } else { 100 };
                    let message = Message::new(Payload::Filler(length));
                    let _ = pair.endpoint(Side::Client).send(now, client, message);
                }
                pair.drain();
                pair.run_for(ms(10));
                pair.read_all(Side::Server);
            }
        };
        send(&mut pair, 200);
        assert_eq!(path(&mut pair, client, 0).mtu.get(), 1500);
        pair.on_wire(link(|sent| if sent.net() == 1 { 1300 } else { 1500 }));
        send(&mut pair, 40);
        let found = path(&mut pair, client, 0).mtu.get();
        assert!(found <= 1300, "{loss_detection}: {found} after 400 ms");
        send(&mut pair, 960);
        let PathInfo { mtu, stats, .. } = path(&mut pair, client, 0);
        assert_eq!((mtu.get(), stats.timeouts), (1300, 0), "{loss_detection}");
        assert!((1..=6).contains(&stats.fast_recoveries), "{loss_detection}: {stats:?}");
    }
}

/// Loses the fraction `share` of all packets at random, whatever their length. `link` decides the fate of the
/// others.
fn losing(share: f64, seed: u64, mut link: impl FnMut(&Sent) -> Fate) -> impl FnMut(&Sent) -> Fate {
    let mut state = seed;
    move |sent| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let lost = ((state >> 33) as f64) < share * f64::from(1u32 << 31);
        if lost { Fate::Lost } else { link(sent) }
    }
}

/// The path MTUs of the path in network `net` that the client reported in events.
fn told(pair: &mut Pair, net: u8) -> Vec<u64> {
    let mtu = |event| match event {
        Event::MtuChanged { address, mtu, .. } if address == Side::Server.address(net) => Some(mtu.get()),
        _ => None,
    };
    pair.events(Side::Client).into_iter().filter_map(mtu).collect()
}

/// Number of networks, and options, of three senders that search for the path MTU.
fn flows() -> [(u8, Config); 3] {
    let standard = Config { pmtud: true, send_buffer: ByteCount::new(60_000).into(), ..Config::default() };
    [(1, searching()), (2, searching()), (1, standard)]
}

// rfc8899#section-4.3
#[test]
fn random_loss_does_not_reduce_the_mtu() {
    for (nets, config) in flows() {
        for (loss, seed) in [(0.05, 1), (0.15, 1), (0.15, 2), (0.3, 1), (0.3, 2)] {
            let mut pair = encapsulated(nets, &config);
            let (client, _) = pair.establish();
            pair.on_wire(losing(loss, seed, |_| Fate::Arrives));
            keep_busy(&mut pair, client, Span::from_secs(60));
            let mtus = told(&mut pair, 1);
            assert!(mtus.is_sorted(), "{nets} paths, {loss}, seed {seed}: {mtus:?}");
            assert!(loss > 0.2 || mtus.last() == Some(&1500), "{nets} paths, {loss}, seed {seed}: {mtus:?}");
        }
    }
}

// rfc8899#section-4.3
#[test]
fn a_black_hole_is_found_in_seconds_under_random_loss() {
    for (nets, config) in flows() {
        // A link that passes packets of BASE_PLPMTU (1200 bytes and headers), and a link that does not.
        for mtu in [1300, 1000] {
            for (loss, seed) in [(0.0, 1), (0.05, 1), (0.15, 2)] {
                let mut pair = encapsulated(nets, &config);
                let (client, _) = pair.establish();
                keep_busy(&mut pair, client, Span::from_secs(5));
                assert_eq!(told(&mut pair, 1).last(), Some(&1500));
                let hole = link(move |sent| if sent.net() == 1 { mtu } else { 1500 });
                pair.on_wire(losing(loss, seed, hole));
                keep_busy(&mut pair, client, Span::from_secs(3));
                let mtus = told(&mut pair, 1);
                let what = format!("{nets} paths, MTU {mtu}, loss {loss}, seed {seed}: {mtus:?}");
                assert_eq!(mtus.first(), Some(&1228), "{what}");
                let carried = |pair: &mut Pair| -> u64 {
                    let paths = pair.endpoint(Side::Client).paths(client).unwrap();
                    paths.map(|path| path.stats.user_bytes.get()).sum()
                };
                let before = carried(&mut pair);
                keep_busy(&mut pair, client, Span::from_secs(40));
                assert!(carried(&mut pair) > before, "{what}");
                let found = path(&mut pair, client, 0).mtu.get();
                assert_eq!(found, if mtu == 1300 { 1300 } else { 544 }, "{what}");
                assert!(nets == 1 || path(&mut pair, client, 1).mtu.get() == 1500, "{what}");
            }
        }
    }
}

#[test]
fn losses_of_short_packets_raise_no_doubt_about_the_mtu() {
    for (nets, config) in flows() {
        let mut pair = encapsulated(nets, &Config { bundling: false, ..config });
        let (client, _) = pair.establish();
        pair.run_for(Span::from_secs(5));
        pair.on_wire(losing(0.15, 1, |_| Fate::Arrives));
        let before = probes(&pair, Side::Client).len();
        for _ in 0..1000 {
            let now = pair.now;
            let _ = pair.endpoint(Side::Client).send(now, client, Message::new(Payload::Filler(100)));
            pair.drain();
            pair.run_for(ms(20));
            pair.read_all(Side::Server);
        }
        assert_eq!((probes(&pair, Side::Client).len(), path(&mut pair, client, 0).mtu.get()), (before, 1500));
    }
}

#[test]
fn an_mtu_that_the_user_sets_ends_the_search() {
    let mut pair = encapsulated(1, &searching());
    let (client, _) = pair.establish();
    let now = pair.now;
    let address = Side::Server.address(1);
    assert!(pair.endpoint(Side::Client).set_path_mtu(now, client, address, ByteCount::new(1300)).is_ok());
    pair.drain();
    let before = probes(&pair, Side::Client).len();
    pair.run_for(Span::from_secs(10));
    assert_eq!((probes(&pair, Side::Client).len(), path(&mut pair, client, 0).mtu.get()), (before, 1300));
}

// rfc6951#section-5.6
#[test]
fn packets_in_udp_fit_an_mtu_of_1500_without_an_option() {
    for ipv6 in [false, true] {
        let address = |side: Side| -> IpAddr {
            let host = side as u16 + 1;
            if ipv6 { Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, host).into() } else { side.address(1) }
        };
        let side = |side| EndpointConfig {
            encapsulation: Some(Encapsulation::default()),
            addresses: vec![address(side)],
            ..endpoint_config(side, 1, &Config::recommended())
        };
        let mut pair = Pair::of(side(Side::Client), side(Side::Server));
        pair.on_wire(link(|_| 1500));
        let now = pair.now;
        let client = pair.endpoint(Side::Client).connect(now, 5002, &[address(Side::Server)]).unwrap();
        pair.drain();
        pair.run_for(ms(200));
        keep_busy(&mut pair, client, Span::from_secs(1));
        let sizes: Vec<usize> = pair.sent.iter().map(on_the_way).collect();
        let most = sizes.iter().copied().max().unwrap();
        // Chunk lengths are multiples of four bytes. A packet of 1500 bytes includes all headers.
        assert_eq!(most, 1500, "IPv6: {ipv6}");
        assert!(sizes.iter().filter(|&&size| size == most).count() > 100);
        assert!(pair.sent.iter().all(|sent| sent.udp_port == 9899 && !sent.may_fragment));
    }
}

/// An ICMP message about a packet that the client sent, with `quoted` bytes of that packet.
fn icmp(sent: &Sent, quoted: usize, what: Icmp, then: impl FnOnce(IcmpNews<'_>)) {
    let bytes = sent.bytes.as_octets().to_vec();
    let quoted = &bytes[..quoted.min(bytes.len())];
    then(IcmpNews { src: Some(sent.src), dst: sent.dst, udp_port: sent.udp_port, quoted, what });
}

fn tell(pair: &mut Pair, number: usize, quoted: usize, what: Icmp) -> bool {
    let (sent, now) = (pair.sent[number].clone(), pair.now);
    let mut taken = false;
    icmp(&sent, quoted, what, |news| taken = pair.endpoint(Side::Client).on_icmp(now, news));
    pair.drain();
    taken
}

const TOO_BIG: Icmp = Icmp::PacketTooBig { mtu: ByteCount::new(1300) };

// rfc9260#section-10
#[test]
fn icmp_without_the_right_tag_changes_nothing() {
    let mut pair = encapsulated(2, &searching());
    let (client, _) = pair.establish();
    keep_busy(&mut pair, client, Span::from_secs(3));
    pair.events(Side::Client);
    let data = pair.sent.iter().rposition(|sent| sent.from == Side::Client && sent.net() == 1).unwrap();
    let state = |pair: &mut Pair| pair.endpoint(Side::Client).paths(client).unwrap().collect::<Vec<_>>();
    let before = state(&mut pair);
    for what in [TOO_BIG, Icmp::PortUnreachable, Icmp::ProtocolUnreachable, Icmp::Unreachable] {
        assert!(!tell(&mut pair, data, 7, what), "too short");
        // An ICMP message that quotes the INIT (tag 0) has no effect, since the peer has answered the INIT.
        assert!(!tell(&mut pair, 0, 100, what));
        let (now, sent) = (pair.now, pair.sent[data].clone());
        let bytes = sent.bytes.as_octets().to_vec();
        // One byte of ports and tag is wrong. Below, all bytes are correct, but the address or UDP port is
        // another.
        for at in 0..8 {
            let mut forged = bytes.clone();
            forged[at] ^= 0x10;
            let news = IcmpNews { src: Some(sent.src), dst: sent.dst, udp_port: 9899, quoted: &forged, what };
            assert!(!pair.endpoint(Side::Client).on_icmp(now, news), "byte {at}");
        }
        let news = IcmpNews { src: None, dst: sent.dst, udp_port: 9899, quoted: &bytes, what };
        let elsewhere = [
            IcmpNews { dst: Side::Server.address(3), ..news },
            IcmpNews { udp_port: 9898, ..news },
            IcmpNews { udp_port: 0, ..news },
            // The tag is 0, as in a packet with INIT.
            IcmpNews { quoted: &[&bytes[..4], &[0; 8]].concat(), ..news },
        ];
        for news in elsewhere {
            assert!(!pair.endpoint(Side::Client).on_icmp(now, news));
        }
    }
    assert_eq!(state(&mut pair), before);
    assert_eq!(pair.events(Side::Client), []);
}

// rfc8899#section-4.6.2
#[test]
fn packet_too_big_lowers_the_mtu_of_its_path_at_once() {
    let mut pair = encapsulated(2, &searching());
    let (client, _) = pair.establish();
    keep_busy(&mut pair, client, Span::from_secs(3));
    let data = pair.sent.iter().rposition(|sent| sent.from == Side::Client && sent.net() == 1).unwrap();
    pair.on_wire(link(|sent| if sent.net() == 1 { 1300 } else { 1500 }));
    let below_base = Icmp::PacketTooBig { mtu: ByteCount::new(1000) };
    tell(&mut pair, data, 8, below_base);
    assert_eq!(path(&mut pair, client, 0).mtu.get(), 1500);
    assert!(tell(&mut pair, data, 8, TOO_BIG));
    assert_eq!((path(&mut pair, client, 0).mtu.get(), path(&mut pair, client, 1).mtu.get()), (1300, 1500));
    let timeouts = path(&mut pair, client, 0).stats.timeouts;
    keep_busy(&mut pair, client, Span::from_secs(20));
    assert_eq!(path(&mut pair, client, 0).mtu.get(), 1300, "the probe confirmed it");
    assert!(path(&mut pair, client, 0).stats.timeouts <= timeouts + 1);
}

// rfc9260#section-10
#[test]
fn an_unreachable_port_ends_an_association_only_while_it_waits_for_the_init_ack() {
    let mut pair = encapsulated(1, &Config::default());
    pair.on_wire(|_| Fate::Lost);
    pair.connect(Side::Client, 1);
    assert!(!tell(&mut pair, 0, 19, Icmp::PortUnreachable), "the Initiate Tag is not quoted");
    assert!(!tell(&mut pair, 0, 100, Icmp::Unreachable), "another address or later may work");
    assert_eq!(pair.state(Side::Client), Some(State::CookieWait));
    assert!(tell(&mut pair, 0, 20, Icmp::PortUnreachable));
    assert_eq!(pair.events(Side::Client), [Event::Closed { reason: CloseReason::Unreachable }]);
    assert_eq!(pair.state(Side::Client), None);

    // Without UDP, "port unreachable" has no effect (ICMP3), and "protocol unreachable" aborts (ICMP8).
    let mut pair = Pair::new(1, &Config::default());
    pair.on_wire(|_| Fate::Lost);
    pair.connect(Side::Client, 1);
    assert!(!tell(&mut pair, 0, 100, Icmp::PortUnreachable));
    assert!(tell(&mut pair, 0, 100, Icmp::ProtocolUnreachable));
    assert_eq!(pair.state(Side::Client), None);

    let mut pair = encapsulated(1, &Config::default());
    let (client, _) = pair.establish();
    pair.send(Side::Client, 100);
    let data = pair.sent.len() - 1;
    for n in 0..100 {
        // Five errors in a row would make the path inactive, but an acknowledgement arrives every second.
        assert_eq!(tell(&mut pair, data, 8, Icmp::PortUnreachable), n % 50 == 0, "one per RTO: {n}");
        let rto = path(&mut pair, client, 0).rto;
        pair.run_for(rto / 50);
    }
    assert_eq!(pair.state(Side::Client), Some(State::Established));
    for n in 1..=8 {
        tell(&mut pair, data, 8, Icmp::Unreachable);
        assert_eq!(pair.state(Side::Client), Some(State::Established), "{n}");
        let rto = path(&mut pair, client, 0).rto;
        pair.run_for(rto);
    }
    let changed = |event: &Event| matches!(event, Event::PathChanged { state: PathState::Inactive, .. });
    assert!(pair.events(Side::Client).iter().any(changed), "the path, but not the association");
}

/// [`PacketBuf`] stores the zeros of a PAD chunk separately; a socket writes them.
#[test]
fn a_probe_has_its_exact_length_as_bytes() {
    let mut pair = encapsulated(1, &searching());
    pair.establish();
    pair.run_for(ms(500));
    let probe = pair.sent.iter().find(|sent| sent.bytes.len() == 1472).expect("a probe of the largest size");
    let mut bytes: PacketBuf = probe.bytes.clone();
    bytes.materialise();
    assert_eq!(bytes.head.len(), 1472);
    assert_eq!(describe(&bytes), "HEARTBEAT PAD");
}
