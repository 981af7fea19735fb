//! Tests the stream schedulers alone, with a send queue.

use super::super::queue::SendQueue;
use crate::config::{Config, StreamScheduler};
use crate::message::{Message, Payload};
use proptest::prelude::*;
use std::collections::BTreeMap;
use wire::StreamId;

/// User bytes of a full chunk.
const CHUNK: usize = 1000;

fn queue(scheduler: StreamScheduler, values: &[u16], interleaved: bool) -> SendQueue {
    let mut queue = SendQueue::new(&Config {
        stream_scheduler: scheduler,
        stream_values: values.to_vec(),
        ..Config::default()
    });
    if interleaved {
        queue.interleave();
    }
    queue
}

fn message(stream: u16, length: u32) -> Message {
    Message { stream: StreamId(stream), ..Message::new(Payload::Filler(length)) }
}

/// Sends all data, in packets of one chunk. Returns the stream and the bytes of each chunk.
fn drain(queue: &mut SendQueue) -> Vec<(u16, usize)> {
    let mut sent: Vec<(u16, usize)> = Vec::new();
    while queue.head_len().is_some() {
        let fragment = queue.take(CHUNK);
        queue.packet_done();
        sent.push((fragment.stream.0, fragment.payload.len()));
    }
    assert!(queue.is_empty());
    sent
}

/// Sends `chunks` chunks of two saturated streams (messages of 1000 and 100 bytes). Returns the bytes sent of
/// each.
fn saturate(scheduler: StreamScheduler, values: &[u16], chunks: usize) -> [usize; 2] {
    let mut queue = queue(scheduler, values, false);
    for _ in 0..10_000 {
        queue.push(message(0, 1000));
        queue.push(message(1, 100));
    }
    let mut bytes = [0; 2];
    for _ in 0..chunks {
        let fragment = queue.take(CHUNK);
        queue.packet_done();
        bytes[usize::from(fragment.stream.0)] += fragment.payload.len();
    }
    bytes
}

// rfc8260#section-3.2: streams take turns by messages, which may have any lengths
#[test]
fn round_robin_gives_saturated_streams_bytes_in_proportion_to_their_messages() {
    assert_eq!(saturate(StreamScheduler::Rr, &[], 1000), [500_000, 50_000]);
}

// rfc8260#section-3.5
#[test]
fn fair_bandwidth_gives_saturated_streams_equal_bytes() {
    let [long, short] = saturate(StreamScheduler::Fair, &[7, 1], 5500);
    assert!(long.abs_diff(short) <= 1000, "{long} and {short}");
}

// rfc8260#section-3.6
#[test]
fn weighted_fair_queueing_gives_saturated_streams_bytes_in_proportion_to_their_weights() {
    for (weights, chunks) in [([3, 1], 4000), ([1, 3], 5000), ([u16::MAX, 1], 3000)] {
        let [long, short] = saturate(StreamScheduler::Wfq, &weights, chunks).map(|bytes| bytes as f64);
        let [a, b] = weights.map(f64::from);
        assert!((long / a - short / b).abs() <= 1000.0, "{weights:?}: {long} and {short}");
    }
}

// rfc8260#section-3.6
#[test]
fn a_weight_set_later_counts_from_then_on() {
    let mut queue = queue(StreamScheduler::Wfq, &[], false);
    assert!(queue.set_value(StreamId(1), 4).is_ok());
    assert!(queue.set_value(StreamId(10), 4).is_err(), "there are 10 streams");
    for _ in 0..100 {
        queue.push(message(0, 100));
        queue.push(message(1, 100));
    }
    let sent: Vec<_> = (0..50).map(|_| queue.take(CHUNK).stream.0).collect();
    assert_eq!(sent.iter().filter(|&&stream| stream == 1).count(), 40);
}

// rfc8260#section-3.6: an idle stream gets no credit
#[test]
fn a_stream_that_had_nothing_to_send_saves_no_credit() {
    let mut queue = queue(StreamScheduler::Fair, &[], false);
    for _ in 0..200 {
        queue.push(message(0, 1000));
    }
    for _ in 0..100 {
        queue.take(CHUNK);
    }
    for _ in 0..100 {
        queue.push(message(1, 1000));
    }
    let sent: Vec<_> = (0..100).map(|_| queue.take(CHUNK).stream.0).collect();
    assert_eq!(sent.iter().filter(|&&stream| stream == 1).count(), 50);
}

// rfc8260#section-3.4: without interleaving a message that has begun continues to its end
#[test]
fn an_urgent_message_waits_for_the_end_of_the_one_that_has_begun() {
    let mut queue = queue(StreamScheduler::Priority, &[0, 1], false);
    queue.push(message(1, 5 * CHUNK as u32));
    queue.push(message(1, 100));
    queue.take(CHUNK);
    queue.push(message(0, 100));
    let rest = [(1, CHUNK); 4].into_iter();
    assert_eq!(drain(&mut queue), rest.chain([(0, 100), (1, 100)]).collect::<Vec<_>>());
}

// rfc8260#section-3.4: with interleaving an urgent message is sent before the next chunk of the other message
#[test]
fn an_urgent_message_interrupts_another_if_messages_are_interleaved() {
    let mut queue = queue(StreamScheduler::Priority, &[0, 1], true);
    queue.push(message(1, 1 << 20));
    queue.take(CHUNK);
    queue.push(message(0, 100));
    let next = [queue.take(CHUNK), queue.take(CHUNK)];
    assert_eq!(next.map(|f| (f.stream.0, f.number, f.fsn)), [(0, 0, 0), (1, 0, 1)]);
}

// rfc8260#section-3.4
#[test]
fn streams_of_the_same_priority_take_turns_and_a_priority_can_change() {
    let mut queue = queue(StreamScheduler::Priority, &[5, 5, 9], false);
    for stream in [2, 1, 0, 2, 1, 0, 3] {
        queue.push(message(stream, 100));
    }
    let next = |queue: &mut SendQueue| queue.take(CHUNK).stream.0;
    assert_eq!([(); 2].map(|()| next(&mut queue)), [3, 1], "streams without a value have priority 0");
    queue.set_value(StreamId(2), 5).expect("there are 10 streams");
    assert_eq!(drain(&mut queue), [0, 1, 2, 0, 2].map(|stream| (stream, 100)));
}

// rfc8260#section-3.2
#[test]
fn round_robin_changes_streams_after_a_message_or_after_a_chunk_with_interleaving() {
    for (interleaved, expected) in [
        (false, [(0, 1000), (0, 500), (1, 1000), (1, 500), (2, 8), (0, 7)]),
        (true, [(0, 1000), (1, 1000), (0, 500), (2, 8), (1, 500), (0, 7)]),
    ] {
        let mut queue = queue(StreamScheduler::Rr, &[], interleaved);
        queue.push(message(0, 1500));
        queue.push(message(1, 1500));
        queue.push(message(0, 7));
        let first = queue.take(CHUNK);
        queue.push(message(2, 8));
        let mut sent = vec![(first.stream.0, first.payload.len())];
        sent.extend(drain(&mut queue));
        assert_eq!(sent, expected, "{interleaved}");
    }
}

// rfc8260#section-3.3
#[test]
fn round_robin_for_each_packet_changes_streams_between_packets() {
    let mut queue = queue(StreamScheduler::RrPacket, &[], false);
    for stream in [0, 0, 0, 1, 1, 0] {
        queue.push(message(stream, 100));
    }
    let mut packets = Vec::new();
    while queue.head_len().is_some() {
        let mut packet = Vec::new();
        // A packet has room for three chunks.
        while packet.len() < 3 && queue.head_len().is_some() && (packet.is_empty() || queue.shares_packet()) {
            packet.push(queue.take(CHUNK).stream.0);
        }
        queue.packet_done();
        packets.push(packet);
    }
    assert_eq!(packets, [vec![0, 0, 0], vec![1, 1], vec![0]]);
}

// rfc8260#section-3: an incomplete message begins last, since those that it delays could fill the send buffer
#[test]
fn a_message_whose_end_is_not_given_begins_when_no_other_waits() {
    for scheduler in [StreamScheduler::Rr, StreamScheduler::Priority, StreamScheduler::Fair] {
        let mut queue = queue(scheduler, &[0, 1], false);
        queue.push(message(1, 100));
        queue.push(Message { end_of_record: false, ..message(0, 10) });
        assert!(queue.check(&message(1, 1)).is_err(), "messages are not interleaved");
        assert_eq!([(); 2].map(|()| queue.take(CHUNK).stream.0), [1, 0], "{scheduler:?}");
        assert!(queue.head_len().is_none());
        queue.push(Message { end_of_record: false, ..message(0, 20) });
        assert_eq!(queue.take(CHUNK).payload.len(), 20);
        queue.push(message(0, 30));
        queue.push(message(1, 100));
        queue.push(message(0, 40));
        let sent = drain(&mut queue);
        assert_eq!(sent[0], (0, 30), "{scheduler:?}: a message that has begun goes on");
        assert_eq!(sent.len(), 3);
    }
}

// rfc8260#section-2.2.2: each stream sends the fragments of one message at a time
#[test]
fn with_interleaving_each_stream_has_an_unfinished_message_of_its_own() {
    for scheduler in StreamScheduler::ALL {
        let mut queue = queue(*scheduler, &[], true);
        let piece = |stream, length| Message { end_of_record: false, ..message(stream, length) };
        queue.push(piece(0, 10));
        assert!(queue.check(&piece(1, 10)).is_ok());
        assert!(queue.check(&Message { unordered: true, ..piece(0, 10) }).is_err());
        queue.push(piece(1, 11));
        queue.push(message(0, 20));
        queue.push(message(1, 21));
        queue.push(Message { unordered: true, ..message(1, 30) });
        let mut fragments: BTreeMap<(u16, bool, u32), Vec<(u32, usize)>> = BTreeMap::new();
        while queue.head_len().is_some() {
            let f = queue.take(CHUNK);
            queue.packet_done();
            let key = (f.stream.0, f.flags.unordered, f.number);
            fragments.entry(key).or_default().push((f.fsn, f.payload.len()));
        }
        let expected = [
            ((0, false, 0), vec![(0, 10), (1, 20)]),
            ((1, false, 0), vec![(0, 11), (1, 21)]),
            ((1, true, 0), vec![(0, 30)]),
        ];
        assert_eq!(fragments, BTreeMap::from(expected), "{scheduler:?}");
    }
}

fn any_scheduler() -> impl Strategy<Value = StreamScheduler> {
    prop::sample::select(StreamScheduler::ALL)
}

proptest! {
    // rfc8260#section-2.2.2
    /// With each scheduler all data is sent. Each stream sends its messages in order, and without
    /// interruption if they are not interleaved. Message identifiers and fragment sequence numbers ascend.
    #[test]
    fn each_stream_sends_its_messages_in_order_and_nothing_stays(
        scheduler in any_scheduler(),
        values in prop::collection::vec(1u16..5, 0..4),
        interleaved in any::<bool>(),
        steps in prop::collection::vec((0u16..4, 1u32..3000, 0u8..12, any::<bool>()), 1..200),
    ) {
        let mut queue = queue(scheduler, &values, interleaved);
        let mut given = BTreeMap::<u16, Vec<u8>>::new();
        let mut sent = BTreeMap::<u16, Vec<u8>>::new();
        let mut next = BTreeMap::<(u16, bool), u32>::new();
        let mut under_way: Option<(u16, u32)> = None;
        let mut fsns = BTreeMap::<u16, u32>::new();
        let mut open = BTreeMap::<u16, bool>::new();
        let total = steps.len();
        for (n, (stream, length, kind, unordered)) in steps.into_iter().enumerate() {
            if kind < 7 {
                let end_of_record = kind < 5;
                let payload = Payload::Bytes(vec![n as u8; length as usize].into());
                let unordered = open.get(&stream).copied().unwrap_or(unordered);
                let message =
                    Message { stream: StreamId(stream), unordered, end_of_record, ..Message::new(payload) };
                if queue.check(&message).is_ok() {
                    queue.push(message);
                    given.entry(stream).or_default().extend(vec![n as u8; length as usize]);
                    if end_of_record { open.remove(&stream) } else { open.insert(stream, unordered) };
                }
            }
            let takes = if n + 1 == total { usize::MAX } else { usize::from(kind % 3) };
            for _ in 0..takes {
                if queue.head_len().is_none() {
                    break;
                }
                let f = queue.take(CHUNK);
                if kind & 1 == 0 {
                    queue.packet_done();
                }
                let stream = f.stream.0;
                sent.entry(stream).or_default().extend_from_slice(&f.payload.to_bytes());
                if !interleaved {
                    let continued = under_way.is_none_or(|message| message == (stream, f.number));
                    prop_assert!(continued && under_way.is_some() != f.flags.beginning);
                    under_way = (!f.flags.ending).then_some((stream, f.number));
                } else {
                    let fsn = fsns.entry(stream).or_default();
                    prop_assert_eq!((f.fsn, f.flags.beginning), (*fsn, *fsn == 0));
                    *fsn = if f.flags.ending { 0 } else { *fsn + 1 };
                }
                let number = next.entry((stream, f.flags.unordered)).or_default();
                prop_assert_eq!(f.number, *number);
                *number += u32::from(f.flags.ending);
            }
        }
        prop_assert!(queue.is_empty(), "{} pieces stay", queue.len());
        prop_assert_eq!(sent, given);
    }
}
