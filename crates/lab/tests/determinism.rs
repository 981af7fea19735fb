//! The same scenario, seed and replica give the same run. Probes and unused nodes do not change it.

use crate::common;

use anabranch_lab as lab;
use common::*;
use lab::output::{RunControl, RunOutput};
use lab::scenario::{Every, Node, NodeKind, Probe, ProbeQuantity, ProbeTarget, Scenario};
use units::{BitRate, Span};

/// Two competing CMT flows. The measurement of one flow includes the stop of the other.
fn scenario() -> Scenario {
    let mut scenario = disjoint_paths(BitRate::from_mbps(10), 2);
    scenario.flows[0].stop_time = Span::from_secs(8);
    let mut other = scenario.flows[0].clone();
    (other.name, other.local_port) = ("other".into(), 9001);
    other.stop_time = Span::from_secs(6);
    scenario.flows.push(other);
    scenario.flows.iter_mut().for_each(enable_cmt);
    scenario
}

fn replica(scenario: &Scenario, replica: u32) -> RunOutput {
    lab::world::run(scenario, replica, &RunControl::default()).expect("the scenario can be simulated")
}

#[test]
fn two_runs_of_one_scenario_are_equal() {
    assert_eq!(run(&scenario()), run(&scenario()));
}

#[test]
fn runs_with_other_seeds_or_replicas_differ() {
    let base = run(&scenario());
    let mut other = scenario();
    other.seed = 2;
    assert_ne!(run(&other).digest, base.digest);
    assert_ne!(replica(&scenario(), 1).digest, base.digest);
    assert_ne!(replica(&scenario(), 1).scalars, base.scalars);
}

#[test]
fn a_node_that_forwards_no_packets_changes_no_packet() {
    let base = run(&scenario());
    let mut larger = scenario();
    let jitter = Span::from_micros(20);
    larger.nodes.push(Node { name: "bystander".into(), kind: NodeKind::Host { jitter } });
    let ends = [larger.nodes.len() - 1, 2];
    larger.links.push(link(&larger.nodes, ends, 1, BitRate::from_mbps(10), Span::ZERO, 10));
    let larger = run(&larger);
    assert_eq!(larger.digest, base.digest);
    assert_eq!(larger.scalars[..base.scalars.len()], base.scalars);
}

#[test]
fn probes_record_values_and_change_no_packet() {
    let base = run(&scenario());
    let mut watched = scenario();
    for (quantity, target, every) in [
        (ProbeQuantity::Cwnd, ProbeTarget::Flow(0), Every::Change),
        (ProbeQuantity::Srtt, ProbeTarget::Flow(1), Every::Interval(Span::from_millis(10))),
        (ProbeQuantity::Throughput, ProbeTarget::Flow(0), Every::Interval(Span::from_secs(1))),
        (ProbeQuantity::Queue, ProbeTarget::Link { link: 1, back: false }, Every::Change),
    ] {
        watched.probes.push(Probe {
            quantity,
            target,
            from: at(2),
            to: Some(at(5)),
            every,
            gap: units::Span::ZERO,
        });
    }
    let watched = run(&watched);
    assert_eq!((watched.digest, watched.scalars), (base.digest, base.scalars));
    assert!(watched.series.iter().all(|series| !series.points.is_empty()));
}

#[test]
fn a_cancelled_run_returns_the_error_cancelled() {
    let control = RunControl::default();
    control.cancel.store(true, std::sync::atomic::Ordering::Relaxed);
    let outcome = lab::world::run(&scenario(), 0, &control);
    assert!(matches!(outcome, Err(lab::output::RunError::Cancelled)), "{outcome:?}");
}
