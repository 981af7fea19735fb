//! Tests FORWARD TSN.

use super::*;
use crate::steps;

/// Processes a packet with chunks and, after these, a FORWARD TSN.
fn forward_behind(f: &mut Fixture, chunks: &[Data<'_>], new: u32, skips: &[(u16, u16)]) {
    let header = CommonHeader { source_port: 1, destination_port: 2, verification_tag: 3 };
    let skips: Vec<(StreamId, Ssn)> =
        skips.iter().map(|&(stream, ssn)| (StreamId(stream), Ssn(ssn))).collect();
    let mut buf = PacketBuf::default();
    let mut w = PacketWriter::new(&mut buf, header, 65_535);
    assert!(w.forward_tsn(Tsn(new), &skips));
    w.finish(Checksum::Offloaded);
    let packet = Packet::parse(buf.as_octets(), Checksum::Offloaded).unwrap();
    let Some(Ok(Chunk::ForwardTsn(chunk))) = packet.chunks().next() else { panic!("no FORWARD TSN") };
    for data in chunks {
        f.rx.on_data(data, PathId(0));
    }
    if f.rx.on_forward_tsn(&chunk, PathId(0)) || !chunks.is_empty() {
        f.rx.packet_done(f.now);
    }
}

pub(super) fn forward(f: &mut Fixture, new: u32, skips: &[(u16, u16)]) {
    forward_behind(f, &[], new, skips);
}

fn ordered(tsn: u32, stream: u16, ssn: u16) -> Data<'static> {
    chunk("BE", tsn, stream, ssn, 10 + usize::from(ssn))
}

fn started() -> Fixture {
    Fixture::started(&Config::default(), 1)
}

/// Reads all messages. Returns the length of each, and whether the message was aborted.
fn read(f: &mut Fixture) -> Vec<(usize, bool)> {
    let read = std::iter::from_fn(|| f.rx.read(usize::MAX));
    read.map(|received| (received.payload.len(), received.aborted)).collect()
}

// rfc3758#section-3.6
#[test]
fn what_waited_for_a_skipped_message_is_delivered() {
    let mut f = started();
    f.packet(&[ordered(2, 0, 0)]);
    f.packet(&[ordered(4, 0, 2)]);
    f.report();
    assert_eq!(f.drain(), [10]);
    forward(&mut f, 3, &[(0, 1)]);
    assert_eq!((f.drain(), f.report().cumulative), (vec![12], 4));
    f.packet(&[ordered(5, 0, 3)]);
    assert_eq!(f.drain(), [13]);
}

// rfc3758#section-3.6: complete messages up to the skipped number are delivered, not dropped
#[test]
fn complete_messages_with_skipped_numbers_are_delivered_in_order() {
    let mut f = started();
    f.packet(&[ordered(8, 1, 6), ordered(5, 1, 3), ordered(3, 1, 1), ordered(6, 1, 4)]);
    forward(&mut f, 4, &[(1, 4)]);
    assert_eq!(f.drain(), [11, 13, 14]);
    assert_eq!(f.report().cumulative, 6);
    f.packet(&[ordered(7, 1, 5)]);
    assert_eq!(f.drain(), [15, 16]);
}

// rfc3758#section-3.6
#[test]
fn numbers_are_skipped_across_their_wrap() {
    let mut f = started();
    forward(&mut f, 2, &[(0, 0x7fff)]);
    forward(&mut f, 3, &[(0, 0xfffd)]);
    f.packet(&[ordered(5, 0, 0xffff), ordered(7, 0, 1)]);
    assert_eq!(f.drain(), []);
    forward(&mut f, 6, &[(0, 0)]);
    assert_eq!(f.drain(), [10 + 0xffff, 11]);
    f.packet(&[ordered(8, 0, 2)]);
    assert_eq!(f.drain(), [12]);
}

#[test]
fn numbers_that_were_delivered_or_of_streams_that_do_not_exist_are_ignored() {
    let mut f = started();
    f.packet(&[ordered(2, 0, 0), ordered(3, 0, 1)]);
    f.drain();
    forward(&mut f, 4, &[(0, 0), (STREAMS, 9), (u16::MAX, 9)]);
    f.packet(&[ordered(5, 0, 2)]);
    assert_eq!(f.drain(), [12]);
}

// rfc3758#section-3.6; pion/sctp#106; usrsctp#286
#[test]
fn fragments_of_skipped_messages_are_dropped_and_the_next_message_may_begin_at_once() {
    for flags in ["U", ""] {
        let mut f = Fixture::started(&Config::default(), 9);
        let is = |flag: &str| [flags, flag].concat();
        f.packet(&[chunk(&is("E"), 11, 0, 0, 500)]);
        assert!(f.rx.window.held() > 0);
        let skips: &[(u16, u16)] = if flags == "U" { &[] } else { &[(0, 0)] };
        forward(&mut f, 10, skips);
        assert_eq!((f.rx.window.held(), f.report().cumulative), (0, 11));
        assert_eq!(f.take(chunk(&is("BE"), 12, 0, 1, 77)), DataVerdict::Accepted);
        assert_eq!(f.drain(), [77]);
    }
}

// rfc3758#section-3.6: only messages that lack a TSN up to the new cumulative TSN are dropped
#[test]
fn a_message_that_is_not_complete_but_lacks_nothing_that_was_skipped_is_kept() {
    let mut f = started();
    f.packet(&[chunk("UB", 4, 0, 0, 10), chunk("U", 5, 0, 0, 20)]);
    forward(&mut f, 5, &[]);
    assert_eq!(f.report().cumulative, 5);
    f.packet(&[chunk("UE", 6, 0, 0, 30)]);
    assert_eq!(f.drain(), [60]);
}

/// The peer abandons only a part of a message. The rest is useless, but no protocol violation.
#[test]
fn fragments_that_follow_a_skipped_one_are_acknowledged_and_not_kept() {
    let mut f = started();
    f.packet(&[chunk("U", 5, 0, 0, 10), chunk("UE", 7, 0, 0, 10)]);
    forward(&mut f, 3, &[]);
    assert_eq!(f.take(chunk("U", 4, 0, 0, 10)), DataVerdict::Accepted);
    assert_eq!(f.take(chunk("U", 6, 0, 0, 10)), DataVerdict::Accepted);
    assert_eq!((f.rx.window.held(), f.report().cumulative), (0, 7));
    assert_eq!(f.take(chunk("UBE", 8, 0, 0, 5)), DataVerdict::Accepted);
    assert_eq!(f.drain(), [5]);
}

// rfc6458#section-6.1.7
#[test]
fn a_message_that_is_read_in_parts_ends_as_aborted() {
    let mut f = Fixture::started(&with_buffer(3000), 1);
    f.packet(&[chunk("B", 2, 0, 0, 1400), chunk("", 3, 0, 0, 1400)]);
    assert_eq!(read(&mut f), [(2800, false)]);
    f.packet(&[ordered(6, 0, 1)]);
    forward(&mut f, 5, &[(0, 0)]);
    assert_eq!(read(&mut f), [(0, true), (11, false)]);
    assert_eq!((f.rx.window.held(), f.report().cumulative), (0, 6));
    f.packet(&[ordered(7, 0, 2)]);
    assert_eq!(read(&mut f), [(12, false)]);
}

// rfc3758#section-3.6
#[test]
fn a_forward_tsn_that_skips_nothing_is_answered_at_once_unless_data_came_with_it() {
    for dac in [false, true] {
        let config = if dac { with_dac() } else { Config::default() };
        let mut f = Fixture::started(&config, 1);
        forward(&mut f, 1, &[]);
        assert!(f.rx.sack_due());
        f.report();
        forward_behind(&mut f, &[message(2, 10)], 1, &[]);
        assert!(!f.rx.sack_due() && f.rx.sack_pending());
    }
}

// rfc3758#section-3.6, rfc9260#section-6.7
#[test]
fn a_forward_tsn_that_closes_a_gap_is_answered_at_once_and_others_like_data() {
    let mut f = started();
    forward(&mut f, 2, &[]);
    assert!(!f.rx.sack_due() && f.rx.sack_pending());
    f.pass(200);
    assert!(f.rx.sack_due());
    f.report();
    f.packet(&[message(4, 10)]);
    f.report();
    forward(&mut f, 3, &[]);
    assert!(f.rx.sack_due());
    assert_eq!(f.report().gaps, []);
}

// paper 001 §3.3: a SACK reports the number of packets with data since the last SACK
#[test]
fn packets_with_a_forward_tsn_alone_are_not_counted_for_dac() {
    let mut f = Fixture::started(&with_dac(), 1);
    f.packet(&[message(2, 10)]);
    forward(&mut f, 3, &[]);
    assert_eq!(f.report().packets, 1);
    forward_behind(&mut f, &[message(4, 10)], 5, &[]);
    assert_eq!(f.report().packets, 1);
}

#[test]
fn a_forward_tsn_far_beyond_what_the_buffer_could_hold_is_ignored() {
    for (ahead, taken) in [(1 << 16, true), ((1 << 20) + 1, false), (u32::MAX >> 1, false)] {
        let mut f = started();
        forward(&mut f, 1 + ahead, &[]);
        assert_eq!(f.report().cumulative, if taken { 1 + ahead } else { 1 });
    }
}

/// A FORWARD TSN that skips the data of thousands of packets takes few steps.
#[test]
fn a_forward_tsn_costs_no_more_than_its_size_or_what_was_paid_for() {
    let mut f = Fixture::new(&Config::default(), 1);
    f.packet(&[message(1, 10)]);
    for n in 0..4000 {
        f.packet(&[chunk("UB", 3 + 2 * n, 0, 0, 10)]);
    }
    let (any, _) = steps::taken(|| forward(&mut f, 2 + 2 * 4000, &[]));
    assert!(any < steps::MOST_OF_1500, "{any} steps");
    assert_eq!(f.rx.window.held(), 64, "the first message");
}

/// If a FORWARD TSN lets many messages be delivered, some are delivered only as the user reads.
#[test]
fn a_forward_tsn_releases_so_many_messages_and_the_rest_follows() {
    let mut f = started();
    for ssn in (1..2000).step_by(2) {
        f.packet(&[chunk("BE", 2 + u32::from(ssn), 0, ssn, 10)]);
    }
    let (any, _) = steps::taken(|| forward(&mut f, 2 + 2000, &[(0, 2000)]));
    assert!(any < steps::MOST_OF_1500, "{any} steps");
    assert_eq!(f.drain().len(), 1000);
    f.packet(&[ordered(2003, 0, 2001)]);
    assert_eq!(f.drain().len(), 1);
}

proptest::proptest! {
    /// For any fragments in any order and any skips, no fragment is left, and messages are read in order.
    #[test]
    fn nothing_is_left_of_any_skipped_messages(
        shape in proptest::collection::vec((0u16..3, proptest::bool::ANY, 1u32..5, proptest::bool::ANY), 1..30),
        shuffle in proptest::num::u64::ANY,
        lost in proptest::num::u64::ANY,
    ) {
        let mut f = started();
        let (mut tsn, mut next, mut chunks, mut borders) = (2, [0u16; 3], Vec::new(), Vec::new());
        for (n, &(stream, unordered, fragments, abandoned)) in shape.iter().enumerate() {
            let ssn = next[usize::from(stream)];
            for k in 0..fragments {
                let mut flags = String::new();
                flags += if unordered { "U" } else { "" };
                flags += if k == 0 { "B" } else { "" };
                flags += if k + 1 == fragments { "E" } else { "" };
                let is_lost = abandoned && lost >> ((tsn + k) % 64) & 1 == 1;
                if !is_lost {
                    chunks.push((chunk(&flags, tsn + k, stream, ssn, 10), n));
                }
            }
            tsn += fragments;
            next[usize::from(stream)] += u16::from(!unordered);
            borders.push((tsn - 1, (!unordered).then_some((stream, ssn)), abandoned));
        }
        chunks.sort_by_cached_key(|(data, _)| u64::from(data.tsn.0).wrapping_mul(shuffle | 1).rotate_left(29));
        let half = chunks.len() / 2;
        for (data, _) in &chunks[..half] {
            proptest::prop_assert!(!matches!(f.take(*data), DataVerdict::Violation(_)));
        }
        // An abandoned message is skipped only when all TSNs below it have arrived or are abandoned, too.
        let arrived = |tsn: u32, f: &Fixture| f.rx.tsns.contains(f.rx.tsns.index_of(Tsn(tsn)));
        for (data, _) in &chunks[half..] {
            proptest::prop_assert!(!matches!(f.take(*data), DataVerdict::Violation(_)));
            let mut skips = std::collections::BTreeMap::new();
            let (mut first, mut new) = (2, None);
            for &(last, ordered, abandoned) in &borders {
                if !abandoned && !(first..=last).all(|tsn| arrived(tsn, &f)) {
                    break;
                }
                if abandoned {
                    skips.extend(ordered);
                    new = Some(last);
                }
                first = last + 1;
            }
            if let Some(new) = new.filter(|_| data.tsn.0 % 3 == 0) {
                forward(&mut f, new, &skips.into_iter().collect::<Vec<_>>());
            }
        }
        let mut skips = std::collections::BTreeMap::new();
        skips.extend(borders.iter().filter(|border| border.2).filter_map(|border| border.1));
        forward(&mut f, tsn - 1, &skips.into_iter().collect::<Vec<_>>());
        f.drain();
        proptest::prop_assert_eq!(f.rx.window.held(), 0);
        proptest::prop_assert_eq!(f.report().cumulative, tsn - 1);
        proptest::prop_assert!(f.rx.reassembly.is_idle());
    }
}
