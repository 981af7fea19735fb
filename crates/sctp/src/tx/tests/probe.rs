//! Tests tail loss probes.

use super::*;
use crate::config::{LossDetection, Reinjection};

/// A sender with time-based loss detection and one path: RTT 40 ms, cwnd of ten chunks.
fn alone() -> Rig {
    let config = Config {
        loss_detection: LossDetection::Rack,
        ..cmt(Cmt { reinjection: Reinjection::Both, ..Cmt::default() })
    };
    let mut rig = Rig::new(&config, 1, 1);
    rig.paths[P1].rto.sample(Instant::ZERO, ms(40), &config);
    rig.paths[P1].window.cwnd = ByteCount::new(10 * CHUNK);
    rig
}

fn send(rig: &mut Rig, chunks: usize) {
    for _ in 0..chunks {
        rig.push(Message { unordered: true, ..Message::new(Payload::Filler(CHUNK as u32)) }).unwrap();
        assert!(rig.poll().is_some());
    }
}

/// The first chunk is overdue after 1.25 SRTT + 4 RTTVAR = 130 ms.
// rfc8985#section-7.3
#[test]
fn the_last_path_sends_one_probe() {
    let mut rig = alone();
    send(&mut rig, 3);
    let at = rig.paths[P1].liveness.deadline().expect("a probe is due");
    assert_eq!(at.since(rig.now), ms(130));
    rig.pass(ms(130));
    assert!(!rig.sender.fall_silent(rig.now, P1, &mut rig.paths));
    assert_eq!((rig.poll(), rig.poll()), (Some((P1, vec![3])), None));
    assert_eq!(rig.paths[P1].liveness.deadline(), None, "T3 is left");
    rig.audit();
}

/// Chunks 1 and 2 are lost, and chunk 3 or its SACK, too. The probe repeats chunk 3 and shows the losses.
#[test]
fn a_probe_shows_what_else_was_lost() {
    let mut rig = alone();
    send(&mut rig, 3);
    rig.pass(ms(160));
    rig.sender.fall_silent(rig.now, P1, &mut rig.paths);
    assert_eq!(rig.poll(), Some((P1, vec![3])));
    rig.pass(ms(40));
    rig.sack(0, &[(3, 3)], 1);
    assert_eq!([1, 2].map(|tsn| rig.is_lost(tsn)), [true, true]);
    assert_eq!(rig.paths[P1].stats.fast_recoveries, 1);
    rig.audit();
}

/// If only a probe delivered a chunk, the chunk had been lost, unless the SACK reports a duplicate.
#[test]
fn the_window_is_cut_for_a_chunk_that_a_probe_repaired() {
    for (duplicates, cut) in [(&[][..], true), (&[1], false)] {
        let mut rig = alone();
        send(&mut rig, 1);
        let at = rig.paths[P1].liveness.deadline().expect("a probe is due");
        rig.pass(at.since(rig.now));
        rig.sender.fall_silent(rig.now, P1, &mut rig.paths);
        assert_eq!(rig.poll(), Some((P1, vec![1])));
        rig.pass(ms(40));
        rig.duplicates(1, duplicates);
        let kept = rig.paths[P1].window.cwnd >= ByteCount::new(10 * CHUNK);
        assert_eq!(kept, !cut, "duplicates {duplicates:?}");
    }
}

/// Chunk 1 was retransmitted before the probe. The probe carries chunk 2, so it did not repair chunk 1.
#[test]
fn the_window_is_not_cut_for_what_was_sent_again_before_the_probe() {
    let mut rig = alone();
    send(&mut rig, 1);
    rig.sender.mark_lost(rig.index(1), crate::LossTrigger::MissingReports, &mut rig.paths);
    assert_eq!(rig.poll(), Some((P1, vec![1])));
    rig.pass(ms(1));
    send(&mut rig, 1);
    let at = rig.paths[P1].liveness.deadline().expect("a probe is due");
    rig.pass(at.since(rig.now));
    rig.sender.fall_silent(rig.now, P1, &mut rig.paths);
    assert_eq!(rig.poll(), Some((P1, vec![2])));
    rig.pass(ms(40));
    rig.sack(1, &[], 1);
    assert_eq!(rig.paths[P1].stats.fast_recoveries, 0);
}
