//! Tests time-based loss detection with results calculated by hand. The least RTT is 100 ms, and the
//! reordering window 25 ms.

use super::*;
use crate::config::{LossDetection, RtxPolicy};
use cc::CongestionWindow;

fn same() -> Cmt {
    Cmt { rtx: RtxPolicy::Same, ..Cmt::default() }
}

fn config(options: Cmt) -> Config {
    Config { loss_detection: LossDetection::Rack, rto_min: ms(1000), ..cmt(options) }
}

const BEFORE: CongestionWindow =
    CongestionWindow { cwnd: ByteCount::new(100_000), ssthresh: Some(ByteCount::new(50_000)) };

/// Both paths have measured an RTT of 100 ms, with TSNs 0 and 1.
fn measured() -> Rig {
    measured_with(same())
}

fn measured_with(options: Cmt) -> Rig {
    let mut rig = Rig::new(&config(options), 2, 0);
    rig.transmit(P1);
    rig.transmit(P2);
    rig.pass(ms(100));
    rig.sack(1, &[], 1);
    for p in [P1, P2] {
        rig.paths[p].window = BEFORE;
    }
    rig
}

/// As `measured`, but TSN 3 arrived after TSN 4: the sender has seen reordering on the first path.
fn reordering() -> Rig {
    let mut rig = measured();
    for _ in 2..=4 {
        rig.transmit(P1);
        rig.pass(ms(1));
    }
    rig.pass(ms(100));
    rig.sack(2, &[(4, 4)], 1);
    rig.sack(4, &[], 1);
    rig
}

/// Sends `count` chunks on the first path, one each millisecond, and lets 100 ms pass.
fn transmit(rig: &mut Rig, count: u32) {
    for _ in 0..count {
        rig.transmit(P1);
        rig.pass(ms(1));
    }
    rig.pass(ms(100));
}

fn deadline(rig: &Rig, p: PathId) -> Option<Instant> {
    rig.paths[p].rack.as_ref().unwrap().deadline()
}

// rfc8985#section-6.2, step 5
#[test]
fn a_chunk_is_lost_once_it_is_behind_by_the_reordering_window() {
    for (behind, lost) in [(24, false), (25, true)] {
        let mut rig = measured();
        rig.transmit(P1);
        rig.pass(ms(behind));
        rig.transmit(P1);
        rig.pass(ms(100));
        rig.sack(1, &[(3, 3)], 1);
        assert_eq!(rig.is_lost(2), lost, "{behind} ms");
        assert_eq!(deadline(&rig, P1).is_some(), !lost);
    }
}

// rfc8985#section-6.2, step 5
#[test]
fn without_another_sack_the_reordering_timer_finds_the_loss() {
    let mut rig = measured();
    transmit(&mut rig, 2);
    rig.sack(1, &[(3, 3)], 1);
    let due = deadline(&rig, P1).unwrap();
    // TSN 2 was sent 102 ms ago. It is late 101 ms (RTT of TSN 3) + 25 ms (reordering window) after that
    // time: 24 ms from now.
    assert_eq!(due, rig.now + ms(24));
    rig.now = due;
    rig.sender.on_reordering_timeout(due, P1, &mut rig.paths);
    assert!(rig.is_lost(2));
    assert_eq!((rig.paths[P1].stats.fast_recoveries, deadline(&rig, P1)), (1, None));
    assert_eq!(rig.poll(), Some((P1, vec![2])));
}

// rfc8985#section-6.2, step 4: three missing reports suffice until reordering is seen
#[test]
fn reports_count_until_chunks_overtake_each_other() {
    for (mut rig, first, lost) in [(measured(), 2, true), (reordering(), 5, false)] {
        transmit(&mut rig, 5);
        for last in first + 1..=first + 3 {
            rig.sack(first - 1, &[(first + 1, last)], 1);
        }
        assert_eq!(rig.is_lost(first), lost);
    }
}

#[test]
fn a_chunk_is_not_behind_those_of_another_path() {
    let mut rig = measured();
    rig.transmit(P1);
    rig.pass(ms(50));
    rig.transmit(P2);
    rig.pass(ms(100));
    rig.sack(1, &[(3, 3)], 1);
    assert!(!rig.is_lost(2));
    assert_eq!(deadline(&rig, P1), None);
}

/// Lets the first of four chunks be lost, which cuts cwnd; returns its TSN.
fn cut(rig: &mut Rig) -> u32 {
    let first = rig.sender.next_tsn().0;
    transmit(rig, 4);
    for last in first + 1..=first + 3 {
        rig.sack(first - 1, &[(first + 1, last)], 1);
    }
    assert!(rig.is_lost(first));
    assert!(rig.paths[P1].window.cwnd < BEFORE.cwnd);
    first
}

fn undone(rig: &Rig) -> bool {
    let path = &rig.paths[P1];
    assert_eq!(path.stats.undone_recoveries > 0, path.window == BEFORE);
    path.stats.undone_recoveries > 0 && path.recovery.is_none()
}

#[test]
fn a_lost_chunk_that_is_acknowledged_before_it_is_sent_again_was_not_lost() {
    let mut rig = measured();
    let first = cut(&mut rig);
    rig.sack(first + 3, &[], 1);
    assert!(undone(&rig));
    assert_eq!(rig.paths[P1].stats.needless_retransmissions, 1);
}

// rfc8985#section-6.2, step 2; rfc4015#section-3.2
#[test]
fn an_acknowledgement_sooner_than_the_least_rtt_is_that_of_the_first_transmission() {
    for (after, needless) in [(99, true), (100, false)] {
        let mut rig = measured();
        let first = cut(&mut rig);
        assert_eq!(rig.poll(), Some((P1, vec![first])));
        rig.pass(ms(after));
        rig.sack(first + 3, &[], 1);
        assert_eq!(undone(&rig), needless, "{after} ms");
    }
}

// rfc8985#section-6.2, rfc4015#section-3.2: duplicate TSNs in SCTP correspond to DSACK in TCP
#[test]
fn a_duplicate_of_a_retransmitted_chunk_undoes_the_recovery() {
    let mut rig = measured();
    let first = cut(&mut rig);
    assert_eq!(rig.poll(), Some((P1, vec![first])));
    rig.pass(ms(120));
    rig.sack(first + 3, &[], 1);
    assert!(!undone(&rig), "either transmission may have arrived");
    rig.duplicates(first + 3, &[first + 1]);
    assert!(!undone(&rig), "a duplicate that the network made");
    rig.duplicates(first + 3, &[first]);
    assert!(undone(&rig));
    // After one needless retransmission the reordering window is 50 ms.
    rig.transmit(P1);
    rig.pass(ms(49));
    rig.transmit(P1);
    rig.pass(ms(100));
    rig.sack(first + 3, &[(first + 5, first + 5)], 1);
    assert!(!rig.is_lost(first + 4));
}

#[test]
fn a_recovery_from_a_loss_among_late_chunks_is_not_undone() {
    let mut rig = measured();
    transmit(&mut rig, 5);
    for last in 4..=6 {
        rig.sack(1, &[(4, last)], 1);
    }
    assert!(rig.is_lost(2) && rig.is_lost(3));
    rig.sack(2, &[(4, 6)], 1);
    assert_eq!(rig.paths[P1].stats.needless_retransmissions, 1);
    assert!(!undone(&rig));
}

#[test]
fn a_timeout_is_not_undone() {
    let mut rig = measured();
    let first = cut(&mut rig);
    rig.t3(P1);
    rig.sack(first + 3, &[], 1);
    assert_eq!(rig.paths[P1].stats.undone_recoveries, 0);
}

// rfc8985#section-6.2, step 4. False reports of duplicates by a peer have no larger effect.
#[test]
fn the_window_grows_once_a_round_trip_up_to_an_srtt() {
    let mut rig = measured();
    let window = |rig: &Rig| {
        let path = &rig.paths[P1];
        path.reordering_window(path.rack.as_ref().unwrap())
    };
    for round in 2..10 {
        let first = rig.sender.next_tsn().0;
        transmit(&mut rig, 2);
        let i = rig.index(first);
        for chunk in [i, i + 1] {
            let path = &mut rig.paths[P1];
            let rack = path.rack.as_mut().unwrap();
            rack.needless(chunk, u32::MAX, rig.sender.out.next_index());
        }
        let srtt = rig.paths[P1].rto.srtt().unwrap();
        assert_eq!(window(&rig), (ms(25) * round).min(srtt));
        rig.sack(first + 1, &[], 1);
    }
}

// rfc8985#section-6.2, step 4
#[test]
fn after_16_recoveries_without_needless_ones_the_window_is_small_again() {
    let mut rack = crate::path::Rack::new(5);
    rack.needless(5, 1, 10);
    for recoveries in 1..=16 {
        assert_eq!(rack.quarters(), 2);
        rack.recovered();
        assert_eq!(rack.quarters() == 1, recoveries == 16);
    }
}

// rfc9260#section-6.2.1, step D iii: an older SACK may have arrived late
#[test]
fn a_chunk_that_a_sack_withdraws_is_not_lost_at_once() {
    let mut rig = reordering();
    transmit(&mut rig, 40);
    rig.sack(4, &[(6, 44)], 1);
    assert!(rig.is_lost(5));
    rig.sack(4, &[(8, 44)], 1);
    assert!(!rig.is_lost(6) && !rig.is_lost(7));
    rig.sack(4, &[(6, 44)], 1);
    rig.pass(ms(500));
    rig.sack(4, &[(7, 44)], 1);
    rig.pass(ms(500));
    rig.transmit(P1);
    rig.pass(ms(100));
    rig.sack(4, &[(7, 45)], 1);
    assert!(rig.is_lost(6));
}

// rfc8985#section-6.2: the loss of a retransmission is detected like that of a first transmission.
#[test]
fn a_retransmission_is_lost_again_once_it_is_behind() {
    let mut rig = measured();
    let first = cut(&mut rig);
    assert_eq!(rig.poll(), Some((P1, vec![first])));
    let again = rig.now;
    rig.pass(ms(30));
    rig.transmit(P1);
    rig.pass(ms(100));
    rig.sack(first - 1, &[(first + 1, first + 4)], 1);
    assert!(rig.is_lost(first), "{:?}", again);
}

// A receiver may omit non-renegable blocks that it reported in an earlier NR-SACK.
#[test]
fn what_an_overtaken_nr_sack_says_for_good_counts() {
    for lean_sacks in [true, false] {
        let mut rig = Rig::new(&Config { lean_sacks, ..config(same()) }, 1, 0);
        (0..6).for_each(|_| rig.transmit(P1));
        rig.pass(ms(100));
        rig.nr_sack(1, &[], &[(3, 3)]);
        rig.nr_sack(0, &[(5, 5)], &[(4, 4)]);
        assert_eq!(rig.state(3), ChunkState::Freed);
        assert_eq!(rig.state(4) == ChunkState::Freed, lean_sacks);
        assert_eq!((rig.state(2), rig.state(5)), (ChunkState::InFlight, ChunkState::InFlight));
        rig.nr_sack(2, &[], &[]);
        assert_eq!(rig.state(4) == ChunkState::Freed, lean_sacks, "left out, but not withdrawn");
    }
}

/// Both chunks in flight were retransmitted after a timeout, 30 ms apart. If the second chunk is acknowledged
/// after the least RTT or later, the first chunk is late (`rfc8985#section-6.2`, step 2).
#[test]
fn among_retransmissions_alone_one_shows_that_another_is_lost() {
    for (after, lost) in [(100, true), (99, false)] {
        let mut rig = measured();
        transmit(&mut rig, 2);
        rig.pass(ms(1000));
        rig.t3(P1);
        (rig.paths[P1].window, rig.paths[P1].timed_out) = (BEFORE, false);
        assert_eq!(rig.poll(), Some((P1, vec![2])));
        rig.pass(ms(30));
        assert_eq!(rig.poll(), Some((P1, vec![3])));
        rig.pass(ms(after));
        rig.sack(1, &[(3, 3)], 1);
        assert_eq!(rig.is_lost(2), lost, "{after} ms");
    }
}

/// In recovery no cwnd grows. After an answered heartbeat a path is in slow start (rfc7829#section-5.1).
#[test]
fn a_path_that_answers_again_is_not_in_recovery() {
    let mut rig = measured();
    transmit(&mut rig, 6);
    for last in 3..=5 {
        rig.sack(1, &[(3, last)], 1);
    }
    assert!(rig.is_lost(2) && rig.paths[P1].recovery.is_some());
    rig.sender.on_path_back(rig.now, P1, &mut rig.paths);
    assert_eq!((rig.paths[P1].window.cwnd.get(), rig.paths[P1].recovery), (2 * 1500, None));
}
