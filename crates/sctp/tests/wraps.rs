//! Wraps of TSNs and stream sequence numbers (rfc9260#section-1.6) while packets are lost and reordered.

use anabranch_sctp::{
    Accounting, CloseReason, Cmt, Config, Datagram, Endpoint, EndpointConfig, Event, Message, Payload,
    RtxPolicy, Seed, SendError, State,
};
use testkit::*;
use transport::PacketBuf;
use units::{ByteCount, Instant, Span};
use wire::*;

/// The first TSN of an endpoint with this seed.
fn first_tsn(side: Side, seed: u64) -> Tsn {
    let config =
        EndpointConfig { seed: Seed::for_simulation(seed), ..endpoint_config(side, 1, &Config::default()) };
    let mut endpoint = Endpoint::new(config).expect("it can work");
    let (now, peer) = (Instant::ZERO, side.other());
    let mut buf = PacketBuf::default();
    if side == Side::Client {
        endpoint.connect(now, peer.port(), &[peer.address(1)]).expect("nothing speaks against it");
    } else {
        endpoint.listen(true);
        let init = Init {
            initiate_tag: 1,
            a_rwnd: 1 << 20,
            outbound_streams: 1,
            inbound_streams: 1,
            initial_tsn: Tsn(1),
            parameters: Parameters::default(),
        };
        let init = packet(peer.port(), side.port(), 0, &[Chunk::Init(init)]);
        endpoint.handle(now, Datagram::new(peer.address(1), side.address(1), init.as_octets()));
    }
    endpoint.poll_transmit(now, &mut buf).expect("INIT or INIT ACK");
    match parse(&buf).chunks().next() {
        Some(Ok(Chunk::Init(init) | Chunk::InitAck(InitAck(init)))) => init.initial_tsn,
        other => panic!("{other:?}"),
    }
}

/// A seed whose initial TSN is just below 2^32, so that the TSNs of a short transfer wrap: `hint` if it is
/// such a seed, else the first such seed.
fn seed_below_the_wrap(side: Side, hint: u64) -> u64 {
    let near = |seed: &u64, reach: u32| first_tsn(side, *seed).0 > u32::MAX - reach;
    Some(hint)
        .filter(|seed| near(seed, 300))
        .unwrap_or_else(|| (0..).find(|seed| near(seed, 20_000)).expect("one"))
}

fn config(cmt: bool) -> Config {
    Config {
        cmt: Cmt { enabled: cmt, ..Cmt::default() },
        rto_min: Span::from_millis(100),
        association_max_retrans: 100,
        path_max_retrans: 100,
        ..Config::default()
    }
}

/// A wire that loses one packet in 20, duplicates one in 20, and delays one in five by up to 30 ms.
fn bad_wire(seed: u64) -> impl FnMut(&Sent) -> Fate {
    let mut state = seed;
    move |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        match state >> 33 {
            n if n % 20 == 0 => Fate::Lost,
            n if n % 20 == 1 => Fate::Twice(Span::from_millis(n / 20 % 30)),
            n if n % 20 < 6 => Fate::Late(Span::from_millis(n / 20 % 30)),
            _ => Fate::Arrives,
        }
    }
}

/// Both sides send messages `0..count` of `len(n)` bytes in order on one stream, and close. The payload
/// protocol identifier is the number of a message. All messages must arrive in this order.
fn exchange(pair: &mut Pair, count: u32, len: impl Fn(u32) -> u32) {
    let (client, server) = (pair.only(Side::Client), pair.only(Side::Server));
    let (mut said, mut heard) = ([0, 0], [0, 0]);
    let start = pair.now;
    while heard != [count, count] {
        for (k, (side, id)) in [(Side::Client, client), (Side::Server, server)].into_iter().enumerate() {
            let now = pair.now;
            while said[k] < count {
                let message = Message { ppid: Ppid(said[k]), ..Message::new(Payload::Filler(len(said[k]))) };
                match pair.endpoint(side).send(now, id, message) {
                    Ok(_) => said[k] += 1,
                    Err(SendError::WouldBlock) => break,
                    Err(error) => panic!("{error} after {heard:?}: {:?}", pair.events(side)),
                }
            }
            pair.drain();
            for received in pair.read_all(side) {
                assert_eq!((received.ppid.0, received.payload.len()), (heard[k], len(heard[k]) as usize));
                assert!(received.end_of_record);
                heard[k] += 1;
            }
        }
        assert!(pair.now.since(start) < Span::from_secs(3000), "it takes too long: {heard:?}");
        assert_eq!(pair.state(Side::Client), Some(State::Established), "{:?}", pair.events(Side::Client));
        pair.run_for(Span::from_millis(20));
    }
    pair.heal();
    pair.run_for(Span::from_secs(100));
    pair.shutdown(Side::Client);
    pair.run_for(Span::from_secs(10));
    for side in [Side::Client, Side::Server] {
        assert_eq!(pair.events(side).last(), Some(&Event::Closed { reason: CloseReason::Graceful }));
    }
}

// rfc9260#section-6.1: TSN 2^32 - 1 is followed by 0.
#[test]
fn the_wrap_of_tsns_is_crossed_under_reordering() {
    let client = seed_below_the_wrap(Side::Client, 28_897_606);
    let server = seed_below_the_wrap(Side::Server, 15_215_373);
    let below = |side, seed| u32::MAX - first_tsn(side, seed).0;
    let count = 500 + below(Side::Client, client).max(below(Side::Server, server));
    for (nets, cmt) in [(1, false), (2, false), (2, true), (3, true)] {
        for seed in 0..5 {
            let config = config(cmt);
            let of = |side, seed: u64| EndpointConfig {
                seed: Seed::for_simulation(seed),
                ..endpoint_config(side, nets, &config)
            };
            let mut pair = Pair::of(of(Side::Client, client), of(Side::Server, server));
            pair.establish();
            pair.on_wire(bad_wire(seed));
            exchange(&mut pair, count, |n| 900 + n % 500);
        }
    }
}

/// An association in which stream 0 has carried `count` messages each way, four in a packet, without loss.
fn advanced(config: &Config, count: u32) -> Pair {
    let mut pair = Pair::new(2, config);
    let (client, server) = pair.establish();
    for from in (0..count).step_by(500) {
        let now = pair.now;
        for (side, id) in [(Side::Client, client), (Side::Server, server)] {
            for _ in from..count.min(from + 500) {
                pair.endpoint(side).send(now, id, Message::new(Payload::Filler(4))).expect("there is room");
            }
        }
        pair.drain();
        pair.run_for(Span::from_secs(1));
        for side in [Side::Client, Side::Server] {
            assert_eq!(pair.read_all(side).len() as u32, count.min(from + 500) - from);
        }
    }
    pair
}

// rfc9260#section-6.5: stream sequence number 65535 is followed by 0.
#[test]
fn the_wrap_of_stream_sequence_numbers_is_crossed_under_reordering() {
    for cmt in [false, true] {
        let mut pair = advanced(&config(cmt), 65_536 - 20);
        pair.on_wire(bad_wire(7));
        exchange(&mut pair, 200, |n| 700 + n);
    }
}

/// Paper 002, section 3.2: two paths share a receive buffer of 64 KiB, and chunks lost on path 2 are
/// retransmitted there. Path 2 fails for two of every seven seconds, so retransmissions are lost, too, and
/// the buffer is full.
fn blocking(keep_room: bool) -> Config {
    let cmt = Cmt { enabled: true, rtx: RtxPolicy::Same, keep_room, ..Cmt::default() };
    Config {
        cmt,
        receive_buffer: ByteCount::new(65_536).into(),
        receive_accounting: Accounting::Chunk,
        sws_limit: ByteCount::ZERO,
        accounting: Accounting::Chunk,
        association_max_retrans: 100,
        path_max_retrans: 100,
        ..Config::default()
    }
}

fn second_path_fails_again_and_again(sent: &Sent) -> Fate {
    let phase = sent.at.since(Instant::ZERO).as_nanos() % 7_000_000_000;
    let second = [sent.src, sent.dst].contains(&Side::Server.address(2));
    if second && phase < 2_000_000_000 { Fate::Lost } else { Fate::Arrives }
}

// In paper 002 the association stopped after 260.2 s, probably when its 16-bit stream sequence numbers
// wrapped.
#[test]
fn the_wraps_are_crossed_while_a_full_receive_buffer_waits_for_what_was_lost() {
    let client = seed_below_the_wrap(Side::Client, 28_897_606);
    let server = seed_below_the_wrap(Side::Server, 15_215_373);
    let below = |side, seed| u32::MAX - first_tsn(side, seed).0;
    let before = below(Side::Client, client).max(below(Side::Server, server));
    for keep_room in [false, true] {
        let config = blocking(keep_room);
        let of = |side, seed: u64| EndpointConfig {
            seed: Seed::for_simulation(seed),
            ..endpoint_config(side, 2, &config)
        };
        let mut tsns = Pair::of(of(Side::Client, client), of(Side::Server, server));
        tsns.establish();
        for (mut pair, count) in [(tsns, before + 20_000), (advanced(&config, 65_536 - 10_000), 20_000)] {
            pair.on_wire(second_path_fails_again_and_again);
            exchange(&mut pair, count, |_| 1452);
        }
    }
}

// rfc9260#section-1.6: sequence numbers are ordered only within half of their range, so at most that
// number of messages may be in flight, even if they are short and there is room for more.
#[test]
fn messages_on_their_way_are_fewer_than_half_the_circle_of_their_numbers() {
    let config = Config {
        send_buffer: ByteCount::new(1 << 24).into(),
        receive_buffer: ByteCount::new(1 << 28).into(),
        max_burst: 10_000,
        ..config(false)
    };
    let mut pair = Pair::new(1, &config);
    let (client, server) = pair.establish();
    let mut lost = 0;
    // The first chunk arrives only after a hundred thousand other chunks could have been sent.
    pair.on_wire(move |sent| {
        let mut chunks = parse(&sent.bytes).chunks();
        let first = chunks.any(|chunk| matches!(chunk, Ok(Chunk::Data(data)) if data.ppid == Ppid(0)));
        lost += u32::from(first);
        if first && lost < 12 { Fate::Lost } else { Fate::Arrives }
    });
    let (now, count) = (pair.now, 100_000);
    for n in 0..count {
        let message = Message { ppid: Ppid(n), ..Message::new(Payload::Filler(4)) };
        pair.endpoint(Side::Client).send(now, client, message).expect("there is room");
    }
    let mut heard = 0;
    for _ in 0..5000 {
        pair.run_for(Span::from_millis(100));
        for received in pair.read_all(Side::Server) {
            assert_eq!(received.ppid.0, heard);
            heard += 1;
        }
        let state = pair.endpoint(Side::Server).state(server);
        assert_eq!(state, Some(State::Established), "{:?}", pair.events(Side::Server));
    }
    assert_eq!(heard, count);
}
