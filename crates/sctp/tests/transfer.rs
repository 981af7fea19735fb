//! Whole transfers over wires that lose, duplicate and reorder packets.

use anabranch_sctp::{AssocId, CloseReason, Cmt, Config, Event, Message, Payload, SendError, State};
use proptest::prelude::*;
use std::collections::BTreeMap;
use testkit::*;
use units::{ByteCount, Span};
use wire::{Ppid, StreamId};

/// Message `n` of a side: `length` bytes of value `n` on stream `n % 3`. Every fifth message is unordered.
fn message(n: usize, length: usize) -> Message {
    Message {
        stream: StreamId(n as u16 % 3),
        ppid: Ppid(n as u32),
        unordered: n % 5 == 4,
        ..Message::new(Payload::Bytes(vec![n as u8; length].into()))
    }
}

/// Sends messages from `next` on until the buffer is full.
fn feed(pair: &mut Pair, side: Side, id: AssocId, lengths: &[usize], next: &mut usize) {
    let now = pair.now;
    while *next < lengths.len() {
        match pair.endpoint(side).send(now, id, message(*next, lengths[*next])) {
            Ok(_) => *next += 1,
            Err(SendError::WouldBlock) => break,
            Err(error) => panic!("{error}"),
        }
    }
    pair.drain();
}

/// Checks that every message arrived once, whole, and in order within its stream.
fn check(lengths: &[usize], got: &[(u32, u16, bool, Vec<u8>)]) {
    let mut last: BTreeMap<u16, u32> = BTreeMap::new();
    let mut seen = vec![false; lengths.len()];
    for (n, stream, unordered, bytes) in got {
        assert!(!std::mem::replace(&mut seen[*n as usize], true), "message {n} twice");
        assert_eq!(bytes, &vec![*n as u8; lengths[*n as usize]], "message {n}");
        if !unordered {
            assert!(last.insert(*stream, *n).is_none_or(|before| before < *n), "message {n} out of order");
        }
    }
    assert!(seen.iter().all(|&seen| seen), "something is missing");
}

struct Wire {
    lost: u8,
    doubled: u8,
    late: u8,
    state: u64,
}

impl Wire {
    fn fate(&mut self) -> Fate {
        self.state = self.state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let (dice, amount) = ((self.state >> 33) as u8 % 100, (self.state >> 50) % 60);
        match dice {
            d if d < self.lost => Fate::Lost,
            d if d < self.lost + self.doubled => Fate::Twice(ms(amount)),
            d if d < self.lost + self.doubled + self.late => Fate::Late(ms(amount)),
            _ => Fate::Arrives,
        }
    }
}

fn transfer(config: &Config, nets: u8, wire: Wire, lengths: &[usize]) {
    let mut pair = Pair::new(nets, config);
    let (client, server) = pair.establish();
    let mut wire = wire;
    pair.on_wire(move |_| wire.fate());
    let mut next = [0, 0];
    let mut got: [Vec<_>; 2] = Default::default();
    let start = pair.now;
    loop {
        feed(&mut pair, Side::Client, client, lengths, &mut next[0]);
        feed(&mut pair, Side::Server, server, lengths, &mut next[1]);
        for (side, got) in [Side::Server, Side::Client].into_iter().zip(&mut got) {
            for received in pair.read_all(side) {
                let bytes = received.payload.to_bytes().to_vec();
                assert!(received.end_of_record);
                got.push((received.ppid.0, received.stream.0, received.unordered, bytes));
            }
        }
        if got.iter().all(|got| got.len() == lengths.len()) {
            break;
        }
        assert!(
            pair.now.since(start) < Span::from_secs(2000),
            "it takes too long: {:?}",
            got.map(|got| got.len())
        );
        pair.run_for(ms(100));
    }
    for got in &got {
        check(lengths, got);
    }
    pair.shutdown(Side::Client);
    pair.run_for(Span::from_secs(300));
    for side in [Side::Client, Side::Server] {
        assert_eq!(pair.state(side), None);
        assert_eq!(pair.events(side).last(), Some(&Event::Closed { reason: CloseReason::Graceful }));
    }
}

fn config(cmt: bool) -> Config {
    Config {
        cmt: Cmt { enabled: cmt, ..Cmt::default() },
        send_buffer: ByteCount::new(30_000).into(),
        receive_buffer: ByteCount::new(30_000).into(),
        association_max_retrans: 100,
        path_max_retrans: 100,
        rto_min: ms(100),
        ..Config::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    // rfc9260#section-6: no message is lost, read twice, or out of order when packets are lost or reordered.
    #[test]
    fn everything_arrives_once_and_in_order(
        seed in any::<u64>(),
        lost in 0u8..15,
        doubled in 0u8..15,
        late in 0u8..30,
        nets in 1u8..4,
        cmt in any::<bool>(),
        lengths in prop::collection::vec(1usize..6000, 1..100),
    ) {
        transfer(&config(cmt), nets, Wire { lost, doubled, late, state: seed }, &lengths);
    }
}

// rfc9260#section-6.10
#[test]
fn a_sack_rides_with_data_that_goes_the_same_way() {
    let mut pair = Pair::new(1, &Config::default());
    pair.establish();
    pair.send(Side::Client, 100);
    pair.run_for(ms(100));
    pair.read_all(Side::Server);
    pair.send(Side::Client, 100);
    pair.run_for(ms(15));
    let before = pair.sent.len();
    pair.send(Side::Server, 100);
    assert_eq!(pair.said(Side::Server, before), ["SACK DATA"]);
    pair.run_for(Span::from_secs(1));
    assert_eq!(pair.said(Side::Server, before), ["SACK DATA"], "and is not repeated");
}

// rfc9260#section-6.10: a full packet has no room for a SACK that is not due yet.
#[test]
fn a_sack_that_is_not_due_does_not_displace_data() {
    let mut pair = Pair::new(1, &Config::default());
    pair.establish();
    pair.send(Side::Client, 100);
    pair.run_for(ms(100));
    pair.send(Side::Client, 100);
    pair.run_for(ms(15));
    let before = pair.sent.len();
    pair.send(Side::Server, 1452);
    assert_eq!(pair.said(Side::Server, before), ["DATA"]);
    assert_eq!(pair.sent[before].bytes.len(), 1480, "the packet is full");
}

// rfc9260#section-6.4: a SACK returns on the path of the data, even if other data leaves on another path.
#[test]
fn a_sack_does_not_ride_with_data_that_goes_another_way() {
    let mut pair = Pair::new(2, &Config::default());
    let (client, _) = pair.establish();
    pair.run_for(Span::from_secs(5));
    assert!(pair.endpoint(Side::Client).set_primary(client, Side::Server.address(2)).is_ok());
    pair.send(Side::Client, 100);
    pair.run_for(ms(100));
    pair.send(Side::Client, 100);
    pair.run_for(ms(15));
    let before = pair.sent.len();
    pair.send(Side::Server, 100);
    pair.run_for(ms(250));
    let said: Vec<_> = pair.sent[before..].iter().filter(|sent| sent.from == Side::Server).collect();
    assert_eq!(
        said.iter().map(|sent| (sent.chunks(), sent.net())).collect::<Vec<_>>(),
        [("DATA".to_owned(), 1), ("SACK".to_owned(), 2)]
    );
}

// rfc9260#section-11.2: the event is repeated only after all data has been read.
#[test]
fn readable_is_told_once_until_everything_is_read() {
    let mut pair = Pair::new(1, &Config::default());
    pair.establish();
    for _ in 0..10 {
        pair.send(Side::Client, 1000);
        pair.run_for(ms(300));
    }
    assert_eq!(pair.events(Side::Server), [Event::Readable]);
    let id = pair.only(Side::Server);
    pair.endpoint(Side::Server).receive(id, 400);
    pair.send(Side::Client, 1000);
    pair.run_for(ms(300));
    assert_eq!(pair.events(Side::Server), [], "there is still something to read");
    let read: usize = pair.read_all(Side::Server).iter().map(|received| received.payload.len()).sum();
    assert_eq!(read, 11 * 1000 - 400);
    pair.send(Side::Client, 1000);
    pair.run_for(ms(300));
    assert_eq!(pair.events(Side::Server), [Event::Readable]);
}

#[test]
fn writable_is_told_when_a_full_buffer_has_room() {
    let mut pair = Pair::new(1, &config(false));
    let (client, _) = pair.establish();
    let lengths = [10_000; 10];
    let mut next = 0;
    feed(&mut pair, Side::Client, client, &lengths, &mut next);
    assert_eq!(next, 3);
    assert_eq!(pair.events(Side::Client), []);
    pair.run_for(Span::from_secs(2));
    assert_eq!(pair.events(Side::Client), [Event::Writable]);
    feed(&mut pair, Side::Client, client, &lengths, &mut next);
    assert!(next > 3);
}

// rfc9260#section-6.1, rule A: a peer that answers is alive, even if its window remains closed.
#[test]
fn a_closed_window_is_probed_and_never_ends_the_association() {
    let mut small = Config {
        receive_buffer: ByteCount::new(3000).into(),
        rto_max: Span::from_secs(2),
        ..Config::default()
    };
    small.association_max_retrans = 3;
    let mut pair = Pair::new(1, &small);
    pair.establish();
    for _ in 0..20 {
        pair.send(Side::Client, 1000);
    }
    pair.run_for(Span::from_secs(120));
    assert_eq!(pair.state(Side::Client), Some(State::Established));
    let mut got = 0;
    for _ in 0..100 {
        got += pair.read_all(Side::Server).len();
        pair.run_for(Span::from_secs(1));
    }
    assert_eq!(got, 20);
}

/// The RTT is zero, so that no chunk is in flight when the burst limit is reached.
#[test]
fn the_burst_limit_does_not_stop_a_transfer_whose_rtt_is_zero() {
    for enabled in [false, true] {
        let cmt = Cmt { enabled, ..Cmt::default() };
        let mut pair = Pair::new(2, &Config { cmt, hb_interval: None, ..Config::default() });
        pair.set_delay(Span::ZERO);
        pair.establish();
        for _ in 0..50 {
            pair.send(Side::Client, 1400);
        }
        pair.run_for(ms(5000)); // the SACK of an odd last packet is delayed by 200 ms
        assert_eq!(pair.read_all(Side::Server).len(), 50, "CMT {enabled}");
    }
}
