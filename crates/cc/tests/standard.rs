//! Standard SCTP: `rfc4960#section-7.2` and `rfc9260#section-7.2`, beside results computed by hand.

use crate::common;

use anabranch_cc::{Algorithm, GrowthRule, IdleThreshold, LossKind, Setup};
use common::{Bench, M, PEER_RWND, bytes, setup};
use units::ByteCount;

/// The PMDCS of an MTU of 1500 under IPv4.
const PMDCS: u64 = 1468;

fn rfc4960(cwnd: u64, ssthresh: u64) -> Bench {
    Bench::new(Algorithm::Standard, &setup(GrowthRule::Rfc4960, 1)).put(0, cwnd, ssthresh)
}

fn rfc2960(cwnd: u64, ssthresh: u64) -> Bench {
    Bench::new(Algorithm::Standard, &setup(GrowthRule::Rfc2960, 1)).put(0, cwnd, ssthresh)
}

fn rfc9260(cwnd: u64, ssthresh: u64) -> Bench {
    Bench::new(Algorithm::Standard, &setup(GrowthRule::Rfc9260, 1)).put(0, cwnd, ssthresh)
}

#[test]
fn initial_window_does_not_depend_on_the_number_of_paths() {
    let bench = Bench::new(Algorithm::Standard, &setup(GrowthRule::Rfc4960, 3));
    for p in 0..3 {
        assert_eq!((bench.cwnd(p), bench.ssthresh(p)), (4380, None));
    }
}

#[test]
fn slow_start_adds_a_segment_if_the_window_was_full() {
    let mut bench = rfc4960(6000, 0);
    bench.full_ack(0, 2904);
    assert_eq!(bench.cwnd(0), 7500);

    let mut bench = rfc4960(6000, 0);
    bench.slack_ack(0, 2904);
    assert_eq!(bench.cwnd(0), 6000);

    let mut bench = rfc9260(6000, 0);
    bench.full_ack(0, 2904);
    assert_eq!(bench.cwnd(0), 6000 + PMDCS);
}

#[test]
fn slow_start_adds_no_more_than_was_acknowledged() {
    let mut bench = rfc4960(6000, 0);
    bench.full_ack(0, 700);
    assert_eq!(bench.cwnd(0), 6700);
}

#[test]
fn rfc_2960_initial_window_and_lower_bound_are_two_segments() {
    let bench = Bench::new(Algorithm::Standard, &setup(GrowthRule::Rfc2960, 1));
    assert_eq!(bench.cwnd(0), 2 * M);

    let mut bench = rfc2960(7000, 0);
    bench.loss(0, LossKind::FastRetransmit);
    assert_eq!((bench.cwnd(0), bench.ssthresh(0)), (3500, Some(3500)));
    bench.loss(0, LossKind::FastRetransmit);
    assert_eq!((bench.cwnd(0), bench.ssthresh(0)), (2 * M, Some(2 * M)));
}

#[test]
fn an_unset_threshold_counts_as_the_receive_window() {
    let mut at = rfc4960(PEER_RWND, 0);
    at.full_ack(0, M);
    assert_eq!((at.cwnd(0), at.pba(0)), (PEER_RWND + M, 0));

    let mut above = rfc4960(PEER_RWND + 1, 0);
    above.full_ack(0, M);
    assert_eq!((above.cwnd(0), above.pba(0)), (PEER_RWND + 1, M));
}

#[test]
fn avoidance_adds_a_segment_once_a_window_is_acknowledged() {
    let mut bench = rfc4960(30_000, 20_000);
    bench.slack_ack(0, 29_000);
    bench.full_ack(0, 2904);
    assert_eq!((bench.pba(0), bench.cwnd(0)), (1904, 31_500));

    let mut bench = rfc9260(30_000, 20_000);
    bench.slack_ack(0, 29_000);
    bench.full_ack(0, 2904);
    assert_eq!((bench.pba(0), bench.cwnd(0)), (1904, 30_000 + PMDCS));
}

#[test]
fn avoidance_waits_for_the_last_byte_of_the_window() {
    let mut bench = rfc4960(30_000, 20_000);
    bench.full_ack(0, 29_999);
    assert_eq!((bench.pba(0), bench.cwnd(0)), (29_999, 30_000));
    bench.full_ack(0, 1);
    assert_eq!((bench.pba(0), bench.cwnd(0)), (0, 31_500));
}

#[test]
fn only_rfc9260_clamps_partial_bytes_acked_of_a_window_that_is_not_full() {
    let mut old = rfc4960(30_000, 20_000);
    old.slack_ack(0, 31_904);
    assert_eq!((old.pba(0), old.cwnd(0)), (31_904, 30_000));

    let mut new = rfc9260(30_000, 20_000);
    new.slack_ack(0, 31_904);
    assert_eq!((new.pba(0), new.cwnd(0)), (30_000, 30_000));
    new.full_ack(0, 1452);
    assert_eq!((new.pba(0), new.cwnd(0)), (1452, 30_000 + PMDCS));
}

// rfc9260#section-7.2.2
#[test]
fn partial_bytes_acked_is_reset_when_nothing_is_in_flight() {
    let mut bench = rfc9260(30_000, 20_000);
    let mut ack = bench.ack_of(0, 9000, true);
    ack.flight_after = ByteCount::ZERO;
    bench.sack(&[ack]);
    assert_eq!((bench.pba(0), bench.cwnd(0)), (0, 30_000));
}

#[test]
fn only_rfc4960_requires_the_cumulative_tsn_to_advance() {
    for (cwnd, ssthresh) in [(6000, 0), (30_000, 20_000)] {
        let (mut old, mut new) = (rfc4960(cwnd, ssthresh), rfc9260(cwnd, ssthresh));
        for bench in [&mut old, &mut new] {
            let mut ack = bench.ack_of(0, cwnd, true);
            ack.advanced = false;
            bench.sack(&[ack]);
        }
        assert_eq!((old.cwnd(0), old.pba(0)), (cwnd, 0));
        assert_eq!((new.cwnd(0), new.pba(0)), (cwnd + PMDCS, 0));
    }
}

#[test]
fn window_does_not_grow_in_fast_recovery() {
    for (cwnd, ssthresh) in [(6000, 0), (30_000, 20_000)] {
        let mut bench = rfc9260(cwnd, ssthresh);
        bench.paths[0].in_recovery = true;
        bench.full_ack(0, cwnd);
        assert_eq!((bench.cwnd(0), bench.pba(0)), (cwnd, 0));
    }
}

#[test]
fn fast_retransmission_halves_the_window_down_to_four_segments() {
    for (cwnd, halved) in [(9001, 6000), (20_000, 10_000), (20_001, 10_001), (20_003, 10_001)] {
        let mut bench = rfc4960(cwnd, 0);
        bench.slack_ack(0, 700);
        bench.loss(0, LossKind::FastRetransmit);
        assert_eq!((bench.cwnd(0), bench.ssthresh(0), bench.pba(0)), (halved, Some(halved), 0), "{cwnd}");
    }
    let mut bench = rfc9260(9001, 0);
    bench.loss(0, LossKind::FastRetransmit);
    assert_eq!(bench.cwnd(0), 4 * PMDCS);
}

#[test]
fn a_timeout_halves_the_threshold_and_leaves_one_segment() {
    let mut bench = rfc4960(30_000, 20_000);
    bench.full_ack(0, 900);
    assert_eq!(bench.pba(0), 900);
    bench.loss(0, LossKind::Timeout);
    assert_eq!((bench.cwnd(0), bench.ssthresh(0), bench.pba(0)), (M, Some(15_000), 0));

    let mut bench = rfc9260(30_000, 20_000);
    bench.loss(0, LossKind::Timeout);
    assert_eq!((bench.cwnd(0), bench.ssthresh(0)), (PMDCS, Some(15_000)));
}

#[test]
fn the_first_ack_after_a_fast_retransmission_is_slow_start() {
    let mut bench = rfc4960(40_000, 0);
    bench.loss(0, LossKind::FastRetransmit);
    bench.full_ack(0, 2904);
    assert_eq!((bench.cwnd(0), bench.pba(0)), (21_500, 0));
    bench.full_ack(0, 2904);
    assert_eq!((bench.cwnd(0), bench.pba(0)), (21_500, 2904));
}

#[test]
fn idle_time_halves_the_window_down_to_four_segments() {
    let mut old = rfc4960(40_000, 0);
    let decay: Vec<u64> = std::iter::repeat_with(|| {
        old.idle(0);
        old.cwnd(0)
    })
    .take(4)
    .collect();
    assert_eq!(decay, [20_000, 10_000, 6000, 6000]);
    assert_eq!(old.ssthresh(0), None);
}

#[test]
fn rfc9260_sets_ssthresh_to_the_window_when_idle_time_begins() {
    let mut new = rfc9260(40_000, 15_000);
    new.idle(0);
    new.idle(0);
    assert_eq!((new.cwnd(0), new.ssthresh(0)), (10_000, Some(40_000)));
    new.full_ack(0, PMDCS);
    new.idle(0);
    assert_eq!((new.cwnd(0), new.ssthresh(0)), (4 * PMDCS, Some(10_000 + PMDCS)));
}

// rfc2861#section-3: an unused path gives no information about congestion
#[test]
fn idle_threshold_kept_does_not_lower_ssthresh() {
    let kept = |cwnd, ssthresh| {
        let setup = Setup { idle_threshold: IdleThreshold::Kept, ..setup(GrowthRule::Rfc9260, 1) };
        let mut bench = Bench::new(Algorithm::Standard, &setup).put(0, cwnd, ssthresh);
        bench.idle(0);
        (bench.cwnd(0), bench.ssthresh(0))
    };
    assert_eq!(kept(40_000, 0), (20_000, None));
    assert_eq!(kept(40_000, 60_000), (20_000, Some(60_000)));
    assert_eq!(kept(40_000, 30_000), (20_000, Some(40_000)));
}

#[test]
fn partial_bytes_acked_is_reset_by_slow_start() {
    let mut bench = rfc9260(40_000, 15_000);
    bench.full_ack(0, 9000);
    bench.idle(0);
    assert_eq!((bench.pba(0), bench.ssthresh(0)), (9000, Some(40_000)));
    bench.full_ack(0, PMDCS);
    assert_eq!((bench.pba(0), bench.cwnd(0)), (0, 20_000 + PMDCS));
}

#[test]
fn standard_paths_are_independent() {
    let mut bench = Bench::new(Algorithm::Standard, &setup(GrowthRule::Rfc9260, 2))
        .put(0, 30_000, 20_000)
        .put(1, 50_000, 0);
    bench.slack_ack(1, 40_000);
    bench.loss(0, LossKind::FastRetransmit);
    assert_eq!((bench.cwnd(0), bench.cwnd(1)), (15_000, 50_000));
    let acks = [bench.ack_of(0, 800, true), bench.ack_of(1, 900, true)];
    bench.sack(&acks);
    assert_eq!((bench.cwnd(0), bench.cwnd(1)), (15_800, 50_900));
    assert_eq!(bench.paths[1].window.ssthresh, None);
    assert_eq!(bench.control.partial_bytes_acked(1), bytes(0));
}
