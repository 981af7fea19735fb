//! BBR over a bottleneck: bandwidth, queue, losses, and shares beside other flows.

use crate::pipe;

use anabranch_cc::Algorithm;
use pipe::{Flow, Link, Pipe};
use units::{BitRate, ByteCount, Instant, Span};

const RTT: Span = Span::from_millis(40);

fn at(ms: u64) -> Instant {
    Instant::ZERO + Span::from_millis(ms)
}

/// A link with a queue of `queue` bandwidth-delay products.
fn link(mbps: u64, queue: f64) -> Link {
    let rate = BitRate::from_mbps(mbps);
    Link { rate, queue: ByteCount::round_f64(queue * rate.bytes_in(RTT).as_f64()), loss: 0.0 }
}

/// A pipe of 10 Mbit/s, with a queue of `queue` bandwidth-delay products, after two minutes.
fn shared(queue: f64, flows: Vec<Flow>) -> Pipe {
    let mut pipe = Pipe::new(link(10, queue), flows);
    pipe.run(at(120_000));
    pipe
}

fn flow(algorithm: Algorithm, start_ms: u64) -> Flow {
    Flow::new(algorithm, RTT, at(start_ms))
}

/// Mean queue from 20 s to 120 s, in bandwidth-delay products of 10 Mbit/s.
fn queue(pipe: &Pipe) -> f64 {
    pipe.mean_queue(at(20_000), at(120_000)) / 50_000.0
}

/// Rates of the flows in Mbit/s from 20 s to 120 s.
fn rates(pipe: &Pipe) -> Vec<f64> {
    pipe.flows.iter().map(|flow| flow.rate(at(20_000), at(120_000)) / 1e6).collect()
}

/// draft-ietf-ccwg-bbr, "Exiting STARTUP on Bandwidth Plateau": the rates of Startup, Drain and ProbeBW are
/// 2.77, 0.5 and 0.9 to 1.25 times 0.99 of the bandwidth.
#[test]
fn bandwidth_is_found_within_5_percent_in_10_round_trips() {
    for mbps in [5, 10, 50] {
        let mut pipe = Pipe::new(link(mbps, 4.0), vec![flow(Algorithm::Bbr, 0)]);
        let (mut found, mut largest) = (None, 0.0f64);
        for n in 1..=30 {
            pipe.run(at(40 * n));
            let rate = pipe.flows[0].control.pacing_rate(0).unwrap().as_bps() as f64 / 0.99;
            if n > 2 {
                largest = largest.max(rate); // the first rate is based on no RTT
            }
            if rate / 2.77 >= 0.95 * mbps as f64 * 1e6 {
                found = found.or(Some(n));
            }
        }
        assert!(found.is_some_and(|n| n <= 10), "{mbps} Mbit/s: {found:?}");
        assert!(largest <= 2.77 * 1.05 * mbps as f64 * 1e6, "{mbps} Mbit/s: {largest}");
        let delivered = pipe.flows[0].rate(at(1000), at(1200));
        assert!(delivered > 0.95e6 * mbps as f64, "{mbps} Mbit/s: {delivered}");
    }
}

#[test]
fn startup_is_over_and_its_queue_gone_within_20_round_trips() {
    for size in [1.0, 2.0, 8.0] {
        let mut pipe = Pipe::new(link(10, size), vec![flow(Algorithm::Bbr, 0)]);
        pipe.run(at(900));
        let largest = pipe.queue.iter().map(|&(_, bytes)| bytes).max().unwrap();
        assert!(largest <= 75_000, "a queue of {largest} bytes is more than 1.5 BDP");
        let left = pipe.mean_queue(at(800), at(900));
        assert!(left < 5000.0, "{size} BDP: {left} bytes wait");
    }
}

#[test]
fn alone_a_flow_uses_the_link_and_the_queue_is_short_at_any_buffer() {
    for size in [0.2, 0.5, 1.0, 8.0] {
        let pipe = shared(size, vec![flow(Algorithm::Bbr, 0)]);
        let rate = rates(&pipe)[0];
        assert!(rate > 9.5, "{size} BDP: {rate} Mbit/s");
        assert!(queue(&pipe) < 0.2, "{size} BDP: {} BDP wait", queue(&pipe));
        let largest = pipe.queue.iter().filter(|(time, _)| *time > at(20_000)).map(|(_, n)| n).max().unwrap();
        assert!(*largest < 75_000, "{size} BDP: {largest} bytes wait");
        assert!(pipe.flows[0].lost < 1000, "{size} BDP: {} packets lost", pipe.flows[0].lost);
    }
}

#[test]
fn two_flows_share_fairly_and_keep_the_queue_below_1_5_bandwidth_delay_products() {
    for size in [0.5, 1.0, 2.0, 8.0] {
        let pipe = shared(size, vec![flow(Algorithm::Bbr, 0), flow(Algorithm::Bbr, 5000)]);
        let rates = rates(&pipe);
        let (sum, squares) = rates.iter().fold((0.0, 0.0), |(sum, squares), r| (sum + r, squares + r * r));
        assert!(sum * sum / (2.0 * squares) > 0.95, "{size} BDP: {rates:?}");
        assert!(sum > 9.3, "{size} BDP: {rates:?}");
        assert!(queue(&pipe) < 1.5, "{size} BDP: {} BDP wait", queue(&pipe));
    }
}

#[test]
fn beside_cubic_neither_starves() {
    for size in [0.5, 1.0, 2.0, 4.0, 8.0] {
        let pipe = shared(size, vec![flow(Algorithm::Bbr, 0), flow(Algorithm::Cubic, 0)]);
        let rates = rates(&pipe);
        assert!(rates.iter().all(|&rate| rate > 2.5), "{size} BDP: {rates:?}");
        assert!(rates.iter().sum::<f64>() > 9.5, "{size} BDP: {rates:?}");
    }
}

#[test]
fn random_losses_below_the_threshold_cost_little() {
    let rate = |algorithm, loss| {
        let mut pipe = Pipe::new(Link { loss, ..link(10, 1.0) }, vec![flow(algorithm, 0)]);
        pipe.run(at(120_000));
        rates(&pipe)[0]
    };
    let (bbr, cubic) = (rate(Algorithm::Bbr, 0.01), rate(Algorithm::Cubic, 0.01));
    assert!(bbr > 8.0 && bbr > 2.0 * cubic, "BBR {bbr}, CUBIC {cubic} Mbit/s");
    assert!(rate(Algorithm::Bbr, 0.05) < 5.0, "above the threshold it gives way");
}

#[test]
fn a_longer_path_is_measured_anew_after_the_old_least_rtt_has_expired() {
    let mut pipe = Pipe::new(link(10, 2.0), vec![flow(Algorithm::Bbr, 0)]);
    pipe.run(at(10_000));
    pipe.flows[0].rtt = RTT * 3;
    pipe.run(at(40_000));
    let rate = pipe.flows[0].rate(at(30_000), at(40_000));
    assert!(rate > 9e6, "{rate}");
}

#[test]
fn more_bandwidth_is_found_and_less_is_noticed() {
    for (then, least) in [(40, 38.0), (3, 2.8)] {
        let mut pipe = Pipe::new(link(10, 2.0), vec![flow(Algorithm::Bbr, 0)]);
        pipe.run(at(10_000));
        pipe.link.rate = BitRate::from_mbps(then);
        pipe.run(at(25_000));
        let rate = pipe.flows[0].rate(at(20_000), at(25_000)) / 1e6;
        assert!(rate > least, "{rate} of {then} Mbit/s");
        let bdp = 5000.0 * then as f64;
        let waiting = pipe.mean_queue(at(20_000), at(25_000)) / bdp;
        assert!(waiting < 1.0, "{waiting} BDP wait at {then} Mbit/s");
    }
}

#[test]
fn after_silence_of_the_path_the_rate_is_found_again() {
    let mut pipe = Pipe::new(link(10, 1.0), vec![flow(Algorithm::Bbr, 0)]);
    pipe.run(at(8000));
    pipe.link.loss = 1.0;
    pipe.run(at(11_000));
    assert!(pipe.flows[0].cwnd() <= pipe::SEGMENT * 4, "{}", pipe.flows[0].cwnd());
    pipe.link.loss = 0.0;
    pipe.run(at(20_000));
    let rate = pipe.flows[0].rate(at(14_000), at(20_000));
    assert!(rate > 9e6, "{rate}");
}

#[test]
fn same_history_gives_the_same_result() {
    let run = || {
        let flows = vec![flow(Algorithm::Bbr, 0), flow(Algorithm::Bbr, 100), flow(Algorithm::Cubic, 0)];
        let mut pipe = Pipe::new(Link { loss: 0.001, ..link(10, 1.0) }, flows);
        pipe.run(at(30_000));
        pipe.flows.iter().map(|flow| flow.delivered.clone()).collect::<Vec<_>>()
    };
    assert!(run() == run());
}
