//! LEDBAT++ and LEDBAT-MP+ beside results computed by hand.
//! The MTU is 1500 bytes; windows are counted in MTUs.

use crate::common;

use anabranch_cc::{Algorithm, GrowthRule, LossKind, OneWayDelay};
use common::{Bench, M, bytes, setup};
use units::{Instant, Span};

fn paths(algorithm: Algorithm, n: usize) -> Bench {
    let mut bench = Bench::new(algorithm, &setup(GrowthRule::Rfc4960, n));
    for path in &mut bench.paths {
        path.srtt = Some(Span::from_millis(100));
        path.flight = bytes(1);
    }
    bench
}

/// A SACK of `acked` bytes of a full window on path `p`; `flight_after` bytes stay in flight, `rtt` is in ms.
fn ack(bench: &mut Bench, p: usize, acked: u64, flight_after: u64, rtt: u64) {
    let mut ack = bench.ack_of(p, acked, true);
    ack.flight_after = bytes(flight_after);
    ack.rtt = Some(Span::from_millis(rtt));
    bench.sack(&[ack]);
}

/// Gives path `p` four RTT samples that do not change its window.
fn delays(bench: &mut Bench, p: usize, rtt: u64) {
    bench.paths[p].in_recovery = true;
    for _ in 0..4 {
        ack(bench, p, 0, 1000 * M, rtt);
    }
    bench.paths[p].in_recovery = false;
}

/// Paths in congestion avoidance. Each has a window of 20
/// segments, a base RTT of 20 ms, hence a gain G of 1/6.
fn steady(algorithm: Algorithm, n: usize) -> Bench {
    let mut bench = paths(algorithm, n);
    for p in 0..n {
        delays(&mut bench, p, 20);
        bench = bench.put(p, 20 * M, 0);
        // The first slow start ends: a slowdown begins two round trips later, at 200 ms.
        delays(&mut bench, p, 70);
        ack(&mut bench, p, 0, 1000 * M, 70);
        bench = bench.put(p, 20 * M, 10 * M);
    }
    bench
}

fn later(bench: &mut Bench, ms: u64) {
    bench.now = Instant::ZERO + Span::from_millis(ms);
}

fn segments(bench: &Bench, p: usize) -> f64 {
    bench.cwnd(p) as f64 / M as f64
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 0.001, "{found}, not {expected}");
}

#[test]
fn ledbat_pp_gain_depends_on_the_base_delay() {
    // The gain is G = 1/min(16, ceil(120/b)) with the base RTT b in
    // ms: the first slow start adds G for each segment acknowledged.
    for (algorithm, base, gain) in [
        (Algorithm::LedbatPp, 20, 1.0 / 6.0),
        (Algorithm::LedbatPp, 7, 1.0 / 16.0),
        (Algorithm::LedbatPp, 500, 1.0),
        (Algorithm::MpPlus, 50, 1.0 / 3.0),
    ] {
        let mut bench = paths(algorithm, 1);
        delays(&mut bench, 0, base);
        bench = bench.put(0, 10 * M, 0);
        ack(&mut bench, 0, 3 * M, 1000 * M, base);
        close(segments(&bench, 0), 10.0 + 3.0 * gain);
    }
}

#[test]
fn below_the_target_a_round_adds_the_gain() {
    let mut bench = steady(Algorithm::LedbatPp, 1);
    ack(&mut bench, 0, 20 * M, 1000 * M, 60);
    close(segments(&bench, 0), 20.0 + 1.0 / 6.0);
}

#[test]
fn above_the_target_a_round_removes_at_most_half_of_the_window() {
    for (algorithm, rtt, left) in [
        // The queue is 72 ms, the target 60 ms, G = 1/6: the window changes by 1/6 - 20 (72/60 - 1) segments.
        (Algorithm::LedbatPp, 92, 20.0 + 1.0 / 6.0 - 4.0),
        (Algorithm::LedbatPp, 300, 10.0),
        // LEDBAT-MP+ multiplies the decrease by T/(T + b) = 60/80, with target T and base RTT b in ms.
        (Algorithm::MpPlus, 92, 20.0 + 1.0 / 6.0 - 3.0),
        (Algorithm::MpPlus, 300, 10.0),
    ] {
        let mut bench = steady(algorithm, 1);
        delays(&mut bench, 0, rtt);
        ack(&mut bench, 0, 20 * M, 1000 * M, rtt);
        close(segments(&bench, 0), left);
    }
}

#[test]
fn ssthresh_does_not_stop_a_decrease_above_the_target() {
    // A window of w = 20 segments at ssthresh and a queue q of 1.5 targets T, before the slowdown. In
    // each round trip the window decreases by w (q/T - 1); here two SACKs acknowledge one round trip.
    let mut bench = steady(Algorithm::LedbatPp, 1).put(0, 20 * M, 20 * M);
    delays(&mut bench, 0, 110);
    ack(&mut bench, 0, 10 * M, 1000 * M, 110);
    let first = 20.0 - 10.0 / 20.0 * (10.0 - 1.0 / 6.0);
    close(segments(&bench, 0), first);
    ack(&mut bench, 0, 10 * M, 1000 * M, 110);
    close(segments(&bench, 0), first - 10.0 / first * (first / 2.0 - 1.0 / 6.0));
}

#[test]
fn first_slow_start_ends_at_three_quarters_of_the_target() {
    for algorithm in [Algorithm::LedbatPp, Algorithm::MpPlus] {
        for (rtt, grown) in [(64, 20.0 / 6.0), (66, 1.0 / 6.0)] {
            let mut bench = paths(algorithm, 1);
            delays(&mut bench, 0, 20);
            bench = bench.put(0, 20 * M, 0);
            delays(&mut bench, 0, rtt);
            ack(&mut bench, 0, 20 * M, 1000 * M, rtt);
            close(segments(&bench, 0), 20.0 + grown);
        }
    }
}

#[test]
fn ledbat_pp_slowdown_comes_after_two_rounds_and_then_after_nine_times_its_duration() {
    let mut bench = steady(Algorithm::LedbatPp, 1);
    later(&mut bench, 199);
    ack(&mut bench, 0, 1, 1000 * M, 70);
    assert!(bench.cwnd(0) >= 20 * M);
    later(&mut bench, 200);
    ack(&mut bench, 0, 1, 1000 * M, 70);
    assert_eq!((bench.cwnd(0), bench.ssthresh(0)), (2 * M, Some(20 * M)));
    later(&mut bench, 399);
    ack(&mut bench, 0, 5 * M, 1000 * M, 20);
    assert_eq!(bench.cwnd(0), 2 * M);
    later(&mut bench, 400);
    ack(&mut bench, 0, 6 * M, 1000 * M, 20);
    close(segments(&bench, 0), 3.0);
    ack(&mut bench, 0, 102 * M, 1000 * M, 20);
    close(segments(&bench, 0), 20.0);
    // The slowdown lasts from 200 ms to 500 ms: the next one begins 2.7 s later.
    later(&mut bench, 500);
    delays(&mut bench, 0, 80);
    ack(&mut bench, 0, 1, 1000 * M, 80);
    later(&mut bench, 3199);
    ack(&mut bench, 0, 1, 1000 * M, 80);
    assert!(bench.cwnd(0) > 19 * M);
    later(&mut bench, 3200);
    ack(&mut bench, 0, 1, 1000 * M, 80);
    assert_eq!(bench.cwnd(0), 2 * M);
}

#[test]
fn loss_halves_down_to_two_segments_and_timeout_leaves_one() {
    for algorithm in [Algorithm::LedbatPp, Algorithm::MpPlus] {
        for (kind, before, after) in [
            (LossKind::FastRetransmit, 20 * M, 10 * M),
            (LossKind::FastRetransmit, 3 * M, 2 * M),
            (LossKind::Timeout, 20 * M, M),
        ] {
            let mut bench = paths(algorithm, 1).put(0, before, 0);
            bench.loss(0, kind);
            assert_eq!(bench.cwnd(0), after);
        }
    }
}

#[test]
fn mpplus_paths_together_grow_as_one_flow() {
    let mut bench = steady(Algorithm::MpPlus, 2);
    ack(&mut bench, 0, 20 * M, 1000 * M, 60);
    close(segments(&bench, 0), 20.0 + 1.0 / 12.0);
    let mut apart = steady(Algorithm::MpPlus, 2);
    apart.paths[1].group = 1;
    ack(&mut apart, 0, 20 * M, 1000 * M, 60);
    close(segments(&apart, 0), 20.0 + 1.0 / 6.0);
}

#[test]
fn mpplus_target_is_lower_on_faster_paths_and_higher_on_slower_ones() {
    // Windows of 30 and 10, mean 20: x̄/x - 1 is -1/3 and 1, so that
    // the targets are 60 (1 - 0.1/3) = 58 ms and 60 (1 + 0.1) = 66 ms.
    let at = |p: usize, queue: u64| {
        let mut bench = steady(Algorithm::MpPlus, 2).put(0, 30 * M, 4 * M).put(1, 10 * M, 4 * M);
        delays(&mut bench, p, 20 + queue);
        let before = segments(&bench, p);
        ack(&mut bench, p, M, 1000 * M, 20 + queue);
        segments(&bench, p) - before
    };
    assert!(at(0, 57) > 0.0 && at(0, 59) < 0.0);
    assert!(at(1, 65) > 0.0 && at(1, 67) < 0.0);
}

/// Two paths with base RTTs of 20 and 120 ms, hence gains of
/// 1/6 and 1, with windows in segments and a queue in ms.
fn unequal(windows: [u64; 2], queue: u64) -> Bench {
    let mut bench = paths(Algorithm::MpPlus, 2);
    for (p, (window, base)) in windows.into_iter().zip([20, 120]).enumerate() {
        delays(&mut bench, p, base);
        bench = bench.put(p, window * M, 0);
        delays(&mut bench, p, base + 50);
        ack(&mut bench, p, 0, 1000 * M, base + 50);
        delays(&mut bench, p, base + queue);
    }
    bench
}

#[test]
fn mpplus_coupled_paths_near_their_targets_grow_by_the_least_gain() {
    // Growth of path 1 in one round trip, in segments. Paths with equal windows have equal rates.
    let grown = |windows: [u64; 2], queue: u64| {
        let mut bench = unequal(windows, queue);
        ack(&mut bench, 1, windows[1] * M, 1000 * M, 120 + queue);
        segments(&bench, 1) - windows[1] as f64
    };
    close(grown([20, 20], 50), 1.0 / 12.0);
    // A path faster than the mean x̄ of the rates also uses the least gain g. A path of rate x with
    // x̄/x - 1 = 1/3 uses the gain g + (1 - g)/3 = 4/9, and a path with x̄/x - 1 = 1 its own gain, 1.
    close(grown([10, 30], 50), 1.0 / 12.0);
    close(grown([25, 15], 50), 2.0 / 9.0);
    close(grown([30, 10], 50), 1.0 / 2.0);
    // Below 3/4 of the target a path grows by its own G.
    close(grown([20, 20], 40), 1.0 / 2.0);
}

#[test]
fn mpplus_paths_of_other_groups_do_not_change_the_gain() {
    let mut bench = unequal([20, 20], 50);
    bench.paths[0].group = 1;
    ack(&mut bench, 1, 20 * M, 1000 * M, 170);
    close(segments(&bench, 1), 21.0);
}

#[test]
fn mpplus_paces_without_the_option_of_the_transport() {
    // 20 segments in 100 ms are 2.4 Mbit/s.
    let rate = |bench: &Bench| bench.control.pacing_rate(0).map_or(0, |rate| rate.as_bps());
    let mut bench = paths(Algorithm::MpPlus, 1);
    assert!(bench.control.is_paced());
    delays(&mut bench, 0, 20);
    bench = bench.put(0, 20 * M, 0);
    ack(&mut bench, 0, 0, 1000 * M, 20);
    assert_eq!(rate(&bench), 4_800_000, "the first slow start");
    delays(&mut bench, 0, 70);
    ack(&mut bench, 0, 0, 1000 * M, 70);
    assert_eq!(rate(&bench), 2_880_000, "avoidance");
    // A drain reduces the window to 20/7 segments; then it returns to 20.
    later(&mut bench, 200);
    ack(&mut bench, 0, 1, 1000 * M, 70);
    let drained = bench.cwnd(0) as f64 * 2.0 * 80.0;
    assert!((rate(&bench) as f64 - drained).abs() < 2.0, "{} and {drained}", rate(&bench));
}

/// As [`ack`], and with a one-way delay in ms.
fn ack_with_delay(bench: &mut Bench, p: usize, acked: u64, (rtt, owd): (u64, i64)) {
    let mut ack = bench.ack_of(p, acked, true);
    ack.flight_after = bytes(1000 * M);
    ack.rtt = Some(Span::from_millis(rtt));
    ack.owd = Some(OneWayDelay::from_nanos(owd * 1_000_000));
    bench.sack(&[ack]);
}

#[test]
fn mpplus_ignores_queues_on_the_return_path() {
    // The clocks differ by an hour. Once one-way delays arrive, delays measured from RTTs are discarded.
    let away = -3_600_000;
    let grown = |rtt: u64, owd: i64| {
        let mut bench = steady(Algorithm::MpPlus, 1);
        bench.paths[0].in_recovery = true;
        ack_with_delay(&mut bench, 0, 0, (20, away));
        for _ in 0..4 {
            ack_with_delay(&mut bench, 0, 0, (rtt, away + owd));
        }
        bench.paths[0].in_recovery = false;
        ack_with_delay(&mut bench, 0, 20 * M, (rtt, away + owd));
        segments(&bench, 0) - 20.0
    };
    // A queue of 180 ms to the peer halves the window, the largest decrease in a round trip. The same queue
    // on the return path only changes G = 1/min(16, ceil(120/200)).
    close(grown(200, 180), -10.0);
    close(grown(200, 0), 1.0);
    // Queues of 72 ms to the peer and 100 ms on the return path: the window changes by
    // G - 20 (72/60 - 1) T/(T + b), with G = 1 and b = 192 - 72.
    close(grown(192, 72), 1.0 - 4.0 / 3.0);
}

/// Ends one round of a drain on path `p`.
fn round(bench: &mut Bench, p: usize, rtt: u64) {
    ack(bench, p, 1000 * M, 1000 * M, rtt);
}

#[test]
fn mpplus_paths_drain_together_and_return_to_their_windows() {
    let mut bench = steady(Algorithm::MpPlus, 2).put(1, 40 * M, 10 * M);
    later(&mut bench, 200);
    // Without a queue 20 · 20/(20 + 50) and 40 · 20/70 segments
    // would be in flight. Each window becomes half of that.
    ack(&mut bench, 0, 1, 1000 * M, 70);
    close(segments(&bench, 0), 20.0 / 7.0);
    ack(&mut bench, 1, 1, 1000 * M, 70);
    close(segments(&bench, 1), 40.0 / 7.0);
    for _ in 0..3 {
        round(&mut bench, 0, 20);
    }
    close(segments(&bench, 0), 20.0 / 7.0);
    for _ in 0..2 {
        round(&mut bench, 1, 20);
    }
    // Path 1 ends its third round. Both windows then return: they grow by the bytes acknowledged.
    later(&mut bench, 300);
    ack(&mut bench, 1, 1000 * M, 1000 * M, 20);
    assert!(segments(&bench, 1) > 39.0);
    ack(&mut bench, 0, M, 1000 * M, 20);
    close(segments(&bench, 0), 20.0 / 7.0 + 1.0);
}

#[test]
fn mpplus_drain_ends_without_acks_of_one_path() {
    let mut bench = steady(Algorithm::MpPlus, 2);
    later(&mut bench, 200);
    ack(&mut bench, 0, 1, 1000 * M, 70);
    for _ in 0..9 {
        round(&mut bench, 0, 20);
    }
    later(&mut bench, 699);
    ack(&mut bench, 0, M, 1000 * M, 20);
    close(segments(&bench, 0), 20.0 / 7.0);
    later(&mut bench, 700);
    ack(&mut bench, 0, M, 1000 * M, 20);
    close(segments(&bench, 0), 20.0 / 7.0 + 1.0);
}

/// True if a path reduces its window at an RTT of 81 ms. Its base RTT is 20 ms, and `bottoms` are the least
/// RTTs of its earlier drains in ms.
fn after_drains(bottoms: impl Iterator<Item = u64>) -> bool {
    let mut bench = steady(Algorithm::MpPlus, 1);
    let mut ms = 200;
    for bottom in bottoms {
        later(&mut bench, ms);
        ack(&mut bench, 0, 1, 1000 * M, 200);
        for _ in 0..3 {
            round(&mut bench, 0, bottom);
        }
        ms += 10_000;
    }
    ack(&mut bench, 0, 1, 1000 * M, 200);
    bench = bench.put(0, 20 * M, 10 * M);
    delays(&mut bench, 0, 81);
    ack(&mut bench, 0, M, 1000 * M, 81);
    bench.cwnd(0) < 20 * M
}

#[test]
fn mpplus_base_delay_rises_after_ten_drains_that_agree() {
    assert!(after_drains([50; 9].into_iter()), "nine are too few");
    assert!(!after_drains([50; 10].into_iter()), "a longer route");
    let changing = (0..30).map(|i| if i % 5 == 0 { 120 } else { 80 });
    assert!(after_drains(changing), "somebody's queue");
}
