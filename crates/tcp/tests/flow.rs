//! Windows, buffers, delayed acknowledgements, and avoidance of silly windows.

use anabranch_tcp::segment::Flags;
use anabranch_tcp::{Config, DelayedAck, Event, Payload};
use bytes::Bytes;
use testkit::{Fate, Side, TcpPair, TcpSent};
use units::{ByteCount, Instant, Span};

fn config() -> Config {
    Config { mss: 1000, timestamps: false, ..Config::qualnet() }
}

fn data(pair: &TcpPair) -> Vec<&TcpSent> {
    pair.sent.iter().filter(|sent| sent.from == Side::Client && sent.len > 0).collect()
}

fn bare(pair: &TcpPair, side: Side) -> Vec<&TcpSent> {
    pair.sent.iter().filter(|sent| sent.from == side && sent.is_bare()).collect()
}

// rfc5681#section-4.2
#[test]
fn every_second_segment_is_acknowledged_and_the_last_after_200_ms() {
    let mut pair = TcpPair::connected(&Config { initial_window: 5, ..config() });
    let begun = pair.now;
    pair.send(Side::Client, Payload::Filler(5000));
    pair.run_for(Span::from_secs(1));
    let acks: Vec<_> = bare(&pair, Side::Server).iter().map(|ack| (ack.ack, ack.at.since(begun))).collect();
    let ms = Span::from_millis;
    assert_eq!(acks, [(2001, ms(10)), (4001, ms(10)), (5001, ms(210))]);
    let mut pair = TcpPair::connected(&Config {
        delayed_ack: DelayedAck { every: 1, timeout: Span::ZERO },
        initial_window: 5,
        ..config()
    });
    pair.send(Side::Client, Payload::Filler(5000));
    pair.run_for(ms(20));
    assert_eq!(bare(&pair, Side::Server).len(), 5);
}

/// A burst of five segments is two trains of two and a single segment, whose ACK is delayed, as in Linux.
#[test]
fn trains_end_with_psh_and_are_acknowledged_whole() {
    let acks_of = |push_trains| {
        let mut pair = TcpPair::connected(&Config { push_trains, initial_window: 5, ..config() });
        let begun = pair.now;
        pair.send(Side::Client, Payload::Filler(50_000));
        pair.run_for(Span::from_millis(15));
        let pushed: Vec<bool> = data(&pair).iter().take(5).map(|sent| sent.has(Flags::PSH)).collect();
        let acks: Vec<_> =
            bare(&pair, Side::Server).iter().map(|ack| (ack.ack, ack.at.since(begun))).collect();
        (pushed, acks)
    };
    let at = |ack| (ack, Span::from_millis(10));
    assert_eq!(acks_of(true), (vec![false, true, false, true, false], vec![at(2001), at(4001)]));
    assert_eq!(acks_of(false), (vec![false; 5], vec![at(2001), at(4001)]));
}

/// The ACK of the third segment waits for the fourth; the fifth has PSH and is acknowledged at once.
#[test]
fn a_train_behind_a_single_segment_is_acknowledged_twice() {
    let acks_of = |push_trains| {
        let mut pair = TcpPair::connected(&Config { push_trains, initial_window: 3, ..config() });
        let begun = pair.now;
        pair.send(Side::Client, Payload::Filler(50_000));
        pair.run_for(Span::from_millis(35));
        bare(&pair, Side::Server).iter().map(|ack| (ack.ack, ack.at.since(begun))).collect::<Vec<_>>()
    };
    let at = |ack, time| (ack, Span::from_millis(time));
    assert_eq!(acks_of(true), [at(2001, 10), at(4001, 30), at(5001, 30)]);
    assert_eq!(acks_of(false), [at(2001, 10), at(4001, 30), at(6001, 30)]);
}

/// Data that is out of order, or fills a gap, is acknowledged at once.
#[test]
fn out_of_order_segment_is_acknowledged_immediately() {
    let mut pair = TcpPair::connected(&Config { initial_window: 4, ..config() });
    let begun = pair.now;
    let mut first = true;
    pair.on_wire(
        move |_| {
            if std::mem::take(&mut first) { Fate::Late(Span::from_millis(5)) } else { Fate::Arrives }
        },
    );
    pair.send(Side::Client, Payload::Filler(4000));
    pair.run_for(Span::from_millis(25));
    let acks: Vec<_> = bare(&pair, Side::Server)
        .iter()
        .map(|ack| (ack.ack, ack.options.sack.len(), ack.at.since(begun).as_nanos() / 1_000_000))
        .collect();
    assert_eq!(acks, [(1, 1, 10), (1, 1, 10), (1, 1, 10), (4001, 0, 15)]);
}

/// The receiver does not read: the sender stops at the edge of the receive
/// window, probes, and goes on when the window opens (`rfc9293#section-3.8.6.1`).
#[test]
fn zero_window_is_probed_until_it_opens() {
    let config = Config { receive_buffer: ByteCount::new(8000).into(), ..config() };
    let mut pair = TcpPair::connected(&config);
    pair.set_reading(Side::Server, false);
    pair.send(Side::Client, Payload::Filler(30_000));
    pair.run_for(Span::from_secs(100));
    let info = pair.info(Side::Client);
    assert_eq!((info.peer_rwnd, info.unsent.get()), (ByteCount::ZERO, 30_000 - 8001));
    let probes: Vec<u64> = data(&pair)
        .iter()
        .filter(|sent| sent.len == 1)
        .map(|sent| sent.at.as_nanos() / 1_000_000_000)
        .collect();
    // The first probe is sent after 1 s; the probes are then 2, 4, 8, ... seconds apart.
    let gaps: Vec<u64> = probes.windows(2).map(|w| w[1] - w[0]).collect();
    assert_eq!(gaps[..5], [2, 4, 8, 16, 32]);
    let stats = pair.stats(Side::Client);
    assert_eq!((stats.timeouts, stats.recoveries), (0, 0), "a shut window is no congestion");
    pair.set_reading(Side::Server, true);
    pair.run_for(Span::from_secs(5));
    assert_eq!(pair.received_bytes(Side::Server), 30_000);
    assert_eq!(pair.stats(Side::Client).timeouts, 0);
}

/// The window update is lost; a probe finds that the window is open.
#[test]
fn a_lost_window_update_does_not_stall() {
    let config = Config { receive_buffer: ByteCount::new(8000).into(), ..config() };
    let mut pair = TcpPair::connected(&config);
    pair.set_reading(Side::Server, false);
    pair.send(Side::Client, Payload::Filler(30_000));
    pair.run_for(Span::from_millis(900));
    let until = pair.now + Span::from_millis(50);
    pair.on_wire(move |sent| if sent.at < until { Fate::Lost } else { Fate::Arrives });
    pair.set_reading(Side::Server, true);
    pair.run_for(Span::from_secs(10));
    assert_eq!(pair.received_bytes(Side::Server), 30_000);
}

/// The reader takes ten bytes at a time; still all segments except window probes are full
/// (`rfc9293#section-3.8.6.2`).
#[test]
fn receiver_avoids_silly_windows() {
    let config = Config { receive_buffer: ByteCount::new(4000).into(), ..config() };
    let mut pair = TcpPair::connected(&config);
    pair.set_reading(Side::Server, false);
    pair.send(Side::Client, Payload::Filler(20_000));
    let id = loop {
        assert!(pair.step(Instant::FAR));
        if pair.stats(Side::Client).user_bytes_sent.get() >= 2000 {
            break pair.id(Side::Server);
        }
    };
    let mut read = 0;
    while read < 20_000 {
        let now = pair.now;
        if let Some(payload) = pair.endpoint(Side::Server).receive(now, id, 10) {
            read += payload.len();
        }
        pair.drain();
        pair.run_for(Span::from_millis(5));
    }
    let silly: Vec<usize> = data(&pair).iter().map(|sent| sent.len).filter(|&len| len < 1000).collect();
    assert!(silly.iter().all(|&len| len == 1), "only probes: {silly:?}");
    assert!(silly.len() < 12);
}

// rfc9293#section-3.7.4
#[test]
fn nagle_delays_small_segments() {
    let segments = |nagle| {
        let mut pair = TcpPair::connected(&Config { nagle, initial_window: 10, ..config() });
        for _ in 0..10 {
            pair.send(Side::Client, Payload::Bytes(Bytes::from_static(&[7; 100])));
        }
        pair.run_for(Span::from_secs(1));
        assert_eq!(pair.received(Side::Server), [7; 1000]);
        data(&pair).iter().map(|sent| sent.len).collect::<Vec<_>>()
    };
    assert_eq!(segments(false), [100; 10]);
    assert_eq!(segments(true), [100, 900]);
}

#[test]
fn writable_event_follows_a_full_send_buffer() {
    let mut pair = TcpPair::connected(&Config { send_buffer: ByteCount::new(5000).into(), ..config() });
    let (now, id) = (pair.now, pair.id(Side::Client));
    let client = pair.endpoint(Side::Client);
    assert_eq!(client.send(now, id, Payload::Filler(4000)), Ok(4000));
    assert_eq!(client.send(now, id, Payload::Filler(4000)), Ok(1000));
    assert_eq!(client.send(now, id, Payload::Filler(4000)), Ok(0));
    let mut buf = transport::PacketBuf::default();
    while client.poll_transmit(now, &mut buf).is_some() {}
    assert_eq!(client.poll_event(), None);
    // The test helper queues more data at each [`Event::Writable`].
    let mut pair = TcpPair::connected(&Config { send_buffer: ByteCount::new(5000).into(), ..config() });
    pair.send(Side::Client, Payload::Filler(200_000));
    pair.run_for(Span::from_secs(30));
    assert_eq!(pair.received_bytes(Side::Server), 200_000);
}

#[test]
fn filler_and_bytes_arrive_as_they_were_sent() {
    let mut pair = TcpPair::connected(&config());
    let mut expected = Vec::new();
    for n in 0..200u32 {
        let bytes: Vec<u8> = n.to_be_bytes().repeat(1 + n as usize % 40);
        expected.extend_from_slice(&bytes);
        expected.resize(expected.len() + 37 * n as usize % 3000, 0);
        pair.send(Side::Client, Payload::Bytes(Bytes::from(bytes)));
        pair.send(Side::Client, Payload::Filler(37 * n % 3000));
    }
    pair.run_for(Span::from_secs(60));
    assert!(pair.received(Side::Server) == expected);
}

// rfc5681#section-4.1, rfc9293#section-3.8.2
#[test]
fn idle_time_restarts_from_the_initial_window() {
    let mut pair = TcpPair::connected(&config());
    pair.send(Side::Client, Payload::Filler(40_000));
    pair.run_for(Span::from_secs(2));
    assert!(pair.info(Side::Client).cwnd.get() > 10_000);
    pair.sent.clear();
    pair.send(Side::Client, Payload::Filler(40_000));
    assert_eq!(data(&pair).len(), 2);
}

/// With delayed acknowledgements, slow start grows the window by half per round trip without byte counting,
/// and doubles the window with byte counting (`rfc3465#section-2.2`).
#[test]
fn slow_start_counts_acks_or_bytes() {
    let windows = |abc| {
        let mut pair = TcpPair::connected(&Config { initial_window: 8, abc, ..config() });
        pair.send(Side::Client, Payload::Filler(400_000));
        let mut windows = Vec::new();
        for _ in 0..4 {
            windows.push(pair.info(Side::Client).cwnd.get() / 1000);
            pair.run_for(Span::from_millis(20));
        }
        windows
    };
    assert_eq!(windows(None), [8, 12, 18, 27]);
    assert_eq!(windows(Some(2)), [8, 16, 32, 64]);
}

/// The segment that empties the send buffer has PSH, and the last data segment has the FIN.
#[test]
fn last_segment_has_psh_and_fin() {
    let mut pair = TcpPair::connected(&Config { initial_window: 4, ..config() });
    pair.send(Side::Client, Payload::Filler(2500));
    let pushed: Vec<bool> = data(&pair).iter().map(|sent| sent.has(Flags::PSH)).collect();
    assert_eq!(pushed, [false, false, true]);
    pair.sent.clear();
    let (now, id) = (pair.now, pair.id(Side::Client));
    pair.endpoint(Side::Client).send(now, id, Payload::Filler(500)).unwrap();
    pair.endpoint(Side::Client).shutdown(now, id);
    pair.drain();
    assert_eq!(data(&pair).len(), 1);
    assert!(data(&pair)[0].has(Flags::PSH | Flags::FIN | Flags::ACK));
    pair.run_for(Span::from_secs(1));
    assert_eq!(pair.events(Side::Server), [Event::PeerClosed]);
}

/// A large buffer needs a shift: the test checks window fields and the option (`rfc7323#section-2.2`).
#[test]
fn large_window_is_scaled() {
    let config = Config { receive_buffer: ByteCount::new(1_000_000).into(), ..config() };
    let mut pair = TcpPair::new(&config, &config);
    pair.connect(Side::Client);
    pair.run_for(Span::from_millis(100));
    assert_eq!((pair.sent[0].options.window_scale, pair.sent[0].header.window), (Some(4), 65_535));
    assert_eq!(pair.sent[2].header.window, (1_000_000u32 >> 4) as u16);
    assert_eq!(pair.info(Side::Server).peer_rwnd.get(), 1_000_000);
}

/// Karn's rule: without timestamps, a retransmitted segment gives no RTT sample (`rfc6298#section-3`).
#[test]
fn retransmission_gives_an_rtt_sample_only_with_timestamps() {
    let rto = |timestamps| {
        let mut pair = TcpPair::connected(&Config { timestamps, ..config() });
        let before = pair.info(Side::Client).rto;
        let mut first = true;
        pair.on_wire(move |_| if std::mem::take(&mut first) { Fate::Lost } else { Fate::Arrives });
        pair.send(Side::Client, Payload::Filler(500));
        pair.run_for(Span::from_secs(3));
        assert_eq!(pair.stats(Side::Client).timeouts, 1);
        (before, pair.info(Side::Client).rto)
    };
    let s = Span::from_secs;
    assert_eq!(rto(false), (s(1), s(2)));
    assert_eq!(rto(true), (s(1), s(1)));
}
