//! Tests I-DATA (`rfc8260#section-2.2.3`).

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;
use wire::IData;

/// A chunk of filler. `flags` has letters of U, B, E and I. The pair gives the stream and the MID of the
/// message.
fn part(flags: &str, tsn: u32, (stream, mid): (u16, u32), fsn: u32, length: usize) -> IData<'static> {
    let Data { flags, tsn, stream, payload, .. } = chunk(flags, tsn, stream, 0, length);
    IData { flags, tsn, stream, mid: Mid(mid), ppid: Ppid(0), fsn, payload }
}

fn config(buffer: u64) -> Config {
    Config { interleaving: true, ..with_buffer(buffer) }
}

impl Fixture {
    fn take_part(&mut self, data: IData<'_>) -> DataVerdict {
        let verdict = self.rx.on_i_data(&data, PathId(0));
        self.rx.packet_done(self.now);
        verdict
    }

    /// Processes chunks that must all be new.
    fn take_parts(&mut self, parts: &[IData<'_>]) {
        for &data in parts {
            assert_eq!(self.take_part(data), DataVerdict::Accepted, "{data:?}");
        }
    }

    /// Reads all messages. Returns stream, message identifier, length, and whether the message has ended.
    fn messages(&mut self) -> Vec<(u16, u32, usize, bool)> {
        std::iter::from_fn(|| self.rx.read(usize::MAX))
            .map(|r| (r.stream.0, r.mid.0, r.payload.len(), r.end_of_record))
            .collect()
    }
}

// rfc8260#section-2.2.3
#[test]
fn fragments_of_several_messages_join_by_their_sequence_numbers_whatever_their_tsns() {
    let mut f = Fixture::new(&config(100_000), 100);
    f.take_parts(&[
        part("B", 100, (1, 0), 0, 10),
        part("B", 101, (2, 0), 0, 20),
        part("UB", 102, (3, 7), 0, 30),
        part("E", 105, (1, 0), 2, 12),
        part("UE", 104, (3, 7), 1, 31),
        part("E", 103, (2, 0), 1, 21),
        part("", 106, (1, 0), 1, 11),
    ]);
    assert_eq!(f.messages(), [(3, 7, 61, true), (2, 0, 41, true), (1, 0, 33, true)]);
    assert_eq!(f.rx.window.held(), 0);
    let read = |tsn| f.rx.tsns.index_of(Tsn(tsn));
    assert_eq!(read(106), f.rx.tsns.cumulative());
}

// rfc8260#section-2.2.3, rfc9260#section-6.5
#[test]
fn ordered_messages_wait_for_their_turn_and_unordered_ones_do_not() {
    let mut f = Fixture::new(&config(100_000), 100);
    f.take_parts(&[
        part("BE", 100, (1, 1), 0, 11),
        part("UBE", 101, (1, 5), 0, 50),
        part("BE", 102, (1, 2), 0, 12),
        part("BE", 103, (2, 0), 0, 20),
    ]);
    assert_eq!(f.messages(), [(1, 5, 50, true), (2, 0, 20, true)]);
    f.take_parts(&[part("BE", 104, (1, 0), 0, 10)]);
    assert_eq!(f.messages(), [(1, 0, 10, true), (1, 1, 11, true), (1, 2, 12, true)]);
}

// rfc8260#section-2.1: identifiers have 32 bits, so that more than 65536 messages can be distinguished
#[test]
fn message_identifiers_have_32_bits() {
    let mut f = Fixture::new(&config(100_000), 100);
    f.take_parts(&[part("BE", 100, (1, 1 << 16), 0, 11)]);
    assert!(f.messages().is_empty());
    f.take_parts(&[part("BE", 101, (1, 0), 0, 10)]);
    assert_eq!(f.messages(), [(1, 0, 10, true)]);
}

// rfc8260#section-2.2.3
#[test]
fn message_identifiers_that_are_used_again_are_violations() {
    let accepted =
        [part("BE", 100, (1, 0), 0, 10), part("BE", 101, (1, 2), 0, 10), part("B", 102, (1, 3), 0, 10)];
    let refused = [
        part("BE", 103, (1, 0), 0, 10),
        part("B", 103, (1, 0), 0, 10),
        part("E", 103, (1, 0), 1, 10),
        part("BE", 103, (1, 2), 0, 10),
        part("BE", 103, (1, 3), 0, 10),
        part("B", 103, (1, 3), 0, 10),
        part("", 103, (1, 3), 0, 10),
    ];
    for wrong in refused {
        let mut f = Fixture::new(&config(100_000), 100);
        f.take_parts(&accepted);
        assert!(matches!(f.take_part(wrong), DataVerdict::Violation(_)), "{wrong:?}");
    }
}

#[test]
fn i_data_without_user_data_or_stream_is_judged_as_data_is() {
    let mut f = Fixture::new(&config(100_000), 100);
    assert_eq!(f.take_part(part("BE", 100, (1, 0), 0, 0)), DataVerdict::NoUserData);
    assert_eq!(f.take_part(part("BE", 100, (STREAMS, 0), 0, 1)), DataVerdict::InvalidStream);
    assert_eq!(f.take_part(part("BE", 100, (STREAMS, 0), 0, 1)), DataVerdict::Duplicate);
}

// rfc9260#section-6.9: a buffer full of incomplete messages
#[test]
fn a_full_buffer_hands_out_the_oldest_messages_in_parts() {
    let mut f = Fixture::new(&config(6000), 100);
    f.take_parts(&[
        part("B", 100, (1, 0), 0, 1500),
        part("UB", 101, (2, 0), 0, 1500),
        part("", 102, (1, 0), 1, 1500),
        part("U", 103, (2, 0), 1, 1500),
    ]);
    assert_eq!(f.report().a_rwnd, 0);
    assert_eq!(f.messages(), [(1, 0, 3000, false)]);
    f.take_parts(&[part("", 104, (1, 0), 2, 1500)]);
    assert_eq!(f.messages(), [(1, 0, 1500, false)]);
    f.take_parts(&[part("U", 105, (2, 0), 2, 1500), part("UBE", 106, (3, 0), 0, 700)]);
    assert_eq!(f.messages(), [(3, 0, 700, true)], "there is room for a while");
    f.take_parts(&[part("E", 107, (1, 0), 3, 100), part("BE", 108, (1, 1), 0, 10)]);
    assert_eq!(f.messages(), [(1, 0, 100, true), (1, 1, 10, true)]);
    f.take_parts(&[part("UE", 109, (2, 0), 3, 1000)]);
    assert_eq!(f.messages(), [(2, 0, 5500, true)]);
    assert_eq!(f.rx.window.held(), 0);
}

// All data waits for the first missing TSN. So this TSN is accepted even if the buffer is full.
#[test]
fn the_first_missing_tsn_is_taken_beyond_the_limit_and_nothing_is_reneged() {
    let mut f = Fixture::new(&Config { reneging: true, ..config(6000) }, 100);
    f.take_parts(&[
        part("", 101, (1, 0), 1, 1500),
        part("", 102, (1, 0), 2, 1500),
        part("BE", 103, (2, 1), 0, 1500),
        part("BE", 104, (2, 2), 0, 1500),
    ]);
    assert!(f.messages().is_empty());
    assert_eq!(f.take_part(part("BE", 105, (2, 3), 0, 1500)), DataVerdict::NoRoom);
    f.take_parts(&[part("B", 100, (1, 0), 0, 1500)]);
    assert_eq!(f.messages(), [(1, 0, 4500, false)]);
    assert_eq!((f.rx.stats().reneged, f.report().gaps), (0, vec![]));
}

// draft-natarajan-tsvwg-sctp-nrsack: without reneging, all TSNs are non-renegable
#[test]
fn with_interleaving_every_tsn_is_non_renegable() {
    let mut f = Fixture::new(&Config { nr_sack: true, ..config(6000) }, 100);
    f.take_parts(&[part("B", 101, (1, 0), 0, 10), part("BE", 103, (2, 1), 0, 10)]);
    let mut buf = PacketBuf::default();
    let header = CommonHeader { source_port: 1, destination_port: 2, verification_tag: 3 };
    assert!(f.rx.write_sack(f.now, PathId(0), &mut PacketWriter::new(&mut buf, header, 1480)));
    let packet = Packet::parse(buf.as_octets(), Checksum::Offloaded).expect("a packet");
    let Some(Ok(Chunk::NrSack(sack))) = packet.chunks().next() else { panic!("no NR-SACK") };
    assert_eq!(sack.gap_blocks().len(), 0);
    let blocks: Vec<_> = sack.nr_gap_blocks().map(|block| (block.start, block.end)).collect();
    assert_eq!(blocks, [(2, 2), (4, 4)]);
}

// Above a gap, no partial delivery starts: the message of the same stream below the gap is delivered first.
#[test]
fn messages_below_a_gap_are_handed_out_before_those_above() {
    let mut f = Fixture::new(&config(4500), 100);
    f.take_parts(&[part("UB", 102, (1, 0), 0, 1500), part("U", 103, (1, 0), 1, 1500)]);
    f.take_parts(&[part("U", 104, (1, 0), 2, 1500)]);
    assert!(f.messages().is_empty());
    f.take_parts(&[part("B", 100, (1, 0), 0, 1500)]);
    assert_eq!(f.messages(), [(1, 0, 1500, false)]);
    f.take_parts(&[part("E", 101, (1, 0), 1, 1500)]);
    assert_eq!(f.messages(), [(1, 0, 1500, true), (1, 0, 4500, false)]);
    f.take_parts(&[part("UE", 105, (1, 0), 3, 1500)]);
    assert_eq!(f.messages(), [(1, 0, 1500, true)]);
}

/// Chunks that no correct peer sends: random, but with close numbers, so that they interfere.
fn nonsense() -> impl Strategy<Value = IData<'static>> {
    let flags = prop::sample::select(vec!["B", "", "E", "BE", "BE", "UB", "U", "UE", "UBE", "UBE"]);
    let message = (0..STREAMS + 1, prop_oneof![0u32..4, (u32::MAX - 2)..=u32::MAX]);
    let length = prop_oneof![1usize..20, Just(1400)];
    (flags, 0u32..200, message, prop_oneof![0u32..4, Just(u32::MAX)], length).prop_map(
        |(flags, tsn, message, fsn, length)| {
            let fsn = if flags.contains('B') { 0 } else { fsn };
            part(flags, tsn.wrapping_sub(100), message, fsn, length)
        },
    )
}

proptest! {
    // For any chunks, memory stays in proportion to the buffer. After a violation a new association starts.
    #[test]
    fn nonsense_never_outgrows_the_buffer(chunks in prop::collection::vec((nonsense(), any::<bool>()), 1..400)) {
        let limit = 4000;
        let mut f = Fixture::new(&config(limit), 0u32.wrapping_sub(50));
        for (data, read) in chunks {
            if let DataVerdict::Violation(_) = f.take_part(data) {
                f = Fixture::new(&config(limit), 0u32.wrapping_sub(50));
            }
            if read {
                f.rx.read(700);
            }
            prop_assert!(f.rx.window.held() <= limit + 1400);
            let kept = f.rx.window.held() / u64::from(ChunkCost::LEAST_INTERLEAVED);
            let waiting = f.rx.interleaved.as_ref().map_or(0, |interleaved| interleaved.len());
            prop_assert!((f.rx.ready.len() + waiting) as u64 <= kept + 1 + u64::from(STREAMS));
            f.report();
        }
    }

    // Each stream sends one message after the other, and streams alternate. Packets arrive in any order and
    // may be duplicated, and the user reads at times. No message is lost, read twice, or out of order.
    #[test]
    fn what_a_peer_interleaves_is_read_once_and_in_order(
        messages in prop::collection::vec((0..STREAMS, any::<bool>(), 1u32..8), 1..40),
        choices in prop::collection::vec(any::<u16>(), 400),
        buffer in 2_000u64..20_000,
        read_every in 1usize..9,
    ) {
        // The chunks that the peer sends, by TSN.
        let mut queues: BTreeMap<u16, Vec<IData<'static>>> = BTreeMap::new();
        let mut mids = BTreeMap::<(u16, bool), u32>::new();
        for &(stream, unordered, fragments) in &messages {
            let mid = mids.entry((stream, unordered)).or_default();
            for fsn in 0..fragments {
                let mut data = part("", 0, (stream, *mid), fsn, 400 + fsn as usize);
                data.flags.unordered = unordered;
                data.flags.beginning = fsn == 0;
                data.flags.ending = fsn + 1 == fragments;
                queues.entry(stream).or_default().push(data);
            }
            *mid += 1;
        }
        let mut choices = choices.into_iter().cycle().map(usize::from);
        let mut next = || choices.next().unwrap_or_default();
        let mut sent = Vec::new();
        while !queues.is_empty() {
            let stream = *queues.keys().nth(next() % queues.len()).expect("not empty");
            let queue = queues.get_mut(&stream).expect("there");
            let tsn = Tsn((sent.len() as u32).wrapping_sub(3));
            sent.push(IData { tsn, ..queue.remove(0) });
            if queue.is_empty() {
                queues.remove(&stream);
            }
        }
        // Next arrival: one of the first ten chunks that did not arrive yet, or a duplicate.
        let mut f = Fixture::new(&config(buffer), 0u32.wrapping_sub(3));
        let mut left: Vec<usize> = (0..sent.len()).collect();
        let mut parts = BTreeMap::<(u16, bool, u32), usize>::new();
        let mut done = BTreeMap::<(u16, bool), u32>::new();
        let mut ended = 0;
        let mut steps = 0;
        while !left.is_empty() || f.rx.readable() {
            steps += 1;
            prop_assert!(steps < 20_000, "it does not go on: {} chunks are left", left.len());
            if !left.is_empty() {
                let reordered = next() % 4 == 0 && steps % 3 != 0;
                let at = next() % left.len().min(if reordered { 10 } else { 1 });
                let verdict = f.take_part(sent[left[at]]);
                prop_assert!(matches!(verdict, DataVerdict::Accepted | DataVerdict::NoRoom), "{:?}", verdict);
                if verdict == DataVerdict::Accepted {
                    let arrived = left.remove(at);
                    prop_assert_eq!(f.take_part(sent[arrived]), DataVerdict::Duplicate);
                }
            }
            prop_assert!(f.rx.window.held() <= buffer + 500);
            if steps % read_every == 0 || left.is_empty() {
                while let Some(read) = f.rx.read(1000) {
                    let key = (read.stream.0, read.unordered, read.mid.0);
                    *parts.entry(key).or_default() += read.payload.len();
                    if read.end_of_record {
                        ended += 1;
                        let last = done.entry((key.0, key.1)).or_default();
                        prop_assert!(read.unordered || *last == key.2, "message {:?} after {}", key, *last);
                        *last += 1;
                    }
                }
            }
        }
        prop_assert_eq!(ended, messages.len());
        let mut expected = BTreeMap::<(u16, bool, u32), usize>::new();
        for data in &sent {
            *expected.entry((data.stream.0, data.flags.unordered, data.mid.0)).or_default() += data.payload.len();
        }
        prop_assert_eq!(parts, expected);
        prop_assert_eq!(f.rx.window.held(), 0);
    }
}
