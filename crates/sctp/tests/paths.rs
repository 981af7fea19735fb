//! Multi-homing and fault management (rfc9260#section-5.4, rfc9260#section-6.4, rfc9260#section-8).

use anabranch_sctp::{AssocId, CloseReason, Config, Event, PathError, PathInfo, PathState, State};
use testkit::*;
use units::{Instant, Span};
use wire::{Chunk, HeartbeatAck};

fn secs(n: u64) -> Span {
    Span::from_secs(n)
}

fn path(pair: &mut Pair, side: Side, id: AssocId, n: usize) -> PathInfo {
    pair.endpoint(side).paths(id).unwrap().nth(n).unwrap()
}

fn changed(side: Side, net: u8, state: PathState) -> Event {
    Event::PathChanged { address: side.address(net), state }
}

/// Times at which a side sent packets with exactly these chunks through a network, in order.
fn times(pair: &Pair, from: Side, net: u8, chunks: &str) -> Vec<Instant> {
    let sent =
        pair.sent.iter().filter(|sent| (sent.from, sent.net()) == (from, net) && sent.chunks() == chunks);
    sent.map(|sent| sent.at).collect()
}

// rfc9260#section-5.4
#[test]
fn addresses_are_verified_by_heartbeats_at_once() {
    let mut pair = Pair::new(2, &Config::default());
    pair.connect(Side::Client, 1);
    pair.run_for(ms(70));
    for side in [Side::Client, Side::Server] {
        let id = pair.only(side);
        assert!(pair.endpoint(side).paths(id).unwrap().all(|path| path.state == PathState::Active));
        assert!(pair.events(side).contains(&changed(side.other(), 2, PathState::Active)));
        assert_eq!(path(&mut pair, side, id, 1).srtt, Some(ms(20)), "a heartbeat measures");
    }
}

// rfc9260#section-5.4: at most HB.Max.Burst heartbeats (one) are sent in each RTO.
#[test]
fn verification_does_not_burst() {
    let mut pair = Pair::new(4, &Config::default());
    pair.on_wire(|sent| if sent.chunks() == "HEARTBEAT_ACK" { Fate::Lost } else { Fate::Arrives });
    pair.connect(Side::Client, 1);
    pair.run_for(ms(500));
    let first = pair.said(Side::Server, 0).iter().filter(|chunks| *chunks == "HEARTBEAT").count();
    assert_eq!(first, 1);
    pair.run_for(secs(2));
    let probed: Vec<bool> =
        (2..=4).map(|net| !times(&pair, Side::Server, net, "HEARTBEAT").is_empty()).collect();
    assert_eq!(probed, [true; 3]);
}

// rfc9260#section-5.4: no user data to an unconfirmed address, even if all others fail.
#[test]
fn an_unconfirmed_address_carries_no_data() {
    let mut pair = Pair::new(2, &Config { path_max_retrans: 2, ..Config::default() });
    pair.on_wire(|sent| if sent.chunks().contains("HEARTBEAT") { Fate::Lost } else { Fate::Arrives });
    let (_, server) = pair.establish();
    pair.on_wire(
        |sent| if sent.net() == 1 || sent.chunks() == "HEARTBEAT" { Fate::Lost } else { Fate::Arrives },
    );
    for _ in 0..5 {
        pair.send(Side::Server, 1000);
    }
    pair.run_for(secs(30));
    assert_eq!(path(&mut pair, Side::Server, server, 0).state, PathState::Inactive);
    assert_eq!(path(&mut pair, Side::Server, server, 1).state, PathState::Unconfirmed);
    assert!(times(&pair, Side::Server, 2, "DATA").is_empty());
    assert!(times(&pair, Side::Server, 1, "DATA").len() >= 4, "dormant, but not dead");
}

// rfc9260#section-5.4: an answer without the nonce confirms nothing.
#[test]
fn a_forged_heartbeat_ack_confirms_nothing() {
    let mut pair = Pair::new(2, &Config::default());
    pair.on_wire(|sent| if sent.chunks() == "HEARTBEAT" { Fate::Lost } else { Fate::Arrives });
    let (_, server) = pair.establish();
    let heartbeat =
        pair.sent.iter().find(|s| s.from == Side::Server && s.chunks() == "HEARTBEAT").unwrap().clone();
    let Some(Ok(Chunk::Heartbeat(chunk))) = parse(&heartbeat.bytes).chunks().next() else { unreachable!() };
    let to_server = pair.sent.iter().rfind(|sent| sent.from == Side::Client && sent.net() == 1).unwrap();
    let tag = header(&to_server.bytes).verification_tag;
    let answer = |info: &[u8]| packet(5001, 5002, tag, &[Chunk::HeartbeatAck(HeartbeatAck { info })]);
    let (src, dst) = (Side::Client.address(2), Side::Server.address(2));
    for byte in [0, 4, chunk.info.len() - 1] {
        let mut info = chunk.info.to_vec();
        info[byte] ^= 1;
        pair.inject(Side::Server, src, dst, &answer(&info));
    }
    pair.inject(Side::Server, src, dst, &answer(&[]));
    assert_eq!(path(&mut pair, Side::Server, server, 1).state, PathState::Unconfirmed);
    pair.inject(Side::Server, src, dst, &answer(chunk.info));
    assert_eq!(path(&mut pair, Side::Server, server, 1).state, PathState::Active);
}

// rfc9260#section-5.4: probing an unconfirmed address does not count as an error of the association.
#[test]
fn an_address_that_cannot_be_verified_does_not_end_the_association() {
    let mut pair = Pair::new(2, &Config { association_max_retrans: 2, ..Config::default() });
    pair.on_wire(|sent| if sent.net() == 2 { Fate::Lost } else { Fate::Arrives });
    let (_, server) = pair.establish();
    pair.run_for(secs(600));
    let second = path(&mut pair, Side::Server, server, 1);
    assert_eq!(second.state, PathState::Unconfirmed);
    // The first heartbeats are an RTO apart, with backoff. The later ones are one heartbeat interval apart:
    // 30 s plus an RTO of 60 s, with a jitter of half an RTO.
    let times = times(&pair, Side::Server, 2, "HEARTBEAT");
    let gaps: Vec<u64> = times.windows(2).map(|w| w[1].since(w[0]).as_nanos() / 1_000_000_000).collect();
    assert_eq!(gaps[..5], [1, 2, 4, 8, 16]);
    assert!(gaps[6..].iter().all(|gap| (60..=120).contains(gap)), "{gaps:?}");
}

// rfc9260#section-8.3
#[test]
fn an_idle_path_is_probed_every_interval_and_rto_give_or_take_half() {
    let mut pair = Pair::new(1, &Config { rto_min: secs(1), ..Config::default() });
    pair.establish();
    pair.run_for(secs(1000));
    let times = times(&pair, Side::Client, 1, "HEARTBEAT");
    let gaps: Vec<f64> = times.windows(2).map(|w| w[1].since(w[0]).as_secs_f64()).collect();
    assert!(gaps.len() > 28);
    // The answer arrives after 20 ms. The next heartbeat is sent 30 s and 0.5 to 1.5 times the RTO (1 s)
    // later.
    assert!(gaps.iter().all(|gap| (30.5..=31.53).contains(gap)), "{gaps:?}");
    let spread = gaps.iter().fold(0.0, |most: f64, gap| most.max((gap - gaps[0]).abs()));
    assert!(spread > 0.1, "they are jittered");
}

// rfc9260#section-8.3: only idle paths are probed.
#[test]
fn a_busy_path_is_not_probed_and_an_idle_one_beside_it_is() {
    let mut pair = Pair::new(2, &Config::default());
    pair.establish();
    pair.run_for(ms(100));
    let before = pair.sent.len();
    for _ in 0..20 {
        pair.send(Side::Client, 100);
        pair.run_for(secs(10));
    }
    let heartbeats = |net: u8| {
        let new = &pair.sent[before..];
        new.iter().filter(|s| s.from == Side::Client && s.net() == net && s.chunks() == "HEARTBEAT").count()
    };
    assert_eq!(heartbeats(1), 0);
    assert!(heartbeats(2) >= 6);
}

// rfc9260#section-8.3: a path that becomes idle is probed like any other path.
#[test]
fn a_path_that_fell_idle_is_probed_while_another_is_busy() {
    let mut pair = Pair::new(2, &Config::default());
    let (client, _) = pair.establish();
    pair.send(Side::Client, 100);
    pair.run_for(secs(1));
    assert!(pair.endpoint(Side::Client).set_primary(client, Side::Server.address(2)).is_ok());
    for _ in 0..100 {
        pair.send(Side::Client, 100);
        pair.run_for(secs(1));
    }
    assert!(times(&pair, Side::Client, 1, "HEARTBEAT").len() >= 2);
}

#[test]
fn heartbeats_can_be_turned_off() {
    let mut pair = Pair::new(2, &Config { hb_interval: None, ..Config::default() });
    pair.establish();
    pair.run_for(secs(1));
    let before = pair.sent.len();
    pair.run_for(secs(500));
    assert_eq!(pair.sent.len(), before, "both addresses are verified, and then it is quiet");
}

// rfc9260#section-11.1
#[test]
fn a_heartbeat_can_be_asked_for() {
    let mut pair = Pair::new(1, &Config { hb_interval: None, ..Config::default() });
    let (client, _) = pair.establish();
    let (now, before) = (pair.now, pair.sent.len());
    assert!(pair.endpoint(Side::Client).heartbeat(now, client, Side::Server.address(1)).is_ok());
    let address = Side::Server.address(2);
    let refused = pair.endpoint(Side::Client).heartbeat(now, client, address);
    assert_eq!(refused, Err(PathError::NoSuchPath { address }));
    pair.run_for(secs(1));
    assert_eq!(pair.said(Side::Client, before), ["HEARTBEAT"]);
    assert_eq!(pair.said(Side::Server, before), ["HEARTBEAT_ACK"]);
}

/// A pair with two confirmed networks; network 1 fails at the end.
fn half_dead(config: &Config) -> (Pair, AssocId) {
    let mut pair = Pair::new(2, config);
    let (client, _) = pair.establish();
    pair.run_for(ms(100));
    pair.events(Side::Client);
    pair.on_wire(|sent| if sent.net() == 1 { Fate::Lost } else { Fate::Arrives });
    (pair, client)
}

// rfc9260#section-6.4, rfc9260#section-8.2
#[test]
fn data_moves_to_the_other_path_and_comes_back() {
    let (mut pair, client) = half_dead(&Config::default());
    let mut got = 0;
    for _ in 0..80 {
        pair.send(Side::Client, 500);
        pair.run_for(secs(1));
        got += pair.read_all(Side::Server).len();
    }
    assert_eq!(pair.events(Side::Client).first(), Some(&changed(Side::Server, 1, PathState::Inactive)));
    assert_eq!(path(&mut pair, Side::Client, client, 0).state, PathState::Inactive);
    assert!(path(&mut pair, Side::Client, client, 0).is_primary, "it stays the primary path");
    pair.run_for(secs(5));
    got += pair.read_all(Side::Server).len();
    assert_eq!(got, 80, "nothing is lost");
    pair.heal();
    pair.run_for(secs(100));
    assert_eq!(pair.events(Side::Client), [changed(Side::Server, 1, PathState::Active)]);
    let before = pair.sent.len();
    pair.send(Side::Client, 500);
    assert_eq!(pair.sent[before].net(), 1, "new data goes to the primary path again");
}

// rfc9260#section-8.2: the path becomes inactive after Path.Max.Retrans + 1 errors, not earlier.
#[test]
fn a_path_is_inactive_after_one_error_more_than_allowed() {
    for limit in [0, 2, 5] {
        let (mut pair, client) = half_dead(&Config { path_max_retrans: limit, ..Config::default() });
        let mut errors = 0;
        while path(&mut pair, Side::Client, client, 0).state == PathState::Active {
            errors = path(&mut pair, Side::Client, client, 0).errors;
            if path(&mut pair, Side::Client, client, 0).flight.is_zero() {
                pair.send(Side::Client, 500);
            }
            let next = pair.next_change().expect("timers run");
            pair.run_until(next);
        }
        assert_eq!(errors, limit);
        assert_eq!(path(&mut pair, Side::Client, client, 0).errors, limit + 1);
    }
}

// rfc9260#section-8.2: an acknowledgement clears the errors of the path.
#[test]
fn an_acknowledgement_clears_the_errors() {
    let mut pair = Pair::new(1, &Config::default());
    let (client, _) = pair.establish();
    pair.on_wire(|_| Fate::Lost);
    pair.send(Side::Client, 100);
    pair.run_for(secs(4));
    assert_eq!(path(&mut pair, Side::Client, client, 0).errors, 2);
    assert_eq!(pair.endpoint(Side::Client).stats(client).unwrap().errors, 2);
    pair.heal();
    pair.run_for(secs(5));
    assert_eq!(path(&mut pair, Side::Client, client, 0).errors, 0);
    assert_eq!(pair.endpoint(Side::Client).stats(client).unwrap().errors, 0);
}

// rfc9260#section-8.1
#[test]
fn a_dead_peer_is_given_up_after_association_max_retrans() {
    let config = Config { association_max_retrans: 4, rto_max: secs(2), ..Config::default() };
    let mut pair = Pair::new(1, &config);
    pair.establish();
    pair.on_wire(|_| Fate::Lost);
    let before = pair.sent.len();
    pair.send(Side::Client, 100);
    pair.run_for(secs(60));
    let events = pair.events(Side::Client);
    let changed = changed(Side::Server, 1, PathState::Inactive);
    assert!(!events.contains(&changed), "five errors are too many for the association, not for the path");
    assert!(matches!(events[0], Event::SendFailed { length: 100, .. }));
    assert_eq!(events[1], Event::Closed { reason: CloseReason::TooManyErrors });
    assert_eq!(pair.said(Side::Client, before).iter().filter(|chunks| *chunks == "DATA").count(), 5);
}

/// Asserts that the client sent an ABORT as its last packet, and returns the causes of the ABORT.
fn last_word(pair: &Pair) -> Vec<String> {
    let last = pair.sent.iter().rfind(|sent| sent.from == Side::Client).unwrap();
    let others = pair.sent.iter().filter(|sent| sent.from == Side::Client && sent.chunks().contains("ABORT"));
    assert_eq!((last.chunks().as_str(), others.count()), ("ABORT", 1));
    causes(&last.bytes)
}

// rfc9260#section-9.1: an endpoint that gives up an association informs the peer by an ABORT
// (rfc9260#section-8.1).
#[test]
fn a_peer_that_is_given_up_is_told_so() {
    let config = Config { association_max_retrans: 2, max_init_retransmits: 2, ..Config::default() };
    let too_many = format!("ProtocolViolation({:?})", b"too many transmissions without an answer");
    // The timers are T3-rtx, the heartbeat timer, and T2-shutdown.
    for reason in ["data", "nothing", "shutdown"] {
        let server = endpoint_config(Side::Server, 1, &Config { hb_interval: None, ..config.clone() });
        let mut pair = Pair::of(endpoint_config(Side::Client, 1, &config), server);
        pair.establish();
        pair.on_wire(|sent| if sent.chunks() == "ABORT" { Fate::Arrives } else { Fate::Lost });
        match reason {
            "data" => pair.send(Side::Client, 100),
            "shutdown" => pair.shutdown(Side::Client),
            _ => {}
        }
        pair.run_for(secs(300));
        assert_eq!(last_word(&pair), std::slice::from_ref(&too_many), "{reason}");
        let closed = pair.events(Side::Server).into_iter().any(
            |event| matches!(event, Event::Closed { reason: CloseReason::PeerAbort { causes } } if !causes.is_empty()),
        );
        assert!(closed, "{reason}");
    }
    // T1-cookie expires, or all returned cookies are stale.
    for (lost, life, cause) in [
        ("COOKIE_ECHO", Config::default().valid_cookie_life, &b"the handshake takes too long"[..]),
        ("none", ms(5), b"cookies are always stale"),
    ] {
        let mut pair = Pair::new(1, &Config { valid_cookie_life: life, ..config.clone() });
        pair.on_wire(move |sent| if sent.chunks() == lost { Fate::Lost } else { Fate::Arrives });
        pair.connect(Side::Client, 1);
        pair.run_for(secs(60));
        assert_eq!(last_word(&pair), [format!("ProtocolViolation({cause:?})")], "{lost} lost");
    }
    // T1-init expires. Without the peer's tag, no ABORT can be sent.
    let mut pair = Pair::new(1, &config);
    pair.on_wire(|_| Fate::Lost);
    pair.connect(Side::Client, 1);
    pair.run_for(secs(60));
    assert_eq!(pair.said(Side::Client, 0), ["INIT"; 3]);
}

// rfc9260#section-8.1: unanswered heartbeats also count as errors of the association.
#[test]
fn a_dead_peer_is_noticed_without_data() {
    let mut pair = Pair::new(1, &Config { association_max_retrans: 3, ..Config::default() });
    pair.establish();
    pair.on_wire(|_| Fate::Lost);
    pair.run_for(secs(1000));
    assert_eq!(pair.events(Side::Client), [Event::Closed { reason: CloseReason::TooManyErrors }]);
    assert_eq!(times(&pair, Side::Client, 1, "HEARTBEAT").len(), 4);
}

// rfc9260#section-8.1: while another path works, a lost heartbeat is no error of the association.
#[test]
fn dead_paths_beside_a_good_one_do_not_end_the_association() {
    let config = Config { association_max_retrans: 2, path_max_retrans: 2, ..Config::default() };
    let mut pair = Pair::new(5, &config);
    pair.establish();
    pair.run_for(secs(5));
    pair.on_wire(|sent| if sent.net() == 1 { Fate::Arrives } else { Fate::Lost });
    pair.run_for(secs(300));
    for (side, peer) in [(Side::Client, Side::Server), (Side::Server, Side::Client)] {
        assert_eq!(pair.state(side), Some(State::Established));
        let mut told = pair.events(side);
        told.retain(|event| matches!(event, Event::PathChanged { state: PathState::Inactive, .. }));
        let mut addresses = told
            .iter()
            .map(|event| match event {
                Event::PathChanged { address, .. } => *address,
                _ => unreachable!(),
            })
            .collect::<Vec<_>>();
        addresses.sort();
        assert_eq!(addresses, [2, 3, 4, 5].map(|net| peer.address(net)));
    }
}

// rfc9260#section-8.2: Association.Max.Retrans should be at most the sum of Path.Max.Retrans of all
// addresses.
#[test]
fn with_the_default_limits_an_association_of_two_paths_ends_before_all_of_them_are_inactive() {
    let mut pair = Pair::new(2, &Config::default());
    let (client, _) = pair.establish();
    pair.run_for(secs(10));
    pair.on_wire(|_| Fate::Lost);
    pair.send(Side::Client, 100);
    let mut seconds = 0;
    while pair.state(Side::Client).is_some() {
        let inactive = |path: &PathInfo| path.state == PathState::Inactive;
        assert!(!pair.endpoint(Side::Client).paths(client).unwrap().all(|path| inactive(&path)));
        pair.run_for(secs(1));
        seconds += 1;
        assert!(seconds < 2000, "it goes on");
    }
}

// rfc9260#section-8.2: an association continues to send when all paths are inactive.
#[test]
fn a_dormant_association_wakes_up() {
    let config = Config { path_max_retrans: 0, rto_max: secs(4), ..Config::default() };
    let (mut pair, client) = half_dead(&config);
    pair.on_wire(|_| Fate::Lost);
    pair.send(Side::Client, 100);
    pair.run_for(secs(10));
    for n in 0..2 {
        assert_eq!(path(&mut pair, Side::Client, client, n).state, PathState::Inactive);
    }
    pair.heal();
    pair.run_for(secs(10));
    assert_eq!(pair.read_all(Side::Server).len(), 1);
    let active =
        pair.endpoint(Side::Client).paths(client).unwrap().any(|path| path.state == PathState::Active);
    assert!(active, "the acknowledgement says that a path works");
}

// rfc9260#section-6.4
#[test]
fn the_user_chooses_the_primary_path() {
    let (mut pair, client) = half_dead(&Config::default());
    pair.heal();
    let address = Side::Server.address(3);
    let refused = pair.endpoint(Side::Client).set_primary(client, address);
    assert_eq!(refused, Err(PathError::NoSuchPath { address }));
    assert!(pair.endpoint(Side::Client).set_primary(client, Side::Server.address(2)).is_ok());
    let before = pair.sent.len();
    pair.send(Side::Client, 100);
    assert_eq!(pair.sent[before].net(), 2);
    pair.run_for(secs(1));
    let sack = pair.sent.iter().rfind(|sent| sent.chunks() == "SACK").unwrap();
    assert_eq!(sack.net(), 2, "the SACK goes where the data came from");
}

// rfc9260#section-8.3: the answer returns to the source, with unchanged information.
#[test]
fn a_heartbeat_is_answered_on_its_own_path() {
    let (pair, _) = half_dead(&Config::default());
    for sent in pair.sent.iter().filter(|sent| sent.chunks() == "HEARTBEAT") {
        let ack =
            pair.sent[sent.number..].iter().find(|s| s.from != sent.from && s.chunks() == "HEARTBEAT_ACK");
        let ack = ack.expect("an answer");
        assert_eq!((ack.src, ack.dst), (sent.dst, sent.src));
        let (asked, answered) = (parse(&sent.bytes).chunks().next(), parse(&ack.bytes).chunks().next());
        let (Some(Ok(Chunk::Heartbeat(asked))), Some(Ok(Chunk::HeartbeatAck(answered)))) = (asked, answered)
        else {
            unreachable!()
        };
        assert_eq!(asked.info, answered.info);
    }
}
