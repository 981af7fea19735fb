//! wVegas, FAST and LEDBAT beside results computed by hand.

use crate::common;

use anabranch_cc::{Algorithm, FastKnobs, GrowthRule, IdleThreshold, Knobs, LossKind, OneWayDelay, Setup};
use common::{Bench, bytes, setup};
use units::{Instant, Span};

/// The MTU, which under RFC 4960 is the unit of windows.
const M: u64 = 1452;

fn paths(algorithm: Algorithm, n: usize) -> Bench {
    from(algorithm, &setup(GrowthRule::Rfc4960, n))
}

fn from(algorithm: Algorithm, setup: &Setup) -> Bench {
    Bench::with_mtu(algorithm, setup, M)
}

#[derive(Clone, Copy, Default)]
struct Delays {
    rtt: Option<Span>,
    owd: Option<OneWayDelay>,
}

fn rtt(ms: f64) -> Delays {
    Delays { rtt: Some(Span::from_secs_f64(ms / 1000.0)), owd: None }
}

fn owd(ms: i64) -> Delays {
    Delays { owd: Some(OneWayDelay::from_nanos(ms * 1_000_000)), rtt: None }
}

/// A SACK of `acked` bytes of a full window on path `p`; `flight_after` bytes stay in flight.
fn ack(bench: &mut Bench, p: usize, acked: u64, flight_after: u64, delays: Delays) {
    let mut ack = bench.ack_of(p, acked, true);
    ack.flight_after = bytes(flight_after);
    (ack.rtt, ack.owd) = (delays.rtt, delays.owd);
    bench.sack(&[ack]);
}

/// Ends the current round on path `p`, and begins a round of `next` bytes.
fn end_round(bench: &mut Bench, p: usize, next: u64, delays: Delays) {
    ack(bench, p, 1 << 40, next, delays);
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 0.001, "{found}, not {expected}");
}

fn segments(bench: &Bench, p: usize) -> f64 {
    bench.cwnd(p) as f64 / M as f64
}

/// A round of wVegas on path `p` with the given mean RTT in ms, in avoidance with a window of 20 packets.
fn wvegas_round(bench: &mut Bench, p: usize, mean: f64) -> f64 {
    bench.paths[p].window.cwnd = bytes(20 * M);
    bench.paths[p].window.ssthresh = Some(bytes(4 * M));
    end_round(bench, p, 3, Delays::default());
    bench.paths[p].window.cwnd = bytes(20 * M);
    for _ in 0..2 {
        ack(bench, p, 1, 0, rtt(mean));
    }
    end_round(bench, p, 1, rtt(mean));
    segments(bench, p)
}

/// wVegas on paths with a measured base RTT of 100 ms.
fn wvegas(n: usize) -> Bench {
    let mut bench = paths(Algorithm::WVegas, n);
    for p in 0..n {
        bench = bench.put(p, 20 * M, 4 * M);
        end_round(&mut bench, p, 3, rtt(100.0));
    }
    bench
}

#[test]
fn wvegas_grows_while_fewer_than_alpha_packets_are_queued() {
    // d = 20 (0.11 - 0.1)/0.11 = 1.82 packets in the queue, fewer than α = 2.
    close(wvegas_round(&mut wvegas(1), 0, 110.0), 21.0);
}

#[test]
fn wvegas_on_one_path_keeps_ten_packets() {
    // d = 20 (0.125 - 0.1)/0.125 = 4 packets are queued, no
    // fewer than α = 2; with a share of 1, α becomes 10.
    close(wvegas_round(&mut wvegas(1), 0, 125.0), 21.0);
}

#[test]
fn wvegas_with_a_share_of_three_tenths_shrinks() {
    // y = 20/0.125 = 160 on path 0 and 140/0.375 = 373.3 on path 1: the share of path 0 is 0.3, so its α
    // becomes 3, fewer than the d = 4 packets in its queue.
    let mut bench = wvegas(2);
    wvegas_round(&mut bench, 1, 375.0);
    bench = bench.put(1, 140 * M, 4 * M);
    close(wvegas_round(&mut bench, 0, 125.0), 19.0);
}

#[test]
fn wvegas_drains_a_queue_that_doubled() {
    let mut bench = wvegas(1);
    close(wvegas_round(&mut bench, 0, 110.0), 21.0);
    close(wvegas_round(&mut bench, 0, 121.0), 20.0 / 2.42);
    close(wvegas_round(&mut bench, 0, 121.0), 21.0);
}

#[test]
fn wvegas_leaves_slow_start_once_a_packet_is_queued() {
    let mut bench = wvegas(1).put(0, 20 * M, 0);
    ack(&mut bench, 0, M, 2, rtt(100.0));
    assert_eq!(bench.cwnd(0), 21 * M, "slow start is standard");
    let mut bench = wvegas(1).put(0, 20 * M, 0);
    for _ in 0..2 {
        ack(&mut bench, 0, 1, 0, rtt(125.0));
    }
    bench = bench.put(0, 20 * M, 0);
    end_round(&mut bench, 0, 1, rtt(125.0));
    close(segments(&bench, 0), 17.0);
    assert_eq!(bench.ssthresh(0), Some(16 * M));
}

/// FAST after one round with a window of 100, so that the next round may update; the base RTT is 100 ms.
fn fast(knobs: FastKnobs) -> Bench {
    let mut bench = fast_on(Algorithm::Fast, 1, knobs).put(0, 100 * M, 4 * M);
    end_round(&mut bench, 0, 1, rtt(100.0));
    bench.put(0, 100 * M, 4 * M)
}

/// Returns the window after one update of FAST at an average
/// RTT of 110 ms. The update comes long after the previous one.
fn fast_update(mut bench: Bench) -> f64 {
    bench.now = Instant::ZERO + Span::from_secs(1);
    // The average follows with a weight of 3/100 and reaches 110 ms after some hundred samples.
    for _ in 0..2000 {
        bench = bench.put(0, 100 * M, 4 * M);
        bench.paths[0].in_recovery = true;
        ack(&mut bench, 0, 0, 1, rtt(110.0));
    }
    bench.paths[0].in_recovery = false;
    // Growth is spread over the acknowledgements of the 10 ms until the next update. A SACK of 2000
    // M acknowledges more than a window, so that the window grows by the whole amount at once.
    ack(&mut bench, 0, 2000 * M, 1, rtt(110.0));
    if segments(&bench, 0) <= 100.0 {
        ack(&mut bench, 0, 2000 * M, 1, rtt(110.0));
    }
    segments(&bench, 0)
}

fn fast_on(algorithm: Algorithm, paths: usize, fast: FastKnobs) -> Bench {
    let knobs = Knobs { fast, ..Knobs::default() };
    Bench::with_knobs(algorithm, &setup(GrowthRule::Rfc4960, paths), M, &knobs)
}

fn alpha(alpha: f64) -> FastKnobs {
    FastKnobs { alpha, ..FastKnobs::default() }
}

#[test]
fn fast_sets_the_window_by_equation_1() {
    // (1 - γ) w + γ (b/r w₀ + α) = 0.5 · 100 + 0.5 (0.1/0.11 · 100 + 20) = 105.4545.
    close(fast_update(fast(alpha(20.0))), 105.4545);
}

#[test]
fn fast_with_alpha_outside_adds_all_of_alpha() {
    // With α outside: 0.5 · 100 + 0.5 · 0.1/0.11 · 100 + 20.
    close(fast_update(fast(FastKnobs { alpha_inside: false, ..alpha(20.0) })), 115.4545);
}

#[test]
fn fast_at_most_doubles_and_obeys_base_rtt() {
    close(fast_update(fast(alpha(5000.0))), 200.0);
    let base_rtt = Some(Span::from_millis(55));
    // b/r = 55 ms/110 ms = 0.5: 50 + 0.5 (0.5 · 100 + 20) = 85.
    close(fast_update(fast(FastKnobs { base_rtt, ..alpha(20.0) })), 85.0);
}

#[test]
fn fast_without_a_queue_grows_by_the_acked_bytes_in_every_other_round() {
    let mut bench = fast(alpha(200.0));
    for grown in [0.0, 2.0, 0.0, 2.0] {
        end_round(&mut bench, 0, 1000 * M, rtt(100.5));
        bench = bench.put(0, 100 * M, 4 * M);
        ack(&mut bench, 0, 2 * M, 998 * M, rtt(100.5));
        close(segments(&bench, 0), 100.0 + grown);
    }
}

// Without a queue the window doubles. With `mi_once`, after a loss, it becomes 50 + 0.5 (100 + 100) = 150.
#[test]
fn fast_that_doubles_once_grows_by_alpha_after_a_loss() {
    for (mi_once, grown) in [(false, 200.0), (true, 150.0)] {
        let mut bench = fast(FastKnobs { mi_once, ..alpha(100.0) });
        bench.loss(0, LossKind::FastRetransmit);
        bench.now = Instant::ZERO + Span::from_secs(1);
        bench = bench.put(0, 100 * M, 4 * M);
        for _ in 0..2 {
            ack(&mut bench, 0, 100 * M, 1, rtt(100.0));
        }
        close(segments(&bench, 0), grown);
    }
}

#[test]
fn fast_loss_halves_the_window_and_timeout_leaves_two_packets() {
    let mut bench = fast(alpha(200.0));
    bench.loss(0, LossKind::FastRetransmit);
    close(segments(&bench, 0), 50.0);
    bench.loss(0, LossKind::Timeout);
    close(segments(&bench, 0), 2.0);
}

#[test]
fn fast_is_in_equilibrium_with_alpha_packets_queued() {
    // In equilibrium w - w b/r = α. With b = 100 ms and r = 110 ms, 20 of 220 packets wait in queues.
    let mut bench = fast_on(Algorithm::Fast, 1, alpha(20.0)).put(0, 220 * M, 4 * M);
    ack(&mut bench, 0, M, M, rtt(100.0));
    for step in 0..3000u64 {
        bench.now = Instant::ZERO + Span::from_millis(step);
        if step < 1000 {
            bench = bench.put(0, 220 * M, 4 * M);
        }
        ack(&mut bench, 0, 2 * M, 218 * M, rtt(110.0));
    }
    assert!((219.0..221.0).contains(&segments(&bench, 0)), "{}", segments(&bench, 0));
}

#[test]
fn fast_weighted_divides_alpha_by_rate() {
    // Windows of 100 and 300 at equal RTTs: α is 50 and 150, so
    // the window of path 0 becomes 50 + 0.5 (0.1/0.11 · 100 + 50).
    let mut bench = fast_on(Algorithm::FastWeighted, 2, alpha(200.0));
    for p in 0..2 {
        end_round(&mut bench, p, 1, rtt(100.0));
    }
    bench = bench.put(0, 100 * M, 4 * M).put(1, 300 * M, 4 * M);
    for p in [0, 1] {
        bench.paths[p].in_recovery = true;
        for _ in 0..4000 {
            ack(&mut bench, p, 0, 1, rtt(110.0));
        }
        bench.paths[p].in_recovery = false;
    }
    end_round(&mut bench, 0, 1, rtt(110.0));
    end_round(&mut bench, 0, 1, rtt(110.0));
    bench = bench.put(0, 100 * M, 4 * M);
    bench.now = Instant::ZERO + Span::from_secs(1);
    end_round(&mut bench, 0, 1, rtt(110.0));
    end_round(&mut bench, 0, 1, rtt(110.0));
    close(segments(&bench, 0), 120.4545);
}

/// LEDBAT with the window `cwnd` and a base delay of 10 ms.
fn ledbat(cwnd: u64) -> Bench {
    let mut bench = paths(Algorithm::Ledbat, 1).put(0, cwnd, 0);
    bench.paths[0].in_recovery = true;
    ack(&mut bench, 0, M, 1, owd(10));
    bench.paths[0].in_recovery = false;
    bench
}

/// The window after one acknowledged segment, with a queue of `queue` ms in each of the last four delays.
fn ledbat_after(mut bench: Bench, queue: i64) -> f64 {
    bench.paths[0].in_recovery = true;
    for _ in 0..3 {
        ack(&mut bench, 0, 1, 1, owd(10 + queue));
    }
    bench.paths[0].in_recovery = false;
    for _ in 0..10 {
        ack(&mut bench, 0, M / 10, 1, owd(10 + queue));
    }
    ack(&mut bench, 0, M % 10, 1, owd(10 + queue));
    bench.cwnd(0) as f64
}

#[test]
fn ledbat_window_follows_the_distance_to_the_target() {
    // For one segment at a window of ten: 0.5 · 1452/10 = 72.6 bytes up at a queue of 50 ms, down at 150 ms.
    assert!((ledbat_after(ledbat(14_520), 50) - 14_592.6).abs() < 1.0);
    assert!((ledbat_after(ledbat(14_520), 150) - 14_447.4).abs() < 1.0);
    assert_eq!(ledbat_after(ledbat(2 * M), 200), (2 * M) as f64, "never below two segments");
}

#[test]
fn ledbat_keeps_fractions_of_a_byte() {
    let mut bench = ledbat(1_452_000);
    for _ in 0..100 {
        // Each SACK adds GAIN (1 - q/T) a M/c = 0.9 · 1 ·
        // 1452/1452000 bytes, less than a thousandth of a byte.
        ack(&mut bench, 0, 1, 1, owd(20));
    }
    assert_eq!(bench.cwnd(0), 1_452_000);
    for _ in 0..1100 {
        ack(&mut bench, 0, 1, 1, owd(20));
    }
    assert_eq!(bench.cwnd(0), 1_452_001);
}

#[test]
fn ledbat_window_is_limited_by_the_flight_size() {
    let mut bench = ledbat(100 * M);
    let mut ack = bench.ack_of(0, M, true);
    ack.flight_before = bytes(10 * M);
    ack.owd = Some(OneWayDelay::from_nanos(10_000_000));
    bench.sack(&[ack]);
    assert_eq!(bench.cwnd(0), 11 * M);
}

#[test]
fn ledbat_loss_halves_the_window_and_timeout_leaves_one_segment() {
    for (before, after) in [(14_520, 7260), (3 * M, 2 * M), (M, M)] {
        let mut bench = paths(Algorithm::Ledbat, 1).put(0, before, 0);
        bench.loss(0, LossKind::FastRetransmit);
        assert_eq!(bench.cwnd(0), after);
    }
    let mut bench = paths(Algorithm::Ledbat, 1).put(0, 14_520, 0);
    bench.loss(0, LossKind::Timeout);
    assert_eq!(bench.cwnd(0), M);
}

#[test]
fn ledbat_uses_rtts_until_one_way_delays_arrive() {
    let mut bench = paths(Algorithm::Ledbat, 1).put(0, 14_520, 0);
    ack(&mut bench, 0, M, 1, rtt(1.0));
    assert_eq!(bench.cwnd(0), 14_520 + 145, "no queue: 1452/10");
    // One-way delays have a base delay of their own: the first one, 500 ms, does not mean a queue of 499 ms.
    let before = bench.cwnd(0);
    ack(&mut bench, 0, M, 1, owd(500));
    assert!(bench.cwnd(0) > before);
    let before = bench.cwnd(0);
    ack(&mut bench, 0, M, 1, Delays { rtt: Some(Span::from_secs(9)), owd: None });
    assert!(bench.cwnd(0) > before, "from then on round trips say nothing");
}

#[test]
fn ledbat_base_delay_history_is_ten_minutes_and_six_in_ledbat_mp() {
    for (algorithm, minutes) in [(Algorithm::LedbatMp, 6), (Algorithm::Ledbat, 10)] {
        let mut bench = paths(algorithm, 1).put(0, 14_520, 0);
        bench.paths[0].in_recovery = true;
        ack(&mut bench, 0, M, 1, owd(10));
        for second in 1..minutes * 60 {
            bench.now = Instant::ZERO + Span::from_secs(second);
            ack(&mut bench, 0, M, 1, owd(130));
        }
        bench.paths[0].in_recovery = false;
        let before = bench.cwnd(0);
        ack(&mut bench, 0, M, 1, owd(130));
        assert!(bench.cwnd(0) < before, "{algorithm}: 20 ms too many");
        bench.now = Instant::ZERO + Span::from_secs(minutes * 60);
        let before = bench.cwnd(0);
        ack(&mut bench, 0, M, 1, owd(130));
        assert!(bench.cwnd(0) > before, "{algorithm}: the queue is the base now");
    }
}

// rfc9260#section-7.2.1, and the option `idle_threshold`
#[test]
fn idle_time_sets_ssthresh_of_delay_based_controls_as_of_loss_based_ones() {
    for (idle_threshold, ssthresh) in [(IdleThreshold::Window, 6 * M), (IdleThreshold::Kept, 9 * M)] {
        let setup = Setup { idle_threshold, ..setup(GrowthRule::Rfc9260, 1) };
        let mut bench = from(Algorithm::Fast, &setup).put(0, 6 * M, 9 * M);
        bench.idle(0);
        assert_eq!(bench.ssthresh(0), Some(ssthresh));
        // 4 M of RFC 9260, where M is the MTU without IP and common header.
        assert_eq!(bench.cwnd(0), 4 * (M - 32));
    }
}
