//! Links that fail and are repaired, under a flow that has another path.

use crate::common;

use anabranch_lab as lab;
use common::*;
use lab::output::{RunOutput, Series};
use lab::scenario::{Every, Outage, Probe, ProbeQuantity, ProbeTarget, Scenario};
use units::{BitRate, ByteCount, Instant, Probability, Span};

/// A flow over two paths of 10 Mbit/s. The link between the routers of the first path is down from 10 s to 20
/// s. Probes record the throughput of this link and of the flow every second.
fn failing_path() -> Scenario {
    let mut scenario = disjoint_paths(BitRate::from_mbps(10), 2);
    scenario.links[1].down = vec![Outage { from: at(10), to: at(20) }];
    let flow = &mut scenario.flows[0];
    flow.stop_time = Span::from_secs(39);
    for options in [&mut flow.client_options, &mut flow.server_options] {
        // The path is inactive after the second consecutive timeout, 3 s after the failure, and is probed
        // often.
        options.path_max_retrans = 1;
        options.hb_interval = Some(Span::from_secs(1));
    }
    for target in [ProbeTarget::Flow(0), ProbeTarget::Link { link: 1, back: false }] {
        let every = Every::Interval(Span::from_secs(1));
        scenario.probes.push(Probe {
            quantity: ProbeQuantity::Throughput,
            target,
            from: Instant::ZERO,
            to: Some(at(40)),
            every,
            gap: units::Span::ZERO,
        });
    }
    scenario
}

/// Mean of a series over a number of seconds, in Mbit/s.
fn mean(series: &Series, from: u64, to: u64) -> f64 {
    let values: Vec<f64> =
        series.points.iter().filter(|(t, _)| *t > at(from) && *t <= at(to)).map(|point| point.1).collect();
    assert_eq!(values.len() as u64, to - from);
    values.iter().sum::<f64>() / values.len() as f64 * 1e-6
}

fn assert_nothing_lost(output: &RunOutput) {
    assert_eq!(output.warnings, Vec::<String>::new());
    assert_eq!(scalar(output, "flow", "undelivered_messages"), 0.0);
    let dropped = |link| scalar(output, link, "drops_link_down");
    assert!(dropped("link:west1-east1") + dropped("link:west2-east2") > 0.0);
}

#[test]
fn a_flow_fails_over_and_returns_to_its_primary_path_without_losing_messages() {
    let output = run(&failing_path());
    assert_nothing_lost(&output);
    let [flow, first_path] = output.series.as_slice() else { panic!("two probes") };
    assert!(mean(flow, 5, 10) > 9.5, "before the failure");
    assert!(mean(flow, 15, 20) > 9.5, "on the other path");
    assert_eq!(mean(first_path, 11, 20), 0.0);
    assert!(mean(flow, 30, 40) > 9.5, "after the repair");
    assert!(mean(first_path, 30, 40) > 9.5, "back on the primary path");
}

#[test]
fn cmt_continues_on_the_remaining_path_and_uses_both_after_the_repair() {
    let mut scenario = failing_path();
    enable_cmt(&mut scenario.flows[0]);
    let output = run(&scenario);
    assert_nothing_lost(&output);
    let flow = &output.series[0];
    assert!(mean(flow, 5, 10) > 19.0, "before the failure");
    assert!(mean(flow, 15, 20) > 9.5, "on the other path");
    assert!(mean(flow, 30, 40) > 19.0, "after the repair");
}

/// An outage of 5 s of either path stops the other path for less than a second, with both sizes of the
/// buffer.
#[test]
fn with_the_recommended_options_a_failed_path_does_not_stall_the_other() {
    for (dead, buffer) in [(1, 65_536), (4, 65_536), (1, 1 << 20), (4, 1 << 20)] {
        let mut scenario = disjoint_paths(BitRate::from_mbps(10), 2);
        impair(&mut scenario.links[4], |direction| direction.delay = Span::from_millis(25).into());
        scenario.links[dead].down = vec![Outage { from: at(10), to: at(15) }];
        let receive_buffer = ByteCount::new(buffer);
        let options = sctp::Config { receive_buffer: receive_buffer.into(), ..sctp::Config::recommended() };
        let flow = &mut scenario.flows[0];
        (flow.client_options, flow.server_options) = (options.clone(), options);
        flow.forward.as_mut().unwrap().unordered = Probability::ZERO;
        let (target, every) = (ProbeTarget::Flow(0), Every::Interval(Span::from_millis(50)));
        let (quantity, to) = (ProbeQuantity::Throughput, Some(at(30)));
        scenario.probes.push(Probe { quantity, target, from: at(5), to, every, gap: units::Span::ZERO });
        let output = run(&scenario);
        assert_nothing_lost(&output);
        let bins = output.series[0].points.iter().map(|&(_, rate)| rate);
        let (_, stalled) = bins.fold((0, 0), |(now, most), rate| {
            let now = if rate > 0.0 { 0 } else { now + 1 };
            (now, most.max(now))
        });
        assert!(stalled < 20, "{stalled} bins of 50 ms, link {dead}, {buffer} B");
    }
}

#[test]
fn a_flow_that_never_connects_is_a_result_of_zero_with_a_warning() {
    let mut scenario = disjoint_paths(BitRate::from_mbps(10), 1);
    scenario.links[1].down = vec![Outage { from: Instant::ZERO, to: at(10_000) }];
    scenario.flows[0].client_options.max_init_retransmits = 2;
    let output = run(&scenario);
    assert_eq!(output.warnings, ["flow `flow` never connected"]);
    assert_eq!(output.failures, output.warnings);
    assert_eq!(scalar(&output, "flow", "throughput_bps"), 0.0);
}

#[test]
fn a_failed_association_is_measured_to_the_end_and_reported() {
    let mut scenario = disjoint_paths(BitRate::from_mbps(10), 1);
    scenario.links[1].down = vec![Outage { from: at(16), to: at(10_000) }];
    let flow = &mut scenario.flows[0];
    for options in [&mut flow.client_options, &mut flow.server_options] {
        options.association_max_retrans = 2;
    }
    let output = run(&scenario);
    assert_eq!(output.warnings, ["flow `flow` ended before its time: TooManyErrors"]);
    assert_eq!(output.failures, Vec::<String>::new());
    // The flow is measured from 6 s to 31 s. It carries 9.635 Mbit/s, but only for 10 s of this time.
    let throughput = scalar(&output, "flow", "throughput_bps");
    assert!((throughput * 1e-6 / (9.635 * 10.0 / 25.0) - 1.0).abs() < 0.01, "{throughput}");
    assert!(scalar(&output, "flow", "undelivered_messages") > 0.0);
}
