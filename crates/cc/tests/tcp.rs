//! Windows under TCP's rules: `rfc5681#section-3.1`, `rfc3465#section-2`, beside results computed by hand.

use crate::common;

use anabranch_cc::{Algorithm, LossKind, Setup, TcpRules};
use common::{Bench, SMSS, bytes, tcp};
use units::ByteCount;

fn reno(rules: TcpRules, cwnd: u64, ssthresh: u64) -> Bench {
    Bench::new(Algorithm::Standard, &Setup::tcp(rules, bytes(1 << 30))).put(0, cwnd, ssthresh)
}

/// A loss while `flight` bytes are in flight.
fn lose(bench: &mut Bench, flight: u64, kind: LossKind) {
    bench.paths[0].flight = bytes(flight);
    bench.loss(0, kind);
}

#[test]
fn initial_window_is_that_of_the_connection() {
    for segments in [2, 10] {
        let rules = TcpRules { initial_window: bytes(segments * SMSS), ..tcp() };
        let bench = Bench::new(Algorithm::Standard, &Setup::tcp(rules, bytes(1 << 30)));
        assert_eq!((bench.cwnd(0), bench.ssthresh(0)), (segments * SMSS, None));
    }
}

#[test]
fn slow_start_adds_a_segment_for_each_ack_whatever_it_covers() {
    for acked in [1, SMSS, 2 * SMSS, 9 * SMSS] {
        let mut bench = reno(tcp(), 4 * SMSS, 0);
        bench.full_ack(0, acked);
        assert_eq!(bench.cwnd(0), 5 * SMSS, "{acked}");
    }
}

#[test]
fn byte_counting_adds_what_was_acknowledged_up_to_its_limit() {
    for (limit, acked, grown) in
        [(2, 700, 700), (2, 2 * SMSS, 2 * SMSS), (2, 9 * SMSS, 2 * SMSS), (1, 2 * SMSS, SMSS)]
    {
        let mut bench = reno(TcpRules { abc_limit: Some(limit), ..tcp() }, 4 * SMSS, 0);
        bench.full_ack(0, acked);
        assert_eq!(bench.cwnd(0), 4 * SMSS + grown);
    }
}

#[test]
fn a_window_at_its_threshold_is_in_avoidance() {
    let mut bench = reno(tcp(), 10 * SMSS, 10 * SMSS);
    bench.full_ack(0, 2 * SMSS);
    assert_eq!(bench.cwnd(0), 10 * SMSS + SMSS / 10);
}

#[test]
fn avoidance_adds_fractions_of_a_segment_for_each_ack() {
    // Each ACK adds 1460²/cwnd bytes: 1460²/100000 = 21.316,
    // 1460²/100021 = 21.31…; three ACKs add 63.94 bytes, four 85.25.
    let mut bench = reno(tcp(), 100_000, 50_000);
    let grown: Vec<u64> = (0..4)
        .map(|_| {
            bench.full_ack(0, SMSS);
            bench.cwnd(0) - 100_000
        })
        .collect();
    assert_eq!(grown, [21, 42, 63, 85]);
}

#[test]
fn a_window_of_acks_adds_about_a_segment_and_delayed_acks_half_of_it() {
    let mut each = reno(tcp(), 100 * SMSS, 50 * SMSS);
    for _ in 0..100 {
        each.full_ack(0, SMSS);
    }
    // Because the window grows during the round, 100 ACKs add less than a segment: about 1 - 1/200.
    assert!((0.993..0.997).contains(&((each.cwnd(0) - 100 * SMSS) as f64 / SMSS as f64)));
    let mut every_other = reno(tcp(), 100 * SMSS, 50 * SMSS);
    for _ in 0..50 {
        every_other.full_ack(0, 2 * SMSS);
    }
    assert!((0.496..0.5).contains(&((every_other.cwnd(0) - 100 * SMSS) as f64 / SMSS as f64)));
}

#[test]
fn with_byte_counting_avoidance_adds_a_segment_for_each_window() {
    let mut bench = reno(TcpRules { abc_limit: Some(2), ..tcp() }, 10 * SMSS, 5 * SMSS);
    for _ in 0..4 {
        bench.full_ack(0, 2 * SMSS);
        assert_eq!(bench.cwnd(0), 10 * SMSS);
    }
    bench.full_ack(0, 3 * SMSS);
    assert_eq!((bench.cwnd(0), bench.pba(0)), (11 * SMSS, SMSS));
}

#[test]
fn loss_sets_ssthresh_to_half_of_the_flight_size() {
    let mut bench = reno(tcp(), 20 * SMSS, 0);
    lose(&mut bench, 10 * SMSS, LossKind::FastRetransmit);
    assert_eq!((bench.cwnd(0), bench.ssthresh(0)), (5 * SMSS, Some(5 * SMSS)));
    lose(&mut bench, 5 * SMSS, LossKind::Timeout);
    assert_eq!((bench.cwnd(0), bench.ssthresh(0)), (SMSS, Some(5 * SMSS / 2)));
    lose(&mut bench, SMSS, LossKind::FastRetransmit);
    assert_eq!((bench.cwnd(0), bench.ssthresh(0)), (2 * SMSS, Some(2 * SMSS)), "no less than two segments");
}

// rfc5681#section-4.1
#[test]
fn idle_time_limits_the_window_to_the_initial_window() {
    let mut bench = reno(tcp(), 20 * SMSS, 8 * SMSS);
    bench.idle(0);
    assert_eq!((bench.cwnd(0), bench.ssthresh(0)), (2 * SMSS, Some(8 * SMSS)));
    let mut small = reno(tcp(), SMSS, 8 * SMSS);
    small.idle(0);
    assert_eq!(small.cwnd(0), SMSS);
}

#[test]
fn unused_window_grows_unless_grow_full_only() {
    for (full_only, grown) in [(false, SMSS), (true, 0)] {
        let mut bench = reno(TcpRules { grow_full_only: full_only, ..tcp() }, 10 * SMSS, 0);
        let mut ack = bench.ack_of(0, SMSS, true);
        ack.flight_before = bytes(9 * SMSS);
        bench.sack(&[ack]);
        assert_eq!(bench.cwnd(0), 10 * SMSS + grown);
        ack.flight_before = bytes(9 * SMSS + 1 + grown);
        bench.sack(&[ack]);
        assert_eq!(bench.cwnd(0), 11 * SMSS + grown, "less room than a segment");
    }
}

#[test]
fn segment_is_the_mtu_minus_headers() {
    let rules = TcpRules { headers: bytes(2000), ..tcp() };
    assert_eq!(Setup::tcp(rules, ByteCount::MAX).segment(bytes(1500)), bytes(1), "never nothing");
}
