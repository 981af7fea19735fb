//! CMT/RP, version 1: equations 5 to 10 of the AINA 2010 paper (header of
//! `rpv1.rs`) beside results computed by hand. M is the MTU of 1500 bytes.

use crate::common;

use anabranch_cc::{Algorithm, GrowthRule, LossKind, Setup};
use common::{Bench, M, bytes, setup};
use units::{ByteCount, Instant};

fn two_paths() -> Setup {
    setup(GrowthRule::Rfc4960, 2)
}

/// Two paths with windows of 20 M and 30 M, and an ssthresh of 10 M and 30 M.
fn worked_example() -> Bench {
    Bench::new(Algorithm::CmtRpV1, &two_paths()).put(0, 20 * M, 10 * M).put(1, 30 * M, 30 * M)
}

#[test]
fn rpv1_divides_the_initial_window() {
    for (paths, window) in [(1, 4380), (2, 2190), (3, M), (4, M)] {
        let bench = Bench::new(Algorithm::CmtRpV1, &setup(GrowthRule::Rfc4960, paths));
        assert!((0..paths).all(|p| bench.cwnd(p) == window && bench.ssthresh(p).is_none()), "{paths} paths");
    }
    let bench = Bench::new(Algorithm::CmtRpV1, &setup(GrowthRule::Rfc9260, 2));
    assert_eq!(bench.cwnd(0), 2202);
}

#[test]
fn rpv1_loss_removes_half_of_the_total_from_the_lossy_path() {
    // Equations 5 and 6, in M: half of the total window is 25. On path 0 the bound 4 · 10/40
    // = 1 exceeds 20 - 25, on path 1 the result 30 - 25 = 5 exceeds the bound 4 · 30/40 = 3.
    let mut first = worked_example();
    first.loss(0, LossKind::FastRetransmit);
    assert_eq!((first.cwnd(0), first.ssthresh(0), first.cwnd(1)), (M, Some(M), 30 * M));

    let mut second = worked_example();
    second.loss(1, LossKind::FastRetransmit);
    assert_eq!((second.cwnd(1), second.ssthresh(1), second.cwnd(0)), (5 * M, Some(5 * M), 20 * M));
}

#[test]
fn a_timeout_leaves_one_segment() {
    // Equations 7 and 8: ssthresh becomes 30 M - 25 M, cwnd M.
    let mut bench = worked_example();
    bench.loss(1, LossKind::Timeout);
    assert_eq!((bench.cwnd(1), bench.ssthresh(1)), (M, Some(5 * M)));
}

#[test]
fn rpv1_lower_bound_is_scaled_by_the_share() {
    let cut = |rp_min, s: [u64; 2]| {
        let setup = Setup { rp_min, ..two_paths() };
        let mut bench = Bench::new(Algorithm::CmtRpV1, &setup).put(0, 4 * M, s[0]).put(1, 30 * M, s[1]);
        bench.loss(0, LossKind::FastRetransmit);
        bench.cwnd(0)
    };
    assert_eq!(cut(4, [30 * M, 10 * M]), 3 * M);
    assert_eq!(cut(4, [10_000, 20_001]), 2000, "6000 * 10000/30001 = 1999.9, rounded up");
    assert_eq!(cut(1, [30 * M, 10 * M]), M, "never below one MTU");
}

#[test]
fn rpv1_half_of_an_odd_total_is_rounded_to_even() {
    for (first, left) in [(20 * M + 1, 5 * M), (20 * M + 3, 5 * M - 2)] {
        let mut bench =
            Bench::new(Algorithm::CmtRpV1, &two_paths()).put(0, first, 10 * M).put(1, 30 * M, 30 * M);
        bench.loss(1, LossKind::FastRetransmit);
        assert_eq!(bench.cwnd(1), left);
    }
}

#[test]
fn slow_start_is_scaled_by_the_share() {
    // Equation 9: the ssthresh of path 0 is 10 M of a total of 40 M, so a full segment
    // adds 1500 · 10/40 bytes. cwnd equals ssthresh, so the path is still in slow start.
    let mut bench = worked_example().put(0, 10 * M, 10 * M);
    bench.full_ack(0, 3000);
    assert_eq!(bench.cwnd(0), 10 * M + 375);
    let mut bench = worked_example().put(0, 10 * M, 10 * M);
    bench.full_ack(0, 1001);
    assert_eq!(bench.cwnd(0), 10 * M + 251, "1001/4 = 250.25, rounded up");
}

#[test]
fn avoidance_is_scaled_by_the_share() {
    // Equation 10: the ssthresh of path 1 is 30 M of a total of
    // 40 M, so a full window of 31 M adds 1500 · 30/40 bytes.
    let mut bench = worked_example().put(1, 31 * M, 30 * M);
    bench.full_ack(1, 31 * M);
    assert_eq!((bench.cwnd(1), bench.pba(1)), (31 * M + 1125, 0));
}

#[test]
fn rpv1_totals_are_from_before_the_event() {
    let mut both = worked_example();
    both.changing(|control, before, w| {
        for p in [0, 1] {
            control.on_loss(Instant::ZERO, before, p, LossKind::FastRetransmit, w);
        }
    });
    assert_eq!((both.cwnd(0), both.cwnd(1)), (M, 5 * M));
}

#[test]
fn rpv1_ignores_inactive_paths_and_other_groups() {
    for change in [(true, 1), (false, 0)] {
        let mut bench = worked_example();
        (bench.paths[1].active, bench.paths[1].group) = change;
        bench.loss(0, LossKind::FastRetransmit);
        assert_eq!(bench.cwnd(0), 10 * M, "as standard SCTP: half of 20 M");
        bench.full_ack(0, 3000);
        assert_eq!(bench.cwnd(0), 11 * M);
    }
}

#[test]
fn rpv1_inactive_path_counts_for_itself() {
    let mut bench = worked_example();
    bench.paths[1].active = false;
    bench.loss(1, LossKind::Timeout);
    assert_eq!((bench.cwnd(1), bench.ssthresh(1)), (M, Some(5 * M)), "30 - 50/2");
}

/// Growth of path `p` in slow start for a full segment. `thresholds`: ssthresh of each path; zero: unset.
fn slow_start_step<const N: usize>(thresholds: [u64; N], p: usize) -> u64 {
    let setup = setup(GrowthRule::Rfc4960, N);
    let mut bench = Bench::new(Algorithm::CmtRpV1, &setup);
    for (i, s) in thresholds.into_iter().enumerate() {
        bench = bench.put(i, 6000, s);
    }
    bench.full_ack(p, M);
    bench.cwnd(p) - 6000
}

#[test]
fn rpv1_unset_threshold_counts_as_the_receive_window() {
    let step = slow_start_step::<2>;
    assert_eq!(step([15_000, 0], 0), 5, "1500 * 15000/5015000 = 4.49");
    assert_eq!(step([15_000, 0], 1), 1496, "1500 * 5000000/5015000 = 1495.5");
    assert_eq!((step([0, 0], 0), step([0, 0], 1)), (750, 750));
}

#[test]
fn rpv1_shares_are_equal_if_the_peer_has_no_window() {
    let setup = Setup { initial_ssthresh: ByteCount::ZERO, ..two_paths() };
    let mut bench = Bench::new(Algorithm::CmtRpV1, &setup).put(0, 6000, 0).put(1, 6000, 0);
    bench.full_ack(0, 6000);
    assert_eq!(bench.paths[0].window.cwnd, bytes(6750));
}
