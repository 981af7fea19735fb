//! Braid beside results computed by hand. M is the MTU. In
//! avoidance a window grows once per window of acknowledged bytes.

use crate::common;

use anabranch_cc::{Algorithm, GrowthRule, Knobs, LossKind};
use common::{Bench, M, bytes, setup};
use units::Span;

/// Two paths with windows of `windows` segments. Each has had a hundred losses that were `intervals`
/// segments apart, at an RTT of `rtts` ms. All losses were at a window of four segments. With a
/// share of 1/2 the first interval then counts as at least 3/8 (4/(1/2))² = 24 segments.
fn braid(exponent: f64, intervals: [u64; 2], rtts: [u64; 2], windows: [u64; 2]) -> Bench {
    let mut knobs = Knobs::default();
    knobs.braid.exponent = exponent;
    let mut bench = Bench::with_knobs(Algorithm::Braid, &setup(GrowthRule::Rfc4960, 2), M, &knobs);
    for p in 0..2 {
        bench.paths[p].srtt = Some(Span::from_millis(rtts[p]));
        for _ in 0..100 {
            bench = bench.put(p, 1 << 40, 4 * M);
            bench.slack_ack(p, intervals[p] * M);
            bench = bench.put(p, 4 * M, 4 * M);
            bench.loss(p, LossKind::FastRetransmit);
        }
    }
    bench.put(0, windows[0] * M, M).put(1, windows[1] * M, M)
}

fn step(mut bench: Bench, p: usize) -> f64 {
    let before = bench.cwnd(p);
    bench.full_ack(p, before);
    (bench.cwnd(p) as f64 - before as f64) / M as f64
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 0.001, "{found}, not {expected}");
}

#[test]
fn braid_grows_equal_paths_by_a_quarter_each() {
    // Each path has the share a = 1/2. In an interval of 1000 segments a lone flow with a window of
    // 20 segments sends 20 of them in recovery, and a path with a window of 10 sends 10 in recovery.
    close(step(braid(10.0, [1000, 1000], [50, 50], [10, 10]), 0), 0.25 * 0.98 / 0.99);
}

#[test]
fn braid_share_is_larger_on_the_path_with_fewer_losses() {
    // The squared qualities y² (`braid.rs`) are 900/r² and 400/r²: with k = 2 the shares are 9/13 and 4/13.
    let bench = || braid(2.0, [900, 400], [50, 50], [9, 4]);
    close(step(bench(), 0), (9.0_f64 / 13.0).powi(2) * (1.0 - 13.0 / 900.0) / (1.0 - 9.0 / 900.0));
    close(step(bench(), 1), (4.0_f64 / 13.0).powi(2) * (1.0 - 13.0 / 400.0) / (1.0 - 4.0 / 400.0));
}

#[test]
fn braid_share_is_larger_on_the_path_with_the_lower_rtt() {
    // The qualities y (`braid.rs`) are 30/0.05 and 30/0.1: with k = 2 the shares are 4/5 and 1/5.
    let bench = || braid(2.0, [900, 900], [50, 100], [8, 2]);
    close(step(bench(), 0), 0.64 * (1.0 - 10.0 / 900.0) / (1.0 - 8.0 / 900.0));
    close(step(bench(), 1), 0.04 * (1.0 - 10.0 / 900.0) / (1.0 - 2.0 / 900.0));
}

#[test]
fn braid_with_exponent_zero_divides_equally() {
    let bench = braid(0.0, [900, 100], [50, 100], [10, 10]);
    close(step(bench, 0), 0.25 * (1.0 - 20.0 / 900.0) / (1.0 - 10.0 / 900.0));
}

#[test]
fn braid_slow_start_grows_by_the_share() {
    let mut bench = braid(2.0, [900, 400], [50, 50], [9, 4]).put(1, 4 * M, 30 * M);
    bench.full_ack(1, 2 * M);
    close((bench.cwnd(1) as f64 - (4 * M) as f64) / M as f64, 4.0 / 13.0);
}

#[test]
fn braid_loss_halves_the_window_of_its_path_only() {
    let mut bench = braid(10.0, [1000, 1000], [50, 50], [10, 10]);
    bench.loss(0, LossKind::FastRetransmit);
    assert_eq!((bench.cwnd(0), bench.cwnd(1)), (5 * M, 10 * M));
    let mut bench = bench.put(0, 3 * M, 3 * M);
    bench.loss(0, LossKind::FastRetransmit);
    assert_eq!(bench.cwnd(0), 2 * M, "two segments");
    // The lower bound: a share of 900/1000 of four segments of 1500 bytes.
    let mut bench = braid(2.0, [900, 100], [50, 50], [5, 5]);
    bench.slack_ack(0, 900 * M);
    bench.loss(0, LossKind::FastRetransmit);
    assert_eq!(bench.cwnd(0), 5400);
}

#[test]
fn braid_mean_includes_the_current_interval_once_it_is_longer() {
    // Intervals of 800 and then 1600 segments have a mean of 900, equal to that of the other path.
    let mut bench = braid(2.0, [800, 900], [50, 50], [10, 10]).put(0, 1 << 40, 4 * M);
    bench.slack_ack(0, 1600 * M);
    bench = bench.put(0, 10 * M, 4 * M);
    let open = step(bench, 0);
    let mut bench = braid(2.0, [800, 900], [50, 50], [10, 10]).put(0, 1 << 40, 4 * M);
    bench.slack_ack(0, 1600 * M);
    bench.loss(0, LossKind::FastRetransmit);
    let closed = step(bench.put(0, 10 * M, 4 * M), 0);
    let expected = 0.25 * (1.0 - 20.0 / 900.0) / (1.0 - 10.0 / 900.0);
    close(closed, expected);
    assert!((open - expected).abs() < 0.002, "ten more segments are open: {open}");
}

#[test]
fn braid_path_without_loss_counts_as_the_best() {
    let mut bench = Bench::new(Algorithm::Braid, &setup(GrowthRule::Rfc4960, 2));
    for (p, acked) in [(0, 5000), (1, 5)] {
        bench = bench.put(p, 1 << 40, 0);
        bench.slack_ack(p, acked * M);
        bench = bench.put(p, 10 * M, 0);
    }
    bench.full_ack(1, M);
    assert_eq!(bench.cwnd(1), 10 * M + M / 2, "half, however much the other has carried");
    bench.loss(0, LossKind::FastRetransmit);
    bench = bench.put(1, 10 * M, 0);
    bench.full_ack(1, M);
    assert_eq!(bench.cwnd(1), 10 * M + M / 2);
}

/// Two paths after a slow start of 100 segments each, with losses at these windows in segments.
fn after_slow_start(windows: [u64; 2]) -> Bench {
    let mut bench = Bench::new(Algorithm::Braid, &setup(GrowthRule::Rfc4960, 2));
    for (p, window) in windows.into_iter().enumerate() {
        bench.paths[p].srtt = Some(Span::from_millis(50));
        bench = bench.put(p, 1 << 40, 0);
        bench.slack_ack(p, 100 * M);
        bench = bench.put(p, window * M, 0);
        bench.loss(p, LossKind::FastRetransmit);
    }
    bench
}

#[test]
fn braid_first_interval_is_at_least_that_of_losses_at_the_same_window() {
    // With a share of 1/2 the window grows from 20 to 40 segments in 80 rounds of 30 segments on average. So
    // the first interval is 2400 segments, not 100.
    let equal = || after_slow_start([40, 40]).put(0, 20 * M, 4 * M);
    close(step(equal(), 0), 0.25 * (1.0 - 40.0 / 2400.0) / (1.0 - 20.0 / 2400.0));
}

#[test]
fn braid_first_interval_does_not_change_the_shares() {
    let bench = || after_slow_start([40, 10]).put(0, 20 * M, 4 * M).put(1, 5 * M, 4 * M);
    close(step(bench(), 0), 0.25 * (1.0 - 40.0 / 2400.0) / (1.0 - 20.0 / 2400.0));
    close(step(bench(), 1), 0.25 * (1.0 - 10.0 / 150.0) / (1.0 - 5.0 / 150.0));
}

#[test]
fn braid_grows_slowly_after_many_rounds_without_loss_since_slow_start() {
    // 1000 segments are ten times as many as slow start carried, but
    // less than half of the 2400 that the first interval counts as.
    let mut bench = after_slow_start([40, 40]).put(0, 1 << 40, 4 * M);
    bench.slack_ack(0, 1000 * M);
    close(step(bench.put(0, 20 * M, 4 * M), 0), 0.25 * (1.0 - 40.0 / 2400.0) / (1.0 - 20.0 / 2400.0));
}

/// Two paths after slow start; path 0 has had one more interval of 100 segments.
fn after_one_interval() -> Bench {
    let mut bench = after_slow_start([40, 40]).put(0, 1 << 40, 4 * M);
    bench.slack_ack(0, 100 * M);
    bench = bench.put(0, 40 * M, 4 * M);
    bench.loss(0, LossKind::FastRetransmit);
    bench
}

#[test]
fn braid_second_interval_replaces_the_first_and_has_an_eighth_of_the_exponent() {
    // The squared qualities y² (`braid.rs`) are 100/r² and 2400/r². The
    // measured part m is 1/8, so the exponent of y² is k m/2 = 5/8, not 5.
    let share = 1.0 / (1.0 + 24.0_f64.powf(0.625));
    let growth = share * share * 0.5 / (1.0 - 20.0 / 100.0);
    close(step(after_one_interval().put(0, 20 * M, 4 * M), 0), growth);
}

#[test]
fn braid_forgets_a_single_interval_after_64_of_them_without_loss() {
    let after = |segments: u64| {
        let mut bench = after_one_interval().put(0, 1 << 40, M);
        bench.slack_ack(0, segments * M);
        step(bench.put(0, 20 * M, M), 0)
    };
    assert!(after(6350) < 1.0);
    close(after(6400), 10.0);
}

#[test]
fn braid_forgets_the_mean_after_eight_mean_intervals_without_loss() {
    // After 8 mean intervals of 100 segments without a loss, the share is that of the best path again: 1/2.
    let good = |segments: u64| {
        let mut bench = braid(10.0, [100, 90_000], [50, 50], [10, 10]).put(0, 1 << 40, M);
        bench.slack_ack(0, segments * M);
        bench.put(0, 10 * M, M)
    };
    assert!(step(good(780), 0) < 0.001);
    close(step(good(800), 0), 5.0);
}

#[test]
fn braid_divides_the_initial_window() {
    let bench = Bench::new(Algorithm::Braid, &setup(GrowthRule::Rfc4960, 2));
    assert_eq!((bench.paths[0].window.cwnd, bench.cwnd(1)), (bytes(2190), 2190));
}
