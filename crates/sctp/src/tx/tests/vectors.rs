//! Tests worked examples of the papers (numbered as in the folder `papers`) and the RFCs.

use super::*;
use crate::config::{BufferSide, Cuc, RtxPolicy, SplitBy};
use crate::draws::Draws;
use crate::multipath::{retransmission, splitting};
use crate::path::LossCause;

fn new_chunks(rig: &Rig, p: PathId) -> u64 {
    rig.delta[p].new_bytes.get() / CHUNK
}

fn next_pc(rig: &Rig, p: PathId) -> Option<u32> {
    rig.paths[p].cuc.pc.map(|i| i as u32)
}

/// Paper 001, figure 3: chunks on different paths overtake each other.
#[test]
fn split_fast_retransmission_ignores_reordering_between_paths() {
    let run = |sfr| {
        let mut rig = Rig::new(&cmt(Cmt { sfr, dac: false, ..Cmt::default() }), 2, 9);
        for p in [P1, P2, P2, P2] {
            rig.transmit(p);
        }
        rig.sack(8, &[(10, 10)], 0);
        rig.sack(8, &[(10, 11)], 0);
        rig.sack(8, &[(10, 12)], 0);
        rig
    };
    let mut rig = run(true);
    assert_eq!(rig.missing(9), 0);
    assert!(!rig.is_lost(9));
    rig.transmit(P1);
    rig.sack(8, &[(10, 13)], 0);
    assert_eq!(rig.missing(9), 1);

    let rig = run(false);
    assert!(rig.is_lost(9), "without SFR: a spurious fast retransmission");
    assert!(rig.paths[P1].recovery.is_some());
}

/// Paper 001, figure 4: the paths whose cwnd may grow.
#[test]
fn congestion_window_update_follows_each_path() {
    for (cuc, p2_grows) in [(Cuc::V2, true), (Cuc::V1, true), (Cuc::Normal, false)] {
        let mut rig = Rig::new(&cmt(Cmt { cuc, ..Cmt::default() }), 2, 13);
        for p in [P1, P1, P2, P2, P2, P2] {
            rig.transmit(p);
        }
        rig.sack(13, &[(15, 16), (18, 18)], 2);
        let grew = |p: PathId| match cuc {
            Cuc::Normal => rig.delta[p].new_cum,
            Cuc::V1 | Cuc::V2 => rig.delta[p].new_pc,
        };
        assert_eq!((grew(P1), grew(P2)), (true, p2_grows), "{cuc}");
        assert_eq!((new_chunks(&rig, P1), new_chunks(&rig, P2)), (1, 3), "{cuc}");
        if cuc != Cuc::Normal {
            assert_eq!((next_pc(&rig, P1), next_pc(&rig, P2)), (Some(14), Some(17)), "{cuc}");
        }
    }
}

/// With the growth rule of RFC 4960, cwnd of a path grows only if CUC detects that its pseudo-cumulative TSN
/// advances.
#[test]
fn windows_grow_on_paths_whose_pseudo_cumulative_tsn_advances() {
    let grown = |cuc| {
        let mut rig = Rig::new(&cmt(Cmt { cuc, ..Cmt::default() }), 2, 13);
        for p in [P1, P1, P1, P1, P2, P2, P2, P2] {
            rig.transmit(p);
        }
        let before = [rig.paths[P1].window.cwnd, rig.paths[P2].window.cwnd];
        rig.sack(13, &[(17, 18), (20, 20)], 2);
        [rig.paths[P1].window.cwnd > before[0], rig.paths[P2].window.cwnd > before[1]]
    };
    assert_eq!(grown(Cuc::V2), [true, true]);
    assert_eq!(grown(Cuc::V1), [true, true]);
    assert_eq!(grown(Cuc::Normal), [true, false]);
}

/// TSN 20 is lost on path 1 and retransmitted on path 2.
#[test]
fn pseudo_cumulative_tsns_survive_a_move_to_another_path() {
    for cuc in [Cuc::V1, Cuc::V2] {
        let mut rig = Rig::new(&cmt(Cmt { cuc, ..Cmt::default() }), 2, 20);
        rig.transmit(P1);
        rig.pass(Span::from_millis(1));
        rig.transmit(P1);
        rig.pass(Span::from_secs(2));
        rig.t3(P1);
        assert_eq!(rig.poll(), Some((P2, vec![20])), "after a timeout on the other path");
        rig.sack(19, &[(21, 21)], 2);
        assert!(rig.delta[P1].new_pc || rig.delta[P1].new_rpc, "{cuc}: path 1 goes on without 20");
        if cuc == Cuc::V2 {
            assert_eq!(rig.paths[P2].cuc.rpc.map(|i| i as u32), Some(20));
        }
    }
}

/// Paper 001, figure 5: a delayed SACK counts as one missing report for each packet that it acknowledges.
#[test]
fn delayed_acknowledgement_finds_the_loss_as_early_as_without_delay() {
    let mut rig = Rig::new(&cmt(Cmt::default()), 2, 19);
    for p in [P1, P2, P2, P2, P2] {
        rig.transmit(p);
    }
    // The SACK newly acknowledges chunk 19 of path 1 and chunk 21 of path 2: with chunks of two paths, it
    // counts as one missing report.
    rig.sack(19, &[(21, 21)], 2);
    assert_eq!(rig.missing(20), 1);
    assert!(!rig.is_lost(20));
    rig.sack(19, &[(21, 23)], 2);
    assert!(rig.is_lost(20), "the second SACK brings the count to 3");
    assert_eq!(rig.poll(), Some((P2, vec![20])));
}

/// Retransmission policies. In packets, paths 1 and 2 have cwnd 30 and 10, ssthresh 5 and 20, flight size 30
/// and 2. The chunk was lost on path 2.
#[test]
fn retransmission_policies_choose_their_path() {
    let config = cmt(Cmt::default());
    let mut rig = Rig::new(&config, 2, 1);
    let m = |n: u64| ByteCount::new(1500 * n);
    for (p, c, s, flight) in [(P1, 30, 5, 30), (P2, 10, 20, 2)] {
        let path = &mut rig.paths[p];
        path.window = cc::CongestionWindow { cwnd: m(c), ssthresh: Some(m(s)) };
        path.flight = m(flight);
        path.loss_rate = if p == P1 { 0.1 } else { 0.2 };
    }
    let mut random = Draws::new(1);
    let mut target = |policy, paths: &Paths| {
        retransmission::target(policy, P2, LossCause::FastRetransmit, ByteCount::ZERO, paths, &mut random)
    };
    assert_eq!(target(RtxPolicy::Same, &rig.paths), Some(P2));
    assert_eq!(target(RtxPolicy::Cwnd, &rig.paths), Some(P1));
    assert!(rig.paths[P1].space().is_zero(), "and there it has to wait");
    assert_eq!(target(RtxPolicy::Ssthresh, &rig.paths), Some(P2));
    assert_eq!(target(RtxPolicy::Asap, &rig.paths), Some(P2));
    assert_eq!(target(RtxPolicy::LossRate, &rig.paths), Some(P1));
    assert_eq!(target(RtxPolicy::Alternate, &rig.paths), Some(P2));
    let after_timeout = retransmission::target(
        RtxPolicy::Alternate,
        P2,
        LossCause::Timeout,
        ByteCount::ZERO,
        &rig.paths,
        &mut random,
    );
    assert_eq!(after_timeout, Some(P1));
    rig.paths[P1].state = PathState::Inactive;
    let mut random = Draws::new(1);
    let without_p1 = retransmission::target(
        RtxPolicy::Cwnd,
        P2,
        LossCause::FastRetransmit,
        ByteCount::ZERO,
        &rig.paths,
        &mut random,
    );
    assert_eq!(without_p1, Some(P2));
}

/// The time in which a path delivers the lost packets, plus RTTVAR/2. For 100 packets, path 1 (cwnd of ten
/// packets, RTT 40 ms) needs 400 ms + 20/2 ms, and path 2 (two packets, 20 ms) needs 1000 ms + 10/2 ms. One
/// packet takes at least an RTT: 40 + 10 ms on path 1, and 20 + 5 ms on path 2.
#[test]
fn lost_chunks_go_where_the_last_of_them_is_acknowledged_first() {
    let config = cmt(Cmt::default());
    let mut rig = Rig::new(&config, 2, 1);
    let m = |n: u64| ByteCount::new(1500 * n);
    for (p, rtt, cwnd) in [(P1, 40, 10), (P2, 20, 2)] {
        let path = &mut rig.paths[p];
        path.rto.sample(Instant::ZERO, Span::from_millis(rtt), &config);
        path.window.cwnd = m(cwnd);
    }
    let time = |p: PathId, lost| {
        let path = &rig.paths[p];
        (path.time_for(m(lost), path.window_rate()).unwrap() * 1e3).round()
    };
    assert_eq!([time(P1, 100), time(P2, 100)], [410.0, 1005.0]);
    assert_eq!([time(P1, 1), time(P2, 1)], [50.0, 25.0]);
    let mut random = Draws::new(1);
    let cause = LossCause::FastRetransmit;
    let target = |lost, random: &mut Draws| {
        retransmission::target(RtxPolicy::Fastest, P2, cause, m(lost), &rig.paths, random)
    };
    assert_eq!([target(100, &mut random), target(1, &mut random)], [Some(P1), Some(P2)]);
}

/// Fast recovery of path 1. The odd TSNs 5 to 15 are on path 1, the others on path 2; 5, 6 and 13 are lost.
#[test]
fn fast_recovery_cuts_once_and_ends_by_the_tsns_of_its_path() {
    for recovery_by_cuc in [true, false] {
        let mut rig = Rig::new(&cmt(Cmt { recovery_by_cuc, ..Cmt::default() }), 2, 5);
        rig.paths[P1].window.cwnd = ByteCount::new(40_000);
        for tsn in 5..=15 {
            rig.transmit(if tsn % 2 == 1 { P1 } else { P2 });
        }
        rig.sack(4, &[(7, 7)], 1);
        rig.sack(4, &[(7, 7), (9, 9)], 1);
        assert!(rig.paths[P1].recovery.is_none());
        rig.sack(4, &[(7, 7), (9, 9), (11, 11)], 1);
        assert_eq!(rig.paths[P1].recovery, Some(rig.index(15)));
        let cut = rig.paths[P1].window;
        assert_eq!(cut.cwnd, ByteCount::new(20_000));
        assert_eq!(rig.poll(), Some((P1, vec![5])), "one packet whatever the window");

        rig.sack(4, &[(7, 7), (9, 9), (11, 11), (15, 15)], 3);
        assert!(rig.is_lost(13), "13 is lost as well");
        assert_eq!(rig.paths[P1].window, cut, "but there is no second cut");
        assert_eq!(rig.paths[P1].stats.fast_recoveries, 1);
        assert_eq!(rig.poll(), Some((P1, vec![13])));

        rig.sack(5, &[(7, 7), (9, 9), (11, 11), (13, 13), (15, 15)], 2);
        assert_eq!(rig.paths[P1].recovery.is_none(), recovery_by_cuc, "6 of path 2 is still missing");
        rig.sack(15, &[], 2);
        assert!(rig.paths[P1].recovery.is_none());
    }
}

/// A timed-out chunk is retransmitted on a new path. The acknowledgement may be for the first transmission,
/// and proves nothing about the new path.
#[test]
fn a_timed_out_chunk_is_no_evidence_on_its_new_path() {
    let mut rig = Rig::new(&cmt(Cmt::default()), 2, 19);
    rig.transmit(P2);
    rig.transmit(P1);
    rig.pass(Span::from_secs(2));
    rig.t3(P1);
    assert_eq!(rig.poll(), Some((P2, vec![20])));
    rig.sack(18, &[(20, 20)], 1);
    assert_eq!(rig.delta[P2].hi, None);
    assert_eq!(new_chunks(&rig, P2), 1);
    assert_eq!(rig.missing(19), 0);
}

/// `rfc9260#section-6.2.1`: a SACK that no longer reports an acknowledged chunk reneges on it.
#[test]
fn reneging_puts_the_chunk_in_flight_again_and_credits_it_once() {
    let mut rig = Rig::new(&cmt(Cmt::default()), 1, 10);
    for _ in 0..4 {
        rig.transmit(P1);
    }
    rig.sack(9, &[(11, 13)], 1);
    assert_eq!(rig.paths[P1].flight.get(), CHUNK);
    rig.sack(9, &[(11, 12)], 1);
    assert_eq!(rig.paths[P1].flight.get(), 2 * CHUNK);
    assert_eq!(rig.missing(13), 1);
    rig.sack(13, &[], 1);
    assert_eq!(new_chunks(&rig, P1), 1, "13 was credited before");
}

/// `rfc9260#section-6.2.1`: acknowledgements that violate the protocol.
#[test]
fn acknowledgements_of_tsns_never_sent_are_violations() {
    let mut rig = Rig::new(&cmt(Cmt::default()), 1, 0xFFFF_FFFE);
    for _ in 0..3 {
        rig.transmit(P1);
    }
    assert!(rig.try_sack(1, &[], 1, 100).is_err());
    assert!(rig.try_sack(0xFFFF_FFFD, &[(0, 1)], 1, 100).is_err());
    assert!(rig.try_sack(0xFFFF_FFFD, &[(0, 1), (0xFFFF_FFFF, 0xFFFF_FFFF)], 1, 100).is_err());
    assert_eq!(
        rig.try_sack(0, &[], 1, 1 << 30),
        Ok(SackOutcome { acked_paths: 1, timed_paths: 1, advanced: true })
    );
    assert_eq!(rig.try_sack(0xFFFF_FFFE, &[], 1, 100), Ok(SackOutcome::default()), "an old one is ignored");
    assert!(rig.sender.is_drained());
}

/// `rfc9260#section-6.1`, rule A: a closed receive window allows one chunk, and only one.
#[test]
fn a_closed_window_is_probed_with_one_chunk() {
    let mut rig = Rig::new(&cmt(Cmt::default()), 1, 1);
    rig.transmit(P1);
    for _ in 0..3 {
        rig.push(Message::new(Payload::Filler(CHUNK as u32))).unwrap();
    }
    rig.pass(Span::from_millis(10));
    rig.try_sack(1, &[], 1, 0).unwrap();
    assert_eq!(rig.poll(), Some((P1, vec![2])));
    assert_eq!(rig.poll(), None);
    rig.pass(Span::from_secs(1));
    rig.try_sack(1, &[], 1, 0).unwrap();
    let outcome = rig.sender.on_t3(rig.now, P1, &mut rig.paths);
    assert!(!outcome.counts_as_error, "the peer answers");
    assert_eq!(rig.poll(), Some((P1, vec![2])));
    rig.pass(Span::from_secs(2));
    let outcome = rig.sender.on_t3(rig.now, P1, &mut rig.paths);
    assert!(outcome.counts_as_error, "the peer is silent");
}

/// `rfc9260#section-7.2.3`: after a timeout one packet is in flight until a chunk is acknowledged.
#[test]
fn after_a_timeout_one_packet_is_in_flight() {
    let mut rig = Rig::new(&cmt(Cmt { rtt_heuristic: false, ..Cmt::default() }), 1, 1);
    for _ in 0..4 {
        rig.transmit(P1);
    }
    rig.pass(Span::from_secs(1));
    rig.t3(P1);
    assert_eq!(rig.paths[P1].window.cwnd.get(), 1500);
    assert_eq!(rig.poll(), Some((P1, vec![1])));
    assert_eq!(rig.poll(), None);
    rig.pass(Span::from_millis(10));
    rig.sack(1, &[], 1);
    assert!(rig.poll().is_some());
}

/// `rfc9260#section-6.3.2`, rule R3: only the acknowledgement of the earliest outstanding chunk restarts
/// T3-rtx. Later chunks that arrive must not delay the timeout of a lost fast retransmission.
#[test]
fn a_lost_retransmission_times_out_though_later_chunks_arrive() {
    let mut rig = Rig::new(&cmt(Cmt::default()), 1, 1);
    rig.paths[P1].window.cwnd = ByteCount::new(100_000);
    for _ in 0..4 {
        rig.transmit(P1);
    }
    rig.sack(0, &[(2, 4)], 3);
    assert_eq!(rig.poll(), Some((P1, vec![1])));
    let due = rig.paths[P1].t3;
    for tsn in 5..30 {
        rig.pass(Span::from_millis(10));
        rig.transmit(P1);
        rig.sack(0, &[(2, tsn)], 1);
    }
    assert_eq!(rig.paths[P1].t3, due);
}

/// `rfc9260#section-7.2.1`: the cwnd of a path without data is halved for each RTO, down to four segments,
/// whether or not the path sends again.
#[test]
fn the_cwnd_of_an_idle_path_decays_every_rto() {
    let mut rig = Rig::new(&cmt(Cmt::default()), 2, 1);
    rig.transmit(P2);
    rig.pass(Span::from_millis(2));
    rig.sack(1, &[], 1);
    rig.paths[P2].window.cwnd = ByteCount::new(40_000);
    let mut seen = Vec::new();
    for _ in 0..4 {
        rig.pass(Span::from_secs(1));
        seen.push(rig.paths[P2].window.cwnd.get());
    }
    assert_eq!(seen, [20_000, 10_000, 6_000, 6_000]);
}

/// draft-natarajan-tsvwg-sctp-nrsack: TSN 12 is renegable, TSN 14 is not; the next NR-SACK reports neither.
#[test]
fn non_renegable_chunks_are_freed_and_cannot_be_reneged() {
    let mut rig = Rig::new(&cmt(Cmt::default()), 2, 10);
    for p in [P1, P2, P1, P2, P1, P2] {
        rig.transmit(p);
    }
    rig.nr_sack(10, &[(12, 12)], &[(14, 14)]);
    assert_eq!((rig.state(12), rig.state(14)), (ChunkState::Acked, ChunkState::Freed));
    assert_eq!(rig.sender.buffered().get(), 4 * CHUNK, "11, 12, 13 and 15");
    // TSNs 10, 12 and 14 were sent on the first path. Of these, only 12 is renegable.
    assert_eq!((rig.paths[P1].queued.get(), rig.paths[P2].queued.get()), (CHUNK, 3 * CHUNK));
    rig.nr_sack(10, &[], &[]);
    assert_eq!((rig.state(12), rig.state(14)), (ChunkState::InFlight, ChunkState::Freed));
    assert_eq!(rig.missing(12), 1);
    // A SACK that does not report chunk 14 does not put it in flight again either, and its bytes are freed
    // only once.
    rig.sack(11, &[(13, 13)], 0);
    assert_eq!((rig.state(12), rig.state(14)), (ChunkState::InFlight, ChunkState::Freed));
    rig.nr_sack(12, &[], &[(13, 15)]);
    assert_eq!(rig.sender.buffered(), ByteCount::ZERO);
    rig.nr_sack(15, &[], &[]);
    assert!(rig.sender.is_drained());
}

/// A peer may name a chunk in both lists of an NR-SACK: the chunk is then non-renegable.
#[test]
fn overlapping_blocks_of_an_nr_sack_are_non_renegable() {
    let mut rig = Rig::new(&cmt(Cmt::default()), 1, 10);
    for _ in 0..4 {
        rig.transmit(P1);
    }
    rig.nr_sack(9, &[(11, 13)], &[(12, 12)]);
    let states = [11, 12, 13].map(|tsn| rig.state(tsn));
    assert_eq!(states, [ChunkState::Acked, ChunkState::Freed, ChunkState::Acked]);
}

/// Paper 004, section III: each of two paths may use half of the send buffer of 60000 bytes, and one more
/// packet must fit.
#[test]
fn a_path_takes_no_more_than_its_share_of_the_send_buffer() {
    let full = |buffer_split, split_by, queued, flight| {
        let options = Cmt { buffer_split, split_by, ..Cmt::default() };
        let config = Config { send_buffer: ByteCount::new(60_000).into(), ..cmt(options) };
        let mut rig = Rig::new(&config, 2, 1);
        (rig.paths[P1].queued, rig.paths[P1].flight) = (ByteCount::new(queued), ByteCount::new(flight));
        splitting::share_is_full(&rig.sender.cmt, rig.sender.buffers(), P1, &rig.paths)
    };
    use SplitBy::{Outstanding, Queued};
    assert!(full(BufferSide::Sender, Queued, 29_000, 0), "29000 + 1500 > 30000");
    assert!(!full(BufferSide::Sender, Queued, 28_500, 0));
    assert!(!full(BufferSide::Sender, Outstanding, 29_000, 5000));
    assert!(full(BufferSide::Both, Outstanding, 29_000, 29_000));
    assert!(!full(BufferSide::None, Queued, 60_000, 60_000));
    assert!(!full(BufferSide::Receiver, Queued, 29_000, 0), "the peer has room for 2^30");
}

/// Each path may use an equal part of the peer's window plus the flight size: of 4000 + 56000 bytes.
#[test]
fn a_path_takes_no_more_than_its_share_of_the_receive_buffer() {
    let full = |queued| {
        let config = cmt(Cmt { buffer_split: BufferSide::Receiver, ..Cmt::default() });
        let mut rig = Rig::new(&config, 2, 1);
        rig.sender.peer.set(4000, 4000);
        (rig.paths[P1].flight, rig.paths[P2].flight) = (ByteCount::new(20_000), ByteCount::new(36_000));
        rig.paths[P1].queued = ByteCount::new(queued);
        splitting::share_is_full(&rig.sender.cmt, rig.sender.buffers(), P1, &rig.paths)
    };
    assert!(full(30_001));
    assert!(!full(30_000));
}

/// If a path's part of the buffer is smaller than a packet, the path may still send one chunk at a time.
#[test]
fn a_share_too_small_for_a_packet_does_not_silence_a_path() {
    let options = Cmt { buffer_split: BufferSide::Both, ..Cmt::default() };
    let mut rig = Rig::new(&Config { send_buffer: ByteCount::new(3000).into(), ..cmt(options) }, 3, 1);
    for _ in 0..2 {
        rig.push(Message::new(Payload::Filler(CHUNK as u32))).unwrap();
    }
    let paths: Vec<PathId> = std::iter::from_fn(|| rig.poll()).map(|(p, _)| p).collect();
    assert_eq!(paths, [P1, P2], "one each");
}

/// Each of two paths may use 30000 bytes of the send buffer. The first path has 17 chunks. 14 of them (20328
/// bytes) are acknowledged and wait for a chunk of the second path: the fraction f = 20328/30000 = 0.68.
fn waiting_for_the_head() -> Rig {
    let options =
        Cmt { buffer_split: BufferSide::Sender, rescheduling: BufferSide::Sender, ..Cmt::default() };
    let mut rig = Rig::new(&Config { send_buffer: ByteCount::new(60_000).into(), ..cmt(options) }, 2, 10);
    rig.transmit(P2);
    for _ in 0..17 {
        rig.transmit(P1);
    }
    rig.pass(Span::from_millis(50));
    rig.sack(9, &[(11, 24)], 0);
    rig
}

#[test]
fn the_chunk_that_blocks_the_buffer_is_rescheduled() {
    let mut rig = waiting_for_the_head();
    let before = rig.paths[P2].window.cwnd;
    assert_eq!(rig.poll(), Some((P1, vec![10])));
    rig.audit();
    let chunk = rig.sender.out.data(rig.index(10));
    assert!(chunk.flags.immediate, "its acknowledgement is wanted at once");
    assert_eq!((rig.paths[P1].queued.get(), rig.paths[P2].queued.get()), (18 * CHUNK, 0));
    assert!(rig.paths[P2].recovery.is_some() && rig.paths[P2].window.ssthresh < Some(before * 2), "cut");
    assert_eq!(rig.paths[P1].stats.rescheduled, 1);
    assert_eq!(rig.poll(), None, "a chunk moves once");
    rig.sack(24, &[], 0);
    assert_eq!(new_chunks(&rig, P1), 0, "nothing grows by it");
}

#[test]
fn a_slow_path_in_recovery_rests_for_a_round_trip() {
    let mut rig = waiting_for_the_head();
    rig.paths[P2].recovery = Some(rig.index(10));
    assert_eq!(rig.poll(), Some((P1, vec![10])));
    let rest = rig.paths[P2].rto.current();
    assert_eq!(rig.paths[P2].blocked_until, rig.now + rest, "not measured yet: an RTO");
    assert_eq!(rig.sender.rest_ends(&rig.paths), Some(rig.now + rest));
    assert!(!rig.sender.has_room(P2, &rig.paths));
    rig.pass(rest);
    assert!(rig.sender.has_room(P2, &rig.paths));
    assert_eq!(rig.sender.rest_ends(&rig.paths), None);
}

#[test]
fn nothing_is_rescheduled_while_buffers_are_less_than_half_full() {
    let options = Cmt { rescheduling: BufferSide::Sender, ..Cmt::default() };
    // With an undivided buffer, the fraction f of waiting bytes is computed of the whole buffer, 60000 bytes:
    // f = 0.34.
    let mut rig = Rig::new(&Config { send_buffer: ByteCount::new(60_000).into(), ..cmt(options) }, 2, 10);
    rig.transmit(P2);
    for _ in 0..17 {
        rig.transmit(P1);
    }
    rig.sack(9, &[(11, 24)], 0);
    assert_eq!(rig.poll(), None);
}

/// Paper 002, figure 7: the peer holds 42 chunks in a buffer of 64 KiB, and three chunks are lost on path 2.
/// After the timeout one lost chunk is retransmitted, and `keep_room` keeps room for the other two.
#[test]
fn keep_room_reserves_the_peers_buffer_for_lost_chunks() {
    for (keep_room, next) in [(false, Some((P1, vec![55]))), (true, None)] {
        let mut rig = Rig::new(&cmt(Cmt { keep_room, rtx: RtxPolicy::Same, ..Cmt::default() }), 2, 10);
        for p in [P2; 3].into_iter().chain([P1; 42]) {
            rig.transmit(p);
        }
        rig.try_sack(9, &[(13, 54)], 0, (65_536 - 42 * CHUNK) as u32).unwrap();
        rig.push(Message::new(Payload::Filler(CHUNK as u32))).unwrap();
        assert_eq!(rig.poll(), None, "{} bytes are left", rig.sender.peer_rwnd().get());
        rig.pass(Span::from_secs(3));
        rig.t3(P2);
        assert_eq!(rig.poll(), Some((P2, vec![10])));
        assert_eq!(rig.poll(), next);
        rig.audit();
    }
}

/// Chunks 2 and 3 are non-renegable above a gap. Chunk 2 waits for chunk 1; the unordered chunk 3 does not.
#[test]
fn a_delivered_unordered_message_takes_no_room_at_the_peer() {
    let mut rig = Rig::new(&cmt(Cmt::default()), 2, 1);
    for unordered in [false, false, true] {
        rig.push(Message { unordered, ..Message::new(Payload::Filler(CHUNK as u32)) }).unwrap();
    }
    rig.pass(Span::from_millis(1));
    while rig.poll().is_some() {}
    rig.nr_sack(0, &[], &[(2, 3)]);
    assert_eq!(rig.sender.peer.extent().get(), 2 * CHUNK);
    rig.nr_sack(2, &[], &[(3, 3)]);
    assert_eq!(rig.sender.peer.extent(), ByteCount::ZERO);
    rig.nr_sack(3, &[], &[]);
    assert_eq!(rig.sender.peer.extent(), ByteCount::ZERO);
}
