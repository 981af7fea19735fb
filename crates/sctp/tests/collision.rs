//! Handshakes started by both sides at the same time, and peers that restart (rfc9260#section-5.2).

use anabranch_sctp::{Config, Event, State};
use testkit::*;
use units::{ByteCount, Span};
use wire::{Chunk, Shutdown, Tsn};

/// Asserts that both sides have one established association, and that messages arrive in both directions.
fn assert_works(pair: &mut Pair) {
    for side in [Side::Client, Side::Server] {
        assert_eq!(pair.state(side), Some(State::Established), "{side:?}");
        pair.read_all(side);
    }
    pair.send(Side::Client, 10);
    pair.send(Side::Server, 20);
    pair.run_for(Span::from_secs(1));
    assert_eq!(pair.read_all(Side::Server).len(), 1);
    assert_eq!(pair.read_all(Side::Client).len(), 1);
}

// rfc9260#section-5.2.1, rfc9260#section-5.2.4 action D
#[test]
fn both_sides_at_once_make_one_association() {
    for skew in [0, 3, 9] {
        let mut pair = Pair::new(2, &Config::default());
        pair.endpoint(Side::Client).listen(true);
        pair.connect(Side::Client, 1);
        pair.run_for(ms(skew));
        pair.connect(Side::Server, 1);
        pair.run_for(Span::from_secs(3));
        for side in [Side::Client, Side::Server] {
            let connected =
                pair.events(side).into_iter().filter(|e| matches!(e, Event::Connected { .. })).count();
            assert_eq!(connected, 1, "{side:?}, {skew} ms apart");
        }
        assert_works(&mut pair);
    }
}

/// The server answers the client's INIT, and then connects itself, with a new tag. The client's COOKIE ECHO
/// is delayed by `late`.
fn crossed(late: Span) -> Pair {
    let mut pair = Pair::new(1, &Config::default());
    pair.endpoint(Side::Client).listen(true);
    pair.on_wire(move |sent| match (sent.from, sent.chunks().as_str()) {
        (Side::Client, "COOKIE_ECHO") => Fate::Late(late),
        _ => Fate::Arrives,
    });
    pair.connect(Side::Client, 1);
    pair.run_for(ms(12));
    pair.connect(Side::Server, 1);
    pair
}

// rfc9260#section-5.2.4 action B: the client adopts the server's second tag.
#[test]
fn a_peer_that_connects_after_it_answered_wins_with_its_new_tag() {
    let mut pair = crossed(Span::ZERO);
    pair.run_for(ms(100));
    assert_works(&mut pair);
    let tag = |pair: &Pair, chunks: &str| {
        let sent = pair.sent.iter().rfind(|sent| sent.from == Side::Server && sent.chunks() == chunks);
        match parse(&sent.unwrap().bytes).chunks().next() {
            Some(Ok(Chunk::Init(init))) => init.initiate_tag,
            Some(Ok(Chunk::InitAck(ack))) => ack.0.initiate_tag,
            _ => unreachable!(),
        }
    };
    let (second, first) = (tag(&pair, "INIT"), tag(&pair, "INIT_ACK"));
    assert_ne!(first, second);
    let last = pair.sent.iter().rfind(|sent| sent.from == Side::Client).unwrap();
    assert_eq!(header(&last.bytes).verification_tag, second);
}

// rfc9260#section-5.2.4 action B in COOKIE-WAIT: the client's INIT is lost, and the server's INIT arrives.
#[test]
fn the_handshake_of_the_peer_serves_ours_as_well() {
    let mut pair = Pair::new(2, &Config::default());
    pair.on_wire(|sent| {
        if (sent.from, sent.chunks().as_str()) == (Side::Client, "INIT") { Fate::Lost } else { Fate::Arrives }
    });
    pair.connect(Side::Client, 1);
    pair.send(Side::Client, 33);
    pair.connect(Side::Server, 1);
    pair.run_for(ms(200));
    assert_eq!(pair.said(Side::Client, 0)[..3], ["INIT", "INIT_ACK", "COOKIE_ACK DATA"]);
    assert_eq!(pair.read_all(Side::Server).len(), 1, "what waited for our handshake goes with the peer's");
    pair.run_for(Span::from_secs(2));
    assert_works(&mut pair);
}

// rfc9260#section-5.2.4 action C: in COOKIE-ECHOED the server discards a cookie with an older tag of its own.
#[test]
fn a_late_cookie_is_discarded_and_timers_run_on() {
    let mut pair = crossed(ms(10));
    pair.run_for(ms(27));
    assert_eq!(pair.state(Side::Server), Some(State::CookieEchoed));
    let before = pair.sent.len();
    pair.run_for(ms(2));
    assert_eq!(pair.said(Side::Server, before), [] as [&str; 0]);
    assert_eq!(pair.state(Side::Server), Some(State::CookieEchoed));
    pair.run_for(ms(100));
    assert_works(&mut pair);
}

/// The client's host restarts with `nets` addresses, and connects again.
fn reborn(pair: &mut Pair, nets: u8) {
    let mut config = endpoint_config(Side::Client, nets, &Config::default());
    config.seed = anabranch_sctp::Seed::for_simulation(4711);
    pair.replace(Side::Client, config);
    pair.connect(Side::Client, 1);
}

// rfc9260#section-5.2.4 action A
#[test]
fn a_peer_that_began_anew_takes_over_its_association() {
    let mut pair = Pair::new(2, &Config::default());
    let (_, server) = pair.establish();
    pair.run_for(Span::from_secs(2));
    pair.on_wire(|sent| if sent.chunks() == "DATA" { Fate::Lost } else { Fate::Arrives });
    pair.send(Side::Server, 77);
    pair.heal();
    let window = |pair: &mut Pair| pair.endpoint(Side::Server).paths(server).unwrap().next().unwrap().cwnd;
    let initial = window(&mut pair);
    reborn(&mut pair, 2);
    pair.events(Side::Server);
    pair.run_for(ms(100));
    assert_eq!(pair.only(Side::Server), server, "the association keeps its name");
    let events = pair.events(Side::Server);
    assert!(events.contains(&Event::Restarted), "{events:?}");
    let failed = events.iter().any(|e| matches!(e, Event::SendFailed { length: 77, tsn: Some(_), .. }));
    assert!(failed, "{events:?}");
    assert_eq!(window(&mut pair), initial);
    assert_works(&mut pair);
}

// rfc9260#section-5.2.4: the old association continues until the cookie arrives; a lost cookie has no effect.
#[test]
fn an_init_alone_does_not_disturb_the_association() {
    let mut pair = Pair::new(1, &Config::default());
    pair.establish();
    let copy = pair.sent[0].clone();
    let before = pair.sent.len();
    pair.inject(Side::Server, copy.src, copy.dst, &copy.bytes);
    assert_eq!(pair.said(Side::Server, before), ["INIT_ACK"]);
    pair.run_for(ms(100));
    assert_works(&mut pair);
}

// rfc9260#section-5.2.2
#[test]
fn a_restart_that_adds_addresses_is_refused() {
    let one = endpoint_config(Side::Client, 1, &Config::default());
    let mut pair = Pair::of(one, endpoint_config(Side::Server, 2, &Config::default()));
    let (_, server) = pair.establish();
    let before = pair.sent.len();
    reborn(&mut pair, 2);
    pair.run_for(ms(15));
    assert_eq!(pair.said(Side::Server, before), ["ABORT"]);
    let causes = causes(&pair.sent.last().unwrap().bytes);
    assert_eq!(causes, ["RestartWithNewAddresses([Ok(Ipv4(10.2.0.1))])"]);
    assert_eq!(pair.endpoint(Side::Server).state(server), Some(State::Established));
    assert_eq!(pair.events(Side::Server), []);
}

// rfc9260#section-9.2: INIT in SHUTDOWN-ACK-SENT is answered with SHUTDOWN ACK to complete the shutdown.
#[test]
fn an_init_while_shutting_down_brings_the_shutdown_ack_again() {
    let mut pair = Pair::new(1, &Config { rto_min: ms(100), ..Config::default() });
    pair.establish();
    pair.on_wire(|sent| if sent.chunks() == "SHUTDOWN_COMPLETE" { Fate::Lost } else { Fate::Arrives });
    pair.shutdown(Side::Client);
    pair.run_for(ms(25));
    assert_eq!(pair.state(Side::Server), Some(State::ShutdownAckSent));
    let before = pair.sent.len();
    reborn(&mut pair, 1);
    pair.run_for(ms(25));
    assert_eq!(pair.said(Side::Server, before), ["SHUTDOWN_ACK"]);
    assert_eq!(pair.said(Side::Client, before), ["INIT", "SHUTDOWN_COMPLETE/T"]);
    pair.run_for(ms(10));
    assert_eq!(pair.state(Side::Server), None);
    pair.run_for(Span::from_secs(3));
    assert_works(&mut pair);
}

// rfc9260#section-5.2.4 action A in SHUTDOWN-ACK-SENT
#[test]
fn a_restart_while_shutting_down_is_told_so() {
    let mut pair = Pair::new(1, &Config::default());
    pair.establish();
    let to_server = pair.sent.iter().rfind(|sent| sent.from == Side::Client).unwrap().clone();
    let tag = header(&to_server.bytes).verification_tag;
    pair.on_wire(
        |sent| if sent.chunks().contains("COOKIE_ECHO") { Fate::Late(ms(50)) } else { Fate::Arrives },
    );
    reborn(&mut pair, 1);
    pair.run_for(ms(25));
    // A SHUTDOWN that the client sent before its restart arrives after the restart.
    pair.on_wire(|sent| if sent.chunks().contains("SHUTDOWN_ACK") { Fate::Lost } else { Fate::Arrives });
    let sent_by_client = pair.sent.iter().find(|sent| sent.chunks() == "INIT_ACK").unwrap();
    let Some(Ok(Chunk::InitAck(ack))) = parse(&sent_by_client.bytes).chunks().next() else { unreachable!() };
    let cum = Tsn(ack.0.initial_tsn.0.wrapping_sub(1));
    let shutdown = packet(5001, 5002, tag, &[Chunk::Shutdown(Shutdown { cumulative_tsn_ack: cum })]);
    pair.inject(Side::Server, Side::Client.address(1), Side::Server.address(1), &shutdown);
    assert_eq!(pair.state(Side::Server), Some(State::ShutdownAckSent));
    let before = pair.sent.len();
    pair.run_for(ms(60));
    assert_eq!(pair.said(Side::Server, before), ["SHUTDOWN_ACK ERROR"]);
    assert_eq!(causes(&pair.sent[before].bytes), ["CookieInShutdown"]);
    assert_eq!(pair.state(Side::Server), Some(State::ShutdownAckSent));
}

// rfc9260#section-5.2.4: cwnd restarts with the association.
#[test]
fn a_restart_forgets_what_congestion_control_learnt() {
    let mut pair = Pair::new(1, &Config::default());
    let (_, server) = pair.establish();
    let initial = pair.endpoint(Side::Server).paths(server).unwrap().next().unwrap().cwnd;
    for _ in 0..100 {
        pair.send(Side::Server, 1400);
    }
    pair.run_for(Span::from_secs(2));
    let window = |pair: &mut Pair| pair.endpoint(Side::Server).paths(server).unwrap().next().unwrap().cwnd;
    assert!(window(&mut pair) > initial + ByteCount::new(3000));
    reborn(&mut pair, 1);
    pair.run_for(ms(100));
    assert_eq!(window(&mut pair), initial);
}
