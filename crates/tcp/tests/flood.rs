//! SYN floods (`rfc4987`): peers that do not receive at their addresses cannot keep other peers out.

use anabranch_tcp::Seq;
use anabranch_tcp::segment::{Flags, Header, Options, SackBlocks, Timestamps, seal};
use anabranch_tcp::{Config, Ecn, Event, Payload, State};
use testkit::{Fate, Side, TcpPair};
use transport::{Checksum, PacketBuf};
use units::{ByteCount, Span};

/// Maximum number of connections of an endpoint of a [`TcpPair`].
const LIMIT: usize = 16;

fn forge(port: u16, seq: u32, ack: u32, flags: Flags, options: &Options) -> PacketBuf {
    let (from, to) = (Side::Client, Side::Server);
    let mut buf = PacketBuf::default();
    let header = Header {
        source_port: port,
        destination_port: to.port(),
        seq: Seq(seq),
        ack: Seq(ack),
        flags,
        window: 60_000,
        urgent: 0,
    };
    header.write(&mut buf, options);
    seal(&mut buf, from.address(1), to.address(1), Checksum::Computed);
    buf
}

fn syn_options() -> Options {
    Options {
        mss: Some(1460),
        window_scale: Some(7),
        sack_permitted: true,
        timestamps: Some(Timestamps { value: 77, echo: 0 }),
        sack: SackBlocks::default(),
    }
}

/// Sends SYNs of `count` peers with ports from `first` on. These peers never answer.
fn flood(pair: &mut TcpPair, first: u16, count: u16) {
    for port in first..first + count {
        let syn = forge(port, u32::from(port) * 7919, 0, Flags::SYN, &syn_options());
        pair.inject(Side::Server, Ecn::NotCapable, &syn);
        assert!(pair.endpoint(Side::Server).connections().count() <= LIMIT);
    }
}

/// QualNet's and today's configuration, and one without any option.
fn configs() -> [Config; 3] {
    let plain = Config {
        timestamps: false,
        window_scale: false,
        sack: false,
        receive_buffer: ByteCount::new(60_000).into(),
        ..Config::qualnet()
    };
    [Config::qualnet(), Config::modern(), plain]
}

fn transfers_both_ways(pair: &mut TcpPair) {
    pair.send(Side::Client, Payload::Filler(200_000));
    pair.run_for(Span::from_secs(30));
    assert_eq!(pair.received_bytes(Side::Server), 200_000);
    pair.send(Side::Server, Payload::Filler(200_000));
    pair.run_for(Span::from_secs(30));
    assert_eq!(pair.received_bytes(Side::Client), 200_000);
}

/// The flood has ten times as many SYNs as the connection limit: before the handshake, and again every 5 ms
/// during the handshake.
#[test]
fn a_client_connects_before_during_and_after_a_syn_flood() {
    for (n, config) in configs().into_iter().enumerate() {
        for before in [0, 10 * LIMIT as u16] {
            let mut pair = TcpPair::new(&config, &config);
            pair.keep_log = false;
            flood(&mut pair, 10_000, before);
            pair.connect(Side::Client);
            for step in 0..8 {
                flood(&mut pair, 20_000 + step * 1000, 10 * LIMIT as u16);
                pair.run_for(Span::from_millis(5));
            }
            assert_eq!(pair.state(Side::Client), Some(State::Established), "{n} {before}");
            assert_eq!(pair.events(Side::Server), [Event::Connected], "{n} {before}");
            assert_eq!(pair.events(Side::Client), [Event::Connected], "{n} {before}");
            transfers_both_ways(&mut pair);
        }
    }
}

/// A peer's new connection replaces only half-open connections, and so does a call of `connect`.
#[test]
fn established_connections_survive_a_syn_flood() {
    let mut pair = TcpPair::connected(&Config::modern());
    flood(&mut pair, 10_000, 10 * LIMIT as u16);
    let now = pair.now;
    let server = pair.endpoint(Side::Server);
    let id = server.connect(now, 4242, &[Side::Client.address(1)]).expect("a half-open connection gives way");
    assert_eq!(server.connections().count(), LIMIT);
    server.abort(now, id);
    pair.drain();
    transfers_both_ways(&mut pair);
    assert_eq!(pair.state(Side::Server), Some(State::Established));
}

/// During the flood the server keeps no state for its SYN ACK: the client retransmits lost segments.
#[test]
fn lost_segments_of_a_handshake_with_a_cookie_are_retransmitted() {
    for lost in 0..3 {
        let mut pair = TcpPair::new(&Config::modern(), &Config::modern());
        flood(&mut pair, 10_000, LIMIT as u16);
        // The answers of the server to the flood do not belong to the handshake of the client.
        let mut number = 0;
        pair.on_wire(move |sent| {
            let client = sent.header.destination_port == Side::Client.port() || sent.from == Side::Client;
            number += usize::from(client);
            if client && number == lost + 1 { Fate::Lost } else { Fate::Arrives }
        });
        pair.connect(Side::Client);
        pair.send(Side::Client, Payload::Filler(100));
        pair.run_for(Span::from_secs(20));
        assert_eq!(pair.received_bytes(Side::Server), 100, "{lost}");
        transfers(&mut pair);
    }
}

fn transfers(pair: &mut TcpPair) {
    pair.send(Side::Server, Payload::Filler(50_000));
    pair.run_for(Span::from_secs(30));
    assert_eq!(pair.received_bytes(Side::Client), 50_000);
}

/// With timestamps a cookie encodes window scale, SACK and ECN; without timestamps only the MSS.
#[test]
fn syn_cookie_encodes_the_options() {
    let modern = Config { ecn: true, ..Config::modern() };
    let without = Config { timestamps: false, ..modern.clone() };
    for (config, keeps) in [(&modern, true), (&without, false)] {
        let mut pair = TcpPair::new(config, config);
        flood(&mut pair, 10_000, LIMIT as u16);
        pair.sent.clear();
        pair.connect(Side::Client);
        pair.run_for(Span::from_millis(25));
        let answer = pair.sent[1].clone();
        assert!(answer.has(Flags::SYN | Flags::ACK));
        assert_eq!(answer.options.mss, Some(1460));
        assert_eq!(answer.options.window_scale.is_some(), keeps);
        assert_eq!(answer.options.sack_permitted, keeps);
        assert_eq!(answer.has(Flags::ECE), keeps);
        assert_eq!(answer.options.timestamps.is_some(), keeps);
        pair.sent.clear();
        pair.send(Side::Server, Payload::Filler(20_000));
        pair.run_for(Span::from_secs(1));
        assert_eq!(pair.received_bytes(Side::Client), 20_000);
        let data = pair.sent.iter().find(|sent| sent.from == Side::Server && sent.len > 0).unwrap();
        assert_eq!(data.ecn == Ecn::Capable0, keeps);
        assert_eq!(data.len, if keeps { 1448 } else { 1460 });
        // The timestamps must not run backwards (rfc7323#section-5.3).
        if let (Some(first), Some(later)) = (answer.options.timestamps, data.options.timestamps) {
            assert!(later.value.wrapping_sub(first.value) < 1000);
        }
        // A window beyond 65535 bytes works only if both ends remember the scale.
        pair.send(Side::Client, Payload::Filler(2_000_000));
        pair.run_for(Span::from_secs(60));
        assert_eq!(pair.received_bytes(Side::Server), 2_000_000);
    }
}

/// Sends a SYN with sequence number 1000 from `port`. Returns the acknowledgment number that accepts the
/// cookie, and the timestamps of the SYN ACK.
fn cookie_for(pair: &mut TcpPair, port: u16) -> (u32, Timestamps) {
    pair.sent.clear();
    pair.inject(Side::Server, Ecn::NotCapable, &forge(port, 1000, 0, Flags::SYN, &syn_options()));
    (pair.sent[0].header.seq.0.wrapping_add(1), pair.sent[0].options.timestamps.expect("a time"))
}

/// A cookie is refused from another peer, with other sequence numbers, or after 128 s.
#[test]
fn syn_cookie_opens_only_its_own_connection() {
    let mut pair = TcpPair::new(&Config::modern(), &Config::modern());
    flood(&mut pair, 10_000, LIMIT as u16);
    let (cookie, stamp) = cookie_for(&mut pair, 30_000);
    let options =
        Options { timestamps: Some(Timestamps { value: 78, echo: stamp.value }), ..Options::default() };
    let opens = |pair: &mut TcpPair, port, seq, ack| {
        let before = pair.events(Side::Server).len();
        assert_eq!(before, 0);
        let segment = forge(port, seq, ack, Flags::ACK, &options);
        pair.inject(Side::Server, Ecn::NotCapable, &segment);
        pair.events(Side::Server) == [Event::Connected]
    };
    for n in 1..2000u32 {
        assert!(!opens(&mut pair, 30_000, 1001, cookie.wrapping_add(n * 0x0010_0001)), "{n}");
    }
    assert!(!opens(&mut pair, 30_001, 1001, cookie), "another port");
    assert!(!opens(&mut pair, 30_000, 1002, cookie), "another number");
    assert!(opens(&mut pair, 30_000, 1001, cookie));
    assert_eq!(pair.endpoint(Side::Server).connections().count(), LIMIT);
    // A cookie expires after 64 to 128 s, even if no other cookie was sent in this time.
    for (wait, accepted) in [(60, true), (129, false)] {
        let (cookie, _) = cookie_for(&mut pair, 30_002 + wait);
        pair.run_for(Span::from_secs(wait.into()));
        flood(&mut pair, 40_000, 2 * LIMIT as u16);
        assert_eq!(opens(&mut pair, 30_002 + wait, 1001, cookie), accepted, "{wait} s");
    }
}

/// The peer repeats its SYN, which creates a half-open connection this time. Then the peer acknowledges the
/// cookie that answered its first SYN.
#[test]
fn syn_cookie_is_accepted_for_a_connection_that_is_half_open_meanwhile() {
    let mut pair = TcpPair::new(&Config::modern(), &Config::modern());
    flood(&mut pair, 10_000, LIMIT as u16);
    let (cookie, stamp) = cookie_for(&mut pair, 30_000);
    let reset = forge(10_000, 10_000 * 7919 + 1, 0, Flags::RST, &Options::default());
    pair.inject(Side::Server, Ecn::NotCapable, &reset);
    let (place, _) = cookie_for(&mut pair, 30_000);
    assert_ne!(place, cookie);
    let stamps = Timestamps { value: 78, echo: stamp.value };
    let options = Options { timestamps: Some(stamps), ..Options::default() };
    let ack = forge(30_000, 1001, cookie, Flags::ACK, &options);
    pair.inject(Side::Server, Ecn::NotCapable, &ack);
    assert_eq!(pair.events(Side::Server), [Event::Connected]);
    assert!(pair.endpoint(Side::Server).connections().count() <= LIMIT);
}
