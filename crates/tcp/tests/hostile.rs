//! Segments of an attacker or of a cheating peer do no harm (`rfc5961`, `rfc7323#section-5`).

use anabranch_tcp::Seq;
use anabranch_tcp::segment::{Flags, Header, Options, SackBlock, Timestamps, seal};
use anabranch_tcp::{Config, Ecn, Event, Payload, State};
use bytes::Bytes;
use proptest::prelude::*;
use testkit::{Fate, Side, TcpPair};
use transport::{Checksum, PacketBuf};
use units::{ByteCount, Span};

/// A connection after transfers in both directions, and two sequence numbers that an observer would see: the
/// next number that the server expects from the client, and the next number of the server.
fn busy(config: &Config) -> (TcpPair, Seq, Seq) {
    let mut pair = TcpPair::connected(config);
    pair.send(Side::Client, Payload::Filler(3000));
    pair.send(Side::Server, Payload::Filler(3000));
    pair.run_for(Span::from_secs(2));
    let last = pair.sent.iter().rev().find(|sent| sent.from == Side::Client).unwrap();
    let numbers = (last.header.seq.add(last.len as u32), last.header.ack);
    pair.sent.clear();
    (pair, numbers.0, numbers.1)
}

fn forge(to: Side, seq: Seq, ack: Seq, flags: Flags, options: &Options, data: &[u8]) -> PacketBuf {
    let from = to.other();
    let mut buf = PacketBuf::default();
    let header = Header {
        source_port: from.port(),
        destination_port: to.port(),
        seq,
        ack,
        flags,
        window: 1000,
        urgent: 0,
    };
    header.write(&mut buf, options);
    buf.head.extend_from_slice(data);
    seal(&mut buf, from.address(1), to.address(1), Checksum::Computed);
    buf
}

fn plain() -> Config {
    Config { timestamps: false, ..Config::qualnet() }
}

/// Injects a segment into the server and returns the number of segments that the server sends in response.
fn answers(pair: &mut TcpPair, packet: &PacketBuf) -> usize {
    let before = pair.sent.len();
    pair.inject(Side::Server, Ecn::NotCapable, packet);
    pair.sent[before..].iter().filter(|sent| sent.from == Side::Server).count()
}

// rfc5961#section-3.2
#[test]
fn only_a_reset_at_rcv_nxt_is_accepted() {
    let (mut pair, next, ack) = busy(&plain());
    for (offset, expected) in [(1u32, 1), (30_000, 1), (u32::MAX, 0), (1 << 31, 0)] {
        let reset = forge(Side::Server, next.add(offset), ack, Flags::RST, &Options::default(), &[]);
        assert_eq!(answers(&mut pair, &reset), expected, "{offset}");
        assert_eq!(pair.state(Side::Server), Some(State::Established));
    }
    let reset = forge(Side::Server, next, ack, Flags::RST, &Options::default(), &[]);
    assert_eq!(answers(&mut pair, &reset), 0);
    assert_eq!(pair.state(Side::Server), None);
}

// rfc5961#section-4.2 and section 7
#[test]
fn a_syn_is_challenged_and_challenges_are_limited() {
    let (mut pair, next, ack) = busy(&plain());
    let mut answered = 0;
    for n in 0..100 {
        let syn = forge(Side::Server, next.add(n * 1000), ack, Flags::SYN, &Options::default(), &[]);
        answered += answers(&mut pair, &syn);
    }
    assert_eq!(answered, 10);
    assert_eq!(pair.state(Side::Server), Some(State::Established));
    pair.run_for(Span::from_secs(6));
    let syn = forge(Side::Server, next, ack, Flags::SYN, &Options::default(), &[]);
    assert_eq!(answers(&mut pair, &syn), 1, "after a while they are answered again");
}

// rfc5961#section-5.2
#[test]
fn blind_data_is_dropped() {
    let (mut pair, next, ack) = busy(&plain());
    for wrong in [ack.add(1), ack.add(1 << 30), ack.add(u32::MAX - (1 << 30))] {
        let data = forge(Side::Server, next, wrong, Flags::ACK, &Options::default(), b"evil");
        pair.inject(Side::Server, Ecn::NotCapable, &data);
    }
    let far = forge(Side::Server, next.add(1 << 30), ack, Flags::ACK, &Options::default(), b"evil");
    pair.inject(Side::Server, Ecn::NotCapable, &far);
    let without = forge(Side::Server, next, ack, Flags::PSH, &Options::default(), b"evil");
    pair.inject(Side::Server, Ecn::NotCapable, &without);
    assert!(!pair.received(Side::Server).windows(4).any(|w| w == b"evil"));
    pair.send(Side::Client, Payload::Bytes(Bytes::from_static(b"good")));
    pair.run_for(Span::from_secs(1));
    assert!(pair.received(Side::Server).ends_with(b"good"));
}

// rfc7323#section-5.3
#[test]
fn paws_drops_segments_with_old_timestamps() {
    let (mut pair, next, ack) = busy(&Config::qualnet());
    let stamped = |value| Options { timestamps: Some(Timestamps { value, echo: 0 }), ..Options::default() };
    pair.send(Side::Client, Payload::Filler(10));
    let value = pair.sent.last().unwrap().options.timestamps.unwrap().value;
    pair.run_for(Span::from_secs(1));
    let next = next.add(10);
    let old = forge(Side::Server, next, ack, Flags::ACK, &stamped(value.wrapping_sub(1)), b"old!");
    assert_eq!(answers(&mut pair, &old), 1);
    let new = forge(Side::Server, next, ack, Flags::ACK, &stamped(value.wrapping_add(1)), b"new!");
    pair.inject(Side::Server, Ecn::NotCapable, &new);
    assert!(pair.received(Side::Server).ends_with(b"new!"));
    assert!(!pair.received(Side::Server).windows(4).any(|w| w == b"old!"));
}

/// Impossible SACK blocks: below SND.UNA, above SND.NXT, inverted, or 2^31 sequence numbers away.
#[test]
fn impossible_sack_blocks_are_ignored() {
    let mut pair = TcpPair::connected(&Config { initial_window: 10, ..plain() });
    pair.on_wire(|sent| if sent.from == Side::Server { Fate::Lost } else { Fate::Arrives });
    pair.send(Side::Client, Payload::Filler(20_000));
    let una = pair.sent[0].header.seq;
    let seq = pair.sent[0].header.ack;
    let flight = pair.info(Side::Client).flight;
    for (left, right) in [
        (una.add(1 << 20), una.add(1 << 21)),
        (una.add(4000), una.add(2000)),
        (una.add(u32::MAX - 5000), una.add(u32::MAX)),
        (una.add(1 << 31), una.add(1 << 31)),
        (una.add(2000), una.add(2000)),
        (una.add(2000), una.add(1 << 20)),
    ] {
        let sack = [SackBlock { left, right }].into_iter().collect();
        let options = Options { sack, ..Options::default() };
        for _ in 0..5 {
            let ack = forge(Side::Client, seq, una, Flags::ACK, &options, &[]);
            pair.inject(Side::Client, Ecn::NotCapable, &ack);
        }
        assert_eq!(pair.info(Side::Client).flight, flight);
        assert_eq!(pair.stats(Side::Client).recoveries, 0);
    }
}

/// The peer acknowledges data that it cannot have, to make us send faster; we ignore these acknowledgements.
/// The peer also divides acknowledgements; with byte counting the window grows only by the acknowledged bytes
/// (`rfc3465#section-3.1`).
#[test]
fn optimistic_and_divided_acks_do_not_inflate_the_window() {
    let window = |abc| {
        let config = Config { abc, initial_window: 10, mss: 1000, ..plain() };
        let mut pair = TcpPair::connected(&config);
        pair.on_wire(|sent| if sent.from == Side::Server { Fate::Lost } else { Fate::Arrives });
        pair.send(Side::Client, Payload::Filler(100_000));
        let (una, seq) = (pair.sent[0].header.seq, pair.sent[0].header.ack);
        let optimistic = forge(Side::Client, seq, una.add(20_000), Flags::ACK, &Options::default(), &[]);
        pair.inject(Side::Client, Ecn::NotCapable, &optimistic);
        assert_eq!(pair.info(Side::Client).cwnd.get(), 10_000);
        for n in 1..=100 {
            let ack = forge(Side::Client, seq, una.add(n * 10), Flags::ACK, &Options::default(), &[]);
            pair.inject(Side::Client, Ecn::NotCapable, &ack);
        }
        pair.info(Side::Client).cwnd.get()
    };
    assert_eq!(window(Some(2)), 11_000);
    assert_eq!(window(None), 110_000, "which is why byte counting was invented");
}

// rfc9293#section-3.8.6, SHLD-14 and SHLD-17
#[test]
fn a_window_that_shrinks_stops_new_data_only() {
    let config = Config { initial_window: 8, mss: 1000, window_scale: false, ..plain() };
    let config = Config { receive_buffer: ByteCount::new(60_000).into(), ..config };
    let mut pair = TcpPair::connected(&config);
    pair.on_wire(
        |sent| if sent.from == Side::Client && sent.offset <= 1001 { Fate::Arrives } else { Fate::Lost },
    );
    pair.send(Side::Client, Payload::Filler(20_000));
    let (una, seq) = (pair.sent[0].header.seq, pair.sent[0].header.ack);
    // The forged window is 1000 bytes, but 8000 bytes are in flight already.
    let ack = forge(Side::Client, seq, una.add(2000), Flags::ACK, &Options::default(), &[]);
    pair.inject(Side::Client, Ecn::NotCapable, &ack);
    assert_eq!(pair.info(Side::Client).flight.get(), 6000);
    pair.sent.clear();
    pair.on_wire(|_| Fate::Arrives);
    pair.run_for(Span::from_secs(20));
    assert_eq!(pair.received_bytes(Side::Server), 20_000, "what was sent is sent again");
}

/// Segments of one byte, with a gap after each, use only bounded memory.
#[test]
fn memory_for_one_byte_segments_is_bounded() {
    let config = Config { receive_buffer: ByteCount::new(60_000).into(), ..plain() };
    let (mut pair, next, ack) = busy(&config);
    for n in 0..25_000 {
        let crumb = forge(Side::Server, next.add(1 + 2 * n), ack, Flags::ACK, &Options::default(), &[1]);
        pair.keep_log = false;
        pair.inject(Side::Server, Ecn::NotCapable, &crumb);
    }
    // The transfer still continues.
    let filling = vec![2; 50_000];
    for (n, part) in filling.chunks(1000).enumerate() {
        let part = forge(Side::Server, next.add(n as u32 * 1000), ack, Flags::ACK, &Options::default(), part);
        pair.inject(Side::Server, Ecn::NotCapable, &part);
    }
    let received = pair.received(Side::Server);
    assert_eq!(received.len(), 3000 + 50_000);
    let crumbs = received.iter().filter(|&&byte| byte == 1).count();
    assert!((900..2000).contains(&crumbs), "{crumbs} crumbs were kept");
}

fn any_segment() -> impl Strategy<Value = (u32, u32, u8, Vec<u8>, Vec<(u32, u32)>)> {
    let near = prop_oneof![0u32..5000, any::<u32>(), (0u32..5000).prop_map(|n| 0u32.wrapping_sub(n))];
    let far = prop_oneof![0u32..5000, any::<u32>(), (0u32..5000).prop_map(|n| 0u32.wrapping_sub(n))];
    let blocks = prop::collection::vec((0u32..30_000, 0u32..30_000), 0..4);
    (near, far, any::<u8>(), prop::collection::vec(any::<u8>(), 0..40), blocks)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Sends arbitrary segments with plausible sequence numbers: nothing panics, and time always advances.
    #[test]
    fn arbitrary_segments_do_not_panic(segments in prop::collection::vec(any_segment(), 1..40), modern in any::<bool>()) {
        let base = if modern { Config::modern() } else { Config::qualnet() };
        let (mut pair, next, ack) = busy(&Config { timestamps: false, ecn: true, ..base });
        pair.send(Side::Server, Payload::Filler(100_000));
        pair.send(Side::Client, Payload::Filler(100_000));
        for (seq, acked, flags, data, blocks) in segments {
            let sack = blocks
                .iter()
                .map(|&(l, r)| SackBlock { left: ack.add(l), right: ack.add(r) })
                .collect();
            let options = Options { sack, ..Options::default() };
            let packet = forge(Side::Server, next.add(seq), ack.add(acked), Flags(flags), &options, &data);
            pair.inject(Side::Server, Ecn::CongestionExperienced, &packet);
            pair.run_for(Span::from_millis(7));
        }
        pair.run_for(Span::from_secs(4000));
        for side in [Side::Client, Side::Server] {
            let ended = pair.events(side).iter().any(|event| matches!(event, Event::Closed { .. }));
            prop_assert!(ended || pair.state(side).is_some());
        }
    }
}
