//! Setup of an association (rfc9260#section-5.1).

use anabranch_sctp::{CloseReason, Config, Event, PathState, State};
use testkit::*;
use transport::PacketBuf;
use units::{ByteCount, Instant, Span};
use wire::{Chunk, CookieEcho, Init, InitAck, Parameter, ParameterList, Tsn};

/// The event with which one side reports an association over one network.
fn connected(side: Side, outbound_streams: u16, inbound_streams: u16) -> Event {
    let (peer_addresses, peer_port) = (vec![side.other().address(1)], side.other().port());
    Event::Connected { outbound_streams, inbound_streams, peer_addresses, peer_port }
}

// rfc9260#section-5.1
#[test]
fn four_packets_make_an_association() {
    let config = Config::default();
    let mut pair = Pair::new(1, &config);
    pair.connect(Side::Client, 1);
    assert_eq!(pair.state(Side::Client), Some(State::CookieWait));
    pair.run_for(Span::from_millis(20));
    assert_eq!(pair.state(Side::Client), Some(State::CookieEchoed));
    assert_eq!(pair.state(Side::Server), None, "nothing is kept before the cookie comes back");
    pair.run_for(Span::from_millis(20));
    let chunks: Vec<String> = pair.sent.iter().map(Sent::chunks).collect();
    assert_eq!(chunks, ["INIT", "INIT_ACK", "COOKIE_ECHO", "COOKIE_ACK"]);
    assert_eq!(header(&pair.sent[0].bytes).verification_tag, 0);
    for side in [Side::Client, Side::Server] {
        assert_eq!(pair.state(side), Some(State::Established));
        let streams = config.outbound_streams;
        assert_eq!(pair.events(side), [connected(side, streams, streams)]);
    }
}

// rfc9260#section-5.1
#[test]
fn the_round_trip_time_of_the_handshake_counts() {
    let mut pair = Pair::new(1, &Config::default());
    let (client, _) = pair.establish();
    let path = pair.endpoint(Side::Client).paths(client).unwrap().next().unwrap();
    assert_eq!(path.srtt, Some(Span::from_millis(20)));
}

// rfc9260#section-6.3.1, rule C5: after a retransmission it is unknown which transmission the peer answered.
#[test]
fn what_was_sent_twice_in_the_handshake_gives_no_round_trip_time() {
    for (lost, measured) in [("INIT", true), ("COOKIE_ECHO", true), ("", true), ("both", false)] {
        let mut pair = Pair::new(1, &Config::default());
        let mut seen = Vec::new();
        pair.on_wire(move |sent| {
            let chunks = sent.chunks();
            let first = !seen.contains(&chunks);
            seen.push(chunks.clone());
            let hit =
                chunks == lost || (lost == "both" && ["INIT", "COOKIE_ECHO"].contains(&chunks.as_str()));
            if first && hit { Fate::Lost } else { Fate::Arrives }
        });
        let client = pair.connect(Side::Client, 1);
        pair.run_for(Span::from_secs(5));
        let path = pair.endpoint(Side::Client).paths(client).unwrap().next().unwrap();
        assert_eq!(path.srtt, measured.then_some(Span::from_millis(20)), "{lost} lost");
    }
}

// rfc9260#section-5.1.1
#[test]
fn streams_are_the_lesser_of_asked_for_and_offered() {
    let client = Config { outbound_streams: 7, max_inbound_streams: 3, ..Config::default() };
    let server = Config { outbound_streams: 9, max_inbound_streams: 4, ..Config::default() };
    let mut pair =
        Pair::of(endpoint_config(Side::Client, 1, &client), endpoint_config(Side::Server, 1, &server));
    pair.connect(Side::Client, 1);
    pair.run_for(Span::from_secs(1));
    assert_eq!(pair.events(Side::Client), [connected(Side::Client, 4, 3)]);
    assert_eq!(pair.events(Side::Server), [connected(Side::Server, 3, 4)]);
}

// rfc9260#section-5.2.6: late packets of the handshake with the stale cookie must not end the new handshake.
#[test]
fn a_handshake_after_a_stale_cookie_has_a_new_tag() {
    let mut pair = Pair::new(1, &Config::default());
    let config = Config { max_init_retransmits: 100, rto_max: Span::from_secs(400), ..Config::default() };
    pair.replace(Side::Client, endpoint_config(Side::Client, 1, &config));
    // A COOKIE ECHO sent in the first minute arrives after the lifetime of its cookie.
    let end = pair.now + Span::from_secs(60);
    pair.on_wire(move |sent| match sent.chunks().as_str() {
        "COOKIE_ECHO" if sent.at < end => Fate::Late(Span::from_secs(70)),
        _ => Fate::Arrives,
    });
    pair.connect(Side::Client, 1);
    pair.run_for(Span::from_secs(300));
    let tags: Vec<u32> = pair
        .sent
        .iter()
        .filter_map(|sent| match parse(&sent.bytes).chunks().next() {
            Some(Ok(Chunk::Init(init))) => Some(init.initiate_tag),
            _ => None,
        })
        .collect();
    assert!(tags.len() >= 2, "a cookie was stale: {tags:?}");
    assert!(tags.windows(2).all(|pair| pair[0] != pair[1]), "{tags:?}");
    assert_eq!(pair.state(Side::Client), Some(State::Established));
    pair.send(Side::Client, 100);
    pair.run_for(Span::from_secs(1));
    assert_eq!(pair.read_all(Side::Server).len(), 1);
}

// rfc9260#section-5.1: DATA may follow COOKIE ECHO and COOKIE ACK, up to the size of the packet.
#[test]
fn data_travels_with_the_cookie() {
    let mut pair = Pair::new(1, &Config::default());
    pair.connect(Side::Client, 1);
    for _ in 0..3 {
        pair.send(Side::Client, 800);
    }
    pair.run_for(Span::from_millis(35));
    assert_eq!(pair.said(Side::Client, 0), ["INIT", "COOKIE_ECHO DATA"]);
    assert_eq!(pair.said(Side::Server, 0), ["INIT_ACK", "COOKIE_ACK SACK"]);
    pair.run_for(Span::from_secs(1));
    assert_eq!(pair.read_all(Side::Server).len(), 3);
}

#[test]
fn without_bundling_the_cookie_travels_alone() {
    let mut pair = Pair::new(1, &Config { bundling: false, ..Config::default() });
    pair.connect(Side::Client, 1);
    pair.send(Side::Client, 100);
    pair.run_for(Span::from_secs(1));
    assert_eq!(pair.said(Side::Client, 0), ["INIT", "COOKIE_ECHO", "DATA"]);
    assert_eq!(pair.said(Side::Server, 0), ["INIT_ACK", "COOKIE_ACK", "SACK"]);
}

// rfc9260#section-5.1, rfc9260#section-6.3.3: one packet of the handshake is lost, once or several times.
#[test]
fn the_handshake_survives_the_loss_of_any_packet() {
    for (chunk, losses) in
        [("INIT", 1), ("INIT", 3), ("INIT_ACK", 2), ("COOKIE_ECHO", 1), ("COOKIE_ECHO", 3), ("COOKIE_ACK", 2)]
    {
        let mut pair = Pair::new(1, &Config::default());
        let mut left = losses;
        pair.on_wire(move |sent| {
            if left > 0 && sent.chunks().split(' ').next() == Some(chunk) {
                left -= 1;
                return Fate::Lost;
            }
            Fate::Arrives
        });
        pair.connect(Side::Client, 1);
        pair.send(Side::Client, 10);
        pair.run_for(Span::from_secs(20));
        for side in [Side::Client, Side::Server] {
            assert_eq!(pair.state(side), Some(State::Established), "{losses} times {chunk}");
        }
        assert_eq!(pair.read_all(Side::Server).len(), 1, "{losses} times {chunk}");
    }
}

/// Times at which packets with exactly `chunk` were sent, in seconds after the first of these packets.
fn schedule(pair: &Pair, chunk: &str) -> Vec<u64> {
    let times: Vec<Instant> =
        pair.sent.iter().filter(|sent| sent.chunks() == chunk).map(|sent| sent.at).collect();
    times.iter().map(|at| at.since(times[0]).as_nanos() / 1_000_000_000).collect()
}

// rfc9260#section-5.1 with rfc9260#section-6.3.3, rule E2; rfc9260#section-16: 8 retransmissions
#[test]
fn a_silent_peer_is_given_up_after_max_init_retransmits() {
    let mut pair = Pair::new(1, &Config { rto_max: Span::from_secs(10), ..Config::default() });
    pair.on_wire(|_| Fate::Lost);
    pair.connect(Side::Client, 1);
    pair.run_for(Span::from_secs(64));
    assert_eq!(pair.state(Side::Client), Some(State::CookieWait));
    assert_eq!(schedule(&pair, "INIT"), [0, 1, 3, 7, 15, 25, 35, 45, 55]);
    pair.run_for(Span::from_secs(2));
    assert_eq!(pair.state(Side::Client), None);
    assert_eq!(pair.events(Side::Client), [Event::Closed { reason: CloseReason::ConnectTimeout }]);
    assert_eq!(pair.sent.len(), 9);
}

// rfc9260#section-5.1
#[test]
fn cookie_echo_is_given_up_after_max_init_retransmits() {
    let mut pair = Pair::new(1, &Config { max_init_retransmits: 2, ..Config::default() });
    pair.on_wire(|sent| if sent.chunks().starts_with("COOKIE") { Fate::Lost } else { Fate::Arrives });
    pair.connect(Side::Client, 1);
    pair.run_for(Span::from_secs(60));
    assert_eq!(pair.said(Side::Client, 0), ["INIT", "COOKIE_ECHO", "COOKIE_ECHO", "COOKIE_ECHO", "ABORT"]);
    assert_eq!(pair.events(Side::Client), [Event::Closed { reason: CloseReason::ConnectTimeout }]);
}

// rfc9260#section-5.1: retransmissions of INIT use the other addresses, too.
#[test]
fn init_is_sent_to_the_other_addresses_too() {
    let mut pair = Pair::new(3, &Config::default());
    pair.on_wire(|sent| if sent.net() == 3 { Fate::Arrives } else { Fate::Lost });
    pair.connect(Side::Client, 3);
    pair.run_for(Span::from_secs(5));
    let nets: Vec<u8> = pair.sent.iter().filter(|sent| sent.chunks() == "INIT").map(Sent::net).collect();
    assert_eq!(nets, [1, 2, 3]);
    assert_eq!(pair.state(Side::Client), Some(State::Established));
    let id = pair.only(Side::Client);
    let primary = pair.endpoint(Side::Client).paths(id).unwrap().find(|path| path.is_primary).unwrap();
    assert_eq!(primary.remote, Side::Server.address(3), "the address that answered");
}

// rfc9260#section-5.1.2: both chunks list addresses; rfc9260#section-5.4: some of them are confirmed at once.
#[test]
fn each_side_learns_all_addresses_of_the_other() {
    let mut pair = Pair::new(3, &Config { hb_interval: None, ..Config::default() });
    pair.on_wire(|sent| if sent.chunks().starts_with("HEARTBEAT") { Fate::Lost } else { Fate::Arrives });
    let now = pair.now;
    let remotes = [Side::Server.address(1), Side::Server.address(2)];
    let id = pair.endpoint(Side::Client).connect(now, Side::Server.port(), &remotes).unwrap();
    pair.run_for(Span::from_millis(50));
    let seen: Vec<_> = pair
        .endpoint(Side::Client)
        .paths(id)
        .unwrap()
        .map(|path| (path.remote, path.local, path.state == PathState::Active))
        .collect();
    let net = |n: u8| (Side::Server.address(n), Side::Client.address(n));
    assert_eq!(seen, [(net(1).0, net(1).1, true), (net(2).0, net(2).1, true), (net(3).0, net(3).1, false)]);
    let id = pair.only(Side::Server);
    let paths = pair.endpoint(Side::Server).paths(id).unwrap();
    let seen: Vec<_> = paths.map(|path| (path.remote, path.state == PathState::Active)).collect();
    let client = |n: u8| Side::Client.address(n);
    assert_eq!(seen, [(client(1), true), (client(2), false), (client(3), false)]);
}

#[test]
fn ipv6_and_ipv4_addresses_make_one_association() {
    let mut client = endpoint_config(Side::Client, 1, &Config::default());
    let mut server = endpoint_config(Side::Server, 1, &Config::default());
    client.addresses.push("fd00:1::1".parse().unwrap());
    server.addresses.push("fd00:1::2".parse().unwrap());
    let mut pair = Pair::of(client, server);
    let now = pair.now;
    pair.endpoint(Side::Client).connect(now, 5002, &["fd00:1::2".parse().unwrap()]).unwrap();
    pair.run_for(Span::from_secs(1));
    let id = pair.only(Side::Client);
    let remotes: Vec<String> =
        pair.endpoint(Side::Client).paths(id).unwrap().map(|path| path.remote.to_string()).collect();
    assert_eq!(remotes, ["fd00:1::2", "10.1.0.2"]);
    assert!(pair.endpoint(Side::Client).paths(id).unwrap().all(|path| path.state == PathState::Active));
}

// rfc9260#section-3.3.2.1.5: the INIT ACK to an endpoint with IPv6 only lists no IPv4 addresses.
#[test]
fn init_ack_lists_only_addresses_the_peer_can_use() {
    let mut client = endpoint_config(Side::Client, 1, &Config::default());
    let mut server = endpoint_config(Side::Server, 2, &Config::default());
    client.addresses = vec!["fd00:1::1".parse().unwrap()];
    server.addresses.push("fd00:1::2".parse().unwrap());
    let mut pair = Pair::of(client, server);
    let now = pair.now;
    pair.endpoint(Side::Client).connect(now, 5002, &["fd00:1::2".parse().unwrap()]).unwrap();
    pair.run_for(Span::from_secs(1));
    let ack = parse(&pair.sent[1].bytes).chunks().next();
    let Some(Ok(Chunk::InitAck(InitAck(ack)))) = ack else { panic!("{ack:?}") };
    assert!(ack.parameters.iter().all(|parameter| !matches!(parameter, Ok(Parameter::Ipv4(_)))));
    assert!(ack.parameters.iter().any(|parameter| matches!(parameter, Ok(Parameter::Ipv6(_)))));
}

/// The cookie in the first INIT ACK of the pair.
fn cookie_of(pair: &Pair) -> Vec<u8> {
    let ack = pair.sent.iter().find(|sent| sent.chunks() == "INIT_ACK").expect("an INIT ACK");
    let Some(Ok(Chunk::InitAck(InitAck(init)))) = parse(&ack.bytes).chunks().next() else { unreachable!() };
    init.parameters
        .iter()
        .find_map(|parameter| match parameter {
            Ok(Parameter::StateCookie(cookie)) => Some(cookie.to_vec()),
            _ => None,
        })
        .expect("a cookie")
}

// rfc9260#section-5.1.5
#[test]
fn a_cookie_with_a_flipped_bit_or_a_wrong_tag_is_discarded() {
    let mut pair = Pair::new(1, &Config::default());
    pair.on_wire(|sent| if sent.chunks() == "COOKIE_ECHO" { Fate::Lost } else { Fate::Arrives });
    pair.connect(Side::Client, 1);
    pair.run_for(Span::from_millis(30));
    let echo = pair.sent.iter().find(|sent| sent.chunks() == "COOKIE_ECHO").unwrap().clone();
    let tag = header(&echo.bytes).verification_tag;
    let good = cookie_of(&pair);
    let before = pair.sent.len();
    let forge = |source: u16, tag: u32, cookie: &[u8]| -> PacketBuf {
        packet(source, 5002, tag, &[Chunk::CookieEcho(CookieEcho { cookie })])
    };
    for byte in [0, 15, 16, 30, good.len() - 1] {
        let mut bad = good.clone();
        bad[byte] ^= 4;
        pair.inject(Side::Server, echo.src, echo.dst, &forge(5001, tag, &bad));
    }
    pair.inject(Side::Server, echo.src, echo.dst, &forge(5001, tag ^ 1, &good));
    pair.inject(Side::Server, echo.src, echo.dst, &forge(5003, tag, &good));
    pair.inject(Side::Server, [10, 9, 9, 9].into(), echo.dst, &forge(5001, tag, &good));
    assert_eq!(pair.state(Side::Server), None);
    assert_eq!(pair.sent.len(), before, "not a word in answer");
    pair.inject(Side::Server, echo.src, echo.dst, &forge(5001, tag, &good));
    assert_eq!(pair.state(Side::Server), Some(State::Established));
}

// rfc9260#section-5.1.5, rfc9260#section-5.2.6
#[test]
fn a_stale_cookie_is_reported_and_one_that_lives_longer_asked_for() {
    let config = Config { valid_cookie_life: Span::from_millis(15), ..Config::default() };
    let mut pair = Pair::new(1, &config);
    pair.connect(Side::Client, 1);
    pair.run_for(Span::from_millis(35));
    assert_eq!(pair.said(Side::Server, 0), ["INIT_ACK", "ERROR"]);
    assert_eq!(causes(&pair.sent.last().unwrap().bytes), ["StaleCookie { staleness: Span(5000000) }"]);
    pair.run_for(Span::from_millis(10));
    let init = parse(&pair.sent.last().unwrap().bytes).chunks().next();
    let Some(Ok(Chunk::Init(init))) = init else { panic!("{init:?}") };
    assert!(init.parameters.iter().any(|p| matches!(p, Ok(Parameter::CookiePreservative(_)))), "{init:?}");
    // The server at most doubles the lifetime, to 30 ms. The cookie returns after 20 ms.
    pair.run_for(Span::from_secs(1));
    assert_eq!(pair.state(Side::Client), Some(State::Established));
    assert_eq!(pair.state(Side::Server), Some(State::Established));
}

// rfc9260#section-5.2.6
#[test]
fn a_peer_whose_cookies_are_always_stale_is_given_up() {
    let config =
        Config { valid_cookie_life: Span::from_millis(5), max_init_retransmits: 3, ..Config::default() };
    let mut pair = Pair::new(1, &config);
    pair.connect(Side::Client, 1);
    pair.run_for(Span::from_secs(10));
    assert_eq!(pair.events(Side::Client), [Event::Closed { reason: CloseReason::ConnectTimeout }]);
    assert_eq!(pair.said(Side::Client, 0).iter().filter(|chunks| *chunks == "INIT").count(), 4);
}

// rfc9260#section-5.1: an endpoint that does not listen answers an INIT with an ABORT.
#[test]
fn an_endpoint_that_does_not_listen_refuses() {
    let mut pair = Pair::new(1, &Config::default());
    pair.endpoint(Side::Server).listen(false);
    pair.connect(Side::Client, 1);
    pair.run_for(Span::from_millis(20));
    assert_eq!(pair.said(Side::Server, 0), ["ABORT"]);
    let reason = CloseReason::PeerAbort { causes: Default::default() };
    assert_eq!(pair.events(Side::Client), [Event::Closed { reason }]);
}

// rfc9260#section-5.1: an endpoint without resources answers an INIT with an ABORT.
#[test]
fn a_full_endpoint_refuses_with_out_of_resource() {
    let mut server = endpoint_config(Side::Server, 1, &Config::default());
    server.max_associations = 1;
    let mut pair = Pair::of(endpoint_config(Side::Client, 1, &Config::default()), server);
    pair.establish();
    let before = pair.sent.len();
    let init = init(&ParameterList::new(), |_| {});
    pair.inject(Side::Server, [10, 1, 0, 9].into(), Side::Server.address(1), &init);
    assert_eq!(pair.said(Side::Server, before), ["ABORT"]);
    assert_eq!(causes(&pair.sent.last().unwrap().bytes), ["OutOfResource"]);
}

/// An INIT from port 77 with tag 0x1234. `spoil` changes its fields.
fn init(parameters: &ParameterList, spoil: impl Fn(&mut Init<'_>)) -> PacketBuf {
    let mut init = Init {
        initiate_tag: 0x1234,
        a_rwnd: 65_536,
        outbound_streams: 1,
        inbound_streams: 1,
        initial_tsn: Tsn(1),
        parameters: parameters.as_parameters(),
    };
    spoil(&mut init);
    packet(77, 5002, 0, &[Chunk::Init(init)])
}

/// The answer of a listening server to a packet of an unknown host: tag, chunks, and error causes.
fn answer_to(bytes: &PacketBuf) -> Option<(u32, String, Vec<String>)> {
    let mut pair = Pair::new(1, &Config::default());
    pair.inject(Side::Server, [10, 1, 0, 9].into(), Side::Server.address(1), bytes);
    let answer = pair.sent.first()?;
    Some((header(&answer.bytes).verification_tag, answer.chunks(), causes(&answer.bytes)))
}

// rfc9260#section-3.3.2
#[test]
fn an_init_with_forbidden_values_is_refused_and_one_without_tag_ignored() {
    let none = ParameterList::new();
    assert_eq!(answer_to(&init(&none, |_| {})).unwrap().1, "INIT_ACK");
    assert_eq!(answer_to(&init(&none, |init| init.initiate_tag = 0)), None);
    let refused = Some((0x1234, "ABORT".to_owned(), vec!["InvalidMandatoryParameter".to_owned()]));
    assert_eq!(answer_to(&init(&none, |init| init.outbound_streams = 0)), refused);
    assert_eq!(answer_to(&init(&none, |init| init.inbound_streams = 0)), refused);
    assert_eq!(answer_to(&init(&none, |init| init.a_rwnd = 1499)), refused);
    assert_eq!(answer_to(&init(&none, |init| init.a_rwnd = 1500)).unwrap().1, "INIT_ACK");
}

// rfc9260#section-8.5.1, rule A; rfc9260#section-6.10
#[test]
fn an_init_with_a_tag_or_with_company_is_ignored() {
    let none = ParameterList::new();
    let mut bytes = init(&none, |_| {});
    let lone = parse(&bytes).chunks().next().unwrap().unwrap();
    assert_eq!(answer_to(&packet(77, 5002, 1, &[lone])), None);
    assert_eq!(answer_to(&packet(77, 5002, 0, &[lone, lone])), None);
    bytes.head[20] ^= 1;
    assert_eq!(answer_to(&bytes), None, "rfc9260#section-6.8: a wrong checksum");
}

// rfc9260#section-3.3.2.1.4
#[test]
fn a_host_name_is_refused() {
    let mut list = ParameterList::new();
    list.push(&Parameter::HostName(b"here.example\0"));
    let (tag, chunks, causes) = answer_to(&init(&list, |_| {})).unwrap();
    assert_eq!((tag, chunks.as_str()), (0x1234, "ABORT"));
    assert!(causes[0].starts_with("UnresolvableAddress([0, 11, 0, 17, 104"), "{causes:?}");
}

/// Parameters of these unknown types, one of each.
fn unknown_parameters(kinds: &[u16]) -> Vec<u8> {
    kinds.iter().flat_map(|kind| [(kind >> 8) as u8, *kind as u8, 0, 5, 0xaa, 0, 0, 0]).collect()
}

fn init_with_raw(parameters: &[u8]) -> PacketBuf {
    let init = Init {
        initiate_tag: 0x1234,
        a_rwnd: 65_536,
        outbound_streams: 1,
        inbound_streams: 1,
        initial_tsn: Tsn(1),
        parameters: wire::Parameters::from_bytes(parameters),
    };
    packet(77, 5002, 0, &[Chunk::Init(init)])
}

/// The types of the parameters that the INIT ACK reports as unrecognized.
fn reported(kinds: &[u16]) -> Vec<u16> {
    let mut pair = Pair::new(1, &Config::default());
    let bytes = init_with_raw(&unknown_parameters(kinds));
    pair.inject(Side::Server, [10, 1, 0, 9].into(), Side::Server.address(1), &bytes);
    let Some(Ok(Chunk::InitAck(InitAck(ack)))) = parse(&pair.sent[0].bytes).chunks().next() else {
        panic!("no INIT ACK")
    };
    ack.parameters
        .iter()
        .filter_map(|parameter| match parameter {
            Ok(Parameter::UnrecognizedParameter(whole)) => {
                assert_eq!(whole[2..], [0, 5, 0xaa], "the parameter without padding");
                Some(u16::from_be_bytes([whole[0], whole[1]]))
            }
            _ => None,
        })
        .collect()
}

// rfc9260#section-3.2.1
#[test]
fn the_top_bits_of_an_unknown_parameter_are_obeyed() {
    assert_eq!(reported(&[0x8abc, 0xcabc, 0xcdef]), [0xcabc, 0xcdef]);
    assert_eq!(reported(&[0xcabc, 0x4abc, 0xcdef]), [0xcabc, 0x4abc]);
    assert_eq!(reported(&[0xcabc, 0x0abc, 0xcdef]), [0xcabc]);
}

/// A client in COOKIE-WAIT gets an INIT ACK with these parameters. Returns the pair and the client's next
/// packets.
fn client_after_init_ack(parameters: &[u8], spoil: impl Fn(&mut Init<'_>)) -> (Pair, Vec<String>) {
    let mut pair = Pair::new(1, &Config::default());
    pair.on_wire(|_| Fate::Lost);
    pair.connect(Side::Client, 1);
    let Some(Ok(Chunk::Init(init))) = parse(&pair.sent[0].bytes).chunks().next() else { unreachable!() };
    let mut ack = Init {
        initiate_tag: 0x4321,
        a_rwnd: 65_536,
        outbound_streams: 2,
        inbound_streams: 2,
        initial_tsn: Tsn(1),
        parameters: wire::Parameters::from_bytes(parameters),
    };
    spoil(&mut ack);
    let bytes = packet(5002, 5001, init.initiate_tag, &[Chunk::InitAck(InitAck(ack))]);
    pair.inject(Side::Client, Side::Server.address(1), Side::Client.address(1), &bytes);
    let said = pair.said(Side::Client, 1);
    (pair, said)
}

// rfc9260#section-3.2.1, rfc9260#section-3.3.10.8
#[test]
fn unknown_parameters_of_an_init_ack_are_reported_behind_the_cookie() {
    let mut parameters = vec![0, 7, 0, 8, 1, 2, 3, 4];
    parameters.extend(unknown_parameters(&[0xcabc]));
    let (pair, said) = client_after_init_ack(&parameters, |_| {});
    assert_eq!(said, ["COOKIE_ECHO ERROR"]);
    let causes = causes(&pair.sent[1].bytes);
    assert!(causes[0].starts_with("UnrecognizedParameters("), "{causes:?}");
}

// rfc9260#section-3.3.10.8: only as many unknown parameters as fit in the packet are reported.
#[test]
fn many_unknown_parameters_of_an_init_ack_are_reported_as_far_as_they_fit() {
    let mut parameters = vec![0, 7, 0, 8, 1, 2, 3, 4];
    parameters.extend(unknown_parameters(&[0xcabc; 1000]));
    let (pair, said) = client_after_init_ack(&parameters, |_| {});
    assert_eq!(said, ["COOKIE_ECHO", "ERROR"]);
    assert_eq!(pair.sent[2].bytes.len(), 12 + 4 + 4 + 182 * 8);
}

// rfc9260#section-3.3.3
#[test]
fn an_init_ack_that_breaks_the_rules_ends_the_attempt() {
    let cookie = [0, 7, 0, 8, 1, 2, 3, 4];
    let (_, said) = client_after_init_ack(&cookie, |_| {});
    assert_eq!(said, ["COOKIE_ECHO"]);
    let spoils: [fn(&mut Init<'_>); 3] =
        [|ack| ack.outbound_streams = 0, |ack| ack.inbound_streams = 0, |ack| ack.a_rwnd = 1499];
    for spoil in spoils {
        let (mut pair, said) = client_after_init_ack(&cookie, spoil);
        assert_eq!(said, ["ABORT"]);
        assert_eq!(header(&pair.sent[1].bytes).verification_tag, 0x4321);
        assert_eq!(pair.state(Side::Client), None);
    }
    let (mut pair, said) = client_after_init_ack(&cookie, |ack| ack.initiate_tag = 0);
    assert!(said.is_empty() && pair.state(Side::Client).is_none(), "there is no tag to answer with");
}

// rfc9260#section-3.3.10.2
#[test]
fn an_init_ack_without_cookie_is_answered_with_missing_parameter() {
    let (pair, said) = client_after_init_ack(&[], |_| {});
    assert_eq!(said, ["ABORT"]);
    let causes = causes(&pair.sent[1].bytes);
    assert!(causes[0].starts_with("MissingMandatoryParameter"), "{causes:?}");
}

// rfc9260#section-3.3.2.1.4
#[test]
fn an_init_ack_with_a_host_name_is_refused() {
    let parameters = [0, 7, 0, 8, 1, 2, 3, 4, 0, 11, 0, 6, b'a', 0, 0, 0];
    let (pair, said) = client_after_init_ack(&parameters, |_| {});
    assert_eq!(said, ["ABORT"]);
    assert!(causes(&pair.sent[1].bytes)[0].starts_with("UnresolvableAddress"));
}

// rfc9260#section-5.2.3, rfc9260#section-5.2.5
#[test]
fn late_copies_of_the_handshake_change_nothing() {
    let mut pair = Pair::new(1, &Config::default());
    pair.establish();
    let handshake: Vec<Sent> = pair.sent.clone();
    let before = pair.sent.len();
    // INIT ACK and COOKIE ACK to the client: discarded.
    for copy in [&handshake[1], &handshake[3]] {
        pair.inject(Side::Client, copy.src, copy.dst, &copy.bytes);
    }
    assert_eq!(pair.sent.len(), before);
    // The server acknowledges the COOKIE ECHO again.
    pair.inject(Side::Server, handshake[2].src, handshake[2].dst, &handshake[2].bytes);
    assert_eq!(pair.said(Side::Server, before), ["COOKIE_ACK"]);
    pair.run_for(Span::from_secs(1));
    for side in [Side::Client, Side::Server] {
        assert_eq!(pair.state(side), Some(State::Established));
        assert_eq!(pair.events(side), []);
    }
    // An old cookie is still acknowledged if its tags are those of the association (rfc9260#section-5.2.4).
    pair.now += Span::from_secs(100);
    let before = pair.sent.len();
    pair.inject(Side::Server, handshake[2].src, handshake[2].dst, &handshake[2].bytes);
    assert!(pair.said(Side::Server, before)[0].starts_with("COOKIE_ACK"));
}

// rfc9260#section-5.1: the addresses listed in the INIT have no influence.
#[test]
fn init_ack_goes_to_the_source_of_the_init() {
    let mut list = ParameterList::new();
    list.push(&Parameter::Ipv4([10, 2, 0, 9].into()));
    let mut pair = Pair::new(1, &Config::default());
    pair.inject(Side::Server, [10, 1, 0, 9].into(), Side::Server.address(1), &init(&list, |_| {}));
    assert_eq!((pair.sent[0].src, pair.sent[0].dst), (Side::Server.address(1), [10, 1, 0, 9].into()));
}

// rfc9260#section-3.3.2: a_rwnd in INIT and INIT ACK is the size of the receive buffer.
#[test]
fn init_advertises_what_is_configured() {
    let config = Config { receive_buffer: ByteCount::new(123_456).into(), ..Config::default() };
    let mut pair = Pair::new(1, &config);
    pair.connect(Side::Client, 1);
    let Some(Ok(Chunk::Init(init))) = parse(&pair.sent[0].bytes).chunks().next() else { panic!("no INIT") };
    assert_eq!((init.a_rwnd, init.outbound_streams, init.inbound_streams), (123_456, 10, 2048));
    let ipv4_only = [0, 12, 0, 6, 0, 5];
    assert_eq!(init.parameters.as_bytes(), ipv4_only, "a single address is not listed, and options are off");
}

// rfc5061#section-4.2.6
#[test]
fn an_adaptation_layer_indication_is_told_after_the_handshake() {
    let config = |code| Config { adaptation: code, ..Config::default() };
    for codes in [[Some(7), Some(u32::MAX)], [None, Some(0)], [Some(0), None]] {
        let [client, server] = codes.map(config);
        let mut pair =
            Pair::of(endpoint_config(Side::Client, 2, &client), endpoint_config(Side::Server, 2, &server));
        pair.connect(Side::Client, 1);
        pair.run_for(Span::from_secs(1));
        for (side, code) in [(Side::Client, codes[1]), (Side::Server, codes[0])] {
            let events = pair.events(side);
            assert!(matches!(events[0], Event::Connected { .. }), "{events:?}");
            let told = events.iter().find_map(|event| match event {
                Event::Adaptation { code } => Some(*code),
                _ => None,
            });
            assert_eq!(told, code, "{side:?}");
        }
    }
}

// rfc9653#section-5.1, rfc9653#section-5.3: an endpoint announces a method of error detection only if it
// implements the method, and accepts a zero checksum only if it announced a method.
#[test]
fn zero_checksums_are_neither_announced_nor_taken_nor_sent() {
    let mut pair = Pair::new(1, &Config::default());
    pair.connect(Side::Client, 1);
    let Some(Ok(Chunk::Init(init))) = parse(&pair.sent[0].bytes).chunks().next() else { panic!("no INIT") };
    let mut parameters = ParameterList::new();
    parameters.push(&Parameter::ZeroChecksumAcceptable(1));
    let init = Init { initiate_tag: 7, parameters: parameters.as_parameters(), ..init };
    let offer = packet(5001, 5002, 0, &[Chunk::Init(init)]);
    let before = pair.sent.len();
    let (src, dst) = (Side::Client.address(1), Side::Server.address(1));
    pair.inject(Side::Server, src, dst, &offer);
    let Some(Ok(Chunk::InitAck(ack))) = parse(&pair.sent[before].bytes).chunks().next() else {
        panic!("no INIT ACK")
    };
    let only_cookie = |parameter| matches!(parameter, Ok(Parameter::StateCookie(_)));
    assert!(ack.0.parameters.iter().all(only_cookie), "neither unknown nor announced");
    let mut zero = offer.clone();
    zero.head[8..12].fill(0);
    let (sent, bad) = (pair.sent.len(), pair.endpoint(Side::Server).discarded().bad_checksum);
    pair.inject(Side::Server, src, dst, &zero);
    assert_eq!(pair.sent.len(), sent);
    assert_eq!(pair.endpoint(Side::Server).discarded().bad_checksum, bad + 1);
}

// rfc9260#section-5.3.1: tags and initial TSNs are random, but equal for equal seeds.
#[test]
fn a_seed_makes_every_byte_repeat_and_another_one_none_of_the_tags() {
    let run = |seed: u64| {
        let mut client = endpoint_config(Side::Client, 2, &Config::default());
        client.seed = anabranch_sctp::Seed::for_simulation(seed);
        let mut pair = Pair::of(client, endpoint_config(Side::Server, 2, &Config::default()));
        pair.establish();
        pair.send(Side::Client, 5000);
        pair.run_for(Span::from_secs(100));
        pair.sent.into_iter().map(|sent| sent.bytes.as_octets().to_vec()).collect::<Vec<_>>()
    };
    let (first, again, other) = (run(1), run(1), run(2));
    assert_eq!(first, again);
    assert_ne!(first[0][16..20], other[0][16..20], "the tag");
    assert_ne!(first[0][28..32], other[0][28..32], "the TSN");
}

#[test]
fn a_peer_cannot_list_more_addresses_than_an_association_keeps() {
    let mut list = ParameterList::new();
    for n in 0..200 {
        list.push(&Parameter::Ipv4([10, 3, 0, n].into()));
    }
    list.push(&Parameter::Ipv4([224, 0, 0, 1].into()));
    let mut pair = Pair::new(1, &Config::default());
    let (src, dst) = ([10, 1, 0, 9].into(), Side::Server.address(1));
    pair.inject(Side::Server, src, dst, &init(&list, |_| {}));
    let cookie = cookie_of(&pair);
    let Some(Ok(Chunk::InitAck(InitAck(ack)))) = parse(&pair.sent[0].bytes).chunks().next() else {
        unreachable!()
    };
    let echo = packet(77, 5002, ack.initiate_tag, &[Chunk::CookieEcho(CookieEcho { cookie: &cookie })]);
    pair.inject(Side::Server, src, dst, &echo);
    let id = pair.only(Side::Server);
    assert_eq!(pair.endpoint(Side::Server).paths(id).unwrap().count(), 16);
}
