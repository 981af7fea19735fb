//! CUBIC (`rfc9438`), coupled CUBIC and mulTCP beside results
//! computed by hand, under the rules of TCP and SCTP.

use crate::common;

use anabranch_cc::{Algorithm, GrowthRule, Knobs, LossKind, Setup, TcpRules};
use common::{Bench, M, SMSS, bytes, setup, tcp};
use units::{Instant, Span};

/// A window of 100 segments that a loss reduced to 70 at time 0.
/// No RTT is measured, so that the target w(t + RTT) is w(t).
fn cut_from_100(algorithm: Algorithm, rules: TcpRules) -> Bench {
    let mut bench = Bench::new(algorithm, &Setup::tcp(rules, bytes(1 << 30))).put(0, 100 * SMSS, 0);
    bench.paths[0].flight = bytes(100 * SMSS);
    bench.loss(0, LossKind::FastRetransmit);
    bench
}

fn at(seconds: f64) -> Instant {
    Instant::ZERO + Span::from_secs_f64(seconds)
}

/// Acknowledges one whole window at once, which is one step of growth with byte counting (ABC).
fn window_at(bench: &mut Bench, seconds: f64) -> f64 {
    bench.now = at(seconds);
    bench.full_ack(0, bench.cwnd(0));
    bench.cwnd(0) as f64 / SMSS as f64
}

fn counted() -> TcpRules {
    TcpRules { abc_limit: Some(2), ..tcp() }
}

#[test]
fn cubic_loss_leaves_seven_tenths_of_the_window() {
    let bench = cut_from_100(Algorithm::Cubic, tcp());
    assert_eq!((bench.cwnd(0), bench.ssthresh(0)), (70 * SMSS, Some(70 * SMSS)));
}

// rfc9438#section-4.2: K = cbrt((100 - 70)/0.4) = 4.217 s.
#[test]
fn cubic_window_reaches_its_plateau_after_k_seconds() {
    let mut bench = cut_from_100(Algorithm::Cubic, counted());
    window_at(&mut bench, 0.0);
    for step in 1..=42 {
        let t = 0.1 * f64::from(step);
        let reached = window_at(&mut bench, t);
        let expected = 0.4 * (t - 4.217).powi(3) + 100.0;
        assert!((reached - expected).abs() < 0.02, "at {t}: {reached}, not {expected}");
    }
    let plateau = window_at(&mut bench, 4.217);
    assert!((plateau - 100.0).abs() < 0.01, "{plateau}");
}

#[test]
fn cubic_ack_adds_its_part_of_the_distance_to_the_target() {
    let mut bench = cut_from_100(Algorithm::Cubic, tcp());
    bench.full_ack(0, SMSS);
    assert_eq!(bench.cwnd(0), 70 * SMSS + 11, "Reno's 0.529/70 of a segment, as cubic stands still");
    bench.now = at(1.0);
    let before = bench.cwnd(0);
    // The target w(1) is 0.4 (1 - 4.2172)³ + 100 = 86.68: the
    // window grows by (86.68 - 70.008)/70.008 of a segment.
    bench.full_ack(0, SMSS);
    let step = (bench.cwnd(0) - before) as f64 / SMSS as f64;
    assert!((step - 0.2382).abs() < 0.001, "{step}");
}

#[test]
fn cubic_target_is_at_most_one_and_a_half_windows() {
    let mut bench = cut_from_100(Algorithm::Cubic, counted());
    window_at(&mut bench, 0.0);
    let before = bench.cwnd(0) as f64 / SMSS as f64;
    let after = window_at(&mut bench, 60.0);
    assert!((after / before - 1.5).abs() < 0.001);
}

// rfc9438#section-4.3: if CUBIC would be slower than Reno, it grows as Reno.
#[test]
fn cubic_grows_as_reno_in_the_reno_friendly_region() {
    let rules = counted();
    let mut bench = Bench::new(Algorithm::Cubic, &Setup::tcp(rules, bytes(1 << 30))).put(0, 10 * SMSS, 0);
    bench.paths[0].flight = bytes(10 * SMSS);
    bench.loss(0, LossKind::FastRetransmit);
    let windows: Vec<f64> = (0..8).map(|round| window_at(&mut bench, 0.01 * f64::from(round))).collect();
    // The window grows by 3 (1 - 0.7)/(1 + 0.7) = 0.529 segments per round until it reaches 10, the window
    // before the loss, and then by one segment per round.
    for (round, window) in windows.iter().enumerate() {
        let reno = 7.0 + 0.529_41 * (round + 1) as f64;
        let reno = if reno > 10.53 { 10.176 + (round as f64 - 5.0) } else { reno };
        assert!((window - reno).abs() < 0.01, "round {round}: {window}, not {reno}");
    }
}

// rfc9438#section-4.7
#[test]
fn cubic_fast_convergence_lowers_the_plateau() {
    for (fast, plateau) in [(true, 70.0 * 0.85), (false, 70.0)] {
        let mut knobs = Knobs::default();
        knobs.cubic.fast_convergence = fast;
        let setup = Setup::tcp(counted(), bytes(1 << 30));
        let mut bench = Bench::with_knobs(Algorithm::Cubic, &setup, M, &knobs).put(0, 100 * SMSS, 0);
        for flight in [100, 70] {
            bench.paths[0].flight = bytes(flight * SMSS);
            bench.loss(0, LossKind::FastRetransmit);
        }
        window_at(&mut bench, 0.0);
        let k = ((plateau - 49.0) / 0.4_f64).cbrt();
        let reached = window_at(&mut bench, k);
        assert!((reached - plateau).abs() < 0.05, "{reached}, not {plateau}");
    }
}

// rfc9438#section-4.8
#[test]
fn cubic_plateau_after_a_timeout_is_the_window_at_congestion_avoidance() {
    let mut bench = cut_from_100(Algorithm::Cubic, counted());
    bench.loss(0, LossKind::Timeout);
    assert_eq!(bench.cwnd(0), SMSS);
    bench = bench.put(0, 70 * SMSS, 70 * SMSS);
    window_at(&mut bench, 10.0);
    let reached = window_at(&mut bench, 13.0);
    // 3 s after congestion avoidance began, w(3) = 0.4 · 3³ + 70.
    assert!((reached - 80.8).abs() < 0.01, "{reached}");
}

#[test]
fn cubic_does_not_count_idle_time() {
    let mut bench = cut_from_100(Algorithm::Cubic, TcpRules { initial_window: bytes(1 << 30), ..counted() });
    window_at(&mut bench, 0.0);
    bench.now = at(100.0);
    bench.idle(0);
    let reached = window_at(&mut bench, 100.0);
    assert!(reached < 72.0, "{reached}");
}

#[test]
fn cubic_over_sctp_grows_once_a_window() {
    let mut bench = Bench::new(Algorithm::Cubic, &setup(GrowthRule::Rfc4960, 1)).put(0, 100 * M, 0);
    bench.loss(0, LossKind::FastRetransmit);
    assert_eq!(bench.cwnd(0), 70 * M);
    bench.full_ack(0, 69 * M);
    assert_eq!(bench.cwnd(0), 70 * M, "a segment is missing");
    bench.full_ack(0, M);
    assert_eq!(bench.cwnd(0), 70 * M + 795, "Reno's 0.529 of a segment, as cubic stands still");
    bench.now = at(1.0);
    let before = bench.cwnd(0);
    bench.full_ack(0, before);
    // K = cbrt(30/0.4) = 4.217 s, so that w(1) = 0.4 (1 - 4.217)³ + 100 = 86.68.
    let reached = bench.cwnd(0) as f64 / M as f64;
    assert!((reached - 86.68).abs() < 0.01, "{reached}");
}

/// Two coupled paths with shares of 1/2; losses at time 0 reduced their windows of `w` segments to 0.7 w.
fn two_halves(w: u64) -> Bench {
    let setup = Setup { paths: 2, ..Setup::tcp(counted(), bytes(1 << 30)) };
    let mut bench = Bench::new(Algorithm::CoupledCubic, &setup);
    for p in 0..2 {
        bench = bench.put(p, w * SMSS, 0);
        bench.paths[p].flight = bytes(w * SMSS);
    }
    for p in 0..2 {
        bench.loss(p, LossKind::FastRetransmit);
    }
    bench
}

/// Windows of both paths in segments after one SACK for both.
fn windows_at(bench: &mut Bench, seconds: f64) -> [f64; 2] {
    bench.now = at(seconds);
    let acks = [0, 1].map(|p| bench.ack_of(p, bench.cwnd(p), true));
    bench.sack(&acks);
    [0, 1].map(|p| bench.cwnd(p) as f64 / SMSS as f64)
}

// With shares of 1/2, C (1/2)⁴ = 0.4/16 = 0.025 replaces C: K = cbrt((100 - 70)/0.025) = 10.627 s.
#[test]
fn coupled_cubic_of_two_equal_paths_grows_with_a_sixteenth_of_the_scale() {
    let mut bench = two_halves(100);
    assert_eq!([bench.cwnd(0), bench.cwnd(1)], [70 * SMSS; 2], "each loss is that of one flow");
    windows_at(&mut bench, 0.0);
    for t in [0.2, 2.0, 6.0, 10.627] {
        let expected = 0.025 * (t - 10.627_f64).powi(3) + 100.0;
        let reached = windows_at(&mut bench, t);
        assert!(reached.iter().all(|w| (w - expected).abs() < 0.02), "at {t}: {reached:?}, not {expected}");
    }
}

// With shares of 1/2, each window grows by 0.529 (1/2)² segments per round.
#[test]
fn coupled_cubic_of_two_equal_paths_grows_by_a_quarter_of_reno() {
    let mut bench = two_halves(10);
    for round in 1..8 {
        let expected = 7.0 + 0.529_41 / 4.0 * f64::from(round);
        let reached = windows_at(&mut bench, 0.01 * f64::from(round - 1));
        assert!(
            reached.iter().all(|w| (w - expected).abs() < 0.01),
            "round {round}: {reached:?}, not {expected}"
        );
    }
}

// rfc9438#section-4.6: a loss leaves 0.7 of 4 M, which is 2.8 M. Of 2 M it leaves 2 M, the lower bound.
#[test]
fn under_sctp_cubic_leaves_two_segments_at_least_as_under_tcp() {
    for algorithm in [Algorithm::Cubic, Algorithm::CoupledCubic] {
        for (window, left) in [(4 * M, 4200), (2 * M, 2 * M)] {
            let mut bench = Bench::new(algorithm, &setup(GrowthRule::Rfc4960, 1)).put(0, window, 0);
            bench.loss(0, LossKind::FastRetransmit);
            assert_eq!(bench.ssthresh(0), Some(left), "{algorithm:?}");
        }
    }
}

/// A paced path with HyStart++, `cwnd` and `ssthresh` in segments.
fn with_hystart(cwnd: u64, ssthresh: u64) -> Bench {
    let setup = Setup { paced: true, ..setup(GrowthRule::Rfc4960, 1) };
    let mut knobs = Knobs::default();
    knobs.cubic.hystart = true;
    Bench::with_knobs(Algorithm::Cubic, &setup, M, &knobs).put(0, cwnd * M, ssthresh * M)
}

// The first SACK after a loss may acknowledge many packets: in slow start it would restore the window from
// before the loss.
#[test]
fn under_sctp_cubic_is_in_congestion_avoidance_after_a_loss() {
    let plain = Bench::new(Algorithm::Cubic, &setup(GrowthRule::Rfc4960, 1)).put(0, 100 * M, 0);
    for mut bench in [plain, with_hystart(100, 0)] {
        bench.loss(0, LossKind::FastRetransmit);
        bench.full_ack(0, 20 * M);
        assert_eq!(bench.cwnd(0), 70 * M, "no window of bytes is acknowledged yet");
    }
}

#[test]
fn slow_start_after_a_timeout_ends_at_the_threshold() {
    let mut bench = with_hystart(60, 70);
    bench.full_ack(0, 30 * M);
    assert_eq!(bench.cwnd(0), 70 * M);
}

/// A path under `algorithm`; mulTCP is as aggressive as `flows` flows.
fn with_flows(algorithm: Algorithm, flows: f64) -> Bench {
    let mut knobs = Knobs::default();
    knobs.multcp.flows = flows;
    Bench::with_knobs(algorithm, &Setup::tcp(tcp(), bytes(1 << 30)), M, &knobs)
}

#[test]
fn multcp_grows_as_n_flows_and_halves_one_of_them() {
    let mut bench = with_flows(Algorithm::MulTcp, 2.0).put(0, 100 * SMSS, 50 * SMSS);
    bench.full_ack(0, SMSS);
    assert_eq!(bench.cwnd(0), 100 * SMSS + 29, "2/100 of 1460 bytes");
    bench.paths[0].flight = bytes(100 * SMSS);
    bench.loss(0, LossKind::FastRetransmit);
    assert_eq!(bench.cwnd(0), 75 * SMSS);
}

#[test]
fn multcp_of_one_flow_is_reno() {
    let [mut one, mut reno] = [Algorithm::MulTcp, Algorithm::Standard]
        .map(|algorithm| with_flows(algorithm, 1.0).put(0, 30 * SMSS, 33 * SMSS));
    for step in 0..200 {
        for bench in [&mut one, &mut reno] {
            if step % 50 == 49 {
                bench.paths[0].flight = bytes(bench.cwnd(0));
                bench.loss(0, LossKind::FastRetransmit);
            } else {
                bench.full_ack(0, 2 * SMSS);
            }
        }
        assert_eq!(one.paths[0].window, reno.paths[0].window);
    }
}
