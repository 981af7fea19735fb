//! Conformance tests for the test purposes (AS-V-1-5-2 and so on, see `docs/conformance.md`) that no other
//! test covers.

use crate::scene;

use anabranch_sctp::{CloseReason, Config, Event, Message, Payload, SendError, State};
use scene::{Scene, complete, data, scene, shutdown, unknown};
use std::net::IpAddr;
use testkit::*;
use transport::{Checksum, PacketBuf};
use units::Span;
use wire::*;

const STRANGER: [u8; 4] = [10, 1, 0, 9];

fn lose_everything(scene: &mut Scene) {
    scene.pair.on_wire(|_| Fate::Lost);
}

/// An INIT from an unknown host.
fn init(parameters: &ParameterList) -> PacketBuf {
    let init = Init {
        initiate_tag: 0x1234,
        a_rwnd: 65_536,
        outbound_streams: 1,
        inbound_streams: 1,
        initial_tsn: Tsn(1),
        parameters: parameters.as_parameters(),
    };
    packet(77, 5002, 0, &[Chunk::Init(init)])
}

/// Tag, initial TSN and parameters (without the cookie) of the INIT ACK to a packet of an unknown host.
fn init_ack_to(pair: &mut Pair, bytes: &PacketBuf) -> (u32, Tsn, Vec<String>) {
    pair.inject(Side::Server, STRANGER.into(), Side::Server.address(1), bytes);
    let answer = &pair.sent.last().expect("an answer").bytes;
    let Some(Ok(Chunk::InitAck(InitAck(ack)))) = parse(answer).chunks().next() else { panic!("no INIT ACK") };
    let listed = ack.parameters.iter().map(|parameter| parameter.expect("a parameter"));
    let listed = listed.filter(|parameter| !matches!(parameter, Parameter::StateCookie(_)));
    (ack.initiate_tag, ack.initial_tsn, listed.map(|parameter| format!("{parameter:?}")).collect())
}

// AS-V-1-5-2; rfc9260#section-5.3.1
#[test]
fn each_init_is_answered_with_another_tag_and_initial_tsn() {
    let mut pair = Pair::new(1, &Config::default());
    let bytes = init(&ParameterList::new());
    let (tag, tsn, _) = init_ack_to(&mut pair, &bytes);
    let (other_tag, other_tsn, _) = init_ack_to(&mut pair, &bytes);
    assert!(tag != 0 && other_tag != 0 && tag != other_tag, "{tag} {other_tag}");
    assert_ne!(tsn, other_tsn);
}

// AS-V-1-6-1; rfc9260#section-3.3.2.1
#[test]
fn an_init_with_all_optional_parameters_is_accepted() {
    let mut list = ParameterList::new();
    list.push(&Parameter::CookiePreservative(Span::from_millis(12_345)));
    list.push(&Parameter::SupportedAddressTypes(SupportedAddressTypes {
        ipv4: true,
        ipv6: true,
        host_name: false,
    }));
    list.push(&Parameter::Ipv6("fd00:1::9".parse().unwrap()));
    list.push(&Parameter::Ipv4(STRANGER.into()));
    let (_, _, parameters) = init_ack_to(&mut Pair::new(1, &Config::default()), &init(&list));
    assert!(parameters.is_empty(), "nothing is unrecognized: {parameters:?}");
}

// AS-I-1-13-2; rfc9260#section-5.1.2: no error, and the peer's own address family counts as supported.
#[test]
fn a_family_that_the_peer_uses_counts_as_supported() {
    let mut server = endpoint_config(Side::Server, 2, &Config::default());
    server.addresses.push("fd00:1::2".parse().unwrap());
    let ipv6 = SupportedAddressTypes { ipv4: false, ipv6: true, host_name: false };
    let ipv4 = SupportedAddressTypes { ipv4: true, ipv6: false, host_name: false };
    let all = ["Ipv4(10.1.0.2)", "Ipv4(10.2.0.2)", "Ipv6(fd00:1::2)"];
    for (types, address, expected) in [
        (ipv6, None, &all[..]),
        (ipv4, None, &all[..2]),
        (ipv4, Some(Parameter::Ipv6("fd00:1::9".parse().unwrap())), &all[..]),
    ] {
        let client = endpoint_config(Side::Client, 1, &Config::default());
        let mut list = ParameterList::new();
        list.push(&Parameter::SupportedAddressTypes(types));
        if let Some(address) = address {
            list.push(&address);
        }
        let (_, _, parameters) = init_ack_to(&mut Pair::of(client, server.clone()), &init(&list));
        assert_eq!(parameters, expected, "{types:?}");
    }
}

// AT-I-2-7-1 to AT-I-2-7-4; rfc9260#section-9.2
#[test]
fn the_user_cannot_send_in_any_state_of_a_shutdown() {
    let refused = |s: &mut Scene, state| {
        assert_eq!(s.state(), Some(state));
        let (now, id) = (s.pair.now, s.pair.only(Side::Server));
        let sent = s.pair.endpoint(Side::Server).send(now, id, Message::new(Payload::Filler(1)));
        assert_eq!(sent, Err(SendError::Closed), "{state:?}");
    };
    let mut s = scene();
    lose_everything(&mut s);
    s.pair.shutdown(Side::Server);
    refused(&mut s, State::ShutdownSent);

    let mut s = scene();
    lose_everything(&mut s);
    s.pair.send(Side::Server, 10);
    s.pair.shutdown(Side::Server);
    refused(&mut s, State::ShutdownPending);
    s.server_gets(s.to_server, &[shutdown(s.acked)]);
    refused(&mut s, State::ShutdownReceived);
    s.server_gets(s.to_server, &[shutdown(s.acked.next())]);
    refused(&mut s, State::ShutdownAckSent);
}

// AT-I-2-8; rfc9260#section-9.2
#[test]
fn data_in_shutdown_sent_restarts_t2() {
    let mut s = scene();
    lose_everything(&mut s);
    s.pair.shutdown(Side::Server);
    s.pair.run_for(ms(600));
    assert_eq!(s.server_gets(s.to_server, &[data(s.tsn, 0, b"x")]), ["SHUTDOWN SACK"]);
    let before = s.pair.sent.len();
    s.pair.run_for(ms(990));
    assert!(s.pair.said(Side::Server, before).is_empty(), "T2 runs for an RTO of 1 s from the data on");
    s.pair.run_for(ms(20));
    assert_eq!(s.pair.said(Side::Server, before), ["SHUTDOWN"]);
}

// AT-I-2-9, AT-I-2-10, DM-O-4-10; rfc9260#section-6
#[test]
fn data_that_follows_the_shutdown_of_its_sender_is_discarded() {
    let mut s = scene();
    lose_everything(&mut s);
    s.pair.send(Side::Server, 10);
    s.server_gets(s.to_server, &[shutdown(s.acked)]);
    assert_eq!(s.state(), Some(State::ShutdownReceived));
    assert!(s.server_gets(s.to_server, &[data(s.tsn, 0, b"x")]).is_empty());
    assert_eq!(s.server_gets(s.to_server, &[shutdown(s.acked.next())]), ["SHUTDOWN_ACK"]);
    assert!(s.server_gets(s.to_server, &[data(s.tsn, 0, b"x")]).is_empty());
    assert_eq!(s.state(), Some(State::ShutdownAckSent));
    assert!(s.pair.read_all(Side::Server).is_empty());
}

// AT-I-2-11, AT-I-2-12; rfc9260#section-9.2
#[test]
fn a_shutdown_ack_that_is_not_answered_is_repeated_and_given_up() {
    let config = Config { association_max_retrans: 3, rto_max: Span::from_secs(4), ..Config::default() };
    let mut s = Scene::new(1, &config);
    lose_everything(&mut s);
    let before = s.pair.sent.len();
    s.server_gets(s.to_server, &[shutdown(s.acked)]);
    s.pair.run_for(Span::from_secs(60));
    let said = s.pair.said(Side::Server, before);
    assert_eq!(said, ["SHUTDOWN_ACK", "SHUTDOWN_ACK", "SHUTDOWN_ACK", "SHUTDOWN_ACK", "ABORT"]);
    let reason = CloseReason::TooManyErrors;
    assert_eq!(s.pair.events(Side::Server).last(), Some(&Event::Closed { reason }));
}

/// Delivers a packet with these chunks and the correct tag to a client in COOKIE-WAIT. Returns the answer.
fn in_cookie_wait(chunks: &[Chunk<'_>]) -> Vec<String> {
    let mut pair = Pair::new(1, &Config::default());
    pair.on_wire(|_| Fate::Lost);
    pair.connect(Side::Client, 1);
    let Some(Ok(Chunk::Init(init))) = parse(&pair.sent[0].bytes).chunks().next() else { unreachable!() };
    let bytes = packet(5002, 5001, init.initiate_tag, chunks);
    pair.inject(Side::Client, Side::Server.address(1), Side::Client.address(1), &bytes);
    assert_eq!(pair.state(Side::Client), Some(State::CookieWait));
    pair.said(Side::Client, 1)
}

// IMH-I-3-1, IMH-I-3-2, IMH-I-3-8; rfc9260#section-3.2
#[test]
fn an_init_or_init_ack_shorter_than_its_fields_is_ignored() {
    for (length, bytes) in [(8, &[1, 0, 0, 8, 1, 2, 3, 4]), (0x60, &[1, 0, 0, 0x60, 1, 2, 3, 4])] {
        let mut pair = Pair::new(1, &Config::default());
        let bytes = packet(77, 5002, 0, &[unknown(bytes)]);
        pair.inject(Side::Server, STRANGER.into(), Side::Server.address(1), &bytes);
        assert!(pair.sent.is_empty(), "{length}");
        assert_eq!(pair.endpoint(Side::Server).discarded().malformed, 1, "{length}");
    }
    assert!(in_cookie_wait(&[unknown(&[2, 0, 0, 8, 1, 2, 3, 4])]).is_empty());
}

// BDC-I-7-2; rfc9260#section-6.10
#[test]
fn an_init_ack_with_company_is_ignored() {
    let cookie = [0, 7, 0, 8, 1, 2, 3, 4];
    let ack = Chunk::InitAck(InitAck(Init {
        initiate_tag: 0x4321,
        a_rwnd: 65_536,
        outbound_streams: 2,
        inbound_streams: 2,
        initial_tsn: Tsn(1),
        parameters: Parameters::from_bytes(&cookie),
    }));
    assert!(in_cookie_wait(&[ack, data(Tsn(1), 0, b"x")]).is_empty());
}

// DM-O-4-6-1, DM-O-4-9; rfc9260#section-9.2
#[test]
fn shutdown_and_shutdown_complete_are_ignored_in_cookie_wait() {
    assert!(in_cookie_wait(&[shutdown(Tsn(0))]).is_empty());
    assert!(in_cookie_wait(&[complete(false)]).is_empty());
}

// IMH-I-3-9, IMH-I-3-10; rfc9260#section-8.5
#[test]
fn chunks_of_a_shutdown_with_a_wrong_tag_are_ignored() {
    let ack = Chunk::ShutdownAck(ShutdownAck);
    let mut s = scene();
    lose_everything(&mut s);
    s.pair.shutdown(Side::Server);
    for wrong in [s.to_server ^ 1, s.to_client] {
        assert!(s.server_gets(wrong, &[ack]).is_empty());
        assert_eq!(s.state(), Some(State::ShutdownSent));
    }
    assert_eq!(s.server_gets(s.to_server, &[ack]), ["SHUTDOWN_COMPLETE"]);
    assert_eq!(s.state(), None);

    let mut s = scene();
    s.server_gets(s.to_server, &[shutdown(s.acked)]);
    for wrong in [s.to_server ^ 1, s.to_client] {
        assert!(s.server_gets(wrong, &[complete(false)]).is_empty());
        assert_eq!(s.state(), Some(State::ShutdownAckSent));
    }
}

// DM-O-4-7-2, E-O-6-2; rfc9260#section-9.2, rfc9260#section-5.2.6
#[test]
fn a_shutdown_ack_or_stale_cookie_error_does_not_harm_an_established_association() {
    let mut stale = CauseList::new();
    stale.push(&Cause::StaleCookie { staleness: Span::from_secs(1) });
    let error = Chunk::Error(OperationError { causes: stale.as_causes() });
    for chunk in [Chunk::ShutdownAck(ShutdownAck), error] {
        let mut s = scene();
        assert!(s.server_gets(s.to_server, &[chunk]).is_empty(), "{chunk:?}");
        assert_eq!(s.state(), Some(State::Established), "{chunk:?}");
        assert_eq!(s.server_gets(s.to_server, &[data(s.tsn, 0, b"x")]), ["SACK"], "{chunk:?}");
    }
}

// DM-O-4-8; rfc9260#section-5.1.5
#[test]
fn a_forged_cookie_does_not_harm_an_established_association() {
    let mut s = scene();
    let echo = s.pair.sent[2].clone();
    let Some(Ok(Chunk::CookieEcho(CookieEcho { cookie }))) = parse(&echo.bytes).chunks().next() else {
        unreachable!()
    };
    let mut forged = cookie.to_vec();
    forged[0] ^= 1;
    let forged = [Chunk::CookieEcho(CookieEcho { cookie: &forged })];
    assert!(s.server_gets(s.to_server, &forged).is_empty());
    assert_eq!(s.state(), Some(State::Established));
    assert!(s.pair.events(Side::Server).is_empty());
    assert_eq!(s.server_gets(s.to_server, &[data(s.tsn, 0, b"x")]), ["SACK"]);
}

// E-I-6-6; rfc9260#section-3.3.10.8: behind its COOKIE ECHO, the peer sends an ERROR about an unknown
// parameter of the server's INIT ACK.
#[test]
fn a_cookie_echo_with_an_error_behind_it_is_accepted() {
    let mut pair = Pair::new(1, &Config::default());
    pair.on_wire(|sent| if sent.chunks() == "COOKIE_ECHO" { Fate::Lost } else { Fate::Arrives });
    pair.connect(Side::Client, 1);
    pair.run_for(ms(30));
    let echo = pair.sent.last().unwrap().clone();
    let Some(Ok(cookie)) = parse(&echo.bytes).chunks().next() else { unreachable!() };
    let mut unrecognized = CauseList::new();
    unrecognized.push(&Cause::UnrecognizedParameters(Parameters::from_bytes(&[0xc0, 0, 0, 4])));
    let error = Chunk::Error(OperationError { causes: unrecognized.as_causes() });
    let tag = header(&echo.bytes).verification_tag;
    let before = pair.sent.len();
    pair.inject(Side::Server, echo.src, echo.dst, &packet(5001, 5002, tag, &[cookie, error]));
    assert_eq!(pair.said(Side::Server, before), ["COOKIE_ACK"]);
    assert_eq!(pair.state(Side::Server), Some(State::Established));
}

// BDC-V-7-8; rfc9260#section-9.2
#[test]
fn data_behind_a_shutdown_ack_is_discarded_and_the_shutdown_completes() {
    let mut s = scene();
    lose_everything(&mut s);
    s.pair.shutdown(Side::Server);
    let chunks = [Chunk::ShutdownAck(ShutdownAck), data(s.tsn, 0, b"x")];
    assert_eq!(s.server_gets(s.to_server, &chunks), ["SHUTDOWN_COMPLETE"]);
    let events = s.pair.events(Side::Server);
    assert_eq!(events, [Event::Closed { reason: CloseReason::Graceful }]);
}

// rfc4895#section-6, rfc9260#section-3.2: AUTH was not negotiated; chunk type 15 means discard and stop.
#[test]
fn an_auth_chunk_nobody_agreed_upon_is_unknown() {
    let mut s = scene();
    let auth = Chunk::Auth(Auth { flags: 0, key_id: 0, hmac_id: 9, hmac: &[0; 20] });
    assert!(s.server_gets(s.to_server, &[auth, data(s.tsn, 0, b"x")]).is_empty());
    assert!(s.pair.read_all(Side::Server).is_empty());
    assert_eq!(s.state(), Some(State::Established));
}

/// Delivers a SACK to the server, from one of the client's addresses.
fn sack(s: &mut Scene, from: IpAddr, cumulative_tsn_ack: Tsn, gaps: &[GapBlock]) {
    let mut bytes = PacketBuf::default();
    let header = CommonHeader { source_port: 5001, destination_port: 5002, verification_tag: s.to_server };
    let mut w = PacketWriter::new(&mut bytes, header, 1480);
    assert!(w.sack(cumulative_tsn_ack, 1 << 20, 0, gaps.iter().copied(), &[]));
    w.finish(Checksum::Computed);
    s.pair.inject(Side::Server, from, Side::Server.address(1), &bytes);
}

/// The number of packets with DATA that the server sends in the next 5 s.
fn retransmissions(s: &mut Scene) -> usize {
    let before = s.pair.sent.len();
    s.pair.run_for(Span::from_secs(5));
    s.pair.said(Side::Server, before).iter().filter(|chunks| chunks.contains("DATA")).count()
}

// D-V-8-10; rfc9260#section-6.4
#[test]
fn a_sack_from_another_address_of_the_peer_counts() {
    let mut s = Scene::new(2, &Config::default());
    s.pair.run_for(Span::from_secs(1));
    lose_everything(&mut s);
    s.pair.send(Side::Server, 100);
    let acked = s.acked.next();
    sack(&mut s, Side::Client.address(2), acked, &[]);
    assert_eq!(retransmissions(&mut s), 0);
}

// D-O-8-12; rfc9260#section-6.2.1: a SACK below the last cumulative TSN is old and ignored.
#[test]
fn gap_ack_blocks_of_an_old_sack_do_not_count() {
    let mut s = scene();
    lose_everything(&mut s);
    s.pair.send(Side::Server, 100);
    let (old, new, from) = (s.acked, s.acked.next(), Side::Client.address(1));
    sack(&mut s, from, new, &[]);
    s.pair.send(Side::Server, 100);
    sack(&mut s, from, old, &[GapBlock { start: 2, end: 2 }]);
    assert!(retransmissions(&mut s) > 0);
}
