//! Short transfers, each over its own connection, and their completion times.

use crate::common;

use anabranch_lab as lab;
use common::*;
use lab::output::{RunOutput, Series};
use lab::scenario::{Distribution, Flow, Hertz, Protocol, Scenario, Transfers, Window};
use units::{BitRate, ByteCount, Probability, Span};

/// Two transfers of 100,000 bytes per second over 10 Mbit/s and 10 ms, from 1 s to 61 s. No other traffic.
fn scenario(protocol: Protocol) -> Scenario {
    let mut scenario = disjoint_paths(BitRate::from_mbps(10), 1);
    impair(&mut scenario.links[1], |direction| direction.delay = Span::from_millis(10).into());
    let mut like = Flow { protocol, ..saturated_flow("short") };
    like.forward.as_mut().expect("a direction forth").unordered = Probability::ZERO;
    scenario.flows.clear();
    scenario.transfers.push(Transfers {
        like,
        rate: Distribution::Constant(Hertz::new(2.0).expect("a frequency")),
        size: Distribution::Constant(ByteCount::new(100_000)),
        from: at(1),
        to: at(61),
    });
    scenario
}

fn clean(scenario: &Scenario) -> RunOutput {
    let output = run(scenario);
    assert_eq!(output.warnings, Vec::<String>::new());
    assert_eq!(scalar(&output, "short", "transfers_unfinished"), 0.0);
    output
}

fn series<'o>(output: &'o RunOutput, quantity: &str) -> &'o Series {
    output.series.iter().find(|series| series.quantity == quantity).expect("the series is there")
}

#[test]
fn transfers_of_equal_size_have_equal_completion_times() {
    for protocol in [Protocol::Sctp, Protocol::Tcp] {
        let output = clean(&scenario(protocol));
        assert_eq!(scalar(&output, "short", "transfers"), 120.0);
        assert_eq!(scalar(&output, "short", "transfer_bytes"), 120.0 * 100_000.0);
        // Transmission takes 80 ms at 10 Mbit/s, plus some round trips of 20 ms in slow start.
        let [mean, median, p95] = ["mean", "median", "p95"]
            .map(|what| scalar(&output, "short", &format!("completion_time_{what}_s")));
        assert!((0.12..0.3).contains(&mean), "{protocol:?}: {mean}");
        assert!((median / mean - 1.0).abs() < 0.02 && (p95 / mean - 1.0).abs() < 0.02);
        let times = series(&output, "completion-time");
        assert_eq!((times.points.len(), times.flow.as_str()), (120, "short"));
        assert!(times.points.is_sorted_by_key(|point| point.0));
        assert_eq!(run(&scenario(protocol)), output);
    }
}

#[test]
fn a_window_counts_the_transfers_that_begin_in_it() {
    let mut scenario = scenario(Protocol::Tcp);
    scenario.windows.push(Window { name: "half".into(), from: at(30), to: at(60) });
    let output = clean(&scenario);
    assert_eq!(window_scalar(&output, "half", "short", None, "transfers"), 60.0);
}

#[test]
fn poisson_arrivals_and_pareto_sizes_have_their_means() {
    for protocol in [Protocol::Sctp, Protocol::Tcp] {
        let mut scenario = scenario(protocol);
        let transfers = &mut scenario.transfers[0];
        transfers.rate = Distribution::Exponential(Hertz::new(20.0).expect("a frequency"));
        transfers.size = Distribution::Pareto(ByteCount::new(20_000), 2.5);
        let output = clean(&scenario);
        let number = scalar(&output, "short", "transfers");
        // The expected number of transfers is 1200 with a standard deviation of 35.
        // Sizes are at least 12,000 bytes, with a standard deviation of 18,000.
        assert!((1060.0..1340.0).contains(&number), "{number}");
        let mean = scalar(&output, "short", "transfer_bytes") / number;
        assert!((18_000.0..22_500.0).contains(&mean), "{mean}");
        let sizes = series(&output, "transfer-size");
        assert!(sizes.points.iter().all(|point| point.1 >= 12_000.0));
        assert!(sizes.points.iter().any(|point| point.1 > 60_000.0));
    }
}

#[test]
fn a_competing_flow_makes_transfers_slower() {
    let alone = scalar(&clean(&scenario(Protocol::Tcp)), "short", "completion_time_mean_s");
    let mut scenario = scenario(Protocol::Tcp);
    let mut rival = saturated_flow("rival");
    rival.stop_time = Span::from_secs(60);
    (rival.local_port, rival.remote_port) = (8000, 8000);
    scenario.flows.push(rival);
    let output = clean(&scenario);
    let together = scalar(&output, "short", "completion_time_mean_s");
    assert!(together > 1.2 * alone, "{alone} {together}");
    assert!(scalar(&output, "rival", "throughput_bps") > 5e6);
}

#[test]
fn packet_loss_delays_transfers_but_all_are_delivered() {
    for protocol in [Protocol::Sctp, Protocol::Tcp] {
        let mut scenario = scenario(protocol);
        impair(&mut scenario.links[1], |direction| {
            direction.impairments.loss = Probability::new(0.02).expect("a probability");
        });
        let output = clean(&scenario);
        let [median, p95] =
            ["median", "p95"].map(|what| scalar(&output, "short", &format!("completion_time_{what}_s")));
        assert!(p95 > median, "{median} {p95}");
    }
}
