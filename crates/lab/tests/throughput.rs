//! Throughput of flows in relation to the rate of their links.

use crate::common;

use common::*;
use units::BitRate;

/// Payload of full packets on a link of 10 Mbit/s: 1452 bytes of each 1507 on the wire (common header 12,
/// DATA header 16, IP 20, PPP 7).
const CAPACITY: f64 = 10e6 * 1452.0 / 1507.0;

fn near(value: f64, expected: f64, tolerance: f64) {
    assert!((value / expected - 1.0).abs() <= tolerance, "{value} is not {expected} within {tolerance}");
}

#[test]
fn a_saturated_flow_fills_its_path() {
    let output = run(&disjoint_paths(BitRate::from_mbps(10), 1));
    near(scalar(&output, "flow", "throughput_bps"), CAPACITY, 0.005);
    assert_eq!(output.warnings, Vec::<String>::new());
    assert_eq!(scalar(&output, "flow", "undelivered_messages"), 0.0);
}

#[test]
fn without_cmt_a_second_path_stays_idle() {
    let output = run(&disjoint_paths(BitRate::from_mbps(10), 2));
    near(scalar(&output, "flow", "throughput_bps"), CAPACITY, 0.005);
    assert_eq!(path_scalar(&output, "flow", Some(1), "data_packets"), 0.0);
}

#[test]
fn cmt_doubles_the_throughput_on_two_paths() {
    let mut scenario = disjoint_paths(BitRate::from_mbps(10), 2);
    enable_cmt(&mut scenario.flows[0]);
    let output = run(&scenario);
    near(scalar(&output, "flow", "throughput_bps"), 2.0 * CAPACITY, 0.01);
    assert_eq!(scalar(&output, "flow", "undelivered_messages"), 0.0);
}
