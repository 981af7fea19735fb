//! Tests that a reported one-way delay counts for the path on which the chunk was sent.

use super::*;
use crate::config::Timestamps;
use cc::OneWayDelay;
use wire::PacketDelay;

/// Reports one-way delays in microseconds. The TSN is that of the first chunk in each packet.
fn tell(rig: &mut Rig, delays: &[(u32, i64)]) {
    let header = CommonHeader { source_port: 2, destination_port: 1, verification_tag: 4 };
    let mut buf = PacketBuf::default();
    let mut w = PacketWriter::new(&mut buf, header, 1480);
    let delays: Vec<_> = delays.iter().map(|&(tsn, micros)| PacketDelay { tsn: Tsn(tsn), micros }).collect();
    assert!(w.ledbat_control(&delays));
    w.finish(Checksum::Offloaded);
    let packet = Packet::parse(buf.as_octets(), Checksum::Offloaded).unwrap();
    let Some(Ok(Chunk::LedbatControl(control))) = packet.chunks().next() else { panic!("no delays") };
    rig.sender.on_delays(&control, &mut rig.paths);
}

fn told(rig: &Rig) -> [Option<OneWayDelay>; 2] {
    [rig.paths[P1].owd, rig.paths[P2].owd]
}

fn micros(n: i64) -> Option<OneWayDelay> {
    Some(OneWayDelay::from_nanos(1000 * n))
}

/// Sends six chunks, beginning with TSN `first`, alternately on both paths.
fn rig(first: u32) -> Rig {
    let config = Config { timestamps: Timestamps::Metadata, ..cmt(Cmt { dac: false, ..Cmt::default() }) };
    let mut rig = Rig::new(&config, 2, first);
    for p in [P1, P2, P1, P2, P1, P2] {
        rig.transmit(p);
    }
    rig
}

#[test]
fn the_least_delay_of_each_path_counts_until_the_next_acknowledgement() {
    let mut rig = rig(1);
    tell(&mut rig, &[(1, 30), (2, 700), (3, 20), (9, 1)]);
    assert_eq!(told(&rig), [micros(20), micros(700)]);
    rig.sack(0, &[(2, 2)], 0);
    assert_eq!(told(&rig), [micros(20), None]);
}

#[test]
fn a_delay_reported_after_the_cumulative_tsn_passed_its_chunk_counts() {
    for first in [1, u32::MAX - 2] {
        let tsn = |n: u32| first.wrapping_add(n - 1);
        let mut rig = rig(first);
        rig.sack(tsn(4), &[], 0);
        tell(&mut rig, &[(tsn(4), 800), (tsn(2), 900), (tsn(3), 40), (tsn(6), 950)]);
        assert_eq!(told(&rig), [micros(40), micros(800)]);
        // Chunks that were never sent have no path.
        let mut rig = self::rig(first);
        rig.sack(tsn(4), &[], 0);
        tell(&mut rig, &[(first.wrapping_sub(1), 1), (first.wrapping_sub(100_000), 1)]);
        assert_eq!(told(&rig), [None, None]);
    }
}

#[test]
fn the_delay_of_a_retransmitted_chunk_is_ignored() {
    let mut rig = rig(1);
    rig.t3(P2);
    while rig.poll().is_some() {}
    rig.sack(6, &[], 0);
    tell(&mut rig, &[(1, 30), (2, 5)]);
    assert_eq!(told(&rig), [micros(30), None]);
}
