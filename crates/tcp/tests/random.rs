//! Bytes arrive intact and in order over a network with random faults, and the connection ends gracefully.

use anabranch_tcp::{CloseReason, Config, Event, Payload, Variant};
use bytes::Bytes;
use testkit::{Fate, Side, TcpPair};
use units::{BitRate, ByteCount, Span};

/// A random number generator. The number of a run is the seed, so that each run can be repeated.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

fn config(draw: &mut Draw) -> Config {
    let base = if draw.chance(50) { Config::modern() } else { Config::qualnet() };
    Config {
        variant: Variant::ALL[draw.below(4) as usize],
        control: [cc::Algorithm::Standard, cc::Algorithm::Cubic, cc::Algorithm::Bbr][draw.below(3) as usize],
        mss: [536, 1212, 1460][draw.below(3) as usize],
        timestamps: draw.chance(70),
        window_scale: draw.chance(70),
        sack: draw.chance(80),
        dsack: draw.chance(50),
        ecn: draw.chance(50),
        nagle: draw.chance(30),
        push_trains: draw.chance(30),
        prr: draw.chance(50),
        rack_tlp: draw.chance(50),
        limited_transmit: draw.chance(50),
        pacing: draw.chance(30),
        send_buffer: ByteCount::new([2_000, 20_000, 200_000][draw.below(3) as usize]).into(),
        receive_buffer: ByteCount::new([1_500, 9_000, 65_535][draw.below(3) as usize]).into(),
        // TIME-WAIT is long enough to answer a FIN whose acknowledgement is lost many times.
        time_wait: Span::from_secs(3600),
        max_retransmissions: 40,
        max_syn_retransmissions: 40,
        ..base
    }
}

/// Data in pieces of random size, some of stored bytes and some of filler
/// (zeros that are not stored). Returns the pieces, and all bytes together.
fn data(draw: &mut Draw) -> (Vec<Payload>, Vec<u8>) {
    let (mut pieces, mut whole) = (Vec::new(), Vec::new());
    for _ in 0..draw.below(12) {
        let length = [1, 50, 1460, 20_000][draw.below(4) as usize] * (1 + draw.below(3));
        if draw.chance(40) {
            whole.resize(whole.len() + length as usize, 0);
            pieces.push(Payload::Filler(length as u32));
        } else {
            let bytes: Vec<u8> = (0..length).map(|_| draw.next() as u8).collect();
            whole.extend_from_slice(&bytes);
            pieces.push(Payload::Bytes(Bytes::from(bytes)));
        }
    }
    (pieces, whole)
}

fn run(number: u64) {
    let mut draw = Draw(number);
    let (client, server) = (config(&mut draw), config(&mut draw));
    let mut pair = TcpPair::new(&client, &server);
    pair.keep_log = false;
    let rate = draw.chance(70).then(|| BitRate::from_bps(100_000 * (1 + draw.below(200))));
    pair.set_wire(Span::from_millis(1 + draw.below(100)), rate);
    let (loss, late, twice) = (draw.below(20), draw.below(20), draw.below(10));
    let mut fates = Draw(draw.next());
    pair.mark = draw.chance(50);
    pair.on_wire(move |_| match fates.below(100) {
        n if n < loss => Fate::Lost,
        n if n < loss + late => Fate::Late(Span::from_millis(fates.below(150))),
        n if n < loss + late + twice => Fate::Twice(Span::from_millis(fates.below(150))),
        _ => Fate::Arrives,
    });
    pair.connect(Side::Client);
    if draw.chance(10) {
        pair.connect(Side::Server);
    }
    let mut expected = Vec::new();
    let lazy = draw.chance(20);
    for side in [Side::Client, Side::Server] {
        let (pieces, whole) = data(&mut draw);
        pieces.into_iter().for_each(|piece| pair.send(side, piece));
        pair.end(side);
        expected.push((side, whole));
        pair.set_reading(side, !lazy);
    }
    if lazy {
        for _ in 0..400 {
            pair.run_for(Span::from_millis(500 + draw.below(3000)));
            for side in [Side::Client, Side::Server] {
                pair.set_reading(side, true);
                pair.set_reading(side, false);
            }
        }
        pair.set_reading(Side::Client, true);
        pair.set_reading(Side::Server, true);
    }
    assert!(pair.run_dry(), "run {number} comes to an end");
    for (side, whole) in expected {
        let events = pair.events(side);
        let received = pair.received(side.other());
        assert_eq!(received.len(), whole.len(), "run {number}, from {side:?}: {events:?}");
        assert!(received == whole, "run {number}, from {side:?}: the bytes differ");
        let closed = Event::Closed { reason: CloseReason::Graceful };
        assert_eq!(events, [Event::Connected, Event::PeerClosed, closed], "run {number}, {side:?}");
        assert_eq!(pair.endpoint(side).connections().count(), 0, "run {number}, {side:?}");
    }
}

#[test]
fn bytes_arrive_in_order_over_a_thousand_random_networks() {
    (0..1000).for_each(run);
}
