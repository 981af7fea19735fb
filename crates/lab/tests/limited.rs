//! The reason that holds a sender back, in scenarios in which it is known.

use crate::common;

use anabranch_lab as lab;
use common::*;
use lab::output::RunOutput;
use lab::scenario::*;
use units::{BitRate, ByteCount, Instant, Probability, Span};

const WORDS: [&str; 9] = [
    "application",
    "send_buffer",
    "peer_window",
    "head_of_line",
    "scheduler",
    "pacing",
    "cwnd",
    "recovery",
    "timeout",
];

/// A saturated, ordered flow over disjoint paths of these rates in Mbit/s and delays in ms, for 10 s.
fn paths(of: &[(u64, u64)]) -> Scenario {
    let mut scenario = disjoint_paths(BitRate::from_mbps(10), of.len() as u8);
    for (n, &(rate, delay)) in of.iter().enumerate() {
        impair(&mut scenario.links[3 * n + 1], |channel| {
            channel.transmitter = BitRate::from_mbps(rate).into();
            channel.delay = Span::from_millis(delay).into();
        });
    }
    let flow = &mut scenario.flows[0];
    (flow.reset_time, flow.stop_time) = (Span::from_secs(2), Span::from_secs(10));
    flow.forward.as_mut().expect("traffic").unordered = Probability::ZERO;
    if of.len() > 1 {
        enable_cmt(flow);
    }
    scenario
}

fn share(output: &RunOutput, path: Option<u8>, limit: &str) -> f64 {
    path_scalar(output, "flow", path, &format!("limited_by_{limit}_share"))
}

/// Runs the scenario. Checks that the shares of the time of all reasons add up to 1, for the flow and for
/// each path.
fn shares(scenario: &Scenario) -> RunOutput {
    let output = run(scenario);
    let paths = scenario.links.len() / 3;
    for path in std::iter::once(None).chain((0..paths as u8).map(Some)) {
        let sum: f64 = WORDS.iter().map(|limit| share(&output, path, limit)).sum();
        assert!((sum - 1.0).abs() < 1e-9, "path {path:?}: {sum}");
    }
    output
}

#[track_caller]
fn within(value: f64, range: std::ops::RangeInclusive<f64>) {
    assert!(range.contains(&value), "{value} is not in {range:?}");
}

#[test]
fn a_slow_application_is_the_limit() {
    let mut scenario = paths(&[(10, 10)]);
    let rate = Hertz::new(50.0).expect("a frequency");
    scenario.flows[0].forward.as_mut().expect("traffic").pace = Pace::Frames(Distribution::Constant(rate));
    within(share(&shares(&scenario), None, "application"), 0.99..=1.0);
}

#[test]
fn a_receive_buffer_below_the_bandwidth_delay_product_is_the_limit() {
    let mut scenario = paths(&[(20, 50)]);
    scenario.flows[0].server_options.receive_buffer = ByteCount::new(64 << 10).into();
    let output = shares(&scenario);
    within(share(&output, None, "peer_window"), 0.95..=1.0);
    within(share(&output, Some(0), "peer_window"), 0.95..=1.0);
    // About one receive window per round trip of 101 ms.
    within(scalar(&output, "flow", "throughput_bps"), 4.5e6..=5.2e6);
}

#[test]
fn a_send_buffer_below_the_bandwidth_delay_product_is_the_limit() {
    let mut scenario = paths(&[(20, 50)]);
    scenario.flows[0].client_options.send_buffer = ByteCount::new(64 << 10).into();
    within(share(&shares(&scenario), None, "send_buffer"), 0.95..=1.0);
}

#[test]
fn with_large_buffers_cwnd_and_its_recoveries_are_the_limit() {
    let output = shares(&paths(&[(20, 20)]));
    within(share(&output, None, "cwnd"), 0.7..=1.0);
    within(share(&output, None, "cwnd") + share(&output, None, "recovery"), 0.99..=1.0);
}

#[test]
fn losses_make_recovery_a_limit() {
    let mut scenario = paths(&[(20, 20)]);
    scenario.links[1].forward.impairments.loss = Probability::new(0.02).expect("a probability");
    let output = shares(&scenario);
    within(share(&output, None, "recovery"), 0.15..=0.8);
    let sum: f64 = ["cwnd", "recovery", "timeout"].map(|limit| share(&output, None, limit)).iter().sum();
    within(sum, 0.97..=1.0);
}

/// The bottleneck of path `n` is down between these seconds.
fn cut(scenario: &mut Scenario, n: usize, from: u64, to: u64) {
    scenario.links[3 * n + 1].down = vec![Outage { from: at(from), to: at(to) }];
}

#[test]
fn the_time_of_an_outage_is_that_of_a_timeout_from_its_beginning() {
    let mut scenario = paths(&[(20, 20)]);
    cut(&mut scenario, 0, 5, 7);
    let output = shares(&scenario);
    // The path is down for two of eight seconds; the timeout lasts until the next retransmission.
    within(share(&output, None, "timeout"), 0.24..=0.55);
    within(share(&output, Some(0), "timeout"), 0.24..=0.55);
}

#[test]
fn a_dead_path_waits_for_its_timer_while_the_other_one_is_limited_by_cwnd() {
    let mut scenario = paths(&[(20, 20), (20, 20)]);
    cut(&mut scenario, 1, 2, 200);
    let output = shares(&scenario);
    within(share(&output, Some(1), "timeout"), 0.9..=1.0);
    within(share(&output, Some(0), "cwnd") + share(&output, Some(0), "recovery"), 0.5..=1.0);
    within(share(&output, None, "timeout"), 0.0..=0.05);
}

#[test]
fn a_slow_path_blocks_the_receive_buffer_of_a_fast_one() {
    let mut scenario = paths(&[(50, 5), (5, 200)]);
    scenario.flows[0].server_options.receive_buffer = ByteCount::new(200_000).into();
    let output = shares(&scenario);
    within(share(&output, None, "head_of_line"), 0.5..=1.0);
    let blocks = [0, 1].map(|path| path_scalar(&output, "flow", Some(path), "blocks_share"));
    within(blocks[1], 0.5..=1.0);
    assert!(blocks[0] < 0.1 * blocks[1], "{blocks:?}");
    within(blocks[0] + blocks[1] - share(&output, None, "head_of_line"), -1e-9..=1e-9);
}

#[test]
fn a_slow_path_blocks_the_send_buffer_even_if_messages_are_unordered() {
    let mut scenario = paths(&[(50, 5), (5, 200)]);
    scenario.flows[0].client_options.send_buffer = ByteCount::new(200_000).into();
    scenario.flows[0].forward.as_mut().expect("traffic").unordered = Probability::ONE;
    let output = shares(&scenario);
    within(share(&output, None, "head_of_line"), 0.5..=1.0);
    within(path_scalar(&output, "flow", Some(1), "blocks_share"), 0.5..=1.0);
}

#[test]
fn equal_paths_with_a_small_window_are_limited_by_the_window() {
    let mut scenario = paths(&[(20, 50), (20, 50)]);
    scenario.flows[0].server_options.receive_buffer = ByteCount::new(128 << 10).into();
    within(share(&shares(&scenario), None, "peer_window"), 0.8..=1.0);
}

#[test]
fn a_burst_limit_of_one_packet_is_the_limit() {
    let mut scenario = paths(&[(20, 20)]);
    scenario.flows[0].client_options.max_burst = 1;
    within(share(&shares(&scenario), None, "pacing"), 0.8..=1.0);
}

#[test]
fn without_cmt_the_second_path_is_left_out_by_choice() {
    let mut scenario = paths(&[(20, 20), (20, 20)]);
    scenario.flows[0].client_options.cmt.enabled = false;
    let output = shares(&scenario);
    within(share(&output, Some(1), "scheduler"), 0.99..=1.0);
    within(share(&output, None, "cwnd") + share(&output, None, "recovery"), 0.99..=1.0);
}

#[test]
fn a_tcp_sender_accounts_for_its_time_too() {
    let tcp = |change: &dyn Fn(&mut Scenario)| {
        let mut scenario = paths(&[(20, 50)]);
        scenario.flows[0].protocol = Protocol::Tcp;
        change(&mut scenario);
        shares(&scenario)
    };
    let window =
        tcp(&|scenario| scenario.flows[0].server_tcp.receive_buffer = ByteCount::new(64 << 10).into());
    within(share(&window, None, "peer_window"), 0.95..=1.0);
    let buffer = tcp(&|scenario| scenario.flows[0].client_tcp.send_buffer = ByteCount::new(64 << 10).into());
    within(share(&buffer, None, "send_buffer"), 0.95..=1.0);
    let large = tcp(&|scenario| {
        scenario.flows[0].client_tcp.send_buffer = ByteCount::new(50_000_000).into();
        scenario.flows[0].server_tcp.receive_buffer = ByteCount::new(50_000_000).into();
    });
    within(share(&large, None, "cwnd") + share(&large, None, "recovery"), 0.95..=1.0);
    let dead = tcp(&|scenario| cut(scenario, 0, 5, 7));
    within(share(&dead, None, "timeout"), 0.24..=0.6);
    let slow = tcp(&|scenario| {
        let rate = Hertz::new(50.0).expect("a frequency");
        scenario.flows[0].forward.as_mut().expect("traffic").pace =
            Pace::Frames(Distribution::Constant(rate));
    });
    within(share(&slow, None, "application"), 0.95..=1.0);
}

#[test]
fn a_probe_shows_the_limit_over_time() {
    let mut scenario = paths(&[(20, 20)]);
    cut(&mut scenario, 0, 5, 7);
    scenario.probes.push(Probe {
        quantity: ProbeQuantity::Limit,
        target: ProbeTarget::Flow(0),
        from: Instant::ZERO,
        to: None,
        every: Every::Change,
        gap: Span::ZERO,
    });
    let output = run(&scenario);
    let whole = output.series.iter().find(|series| series.path.is_none()).expect("a series of the flow");
    let during = |from: u64, to: u64| {
        whole
            .points
            .iter()
            .filter(move |(time, _)| *time >= at(from) && *time < at(to))
            .map(|&(_, limit)| limit)
    };
    assert!(during(1, 2).any(|limit| limit == 6.0), "cwnd");
    assert!(during(5, 9).any(|limit| limit == 8.0), "timeout");
    assert!(output.series.iter().any(|series| series.path == Some(0)));
}
