//! Tests which blocks lean SACKs (short ones that wait for more data) report, and when they are sent.

use super::*;
use std::collections::BTreeSet;

fn config() -> Config {
    let cmt = Cmt { enabled: true, ..Cmt::default() };
    Config { nr_sack: true, reneging: false, lean_sacks: true, cmt, ..Config::default() }
}

/// A receiver after the first DATA, TSN 100.
fn started(config: &Config) -> Fixture {
    let mut f = Fixture::new(config, 100);
    f.take(message(100, 10));
    tells(&mut f, PathId(0));
    f
}

/// Writes an NR-SACK for a path. Returns the first TSN of each of its blocks.
fn tells(f: &mut Fixture, path: PathId) -> Vec<u32> {
    let header = CommonHeader { source_port: 1, destination_port: 2, verification_tag: 3 };
    let mut buf = PacketBuf::default();
    assert!(f.rx.write_sack(f.now, path, &mut PacketWriter::new(&mut buf, header, 1480)));
    f.drain();
    let packet = Packet::parse(buf.as_octets(), Checksum::Offloaded).expect("a packet");
    let Some(Ok(Chunk::NrSack(sack))) = packet.chunks().next() else { panic!("no NR-SACK") };
    assert_eq!(sack.gap_blocks().count(), 0, "all is for good");
    assert!(GapBlock::are_well_formed(sack.nr_gap_blocks()));
    sack.nr_gap_blocks().map(|block| sack.cumulative_tsn_ack.0 + u32::from(block.start)).collect()
}

/// Receives every second TSN, one packet per millisecond.
fn gappy(f: &mut Fixture, from: u32, to: u32) {
    for tsn in (from..=to).step_by(2) {
        f.pass(1);
        f.take(message(tsn, 1452));
    }
}

fn even(from: u32, to: u32) -> Vec<u32> {
    (from..=to).step_by(2).collect()
}

// With its headers, a SACK with four blocks has 68 bytes: it waits for 100 times as much data, 6800 bytes.
#[test]
fn a_sack_waits_until_it_is_a_hundredth_of_its_data() {
    let mut f = started(&config());
    for tsn in [101, 102] {
        f.pass(1);
        f.take(message(tsn, 3000));
        assert!(!f.rx.sack_due(), "{tsn}");
    }
    assert_eq!(f.rx.sack_deadline(), Some(Instant::ZERO + Span::from_millis(2 + 25)));
    f.take(message(103, 3000));
    assert!(f.rx.sack_due());
}

#[test]
fn a_sack_does_not_wait_for_packets_that_come_late() {
    let mut f = started(&config());
    f.pass(20);
    f.take(message(101, 1452));
    assert!(!f.rx.sack_due());
    f.pass(20);
    f.take(message(102, 1452));
    assert!(f.rx.sack_due());
}

// A 24th of a buffer of 64 KiB is less than two packets. So a SACK does not wait: it is due after two
// packets, as without lean SACKs.
#[test]
fn a_sack_waits_for_eight_packets_at_most_and_for_fewer_if_the_buffer_is_small() {
    for (receive_buffer, packets) in [(1 << 20, 8), (192 << 10, 5), (128 << 10, 3), (64 << 10, 2)] {
        let mut f = started(&Config { receive_buffer: ByteCount::new(receive_buffer).into(), ..config() });
        gappy(&mut f, 102, 100 + 2 * (packets - 1));
        assert!(!f.rx.sack_due());
        gappy(&mut f, 100 + 2 * packets, 100 + 2 * packets);
        assert!(f.rx.sack_due(), "{receive_buffer}");
    }
}

// A SACK waits at most 25 ms for the next packet, and at most 10 ms once four packets have arrived since the
// last SACK.
#[test]
fn a_sack_of_four_packets_waits_no_longer_than_ten_milliseconds() {
    let mut f = started(&config());
    gappy(&mut f, 102, 104);
    assert_eq!(f.rx.sack_deadline(), Some(f.now + Span::from_millis(25)));
    gappy(&mut f, 106, 108);
    assert_eq!(f.rx.sack_deadline(), Some(f.now + Span::from_millis(10)));
}

// rfc7053#section-5.2
#[test]
fn the_i_bit_is_answered_at_once() {
    let mut f = started(&config());
    f.take(chunk("UBEI", 101, 0, 0, 1452));
    assert!(f.rx.sack_due());
}

#[test]
fn two_sacks_tell_of_each_arrival_and_later_ones_by_turns() {
    let mut f = started(&config());
    gappy(&mut f, 102, 108);
    assert_eq!(tells(&mut f, PathId(0)), even(102, 108));
    gappy(&mut f, 110, 116);
    assert_eq!(tells(&mut f, PathId(0)), even(102, 116));
    gappy(&mut f, 118, 124);
    assert_eq!(tells(&mut f, PathId(0)), even(110, 124));
    let mut again: Vec<u32> = (0..8).flat_map(|_| tells(&mut f, PathId(0))).collect();
    again.sort_unstable();
    again.dedup();
    assert_eq!(again, even(102, 124));
}

// A sender cannot free a chunk that no SACK reports. So each SACK must report the newest arrivals.
#[test]
fn with_many_gaps_a_sack_is_short_and_tells_of_the_newest_arrivals() {
    let mut f = started(&Config { receive_buffer: ByteCount::new(16 << 20).into(), ..config() });
    for tsn in (102..2702).step_by(8) {
        gappy(&mut f, tsn, tsn + 6);
        let told = tells(&mut f, PathId(0));
        assert_eq!(told.last(), Some(&(tsn + 6)), "{told:?}");
        assert!(told.len() <= 10, "{} blocks above {tsn}", told.len());
    }
}

// SACKs on paths of different delay overtake each other, so the SACKs of each path must report every arrival.
#[test]
fn the_sacks_of_each_path_tell_of_every_arrival() {
    let mut f = started(&config());
    tells(&mut f, PathId(1));
    gappy(&mut f, 102, 140);
    for _ in 0..2 {
        assert_eq!(tells(&mut f, PathId(0)), even(102, 140));
    }
    assert!(tells(&mut f, PathId(0)).len() < 5);
    assert_eq!(tells(&mut f, PathId(1)), even(102, 140));
}

#[test]
fn a_sack_that_waited_for_more_data_in_vain_tells_of_everything() {
    let mut f = started(&config());
    gappy(&mut f, 102, 140);
    (0..3).for_each(|_| drop(tells(&mut f, PathId(0))));
    gappy(&mut f, 142, 144);
    f.pass(30);
    assert!(f.rx.sack_due());
    assert_eq!(tells(&mut f, PathId(0)), even(102, 144));
}

/// Returns the bytes of SACKs on each of two paths after 4000 packets. Every `n`th packet arrives on
/// the second path. With `gaps` every second TSN is missing.
fn split(n: u32, gaps: bool) -> [f64; 2] {
    let mut f = started(&Config { receive_buffer: ByteCount::new(16 << 20).into(), ..config() });
    let mut bytes = [0; 2];
    for k in 1..4001 {
        f.pass(u64::from(k % 4 == 0));
        f.rx.on_data(&message(if gaps { 100 + 2 * k } else { 100 + k }, 1452), PathId(u8::from(k % n == 0)));
        f.rx.packet_done(f.now);
        if f.rx.sack_due() {
            let path = f.rx.sack_path();
            bytes[path.index()] += 52 + 4 * tells(&mut f, path).len();
        }
    }
    bytes.map(|bytes| bytes as f64)
}

// SACKs take bytes on each path in proportion to its data, even if they exceed a hundredth of the data: a
// narrow path carries only its part of the SACKs.
#[test]
fn sacks_leave_on_the_paths_in_proportion_to_their_data() {
    for (n, gaps) in [(4, false), (4, true), (20, true)] {
        let bytes = split(n, gaps);
        let share = bytes[1] / (bytes[0] + bytes[1]) * f64::from(n);
        assert!((0.8..1.25).contains(&share), "1/{n}, gaps {gaps}: {share} of its part, {bytes:?}");
    }
}

// A sender stores at most 1536 blocks.
#[test]
fn above_1400_gaps_nothing_is_told_of_until_gaps_below_close() {
    let mut f = started(&Config { receive_buffer: ByteCount::new(64 << 20).into(), ..config() });
    let mut told = BTreeSet::new();
    let mut tell = |f: &mut Fixture| {
        let new = tells(f, PathId(0));
        assert!(new.len() <= 40, "{} blocks", new.len());
        told.extend(new);
        told.clone()
    };
    for tsn in (102..4102).step_by(8) {
        gappy(&mut f, tsn, tsn + 6);
        tell(&mut f);
    }
    // The cumulative TSN is 100: block number k begins at TSN 102 + 2k.
    assert_eq!(tell(&mut f), even(102, 100 + 2 * 1400).into_iter().collect());
    for tsn in (101..2101).step_by(8) {
        gappy(&mut f, tsn, tsn + 6);
        let closed = (tsn + 8 - 100) / 2;
        let all = even(102, (100 + 2 * (1400 + closed)).min(4100)).into_iter().collect();
        assert_eq!(tell(&mut f), all, "{closed} gaps are closed");
    }
}

// If the SACKs that reported a chunk were lost, the peer retransmits the chunk: its block is reported again.
#[test]
fn what_arrives_again_is_told_of_again() {
    let mut f = started(&config());
    gappy(&mut f, 102, 140);
    (0..2).for_each(|_| drop(tells(&mut f, PathId(0))));
    f.take(message(130, 1452));
    assert!(tells(&mut f, PathId(0)).contains(&130));
}

// rfc9260#section-6.2.1: each SACK must report again every block that the receiver may still discard.
#[test]
fn sacks_are_lean_only_if_nothing_is_ever_reneged_on() {
    let mut f = started(&config());
    assert!(f.rx.lean.is_some());
    for config in [Config { reneging: true, ..config() }, Config { nr_sack: false, ..config() }] {
        f = Fixture::new(&config, 100);
        assert!(f.rx.lean.is_none());
    }
}
