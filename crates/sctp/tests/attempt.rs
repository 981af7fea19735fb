//! Connecting to a peer with several addresses (rfc8305#section-5 with rfc9260#section-5.1).

use anabranch_sctp::*;
use testkit::*;
use units::Span;
use wire::{Abort, Causes, Chunk};

/// For each of the client's packets with these chunks: its network, and its time in ms since the first
/// packet.
fn sent(pair: &Pair, chunks: &str) -> Vec<(u8, u64)> {
    let ours = pair.sent.iter().filter(|sent| sent.from == Side::Client && sent.chunks() == chunks);
    ours.map(|sent| (sent.net(), sent.at.since(pair.sent[0].at).as_nanos() / 1_000_000)).collect()
}

/// Two hosts in `nets` networks. The networks in `dead` lose all packets.
fn pair(nets: u8, dead: &'static [u8], config: &Config) -> Pair {
    let mut pair = Pair::new(nets, config);
    pair.on_wire(|sent| if dead.contains(&sent.net()) { Fate::Lost } else { Fate::Arrives });
    pair
}

fn paths(pair: &mut Pair, id: AssocId) -> Vec<PathInfo> {
    pair.endpoint(Side::Client).paths(id).unwrap().collect()
}

// rfc8305#section-8, rfc9260#section-5.1
#[test]
fn the_init_goes_to_the_next_address_after_250_ms_without_an_answer() {
    let mut pair = pair(3, &[1, 2], &Config::default());
    let id = pair.connect(Side::Client, 3);
    pair.run_for(ms(600));
    assert_eq!(sent(&pair, "INIT"), [(1, 0), (2, 250), (3, 500)]);
    let inits = pair.sent.iter().filter(|sent| sent.chunks() == "INIT");
    let tags: Vec<u32> = inits
        .map(|sent| match parse(&sent.bytes).chunks().next() {
            Some(Ok(Chunk::Init(init))) => init.initiate_tag,
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(tags.iter().all(|&tag| tag == tags[0]), "retransmissions of one INIT: {tags:?}");
    assert_eq!(sent(&pair, "COOKIE_ECHO"), [(3, 520)], "where the INIT ACK came from");
    assert_eq!(pair.state(Side::Client), Some(State::Established));
    let primary = paths(&mut pair, id).into_iter().find(|path| path.is_primary).unwrap();
    assert_eq!(primary.remote, Side::Server.address(3));
}

#[test]
fn data_begins_on_the_path_that_answered_the_handshake() {
    for config in [Config::default(), Config::recommended()] {
        let mut pair = pair(2, &[1], &config);
        pair.connect(Side::Client, 2);
        while pair.state(Side::Client) != Some(State::Established) {
            pair.run_for(ms(1));
        }
        assert_eq!(pair.now.since(pair.sent[0].at), ms(290), "two round trips after the second INIT");
        let before = pair.sent.len();
        for _ in 0..10 {
            pair.send(Side::Client, 1000);
            pair.run_for(ms(20));
        }
        assert_eq!(pair.read_all(Side::Server).len(), 10);
        let data = pair.sent[before..].iter().filter(|sent| sent.chunks().contains("DATA"));
        assert!(data.clone().count() >= 10 && data.into_iter().all(|sent| sent.net() == 2));
    }
}

#[test]
fn a_path_that_did_not_answer_the_init_carries_data_once_a_heartbeat_is_answered() {
    let mut pair = Pair::new(2, &Config::recommended());
    let (first_works, second_fails) = (pair.now + ms(400), pair.now + ms(1500));
    pair.on_wire(move |sent| match sent.net() {
        1 if sent.at < first_works => Fate::Lost,
        2 if sent.at >= second_fails => Fate::Lost,
        _ => Fate::Arrives,
    });
    pair.connect(Side::Client, 2);
    let mut used = [0; 2];
    for _ in 0..300 {
        let before = pair.sent.len();
        for _ in 0..4 {
            pair.send(Side::Client, 1000);
        }
        pair.run_for(ms(10));
        pair.read_all(Side::Server);
        let data = pair.sent[before..].iter().filter(|sent| sent.chunks().contains("DATA"));
        data.for_each(|sent| used[usize::from(sent.net()) - 1] += 1);
    }
    assert!(used.iter().all(|&packets| packets > 100), "{used:?}");
}

#[test]
fn both_answers_are_fine_where_the_round_trip_takes_longer_than_250_ms() {
    for config in [Config::default(), Config::recommended()] {
        let mut pair = Pair::new(2, &config);
        pair.on_wire(|_| Fate::Late(ms(190)));
        let id = pair.connect(Side::Client, 2);
        pair.send(Side::Client, 100);
        pair.run_for(Span::from_secs(3));
        assert_eq!(sent(&pair, "INIT"), [(1, 0), (2, 250)]);
        assert_eq!(pair.said(Side::Server, 0).iter().filter(|chunks| *chunks == "INIT_ACK").count(), 2);
        let echoes = pair.sent.iter().filter(|sent| sent.chunks().starts_with("COOKIE_ECHO"));
        assert_eq!(echoes.map(Sent::net).collect::<Vec<_>>(), [1], "the second INIT ACK is discarded");
        assert_eq!(pair.state(Side::Client), Some(State::Established));
        assert_eq!(pair.endpoint(Side::Server).associations().count(), 1);
        assert_eq!(pair.read_all(Side::Server).len(), 1);
        let states: Vec<_> = paths(&mut pair, id).iter().map(|path| (path.state, path.errors)).collect();
        assert_eq!(states, [(PathState::Active, 0); 2]);
    }
}

// rfc9260#section-16: Max.Init.Retransmits
#[test]
fn an_init_to_another_address_counts_as_a_retransmission() {
    for (limit, expected) in [
        (0, &[(1, 0)][..]),
        (1, &[(1, 0), (2, 250)]),
        (5, &[(1, 0), (2, 250), (3, 500), (1, 1500), (2, 2500), (3, 3500)]),
    ] {
        let config = Config { max_init_retransmits: limit, ..Config::default() };
        let mut pair = pair(3, &[1, 2, 3], &config);
        pair.connect(Side::Client, 3);
        pair.run_for(Span::from_secs(20));
        assert_eq!(sent(&pair, "INIT"), expected);
        assert_eq!(pair.events(Side::Client), [Event::Closed { reason: CloseReason::ConnectTimeout }]);
    }
}

#[test]
fn a_timeout_below_250_ms_is_not_shortened_and_backs_off() {
    let config = Config { rto_initial: ms(200), rto_min: ms(100), ..Config::default() };
    let mut pair = pair(2, &[1, 2], &config);
    pair.connect(Side::Client, 2);
    pair.run_for(ms(1900));
    assert_eq!(sent(&pair, "INIT"), [(1, 0), (2, 200), (1, 400), (2, 800), (1, 1200)]);
}

/// An ICMP message about the INIT that the client sent as packet number `n`.
fn refuse(pair: &mut Pair, n: usize) {
    let (sent, now) = (pair.sent[n].clone(), pair.now);
    let quoted = sent.bytes.as_octets().to_vec();
    let what = Icmp::ProtocolUnreachable;
    let news = IcmpNews { src: Some(sent.src), dst: sent.dst, udp_port: 0, quoted: &quoted, what };
    assert!(pair.endpoint(Side::Client).on_icmp(now, news));
    pair.drain();
}

/// The peer answers the INIT that the client sent as packet number `n` with an ABORT. `tag` turns the
/// initiate tag of the INIT into the tag of the ABORT.
fn abort(pair: &mut Pair, n: usize, tag: impl FnOnce(u32) -> u32) {
    let sent = pair.sent[n].clone();
    let Some(Ok(Chunk::Init(init))) = parse(&sent.bytes).chunks().next() else { panic!("an INIT") };
    let abort = Chunk::Abort(Abort { reflected_tag: false, causes: Causes::default() });
    let bytes = packet(5002, 5001, tag(init.initiate_tag), &[abort]);
    pair.inject(Side::Client, sent.dst, sent.src, &bytes);
}

#[test]
fn if_an_address_refuses_the_next_one_is_tried_at_once() {
    for icmp in [true, false] {
        let mut pair = pair(2, &[1], &Config::default());
        pair.connect(Side::Client, 2);
        pair.run_for(ms(10));
        match icmp {
            true => refuse(&mut pair, 0),
            false => abort(&mut pair, 0, |tag| tag),
        }
        assert_eq!(sent(&pair, "INIT"), [(1, 0), (2, 10)]);
        pair.run_for(ms(100));
        assert_eq!(pair.state(Side::Client), Some(State::Established));
        assert!(pair.events(Side::Client).iter().all(|event| !matches!(event, Event::Closed { .. })));
    }
}

#[test]
fn the_attempt_is_refused_once_all_addresses_have_refused() {
    let mut pair = pair(3, &[1, 2, 3], &Config::default());
    pair.connect(Side::Client, 3);
    refuse(&mut pair, 0);
    refuse(&mut pair, 0);
    abort(&mut pair, 1, |tag| tag);
    assert_eq!(sent(&pair, "INIT"), [(1, 0), (2, 0), (3, 0)]);
    assert_eq!(pair.events(Side::Client), []);
    refuse(&mut pair, 2);
    assert_eq!(pair.events(Side::Client), [Event::Closed { reason: CloseReason::Unreachable }]);
    assert_eq!(pair.state(Side::Client), None);
}

#[test]
fn an_address_that_refused_is_not_tried_again_and_one_that_is_silent_is() {
    let config = Config { max_init_retransmits: 4, ..Config::default() };
    let mut pair = pair(2, &[1, 2], &config);
    pair.connect(Side::Client, 2);
    pair.run_for(ms(300));
    refuse(&mut pair, 1);
    pair.run_for(Span::from_secs(20));
    assert_eq!(sent(&pair, "INIT"), [(1, 0), (2, 250), (1, 1250), (1, 2250), (1, 4250)]);
    assert_eq!(pair.events(Side::Client), [Event::Closed { reason: CloseReason::ConnectTimeout }]);
}

#[test]
fn the_last_address_that_refuses_ends_an_attempt_that_may_not_retransmit() {
    let config = Config { max_init_retransmits: 0, ..Config::default() };
    let mut pair = pair(2, &[1, 2], &config);
    pair.connect(Side::Client, 2);
    refuse(&mut pair, 0);
    assert_eq!(pair.events(Side::Client), [Event::Closed { reason: CloseReason::Unreachable }]);
}

// rfc9260#section-8.5.1, rule B; rfc9260#section-10, ICMP6
#[test]
fn who_does_not_know_the_tag_cannot_turn_an_attempt_away_from_an_address() {
    let mut pair = pair(2, &[1, 2], &Config::default());
    pair.connect(Side::Client, 2);
    for wrong in [0, 1] {
        abort(&mut pair, 0, |tag| if wrong == 0 { 0 } else { tag ^ wrong });
    }
    let (sent_first, now) = (pair.sent[0].clone(), pair.now);
    let quoted = sent_first.bytes.as_octets().to_vec();
    for length in [8, 12, 19] {
        let (src, dst, what) = (Some(sent_first.src), sent_first.dst, Icmp::ProtocolUnreachable);
        let news = IcmpNews { src, dst, udp_port: 0, quoted: &quoted[..length], what };
        assert!(!pair.endpoint(Side::Client).on_icmp(now, news));
    }
    pair.drain();
    pair.run_for(ms(100));
    assert_eq!(sent(&pair, "INIT"), [(1, 0)]);
    assert_eq!(pair.state(Side::Client), Some(State::CookieWait));
}

// rfc9260#section-5.1: a peer may answer from another of its addresses.
#[test]
fn an_init_ack_from_another_address_answers_the_last_init() {
    let mut pair = pair(3, &[1], &Config::default());
    let now = pair.now;
    let given = [Side::Server.address(1), Side::Server.address(2)];
    pair.endpoint(Side::Client).connect(now, 5002, &given).unwrap();
    pair.drain();
    pair.run_for(ms(261));
    let ack = pair.sent.iter().position(|sent| sent.chunks() == "INIT_ACK").expect("an INIT ACK");
    let ack = pair.sent[ack].clone();
    pair.inject(Side::Client, Side::Server.address(3), Side::Client.address(3), &ack.bytes);
    pair.run_for(ms(100));
    assert_eq!(sent(&pair, "COOKIE_ECHO").iter().map(|&(net, _)| net).collect::<Vec<_>>(), [2]);
    assert_eq!(pair.state(Side::Client), Some(State::Established));
}
