//! Peers that an encryption layer distinguishes by channels (numbers of authenticated peers): a packet on the
//! channel of one peer has no effect on associations of another peer, whatever addresses, ports, tags and
//! cookies the packet has.

use crate::scene::{complete, data, shutdown};
use crate::takeover::{echo, init_from};
use anabranch_sctp::{
    Channel, CloseReason, Config, ConnectError, Datagram, Encapsulation, EndpointConfig, Event, Icmp,
    IcmpNews, Listen, Message, Payload, State,
};
use std::net::IpAddr;
use testkit::*;
use transport::PacketBuf;
use units::Span;
use wire::*;

/// The channel on which the server gets the packets of the client.
const P: Channel = Channel(1);
/// The channel on which the server gets the packets of another peer. That peer knows all packets of the
/// client.
const M: Channel = Channel(2);
/// The channel on which the client gets the packets of the server.
const S: Channel = Channel(9);

fn config() -> Config {
    Config { packet_drop_reports: true, ..Config::default() }
}

/// Two endpoints that use these channels for each other.
fn guarded() -> Pair {
    let mut pair = Pair::new(1, &config());
    pair.set_channel(Side::Server, P);
    pair.set_channel(Side::Client, S);
    pair
}

fn connect_on(pair: &mut Pair, channel: Channel) -> Result<(), ConnectError> {
    let (now, remotes) = (pair.now, [Side::Server.address(1)]);
    let client = pair.endpoint(Side::Client);
    let begun = client.connect_with(now, Side::Server.port(), &remotes, config().into(), channel);
    pair.drain();
    begun.map(|_| ())
}

/// An established association of the client with the server.
fn established() -> Pair {
    let mut pair = guarded();
    establish(&mut pair);
    pair
}

/// As [`established`], with packets in UDP.
fn encapsulated() -> Pair {
    let of = |side| EndpointConfig {
        encapsulation: Some(Encapsulation::default()),
        ..endpoint_config(side, 1, &config())
    };
    let mut pair = Pair::of(of(Side::Client), of(Side::Server));
    pair.set_channel(Side::Server, P);
    pair.set_channel(Side::Client, S);
    establish(&mut pair);
    pair
}

fn establish(pair: &mut Pair) {
    connect_on(pair, S).expect("a new association");
    pair.run_for(Span::from_millis(50));
    assert_eq!(pair.state(Side::Client), Some(State::Established));
    assert_eq!(pair.state(Side::Server), Some(State::Established));
    pair.events(Side::Client);
    pair.events(Side::Server);
}

#[test]
fn an_init_that_waits_for_keys_gives_no_round_trip_time() {
    let mut pair = guarded();
    let wait = Span::from_millis(80);
    pair.on_wire(move |sent| if sent.chunks() == "INIT" { Fate::Late(wait) } else { Fate::Arrives });
    connect_on(&mut pair, S).expect("a new association");
    pair.run_for(wait + Span::from_millis(50));
    let client = pair.only(Side::Client);
    let path = pair.endpoint(Side::Client).paths(client).expect("is open").next().expect("a path");
    assert_eq!(path.srtt, Some(Span::from_millis(20)));
}

/// The tag of packets to the server, the tag of packets to the client, and the first TSN of the client.
fn names(pair: &Pair) -> (u32, u32, Tsn) {
    let Some(Ok(Chunk::Init(init))) = parse(&pair.sent[0].bytes).chunks().next() else { panic!("no INIT") };
    (tag_of(&pair.sent[1]), init.initiate_tag, init.initial_tsn)
}

/// The initiate tag of an INIT ACK.
fn tag_of(sent: &Sent) -> u32 {
    match parse(&sent.bytes).chunks().next() {
        Some(Ok(Chunk::InitAck(InitAck(ack)))) => ack.initiate_tag,
        other => panic!("{other:?} is no INIT ACK"),
    }
}

/// Delivers a packet from the addresses of the other side, on a channel. Returns the answers.
fn give(pair: &mut Pair, channel: Channel, to: Side, bytes: &PacketBuf) -> Vec<(String, Channel)> {
    let before = pair.sent.len();
    pair.inject_on(channel, to, to.other().address(1), to.address(1), bytes);
    pair.sent[before..].iter().map(|sent| (sent.chunks(), sent.channel)).collect()
}

/// Delivers chunks with the client's ports to the server. Returns the answers.
fn tell(pair: &mut Pair, channel: Channel, tag: u32, chunk: Chunk<'_>) -> Vec<(String, Channel)> {
    give(pair, channel, Side::Server, &packet(5001, 5002, tag, &[chunk]))
}

fn wrong_channel(pair: &mut Pair, side: Side) -> u64 {
    pair.endpoint(side).discarded().wrong_channel
}

/// Checks that the client's association is unharmed: it carries data in both directions.
fn assert_unharmed(pair: &mut Pair) {
    assert_eq!(pair.events(Side::Server), [], "an event of the client's association");
    for (from, to) in [(Side::Client, Side::Server), (Side::Server, Side::Client)] {
        let (now, id) = (pair.now, pair.endpoint(from).associations().next().expect("one is left"));
        let message = Message::new(Payload::Filler(1000));
        pair.endpoint(from).send(now, id, message).expect("there is room");
        pair.drain();
        pair.run_for(Span::from_secs(1));
        assert_eq!(pair.read_all(to).len(), 1, "from {from:?}");
    }
    pair.events(Side::Server);
}

fn abort(reflected_tag: bool) -> Chunk<'static> {
    Chunk::Abort(Abort { reflected_tag, causes: Causes::default() })
}

const HEARTBEAT: Chunk<'static> = Chunk::Heartbeat(Heartbeat { info: b"info" });

#[test]
fn all_packets_of_an_association_go_on_its_channel() {
    let mut pair = established();
    for side in [Side::Client, Side::Server] {
        pair.send(side, 20_000);
        pair.run_for(Span::from_secs(60));
    }
    let (client, server) = (pair.only(Side::Client), pair.only(Side::Server));
    assert_eq!(pair.endpoint(Side::Client).channel(client), Some(S));
    assert_eq!(pair.endpoint(Side::Server).channel(server), Some(P));
    pair.shutdown(Side::Client);
    pair.run_for(Span::from_secs(1));
    assert_eq!((pair.state(Side::Client), pair.state(Side::Server)), (None, None));
    establish(&mut pair);
    let id = pair.only(Side::Server);
    pair.endpoint(Side::Server).abort(id, b"enough");
    pair.drain();
    for sent in &pair.sent {
        let expected = if sent.from == Side::Client { S } else { P };
        assert_eq!(sent.channel, expected, "{}", sent.chunks());
    }
}

#[test]
fn packets_of_another_channel_with_the_right_tag_are_discarded_and_not_answered() {
    let mut pair = established();
    let (tag, _, tsn) = names(&pair);
    let unknown = Chunk::Unknown(UnknownChunk { chunk_type: 0xff, bytes: (&[0xff, 0, 0, 4]).into() });
    let chunks = [
        HEARTBEAT,
        data(tsn, 0, b"forged"),
        shutdown(tsn),
        Chunk::ShutdownAck(ShutdownAck),
        complete(false),
        unknown,
        abort(false),
    ];
    let received = |pair: &mut Pair| {
        let id = pair.only(Side::Server);
        pair.endpoint(Side::Server).paths(id).unwrap().next().unwrap().stats.received_bytes
    };
    let before = received(&mut pair);
    for (n, chunk) in (1..).zip(chunks) {
        for channel in [M, Channel::NONE] {
            assert_eq!(tell(&mut pair, channel, tag, chunk), [], "{chunk:?}");
        }
        assert_eq!(wrong_channel(&mut pair, Side::Server), 2 * n, "{chunk:?}");
    }
    assert_eq!(received(&mut pair), before);
    assert_unharmed(&mut pair);
    assert_eq!(tell(&mut pair, P, tag, abort(false)), []);
    assert_eq!(pair.state(Side::Server), None, "the same packet on the right channel counts");
}

#[test]
fn an_init_ack_of_another_channel_does_not_answer_an_init() {
    let mut pair = guarded();
    connect_on(&mut pair, S).unwrap();
    pair.run_for(Span::from_millis(10));
    let ack = pair.sent.last().unwrap().bytes.clone();
    assert_eq!(describe(&ack), "INIT_ACK");
    assert_eq!(give(&mut pair, M, Side::Client, &ack), []);
    assert_eq!(pair.state(Side::Client), Some(State::CookieWait));
    assert_eq!(give(&mut pair, S, Side::Client, &ack), [("COOKIE_ECHO".to_owned(), S)]);
}

#[test]
fn a_packet_of_another_channel_moves_no_udp_port() {
    let mut pair = encapsulated();
    let (tag, ..) = names(&pair);
    let bytes = packet(5001, 5002, tag, &[HEARTBEAT]);
    let (src, dst) = (Side::Client.address(1), Side::Server.address(1));
    for (channel, expected) in [(M, 9899), (P, 6666)] {
        let now = pair.now;
        let datagram = Datagram::new(src, dst, bytes.as_octets());
        pair.endpoint(Side::Server).handle(now, Datagram { udp_port: 6666, channel, ..datagram });
        pair.drain();
        let id = pair.only(Side::Server);
        let port = pair.endpoint(Side::Server).paths(id).unwrap().next().unwrap().udp_port;
        assert_eq!(port, expected, "{channel:?}");
    }
}

// rfc9260#section-8.5.1, rules B and C
#[test]
fn a_reflected_tag_counts_only_on_the_channel_of_the_association() {
    for chunk in [abort(true), complete(true)] {
        let mut pair = established();
        let (tag, reflected, tsn) = names(&pair);
        if matches!(chunk, Chunk::ShutdownComplete(_)) {
            pair.on_wire(|_| Fate::Lost);
            tell(&mut pair, P, tag, shutdown(tsn.previous()));
            pair.events(Side::Server);
        }
        let before = pair.state(Side::Server);
        assert_eq!(tell(&mut pair, M, reflected, chunk), []);
        assert_eq!((pair.state(Side::Server), pair.events(Side::Server)), (before, vec![]), "{chunk:?}");
        assert_eq!(tell(&mut pair, P, reflected, chunk), []);
        assert_eq!(pair.state(Side::Server), None, "{chunk:?}");
    }
}

// rfc9260#section-8.4
#[test]
fn out_of_the_blue_packets_are_answered_on_their_own_channel() {
    let mut pair = established();
    for channel in [M, P, Channel::NONE] {
        for (chunk, answer) in
            [(HEARTBEAT, "ABORT/T"), (Chunk::ShutdownAck(ShutdownAck), "SHUTDOWN_COMPLETE/T")]
        {
            let stranger: IpAddr = [10, 1, 0, 77].into();
            let before = pair.sent.len();
            let bytes = packet(4000, 5002, 0x1234, &[chunk]);
            pair.inject_on(channel, Side::Server, stranger, Side::Server.address(1), &bytes);
            let said: Vec<_> = pair.sent[before..].iter().map(|sent| (sent.chunks(), sent.channel)).collect();
            assert_eq!(said, [(answer.to_owned(), channel)]);
        }
    }
    // On the other peer's channel, a packet is out of the blue even if it has the client's address.
    assert_eq!(tell(&mut pair, M, 0x1234, HEARTBEAT), [("ABORT/T".to_owned(), M)]);
    assert_unharmed(&mut pair);
}

// rfc9260#section-5.1, rfc9260#section-8.4
#[test]
fn an_init_is_refused_on_its_own_channel() {
    let mut pair = guarded();
    pair.endpoint(Side::Server).listen(false);
    let init = init_from(5001, 5002, 7, &[]);
    for channel in [M, P] {
        assert_eq!(give(&mut pair, channel, Side::Server, &init), [("ABORT".to_owned(), channel)]);
    }
}

// rfc9260#section-5.1.5
#[test]
fn a_cookie_of_another_channel_is_like_one_with_a_wrong_signature() {
    let mut pair = guarded();
    let init = init_from(5001, 5002, 7, &[]);
    assert_eq!(give(&mut pair, P, Side::Server, &init), [("INIT_ACK".to_owned(), P)]);
    let cookie = echo(&pair.sent[0]);
    for channel in [M, Channel::NONE] {
        assert_eq!(give(&mut pair, channel, Side::Server, &cookie), []);
    }
    assert_eq!(pair.endpoint(Side::Server).discarded().bad_cookie, 2);
    assert_eq!(pair.state(Side::Server), None);
    assert_eq!(give(&mut pair, P, Side::Server, &cookie), [("COOKIE_ACK".to_owned(), P)]);
    assert_eq!(give(&mut pair, M, Side::Server, &cookie), [], "a copy for an association that exists");
    assert_eq!(pair.endpoint(Side::Server).discarded().bad_cookie, 3);
}

// rfc9260#section-5.2.2
#[test]
fn only_the_channel_of_an_association_can_restart_it() {
    let mut pair = established();
    let (tag, ..) = names(&pair);
    let id = pair.only(Side::Server);
    let init = init_from(5001, 5002, 0xbad, &[]);
    let before = pair.sent.len();
    assert_eq!(give(&mut pair, M, Side::Server, &init), [("INIT_ACK".to_owned(), M)]);
    let ack = pair.sent[before].clone();
    assert_ne!(tag_of(&ack), tag);
    assert_eq!(give(&mut pair, M, Side::Server, &echo(&ack)), [("COOKIE_ACK".to_owned(), M)]);
    let events = pair.named_events(Side::Server);
    assert!(matches!(events[..], [(other, Event::Connected { .. })] if other != id), "{events:?}");
    assert_unharmed(&mut pair);

    let before = pair.sent.len();
    assert_eq!(give(&mut pair, P, Side::Server, &init), [("INIT_ACK".to_owned(), P)]);
    let ack = pair.sent[before].clone();
    assert_eq!(give(&mut pair, P, Side::Server, &echo(&ack)), [("COOKIE_ACK".to_owned(), P)]);
    assert_eq!(pair.named_events(Side::Server), [(id, Event::Restarted)]);
}

// rfc9260#section-5.2.2
#[test]
fn a_restart_with_new_addresses_is_refused_only_on_the_channel_of_the_association() {
    let mut pair = established();
    let init = init_from(5001, 5002, 0xbad, &[[10, 1, 0, 66].into()]);
    assert_eq!(give(&mut pair, M, Side::Server, &init), [("INIT_ACK".to_owned(), M)]);
    assert_eq!(give(&mut pair, P, Side::Server, &init), [("ABORT".to_owned(), P)]);
}

// rfc9260#section-5.2.1, rfc9260#section-5.2.4 action B
#[test]
fn only_the_channel_of_an_association_can_collide_with_it() {
    let mut pair = guarded();
    pair.endpoint(Side::Client).listen(true);
    pair.on_wire(|_| Fate::Lost);
    connect_on(&mut pair, S).unwrap();
    let own = match parse(&pair.sent[0].bytes).chunks().next() {
        Some(Ok(Chunk::Init(init))) => init.initiate_tag,
        other => panic!("{other:?} is no INIT"),
    };
    let init = init_from(5002, 5001, 0xbad, &[]);
    for (channel, has_our_tag) in [(M, false), (S, true)] {
        let before = pair.sent.len();
        assert_eq!(give(&mut pair, channel, Side::Client, &init), [("INIT_ACK".to_owned(), channel)]);
        assert_eq!(tag_of(&pair.sent[before]) == own, has_our_tag, "{channel:?}");
        let echo = echo(&pair.sent[before]);
        assert_eq!(give(&mut pair, channel, Side::Client, &echo), [("COOKIE_ACK".to_owned(), channel)]);
        let states: Vec<_> = pair.endpoint(Side::Client).associations().collect();
        let state = pair.endpoint(Side::Client).state(states[0]);
        let expected = if channel == M { State::CookieWait } else { State::Established };
        assert_eq!((states.len(), state), (2, Some(expected)), "{channel:?}");
    }
}

// rfc9260#section-5.2.1
#[test]
fn an_init_ack_to_another_address_than_the_source_of_the_init_has_the_same_channel() {
    let mut pair = Pair::new(2, &config());
    connect_on(&mut pair, S).unwrap();
    let before = pair.sent.len();
    let (first, second) = (Side::Server.address(1), Side::Server.address(2));
    let init = init_from(5002, 5001, 0x77, &[first, second]);
    pair.inject_on(S, Side::Client, second, Side::Client.address(2), &init);
    let sent = &pair.sent[before];
    assert_eq!((sent.chunks().as_str(), sent.dst, sent.channel), ("INIT_ACK", first, S));
}

// draft-tuexen-tsvwg-sctp-udp-encaps-cons-10
#[test]
fn an_init_from_another_udp_port_is_not_compared_with_other_channels() {
    let mut pair = encapsulated();
    // An INIT without UDP from the address of an encapsulated peer. On that peer's channel it is refused with
    // an ABORT, which names the peer's UDP port.
    let init = init_from(5001, 5002, 0xbad, &[]);
    assert_eq!(give(&mut pair, M, Side::Server, &init), [("INIT_ACK".to_owned(), M)]);
    assert_eq!(give(&mut pair, P, Side::Server, &init), [("ABORT".to_owned(), P)]);
}

#[test]
fn only_its_own_channel_can_end_an_arrival() {
    let mut pair = guarded();
    pair.endpoint(Side::Server).listen(Listen::Ask { waiting: 4 });
    connect_on(&mut pair, S).unwrap();
    pair.run_for(Span::from_millis(50));
    let arrival = pair.endpoint(Side::Server).poll_arrival().expect("the client has arrived");
    assert_eq!(arrival.channel, P);
    assert_eq!(tell(&mut pair, M, arrival.id.0, abort(false)), []);
    assert_eq!(wrong_channel(&mut pair, Side::Server), 1);
    let now = pair.now;
    let id = pair.endpoint(Side::Server).accept(now, arrival.id).expect("the arrival is still there");
    assert_eq!(pair.endpoint(Side::Server).channel(id), Some(P));
    pair.run_for(Span::from_secs(4));
    assert_eq!(pair.state(Side::Client), Some(State::Established));
}

#[test]
fn an_arrival_is_refused_on_its_own_channel() {
    let mut pair = guarded();
    pair.endpoint(Side::Server).listen(Listen::Ask { waiting: 4 });
    connect_on(&mut pair, S).unwrap();
    pair.run_for(Span::from_millis(50));
    let arrival = pair.endpoint(Side::Server).poll_arrival().expect("the client has arrived");
    assert!(pair.endpoint(Side::Server).refuse(arrival.id, b"no"));
    pair.run_for(Span::from_millis(50));
    let events = pair.events(Side::Client);
    assert!(matches!(events[..], [Event::Closed { reason: CloseReason::PeerAbort { .. } }]), "{events:?}");
}

#[test]
fn one_address_may_belong_to_peers_of_several_channels() {
    let mut pair = established();
    assert_eq!(connect_on(&mut pair, S), Err(ConnectError::Exists { address: Side::Server.address(1) }));
    let before = pair.sent.len();
    connect_on(&mut pair, M).expect("another peer");
    assert_eq!((pair.sent[before].chunks(), pair.sent[before].channel), ("INIT".to_owned(), M));
    // The second peer answers with an INIT ACK. The new association is with that peer, so it is no second
    // association with the first peer.
    let Some(Ok(Chunk::Init(init))) = parse(&pair.sent[before].bytes).chunks().next() else { panic!() };
    let mut parameters = ParameterList::new();
    parameters.push(&Parameter::StateCookie(&[7; 60]));
    let ack = InitAck(Init { initiate_tag: 0x77, parameters: parameters.as_parameters(), ..init });
    let ack = packet(5002, 5001, init.initiate_tag, &[Chunk::InitAck(ack)]);
    assert_eq!(give(&mut pair, M, Side::Client, &ack), [("COOKIE_ECHO".to_owned(), M)]);
    assert_eq!(pair.endpoint(Side::Client).associations().count(), 2);
    assert_unharmed(&mut pair);
}

#[test]
fn a_damaged_packet_is_reported_only_on_the_channel_of_the_association() {
    let mut pair = established();
    let (tag, _, tsn) = names(&pair);
    let mut bytes = packet(5001, 5002, tag, &[data(tsn, 0, &[7; 100])]);
    bytes.head[60] ^= 1;
    assert_eq!(give(&mut pair, M, Side::Server, &bytes), []);
    assert_eq!(give(&mut pair, P, Side::Server, &bytes), [("PKTDROP".to_owned(), P)]);
}

#[test]
fn icmp_messages_have_no_effect_on_associations_with_a_channel() {
    for (channel, taken) in [(S, false), (Channel::NONE, true)] {
        let mut pair = Pair::new(1, &Config::default());
        connect_on(&mut pair, channel).unwrap();
        let sent = pair.sent[0].clone();
        let (src, what) = (Some(sent.src), Icmp::ProtocolUnreachable);
        let news = IcmpNews { src, dst: sent.dst, udp_port: 0, quoted: &sent.bytes.head, what };
        let now = pair.now;
        assert_eq!(pair.endpoint(Side::Client).on_icmp(now, news), taken, "{channel:?}");
    }
}

#[test]
fn icmp_messages_that_a_guard_recognised_concern_its_channel_only() {
    for (channel, taken) in [(M, false), (S, true)] {
        let mut pair = Pair::new(1, &Config::default());
        connect_on(&mut pair, S).unwrap();
        let sent = pair.sent[0].clone();
        let (src, what) = (Some(sent.src), Icmp::ProtocolUnreachable);
        let news = IcmpNews { src, dst: sent.dst, udp_port: 0, quoted: &[], what };
        let now = pair.now;
        assert_eq!(pair.endpoint(Side::Client).on_guarded_icmp(now, channel, news), taken, "{channel:?}");
        let other_port = IcmpNews { udp_port: 7, ..news };
        assert!(!pair.endpoint(Side::Client).on_guarded_icmp(now, channel, other_port));
        pair.drain();
        let ended = pair.events(Side::Client);
        assert_eq!(ended.iter().any(|event| matches!(event, Event::Closed { .. })), taken, "{ended:?}");
    }
}
