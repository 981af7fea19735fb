//! The handshake (`rfc9293#section-3.5`), and the options that both sides agree on.

use anabranch_tcp::Seq;
use anabranch_tcp::segment::{Flags, Header, Options};
use anabranch_tcp::{CloseReason, Config, Ecn, Event, Payload, State, Variant};
use testkit::{Fate, Side, TcpPair, TcpSent};
use transport::PacketBuf;
use units::{ByteCount, Span};

fn pair() -> TcpPair {
    TcpPair::new(&Config::qualnet(), &Config::qualnet())
}

fn flags(pair: &TcpPair) -> Vec<(Side, Flags)> {
    pair.sent.iter().map(|sent| (sent.from, sent.header.flags)).collect()
}

// rfc9293#section-3.5, figure 6
#[test]
fn handshake_has_three_segments() {
    let mut pair = pair();
    pair.connect(Side::Client);
    assert_eq!(pair.state(Side::Client), Some(State::SynSent));
    pair.run_for(Span::from_millis(100));
    let expected =
        [(Side::Client, Flags::SYN), (Side::Server, Flags::SYN | Flags::ACK), (Side::Client, Flags::ACK)];
    assert_eq!(flags(&pair), expected);
    for side in [Side::Client, Side::Server] {
        assert_eq!(pair.state(side), Some(State::Established));
        assert_eq!(pair.events(side), [Event::Connected]);
        assert_eq!(pair.info(side).srtt, Some(Span::from_millis(20)));
    }
    // rfc9293#section-3.5: a SYN takes one sequence number, and the first acknowledgement covers the SYN.
    assert_eq!((pair.sent[2].offset, pair.sent[2].ack), (1, 1));
}

// rfc9293#section-3.5, figure 7
#[test]
fn simultaneous_open_succeeds() {
    let mut pair = pair();
    pair.connect(Side::Client);
    pair.connect(Side::Server);
    pair.send(Side::Client, Payload::Filler(5000));
    pair.run_for(Span::from_secs(1));
    let syn_ack = Flags::SYN | Flags::ACK;
    let begin = [(Side::Client, Flags::SYN), (Side::Server, Flags::SYN)];
    assert_eq!(flags(&pair)[..2], begin);
    assert_eq!(flags(&pair)[2..4], [(Side::Server, syn_ack), (Side::Client, syn_ack)]);
    for side in [Side::Client, Side::Server] {
        assert_eq!(pair.state(side), Some(State::Established));
        assert_eq!(pair.events(side), [Event::Connected]);
        assert_eq!(pair.endpoint(side).connections().count(), 1);
    }
    assert_eq!(pair.received_bytes(Side::Server), 5000);
}

/// If one of the three segments is lost, it is retransmitted, and the timeout doubles. Then data begins with
/// a window of one segment, and with an RTO of three seconds if there is no RTT sample
/// (`rfc5681#section-3.1`; `rfc6298#section-5`, 5.7).
#[test]
fn lost_segments_of_the_handshake_are_retransmitted() {
    for lost in 0..3 {
        let mut pair = pair();
        pair.on_wire(move |sent| if sent.number == lost { Fate::Lost } else { Fate::Arrives });
        pair.connect(Side::Client);
        pair.run_for(Span::from_secs(20));
        for side in [Side::Client, Side::Server] {
            assert_eq!(pair.state(side), Some(State::Established), "{lost}");
        }
        pair.send(Side::Client, Payload::Filler(50_000));
        pair.send(Side::Server, Payload::Filler(50_000));
        pair.run_for(Span::from_secs(20));
        assert_eq!(pair.received_bytes(Side::Server), 50_000);
        assert_eq!(pair.received_bytes(Side::Client), 50_000);
    }
    let no_stamps = Config { timestamps: false, ..Config::qualnet() };
    let mut pair = TcpPair::new(&no_stamps, &no_stamps);
    pair.on_wire(|sent| if sent.number < 2 { Fate::Lost } else { Fate::Arrives });
    pair.connect(Side::Client);
    pair.run_for(Span::from_secs(3 + 6) + Span::from_millis(50));
    let times: Vec<u64> = pair.sent.iter().take(3).map(|sent| sent.at.as_nanos() / 1_000_000_000).collect();
    assert_eq!(times, [1000, 1003, 1009]);
    let info = pair.info(Side::Client);
    assert_eq!((info.cwnd, info.rto), (info.smss, Span::from_secs(3)));
}

// rfc9293#section-3.10.7.1 and section 3.10.7.3
#[test]
fn closed_port_answers_a_syn_with_a_reset() {
    let mut pair = pair();
    pair.endpoint(Side::Server).listen(false);
    pair.connect(Side::Client);
    pair.run_for(Span::from_secs(1));
    assert_eq!(flags(&pair), [(Side::Client, Flags::SYN), (Side::Server, Flags::RST | Flags::ACK)]);
    assert_eq!(pair.events(Side::Client), [Event::Closed { reason: CloseReason::Refused }]);
    assert_eq!(pair.state(Side::Client), None);
}

#[test]
fn connect_times_out_without_an_answer() {
    let mut pair = pair();
    pair.on_wire(|_| Fate::Lost);
    pair.connect(Side::Client);
    assert!(pair.run_dry());
    assert_eq!(pair.events(Side::Client), [Event::Closed { reason: CloseReason::ConnectTimeout }]);
    // 3 + 6 + 12 + 24 + 48 + 60 s between seven SYNs.
    assert_eq!(pair.sent.len(), 7);
    assert_eq!(pair.sent[6].at.since(pair.sent[0].at), Span::from_secs(153));
}

#[test]
fn data_can_be_queued_before_the_handshake_ends() {
    let mut pair = pair();
    let id = pair.connect(Side::Client);
    let now = pair.now;
    assert_eq!(pair.endpoint(Side::Client).send(now, id, Payload::Filler(3000)), Ok(3000));
    pair.endpoint(Side::Client).shutdown(now, id);
    assert!(pair.endpoint(Side::Client).send(now, id, Payload::Filler(1)).is_err());
    pair.run_for(Span::from_secs(1));
    assert_eq!(pair.received_bytes(Side::Server), 3000);
    assert_eq!(pair.events(Side::Server), [Event::Connected, Event::PeerClosed]);
}

#[test]
fn options_are_used_if_both_sides_offer_them() {
    let all = Config { ecn: true, ..Config::modern() };
    let none = Config {
        timestamps: false,
        window_scale: false,
        sack: false,
        ecn: false,
        mss: 536,
        receive_buffer: ByteCount::new(60_000).into(),
        ..Config::modern()
    };
    let syns = |client: &Config, server: &Config| {
        let mut pair = TcpPair::new(client, server);
        pair.connect(Side::Client);
        pair.send(Side::Client, Payload::Filler(2000));
        pair.run_for(Span::from_millis(90));
        let data = pair.sent.iter().find(|sent| sent.len > 0).unwrap().clone();
        (pair.sent[0].clone(), pair.sent[1].clone(), data)
    };
    let (syn, answer, data) = syns(&all, &all);
    for sent in [&syn, &answer] {
        assert_eq!((sent.options.mss, sent.options.window_scale), (Some(1460), Some(7)));
        assert!(sent.options.sack_permitted && sent.options.timestamps.is_some());
    }
    // rfc3168#section-6.1.1
    assert!(syn.has(Flags::ECE | Flags::CWR) && answer.has(Flags::ECE) && !answer.has(Flags::CWR));
    assert_eq!(data.ecn, Ecn::Capable0);
    // rfc6691#section-2: the MSS counts the options of the segment.
    assert_eq!(data.len, 1448);
    for (client, server) in [(&all, &none), (&none, &all)] {
        let (_, answer, data) = syns(client, server);
        let expected = Options { mss: Some(server.mss), ..Options::default() };
        assert_eq!(answer.options, expected);
        assert_eq!((data.ecn, data.len), (Ecn::NotCapable, 536));
        assert!(!answer.has(Flags::ECE));
    }
    // Variants without selective acknowledgements do not offer the option.
    let reno = Config { variant: Variant::Reno, ..all.clone() };
    assert!(!syns(&reno, &all).0.options.sack_permitted);
}

fn syn(from: &TcpSent, seq: u32) -> PacketBuf {
    let mut buf = PacketBuf::default();
    let header = Header { seq: Seq(seq), ..from.header };
    header.write(&mut buf, &from.options);
    let (src, dst) = (from.from.address(1), from.from.other().address(1));
    anabranch_tcp::segment::seal(&mut buf, src, dst, transport::Checksum::Computed);
    buf
}

/// The client's new SYN is lost, and an old SYN arrives at the server instead. The client
/// resets the connection of the old SYN and connects (`rfc9293#section-3.5`, figure 8).
#[test]
fn old_duplicate_syn_is_reset() {
    let mut pair = pair();
    pair.on_wire(|sent| if sent.number == 0 { Fate::Lost } else { Fate::Arrives });
    pair.connect(Side::Client);
    let old = syn(&pair.sent[0].clone(), pair.sent[0].header.seq.0.wrapping_sub(90_000));
    pair.inject(Side::Server, Ecn::NotCapable, &old);
    pair.run_for(Span::from_secs(10));
    let resets = pair.sent.iter().filter(|sent| sent.has(Flags::RST)).count();
    assert_eq!(resets, 1);
    assert_eq!(pair.state(Side::Client), Some(State::Established));
    // The server has only the connection of the new SYN, and reported no event for the old SYN.
    assert_eq!(pair.state(Side::Server), Some(State::Established));
    assert_eq!(pair.events(Side::Server), [Event::Connected]);
    assert_eq!(pair.endpoint(Side::Server).connections().count(), 1);
}

// rfc6528#section-3
#[test]
fn initial_sequence_numbers_depend_on_seed_and_clock() {
    let first = |wait: u64| {
        let mut pair = pair();
        pair.run_for(Span::from_millis(wait));
        pair.connect(Side::Client);
        pair.sent[0].header.seq
    };
    assert_eq!(first(0), first(0));
    // The clock ticks every four microseconds.
    assert_eq!(first(4).distance_from(first(0)), 1000);
}
