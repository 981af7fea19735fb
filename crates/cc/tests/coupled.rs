//! CMT/RP version 2, LIA, OLIA and BALIA beside results computed by hand. M is
//! the MTU. In avoidance a window grows once per window of acknowledged bytes:
//! the expected step is the growth per segment times the window in segments.

use crate::common;

use anabranch_cc::{Algorithm, GrowthRule, Knobs, LossKind, OliaBest};
use common::{Bench, M, setup};
use units::Span;

/// Two paths in congestion avoidance with windows in segments and RTTs in milliseconds.
fn two(algorithm: Algorithm, windows: [u64; 2], rtts: [u64; 2]) -> Bench {
    with(algorithm, &Knobs::default(), windows, rtts)
}

fn with(algorithm: Algorithm, knobs: &Knobs, windows: [u64; 2], rtts: [u64; 2]) -> Bench {
    let mut bench = Bench::with_knobs(algorithm, &setup(GrowthRule::Rfc4960, 2), M, knobs);
    for p in 0..2 {
        bench = bench.put(p, windows[p] * M, 4 * M);
        bench.paths[p].srtt = Some(Span::from_millis(rtts[p]));
    }
    bench
}

/// Growth on path `p` for a whole window of acknowledged bytes, in segments.
fn step(mut bench: Bench, p: usize) -> f64 {
    let before = bench.cwnd(p);
    bench.full_ack(p, before);
    (bench.cwnd(p) as f64 - before as f64) / M as f64
}

/// The window of path `p` after a loss, in segments.
fn left(mut bench: Bench, p: usize) -> f64 {
    bench.loss(p, LossKind::FastRetransmit);
    assert_eq!(bench.ssthresh(p), Some(bench.cwnd(p)));
    bench.cwnd(p) as f64 / M as f64
}

/// Tolerance: windows are whole bytes, and SCTP rounds growth up.
const BYTE: f64 = 1.0 / M as f64;

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= BYTE, "{found}, not {expected}");
}

#[test]
fn rpv2_halves_the_total_rate_on_the_lossy_path() {
    // The rates x are 200 and 100 segments/s. A loss removes the part d of a window:
    // d = max(1/2, 150/200) = 0.75 on path 0 and max(1/2, 150/100) = 1.5 on path 1.
    let bench = || two(Algorithm::CmtRpV2, [20, 20], [100, 200]);
    close(left(bench(), 1), 1.0);
    close(left(bench(), 0), 5.0);
    let mut lost = bench();
    lost.loss(0, LossKind::Timeout);
    assert_eq!((lost.cwnd(0), lost.ssthresh(0)), (M, Some(5 * M)));
}

#[test]
fn rpv2_grows_by_the_share_of_the_rate() {
    let bench = || two(Algorithm::CmtRpV2, [20, 20], [100, 200]);
    close(step(bench(), 0), 2.0 / 3.0);
    close(step(bench(), 1), 1.0 / 3.0);
    let mut slow = bench().put(0, 20 * M, 30 * M);
    slow.full_ack(0, 3000);
    assert_eq!(slow.cwnd(0), 21_000 + 10_000);
}

#[test]
fn rpv2_decrease_has_a_lower_bound() {
    let mut knobs = Knobs::default();
    knobs.rpv2.min = 4;
    close(left(with(Algorithm::CmtRpV2, &knobs, [20, 20], [100, 200]), 1), 4.0);
}

#[test]
fn rpv2_divides_the_initial_window_as_rpv1() {
    let bench = Bench::new(Algorithm::CmtRpV2, &setup(GrowthRule::Rfc4960, 2));
    assert_eq!((bench.cwnd(0), bench.cwnd(1)), (2190, 2190));
}

#[test]
fn lia_growth_depends_on_all_paths() {
    // A of rfc6356 is 30 max(1000, 500)/(100 + 100)² = 0.75:
    // 0.75/30 = 0.025 M for each M acknowledged on either path.
    close(step(two(Algorithm::Lia, [10, 20], [100, 200]), 0), 0.025 * 10.0);
    close(step(two(Algorithm::Lia, [10, 20], [100, 200]), 1), 0.025 * 20.0);
}

#[test]
fn lia_grows_no_faster_than_a_single_path() {
    // A of rfc6356 is 101 max(10000, 1)/(100 + 10)², so that A/C = 0.826 for each M.
    // For a window of 100 segments that exceeds the limit of one segment per window.
    let bench = || two(Algorithm::Lia, [1, 100], [10, 10_000]).put(0, M, M / 2);
    close(step(bench(), 0), 0.82645);
    close(step(bench(), 1), 1.0);
}

#[test]
fn lia_slow_start_and_decrease_are_standard_by_default() {
    close(left(two(Algorithm::Lia, [10, 20], [100, 200]), 1), 10.0);
    for (coupled, grown) in [(false, M), (true, M / 4)] {
        let mut knobs = Knobs::default();
        knobs.lia.coupled_slow_start = coupled;
        let mut bench = with(Algorithm::Lia, &knobs, [10, 20], [100, 200]).put(0, 10 * M, 40 * M);
        bench.full_ack(0, M);
        assert_eq!(bench.cwnd(0), 10 * M + grown);
    }
}

/// Windows of 20 and 10 segments, RTTs of 100 ms, 10 and 40 segments acknowledged since the last loss.
fn olia() -> Bench {
    let mut bench = two(Algorithm::Olia, [4, 4], [100, 100]);
    for (p, acked) in [(0, 10), (1, 40)] {
        bench.loss(p, LossKind::FastRetransmit);
        bench = bench.put(p, 1000 * M, 4 * M);
        bench.slack_ack(p, acked * M);
        bench = bench.put(p, [20 * M, 10 * M][p], 4 * M);
    }
    bench
}

#[test]
fn olia_moves_growth_to_the_best_path() {
    // Path 0 has the largest window (W), path 1 is the best path (B and K). For each segment, the
    // windows grow by 20/900 - 1/(2·1·20) = -0.0028 and 10/900 + 1/(2·1·10) = 0.0611. On path 1,
    // 40 segments are already acknowledged, more than the window of 10 that a step needs.
    let mut first = olia();
    first.full_ack(0, 10 * M);
    close((first.cwnd(0) as f64 - (20 * M) as f64) / M as f64, -0.00278 * 20.0);
    let mut second = olia();
    second.full_ack(1, M);
    close((second.cwnd(1) as f64 - (10 * M) as f64) / M as f64, 0.06111 * 10.0);
}

#[test]
fn olia_moves_no_growth_if_the_path_with_the_largest_window_is_the_best() {
    let mut bench = olia();
    bench.slack_ack(0, 100 * M);
    bench = bench.put(0, 20 * M, 4 * M);
    bench.full_ack(0, M);
    close((bench.cwnd(0) as f64 - (20 * M) as f64) / M as f64, 400.0 / 900.0);
}

#[test]
fn olia_remembers_the_bytes_between_two_losses() {
    // One loss on path 1 changes nothing: l is the larger of the bytes acknowledged before and after it.
    let mut bench = olia();
    bench.loss(1, LossKind::FastRetransmit);
    bench = bench.put(1, 10 * M, 4 * M);
    bench.full_ack(1, 10 * M);
    close((bench.cwnd(1) as f64 - (10 * M) as f64) / M as f64, 0.06111 * 10.0);
    // After two losses in a row l is zero on path 1. Path 0 with l = 15 segments is the best
    // and has the largest window, so that no growth is moved from one path to the other.
    let mut bench = olia();
    bench.slack_ack(0, 5 * M);
    bench = bench.put(0, 20 * M, 4 * M);
    bench.loss(1, LossKind::FastRetransmit);
    bench.loss(1, LossKind::FastRetransmit);
    bench = bench.put(1, 10 * M, 4 * M);
    bench.full_ack(1, 10 * M);
    close((bench.cwnd(1) as f64 - (10 * M) as f64) / M as f64, 100.0 / 900.0);
}

#[test]
fn olia_selects_the_best_path_by_either_measure() {
    // l is the number of bytes between losses, r the RTT. Path 1 has 3 times the l and 2 times the r of path
    // 0, so 4.5 times its l²/r, but only 0.75 times its l/r²: each measure chooses another best path. The
    // path that is not `p` has the largest window.
    let shifted = |best, p: usize| {
        let mut knobs = Knobs::default();
        knobs.olia.best = best;
        let windows = if p == 0 { [10, 20] } else { [20, 10] };
        let mut bench = with(Algorithm::Olia, &knobs, windows, [1000, 2000]);
        bench.slack_ack(0, 1000 * M);
        bench.slack_ack(1, 3000 * M);
        let rates = [windows[0] as f64, windows[1] as f64 / 2.0];
        let share = rates[p] / (rates[0] + rates[1]);
        let before = bench.cwnd(p);
        bench.full_ack(p, before);
        (bench.cwnd(p) as f64 - before as f64) / M as f64 - share * share > 0.25
    };
    assert!(!shifted(OliaBest::SquaredBytes, 0) && shifted(OliaBest::SquaredBytes, 1));
    assert!(shifted(OliaBest::SquaredRtt, 0) && !shifted(OliaBest::SquaredRtt, 1));
}

#[test]
fn olia_window_is_at_least_one_segment() {
    let mut bench = olia().put(0, M + 10, M / 2).put(1, M, M / 2);
    for _ in 0..100 {
        let window = bench.cwnd(0);
        bench.full_ack(0, window);
        assert!(bench.cwnd(0) >= M);
    }
}

#[test]
fn balia_increase_and_decrease_follow_the_equations() {
    // Equal paths: each acknowledged packet adds 0.025 packets, and a loss halves the window.
    close(step(two(Algorithm::Balia, [10, 10], [100, 100]), 0), 0.025 * 10.0);
    close(left(two(Algorithm::Balia, [10, 10], [100, 100]), 0), 5.0);
    // The rates x are 300 and 100 packets/s, so that a = 3 on path 1 (`balia.rs`): a loss removes 1.5/2
    // of the window, and a window of acknowledged bytes adds (1/4)² (1 + 3)/2 (4 + 3)/5 segments.
    close(left(two(Algorithm::Balia, [30, 10], [100, 100]), 1), 2.5);
    close(left(two(Algorithm::Balia, [30, 10], [100, 100]), 0), 15.0);
    close(step(two(Algorithm::Balia, [30, 10], [100, 100]), 1), 0.0625 * 2.0 * 1.4);
    close(left(two(Algorithm::Balia, [30, 6], [100, 100]), 1), 2.0);
}
