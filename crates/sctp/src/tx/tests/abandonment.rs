//! Tests that abandoned chunks are accounted for, and never sent again.

use super::*;
use crate::config::{Cuc, PathSelection, Reinjection};
use crate::steps;

/// Chunks 1 to `n` are in flight on path 1 and fill its cwnd exactly.
fn flying(config: &Config, n: u64) -> Rig {
    let mut rig = Rig::new(config, 1, 1);
    rig.paths[P1].window.cwnd = ByteCount::new(n * CHUNK);
    (0..n).for_each(|_| rig.transmit(P1));
    rig
}

fn flight(rig: &Rig) -> u64 {
    rig.paths[P1].flight.get() / CHUNK
}

#[test]
fn abandonment_frees_the_send_buffer_and_keeps_the_flight_size() {
    let mut rig = flying(&cmt(Cmt::default()), 3);
    rig.abandon(2);
    rig.abandon(2);
    assert_eq!((flight(&rig), rig.sender.buffered().get()), (3, 2 * CHUNK));
    assert!(!rig.sender.is_drained(), "it is outstanding until the cumulative TSN passes it");
}

#[test]
fn an_abandoned_chunk_leaves_flight_with_credit_when_a_gap_block_acknowledges_it() {
    let mut rig = flying(&cmt(Cmt::default()), 3);
    rig.abandon(2);
    rig.pass(Span::from_millis(50));
    rig.sack(0, &[(2, 2)], 1);
    assert_eq!(flight(&rig), 2);
    assert_eq!(rig.delta[P1].new_bytes.get(), CHUNK);
    assert_eq!(rig.delta[P1].rtt, Some(Span::from_millis(50)));
    assert_eq!(rig.state(2), ChunkState::Acked);
}

// rfc3758#section-3.5, rule A2: a cumulative TSN does not show whether the peer skipped or received chunk 1
#[test]
fn the_cumulative_tsn_passes_an_abandoned_chunk_without_credit() {
    for cuc in [Cuc::Normal, Cuc::V1, Cuc::V2] {
        let mut rig = flying(&cmt(Cmt { cuc, ..Cmt::default() }), 2);
        let cwnd = rig.paths[P1].window.cwnd;
        rig.abandon(1);
        rig.pass(Span::from_millis(50));
        let outcome = rig.sack(1, &[], 1);
        assert_eq!((outcome.advanced, outcome.acked_paths, outcome.timed_paths), (true, 0, 0), "{cuc}");
        assert_eq!((flight(&rig), rig.paths[P1].window.cwnd), (1, cwnd), "{cuc}");
        assert_eq!(rig.paths[P1].rto.srtt(), None, "{cuc}");
        let restarted = rig.now + rig.paths[P1].rto.current();
        assert_eq!(rig.paths[P1].t3, Some(restarted), "{cuc}: the earliest outstanding chunk changed");
        rig.sack(2, &[], 1);
        assert!(rig.sender.is_drained(), "{cuc}");
    }
}

#[test]
fn an_abandoned_chunk_gets_no_missing_reports() {
    for sfr in [false, true] {
        let mut rig = flying(&cmt(Cmt { sfr, dac: sfr, ..Cmt::default() }), 6);
        rig.sack(0, &[(3, 3)], 1);
        assert_eq!((rig.missing(1), rig.missing(2)), (1, 1));
        rig.abandon(1);
        for last in 4..=6 {
            rig.sack(0, &[(3, last)], 1);
        }
        assert_eq!((rig.missing(1), rig.is_lost(1), rig.is_lost(2)), (0, false, true), "SFR {sfr}");
        assert_eq!(flight(&rig), 1, "the abandoned one");
    }
}

// rfc3758#section-3.5, rule F5
#[test]
fn a_t3_expiry_cuts_the_window_and_takes_abandoned_chunks_from_flight() {
    let mut rig = flying(&cmt(Cmt::default()), 3);
    rig.abandon(1);
    rig.abandon(3);
    rig.pass(Span::from_secs(5));
    rig.t3(P1);
    assert_eq!((flight(&rig), rig.paths[P1].window.cwnd.get()), (0, 1500));
    assert_eq!([1, 2, 3].map(|tsn| rig.is_lost(tsn)), [false, true, false]);
    assert_eq!(rig.poll(), Some((P1, vec![2])));
    assert_eq!(rig.poll(), None);
    rig.sack(3, &[], 1);
    assert!(rig.sender.is_drained());
}

#[test]
fn a_lost_chunk_that_is_abandoned_is_not_retransmitted() {
    let mut rig = flying(&cmt(Cmt::default()), 2);
    rig.pass(Span::from_secs(5));
    rig.t3(P1);
    rig.abandon(1);
    assert_eq!(rig.poll(), Some((P1, vec![2])));
    rig.sack(0, &[(2, 2)], 1);
    assert_eq!(rig.state(1), ChunkState::Abandoned);
    assert_eq!(rig.poll(), None);
    // The first transmission arrives after all: it was only delayed.
    rig.sack(2, &[], 1);
    assert!(rig.sender.is_drained());
}

#[test]
fn t3_stops_when_the_last_lost_chunk_is_abandoned() {
    let mut rig = flying(&cmt(Cmt::default()), 1);
    rig.paths[P1].t3 = None;
    rig.sender.mark_lost(rig.index(1), crate::LossTrigger::MissingReports, &mut rig.paths);
    rig.paths[P1].t3 = Some(rig.now);
    rig.abandon(1);
    assert_eq!((rig.paths[P1].t3, rig.sender.peer.lost_chunks()), (None, 0));
}

// rfc9260#section-6.2.1, step D iii
#[test]
fn a_reneged_chunk_that_was_abandoned_is_in_flight_again_and_not_sent_again() {
    for abandoned_before in [true, false] {
        let mut rig = flying(&cmt(Cmt::default()), 2);
        if abandoned_before {
            rig.abandon(2);
        }
        rig.sack(0, &[(2, 2)], 1);
        rig.abandon(2);
        rig.sack(0, &[], 1);
        assert_eq!((rig.state(2), flight(&rig)), (ChunkState::InFlight, 2));
        rig.pass(Span::from_secs(5));
        rig.t3(P1);
        assert_eq!(rig.poll(), Some((P1, vec![1])));
        rig.sack(2, &[], 1);
        assert!(rig.sender.is_drained());
    }
}

#[test]
fn what_the_peer_has_for_good_cannot_be_abandoned_and_an_abandoned_chunk_can_be_kept_for_good() {
    let mut rig = flying(&cmt(Cmt::default()), 3);
    rig.abandon(3);
    rig.nr_sack(0, &[], &[(2, 3)]);
    rig.abandon(2);
    assert_eq!([rig.state(2), rig.state(3)], [ChunkState::Freed; 2]);
    assert_eq!(rig.sender.buffered().get(), CHUNK);
    rig.nr_sack(3, &[], &[]);
    assert!(rig.sender.is_drained());
}

#[test]
fn the_pseudo_cumulative_tsn_is_looked_for_again_when_an_abandoned_chunk_is_lost() {
    for cuc in [Cuc::V1, Cuc::V2] {
        let mut rig = flying(&cmt(Cmt { cuc, rtt_heuristic: true, ..Cmt::default() }), 4);
        let srtt = Span::from_millis(100);
        rig.paths[P1].rto.sample(Instant::ZERO, srtt, &Config::default());
        rig.sack(0, &[(4, 4)], 1);
        assert_eq!(rig.paths[P1].cuc.pc, Some(rig.index(1)), "{cuc}");
        rig.pass(srtt * 2);
        rig.abandon(1);
        rig.t3(P1);
        assert_eq!(rig.state(1), ChunkState::Abandoned);
        rig.sack(0, &[(3, 4)], 1);
        assert_eq!(rig.paths[P1].cuc.pc, Some(rig.index(2)), "{cuc}");
    }
}

#[test]
fn no_copies_are_sent_of_an_abandoned_chunk() {
    let options =
        Cmt { path_selection: PathSelection::LowestRtt, reinjection: Reinjection::Silent, ..Cmt::default() };
    let mut rig = Rig::new(&cmt(options), 2, 1);
    rig.transmit(P1);
    rig.transmit(P1);
    rig.abandon(1);
    rig.pass(Span::from_secs(1));
    rig.paths[P1].liveness.set(Life::Silent);
    rig.pass(Span::ZERO);
    assert_eq!(rig.poll(), Some((P2, vec![2])));
    assert_eq!(rig.poll(), None);
}

/// Missing reports visit only the list of chunks sent once. This list contains no abandoned chunks.
#[test]
fn many_abandoned_chunks_in_flight_cost_a_sack_nothing() {
    let mut rig = flying(&cmt(Cmt::default()), 20_000);
    for tsn in 1..=10_000 {
        rig.sender.abandon(rig.index(tsn), &mut rig.paths);
    }
    for last in 15_000..15_100 {
        let (any, paid) = steps::taken(|| {
            rig.sack(0, &[(14_900, last)], 1);
        });
        assert!(any < 100, "{any} steps");
        assert!(last < 15_003 || paid < 10, "{paid} steps paid for");
    }
    assert_eq!((rig.missing(10_000), rig.is_lost(10_001)), (0, true));
}
