//! Partial reliability with I-DATA: exchanges of I-FORWARD-TSN between two endpoints (rfc8260#section-2.3.1).

use anabranch_sctp::*;
use testkit::*;
use transport::PacketBuf;
use units::{ByteCount, Span};
use wire::{Chunk, StreamId, Tsn};

fn config() -> Config {
    Config { pr_sctp: true, interleaving: true, stream_scheduler: StreamScheduler::Rr, ..Config::default() }
}

fn message(reliability: Reliability, stream: u16, unordered: bool, length: u32) -> Message {
    let payload = Payload::Filler(length);
    Message { reliability, unordered, stream: StreamId(stream), ..Message::new(payload) }
}

const ONCE: Reliability = Reliability::Retransmissions(0);

fn established(client: &Config, server: &Config) -> Pair {
    let mut pair =
        Pair::of(endpoint_config(Side::Client, 1, client), endpoint_config(Side::Server, 1, server));
    pair.establish();
    pair
}

/// Sends messages. The chunks of different messages alternate.
fn give(pair: &mut Pair, messages: impl IntoIterator<Item = Message>) {
    let (id, now) = (pair.only(Side::Client), pair.now);
    for message in messages {
        pair.endpoint(Side::Client).send(now, id, message).expect("there is room");
    }
    pair.drain();
}

/// The contents of an I-FORWARD-TSN: cumulative TSN (counted from 1); stream, U bit and MID of each skipped
/// message.
type Skip = (u32, Vec<(u16, bool, u32)>);

fn skips(bytes: &PacketBuf, first: Tsn) -> Vec<Skip> {
    let chunks = parse(bytes).chunks();
    chunks
        .filter_map(|chunk| match chunk.expect("a chunk") {
            Chunk::IForwardTsn(forward) => {
                let skipped = forward.skipped().map(|skip| (skip.stream.0, skip.unordered, skip.mid.0));
                Some((forward.new_cumulative_tsn.distance_from(first) + 1, skipped.collect()))
            }
            Chunk::ForwardTsn(_) => panic!("FORWARD TSN with interleaving"),
            _ => None,
        })
        .collect()
}

fn first_tsn(pair: &Pair) -> Tsn {
    let Some(Ok(Chunk::Init(init))) = parse(&pair.sent[0].bytes).chunks().next() else { panic!("no INIT") };
    init.initial_tsn
}

fn all_skips(pair: &Pair) -> Vec<Skip> {
    let first = first_tsn(pair);
    pair.sent.iter().flat_map(|sent| skips(&sent.bytes, first)).collect()
}

/// Sets the fate of the client's chunks with these numbers, counted from 1, in all their transmissions.
fn meddle(pair: &mut Pair, numbers: &'static [u32], fate: impl Fn() -> Fate + 'static) {
    let first = first_tsn(pair);
    pair.on_wire(move |sent| {
        let hit = parse(&sent.bytes).chunks().any(|chunk| match chunk {
            Ok(Chunk::IData(data)) => numbers.contains(&(data.tsn.distance_from(first) + 1)),
            _ => false,
        });
        if hit && sent.from == Side::Client { fate() } else { Fate::Arrives }
    });
}

/// Reads at the server. Returns stream and length of each message; all messages must be whole.
fn read(pair: &mut Pair) -> Vec<(u16, usize)> {
    let received = pair.read_all(Side::Server);
    assert!(received.iter().all(|message| message.end_of_record && !message.aborted));
    received.iter().map(|message| (message.stream.0, message.payload.len())).collect()
}

/// Asserts that no state remains at either end. A further message makes the server advertise its window.
fn all_is_empty(pair: &mut Pair) {
    give(pair, [message(Reliability::Reliable, 9, false, 10)]);
    pair.run_for(Span::from_secs(1));
    assert_eq!(read(pair), [(9, 10)]);
    let id = pair.only(Side::Client);
    let stats = pair.endpoint(Side::Client).stats(id).unwrap();
    assert_eq!((stats.buffered, stats.outstanding_chunks), (ByteCount::ZERO, 0));
    assert!(stats.peer_rwnd + ByteCount::new(200) > ByteCount::new(1 << 20), "{:?}", stats.peer_rwnd);
}

#[test]
fn a_lost_fragment_has_its_message_skipped_by_identifier_and_others_go_on() {
    for unordered in [false, true] {
        let mut pair = established(&config(), &config());
        meddle(&mut pair, &[3], || Fate::Lost); // fragment 1 of the first message
        give(&mut pair, [message(ONCE, 1, unordered, 3000), message(Reliability::Reliable, 2, false, 4000)]);
        pair.run_for(Span::from_secs(5));
        give(&mut pair, [message(Reliability::Reliable, 1, unordered, 50)]);
        pair.run_for(Span::from_secs(5));
        let skips = all_skips(&pair);
        assert_eq!(
            skips.last().map(|(_, skipped)| skipped.clone()),
            Some(vec![(1, unordered, 0)]),
            "{skips:?}"
        );
        assert_eq!(read(&mut pair), [(2, 4000), (1, 50)]);
        all_is_empty(&mut pair);
    }
}

// The rest of the message has no TSN yet, and is also skipped.
#[test]
fn a_message_whose_beginning_was_acknowledged_is_skipped_when_its_lifetime_ends() {
    for unordered in [false, true] {
        let mut pair = established(&config(), &config());
        let lifetime = Reliability::Until(Span::from_millis(25));
        give(&mut pair, [message(lifetime, 1, unordered, 600_000)]);
        pair.run_for(Span::from_secs(3));
        give(&mut pair, [message(Reliability::Reliable, 1, unordered, 60)]);
        pair.run_for(Span::from_secs(3));
        assert_eq!(
            all_skips(&pair).last().map(|(_, skipped)| skipped.clone()),
            Some(vec![(1, unordered, 0)])
        );
        assert_eq!(read(&mut pair), [(1, 60)]);
        all_is_empty(&mut pair);
    }
}

// rfc8260#section-2.3.1: the fragment is acknowledged, and takes no memory
#[test]
fn a_fragment_that_comes_after_its_message_was_skipped_is_taken_and_not_kept() {
    for unordered in [false, true] {
        let mut pair = established(&config(), &config());
        let first = first_tsn(&pair);
        // The fragment with number (FSN) 0 is lost, and the fragment with number 2 arrives 3 s late.
        pair.on_wire(move |sent| {
            let number = |chunk| match chunk {
                Ok(Chunk::IData(data)) => Some(data.tsn.distance_from(first) + 1),
                _ => None,
            };
            match parse(&sent.bytes).chunks().find_map(number).filter(|_| sent.from == Side::Client) {
                Some(1) => Fate::Lost,
                Some(3) => Fate::Late(Span::from_secs(3)),
                _ => Fate::Arrives,
            }
        });
        give(&mut pair, [message(ONCE, 1, unordered, 4000)]);
        pair.run_for(Span::from_secs(10));
        give(&mut pair, [message(Reliability::Reliable, 1, unordered, 70)]);
        pair.run_for(Span::from_secs(10));
        assert_eq!(read(&mut pair), [(1, 70)]);
        all_is_empty(&mut pair);
    }
}

// rfc8260#section-2.3.1
#[test]
fn ordered_and_unordered_messages_of_a_stream_are_skipped_apart() {
    let mut pair = established(&config(), &config());
    meddle(&mut pair, &[1, 2], || Fate::Lost);
    give(
        &mut pair,
        [message(ONCE, 4, false, 1400), message(ONCE, 4, true, 1400), message(ONCE, 4, false, 1400)],
    );
    pair.run_for(Span::from_secs(5));
    assert_eq!(all_skips(&pair).last(), Some(&(2, vec![(4, false, 0), (4, true, 0)])));
    assert_eq!(read(&mut pair), [(4, 1400)]);
    all_is_empty(&mut pair);
}

// rfc8260#section-2.3.1: both must list I-FORWARD-TSN
#[test]
fn messages_are_reliable_with_interleaving_unless_both_have_i_forward_tsn() {
    let without = Config { pr_sctp: false, ..config() };
    for (client, server) in [(config(), without.clone()), (without, config())] {
        let mut pair = established(&client, &server);
        let mut lost = false;
        pair.on_wire(move |sent| {
            let data = sent.from == Side::Client && sent.chunks().contains("I_DATA");
            if data && !std::mem::replace(&mut lost, true) { Fate::Lost } else { Fate::Arrives }
        });
        give(&mut pair, [message(ONCE, 1, false, 3000)]);
        pair.run_for(Span::from_secs(10));
        assert_eq!((read(&mut pair), all_skips(&pair)), (vec![(1, 3000)], vec![]));
    }
}

#[test]
fn a_message_that_waits_behind_a_begun_one_is_abandoned_without_harm_to_that() {
    let mut pair = established(&config(), &config());
    give(&mut pair, [message(Reliability::Reliable, 1, false, 60_000)]);
    give(&mut pair, [message(Reliability::Until(Span::from_millis(1)), 1, true, 500)]);
    pair.run_for(Span::from_secs(5));
    let whole = read(&mut pair);
    assert!(whole.contains(&(1, 60_000)), "{whole:?}");
    all_is_empty(&mut pair);
}

// rfc8260#section-2.3.1, rfc9260#section-6.9: the delivered part ends as aborted
#[test]
fn a_skipped_message_that_was_handed_out_in_part_ends_as_aborted() {
    let small = Config { receive_buffer: ByteCount::new(8_000).into(), ..config() };
    for unordered in [false, true] {
        let mut pair = established(&config(), &small);
        give(&mut pair, [message(Reliability::Until(Span::from_millis(200)), 1, unordered, 60_000)]);
        pair.run_for(Span::from_millis(100));
        let begun = pair.read_all(Side::Server);
        assert!(!begun.is_empty() && begun.iter().all(|part| !part.end_of_record && !part.aborted));
        pair.on_wire(|sent| if sent.chunks().ends_with("I_DATA") { Fate::Lost } else { Fate::Arrives });
        pair.run_for(Span::from_secs(20));
        pair.on_wire(|_| Fate::Arrives);
        give(&mut pair, [message(Reliability::Reliable, 1, unordered, 80)]);
        pair.run_for(Span::from_secs(20));
        let rest = pair.read_all(Side::Server);
        let aborted = rest.iter().position(|part| part.aborted).expect("an end");
        assert!(rest[aborted + 1..].iter().any(|part| part.end_of_record && part.payload.len() == 80));
    }
}
