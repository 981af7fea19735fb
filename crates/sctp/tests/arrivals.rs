//! New associations that the user accepts or refuses, options of one association, and discarded packets.

use crate::takeover::init_from;
use anabranch_sctp::{
    AcceptError, Arrival, Channel, CloseReason, Config, ConnectError, EndpointConfig, Event, Listen, Seed,
    State,
};
use std::sync::Arc;
use testkit::*;
use units::{ByteCount, Span};
use wire::*;

/// A client that has started an association, and a server whose user accepts or refuses each association. At
/// most `waiting` associations may wait for this decision.
fn asking(waiting: usize) -> Pair {
    let mut pair = Pair::new(2, &Config::default());
    pair.endpoint(Side::Server).listen(Listen::Ask { waiting });
    pair.connect(Side::Client, 1);
    pair.run_for(ms(50));
    pair
}

fn arrival(pair: &mut Pair) -> Arrival {
    pair.endpoint(Side::Server).poll_arrival().expect("the client has arrived")
}

#[test]
fn an_arrival_names_the_peer_and_its_streams_and_is_told_once() {
    let mut pair = asking(4);
    let arrival = arrival(&mut pair);
    assert_eq!(arrival.peer_addresses, [1, 2].map(|net| Side::Client.address(net)));
    assert_eq!((arrival.peer_port, arrival.udp_port), (Side::Client.port(), 0));
    assert_eq!(arrival.local_address, Side::Server.address(1));
    assert_eq!((arrival.outbound_streams, arrival.inbound_streams), (10, 10));
    assert_eq!(pair.endpoint(Side::Server).poll_arrival(), None);
    pair.run_for(Span::from_secs(4));
    assert_eq!(pair.endpoint(Side::Server).poll_arrival(), None, "COOKIE ECHO came again");
    assert_eq!((pair.state(Side::Client), pair.state(Side::Server)), (Some(State::CookieEchoed), None));
}

#[test]
fn an_arrival_that_is_accepted_is_established_with_options_of_its_own() {
    let mut pair = asking(4);
    let id = arrival(&mut pair).id;
    let config = Config { send_queue: Some(1), hb_interval: None, ..Config::default() };
    let now = pair.now;
    let server = pair.endpoint(Side::Server);
    let accepted = server.accept_with(now, id, config.into()).expect("it waits");
    assert_eq!(server.options(accepted).map(|options| options.hb_interval), Some(None));
    assert_eq!(server.accept(now, id), Err(AcceptError::Gone));
    pair.run_for(ms(50));
    assert_eq!(pair.state(Side::Client), Some(State::Established));
    assert!(matches!(pair.events(Side::Server)[..], [Event::Connected { .. }, ..]));
    pair.send(Side::Client, 1000);
    pair.run_for(ms(50));
    assert_eq!(pair.read_all(Side::Server).len(), 1);
}

/// rfc9260#section-5.1: the peer may bundle DATA chunks with the COOKIE ECHO.
#[test]
fn data_behind_the_cookie_of_an_arrival_is_received_when_the_user_accepts() {
    for auth_chunks in [vec![], vec![CookieEcho::TYPE, Data::TYPE]] {
        let config = Config { auth: true, auth_chunks, ..Config::default() };
        let mut pair = Pair::new(2, &config);
        pair.endpoint(Side::Server).listen(Listen::Ask { waiting: 4 });
        pair.connect(Side::Client, 1);
        pair.send(Side::Client, 1000);
        pair.run_for(ms(50));
        let (id, now) = (arrival(&mut pair).id, pair.now);
        pair.endpoint(Side::Server).accept(now, id).expect("it waits");
        // Less than the RTO, after which the client sends the data again.
        pair.run_for(ms(50));
        assert_eq!(pair.read_all(Side::Server).len(), 1);
    }
}

#[test]
fn an_arrival_that_is_refused_gets_an_abort_with_the_reason_and_nothing_is_kept() {
    let mut pair = asking(4);
    let id = arrival(&mut pair).id;
    let before = pair.sent.len();
    assert!(pair.endpoint(Side::Server).refuse(id, b"full house"));
    assert!(!pair.endpoint(Side::Server).refuse(id, b"full house"));
    pair.run_for(ms(50));
    assert_eq!(pair.said(Side::Server, before), ["ABORT"]);
    let reason = format!("UserInitiatedAbort({:?})", b"full house");
    assert_eq!(causes(&pair.sent[before].bytes), [reason]);
    let closed = |event: &Event| matches!(event, Event::Closed { reason: CloseReason::PeerAbort { .. } });
    assert!(pair.events(Side::Client).iter().any(closed));
    assert_eq!(pair.endpoint(Side::Server).associations().count(), 0);
    let now = pair.now;
    assert_eq!(pair.endpoint(Side::Server).accept(now, id), Err(AcceptError::Gone));
    assert_eq!(pair.endpoint(Side::Server).poll_timeout(), None);
}

#[test]
fn a_peer_that_gives_up_is_no_arrival_any_more() {
    let mut pair = asking(4);
    let id = arrival(&mut pair).id;
    let client = pair.only(Side::Client);
    pair.endpoint(Side::Client).abort(client, b"no");
    pair.run_for(ms(50));
    let now = pair.now;
    assert_eq!(pair.endpoint(Side::Server).accept(now, id), Err(AcceptError::Gone));
}

#[test]
fn an_arrival_is_gone_when_its_cookie_is_stale() {
    let mut pair = asking(4);
    let id = arrival(&mut pair).id;
    pair.run_for(Span::from_secs(61));
    let now = pair.now;
    assert_eq!(pair.endpoint(Side::Server).accept(now, id), Err(AcceptError::Gone));
}

#[test]
fn no_more_arrivals_wait_than_the_user_allows() {
    let mut nat = Natted::new(5, &Config::default());
    nat.server.listen(Listen::Ask { waiting: 2 });
    for client in 0..5 {
        nat.connect(client);
    }
    let arrivals: Vec<Arrival> = std::iter::from_fn(|| nat.server.poll_arrival()).collect();
    assert_eq!(arrivals.iter().map(|arrival| arrival.udp_port).collect::<Vec<_>>(), [40_000, 40_001]);
    assert!(nat.server.discarded().refused >= 3);
    for arrival in &arrivals {
        nat.accept(arrival.id);
    }
    nat.run_for(Span::from_secs(5));
    assert!(nat.server.poll_arrival().is_some(), "the next COOKIE ECHO of the others found room");
}

#[test]
fn an_arrival_whose_peer_has_an_association_by_now_is_not_accepted() {
    let mut pair = asking(4);
    let id = arrival(&mut pair).id;
    pair.endpoint(Side::Server).listen(true);
    let config = endpoint_config(Side::Client, 2, &Config::default());
    pair.replace(Side::Client, EndpointConfig { seed: Seed::for_simulation(99), ..config });
    pair.connect(Side::Client, 1);
    pair.run_for(ms(50));
    let (of, now) = (pair.only(Side::Server), pair.now);
    assert_eq!(pair.endpoint(Side::Server).accept(now, id), Err(AcceptError::Exists { of }));
}

#[test]
fn packets_for_an_arrival_get_no_answer_while_the_user_decides() {
    let mut pair = asking(4);
    let id = arrival(&mut pair).id;
    let echo = pair.sent.iter().find(|sent| sent.chunks() == "COOKIE_ECHO").unwrap();
    let tag = header(&echo.bytes).verification_tag;
    let ack = packet(5001, 5002, tag, &[Chunk::Heartbeat(Heartbeat { info: b"who" })]);
    let before = pair.sent.len();
    pair.inject(Side::Server, Side::Client.address(1), Side::Server.address(1), &ack);
    assert_eq!(pair.sent.len(), before);
    assert!(pair.endpoint(Side::Server).refuse(id, b""));
}

#[test]
fn an_association_connects_with_options_of_its_own() {
    let mut pair = Pair::new(1, &Config::default());
    let (now, remotes) = (pair.now, [Side::Server.address(1)]);
    let client = pair.endpoint(Side::Client);
    let own =
        Config { outbound_streams: 3, receive_buffer: ByteCount::new(5000).into(), ..Config::default() };
    let id = client.connect_with(now, 5002, &remotes, Arc::new(own), Channel::NONE).expect("it can begin");
    let wrong = Config { max_burst: 0, ..Config::default() };
    let refused = client.connect_with(now, 5003, &remotes, Arc::new(wrong), Channel::NONE);
    assert!(matches!(refused, Err(ConnectError::Config(error)) if error.option == "max_burst"));
    pair.run_for(ms(50));
    let Some(Ok(Chunk::Init(init))) = parse(&pair.sent[0].bytes).chunks().next() else { panic!("no INIT") };
    assert_eq!((init.outbound_streams, init.a_rwnd), (3, 5000));
    let connected = |event: &Event| matches!(event, Event::Connected { outbound_streams: 3, .. });
    assert!(pair.events(Side::Client).iter().any(connected));
    assert_eq!(pair.only(Side::Client), id);
}

#[test]
fn options_that_take_back_what_the_peer_was_told_are_no_options_of_an_arrival() {
    let mut pair = asking(1);
    let id = arrival(&mut pair).id;
    let now = pair.now;
    let small = Config { receive_buffer: ByteCount::new(5000).into(), ..Config::default() };
    let server = pair.endpoint(Side::Server);
    assert!(matches!(server.accept_with(now, id, small.into()), Err(AcceptError::Config(_))));
    assert!(server.accept(now, id).is_ok(), "it still waits");
}

#[test]
fn discarded_packets_are_counted_by_cause() {
    let mut pair = Pair::new(1, &Config::default());
    pair.establish();
    let (src, dst) = (Side::Client.address(1), Side::Server.address(1));
    let tag = header(&pair.sent[2].bytes).verification_tag;
    let heartbeat = |port, tag| packet(port, 5002, tag, &[Chunk::Heartbeat(Heartbeat { info: b"who" })]);
    let mut give = |bytes: &transport::PacketBuf, src| pair.inject(Side::Server, src, dst, bytes);
    let mut damaged = heartbeat(5001, tag);
    damaged.head[20] ^= 1;
    give(&damaged, src);
    give(&transport::PacketBuf { head: vec![0; 11], zeros: 0 }, src);
    give(&packet(5001, 5003, 1, &[]), src);
    give(&heartbeat(5001, 9), [224, 0, 0, 1].into());
    give(&heartbeat(5001, !tag), src);
    give(&heartbeat(4000, 7), src);
    give(&packet(5001, 5002, 7, &[Chunk::CookieEcho(CookieEcho { cookie: &[7; 60] })]), src);
    let cut = Chunk::Unknown(UnknownChunk { chunk_type: 0x80, bytes: (&[0x80, 0, 0, 20]).into() });
    give(&packet(5001, 5002, tag, &[cut]), src);
    let counted = pair.endpoint(Side::Server).discarded();
    let mut expected = anabranch_sctp::Discarded::default();
    expected.bad_checksum = 1;
    expected.too_short = 1;
    expected.wrong_port = 1;
    expected.wrong_address = 1;
    expected.wrong_tag = 1;
    expected.out_of_the_blue = 1;
    expected.bad_cookie = 1;
    expected.malformed = 1;
    assert_eq!(counted, expected);
}

/// Another program of the host may use this family at another port, so the peer is told at once.
#[test]
fn an_init_of_a_family_without_a_local_address_gets_an_abort() {
    let mut pair = Pair::new(1, &Config::default());
    let init = init_from(Side::Client.port(), Side::Server.port(), 7, &[]);
    let [src, dst] = ["2001:db8::1", "2001:db8::2"].map(|address| address.parse().unwrap());
    pair.inject(Side::Server, src, dst, &init);
    let [answer] = &pair.sent[..] else { panic!("{} answers", pair.sent.len()) };
    assert_eq!((answer.chunks().as_str(), header(&answer.bytes).verification_tag), ("ABORT", 7));
    assert_eq!(pair.endpoint(Side::Server).discarded().refused, 1);
}
