//! Tests of the recommended options on paths that share one bottleneck with TCP.

use crate::common;

use anabranch_lab as lab;
use common::*;
use lab::output::{RunOutput, Series};

/// Two TCP flows over 10 Mbit/s at 40 ms, and a transfer that uses the paths `networks` over the same link.
fn beside_two_flows(networks: &str, control: &str) -> RunOutput {
    let text = format!(
        r#"title = "A shared bottleneck"
seed = 1
node = [
  {{ name = "a", jitter = "1 ms" }}, {{ name = "b", jitter = "1 ms" }}, {{ name = "s", jitter = "1 ms" }}, {{ name = "d", jitter = "1 ms" }},
  {{ name = "west", kind = "router" }}, {{ name = "east", kind = "router" }},
]
link = [
  {{ name = "tight", between = ["west", "east"], net_id = 0, rate = "10 Mbit/s", delay = "18 ms", queue = {{ kind = "drop-tail", bytes = "50 kB" }} }},
  {{ name = "a-1", between = ["a", "west"], net_id = 1, rate = "100 Mbit/s", delay = "1 ms" }},
  {{ name = "a-2", between = ["a", "west"], net_id = 2, rate = "100 Mbit/s", delay = "1 ms" }},
  {{ name = "b-1", between = ["east", "b"], net_id = 1, rate = "100 Mbit/s", delay = "1 ms" }},
  {{ name = "b-2", between = ["east", "b"], net_id = 2, rate = "100 Mbit/s", delay = "1 ms" }},
  {{ name = "s", between = ["s", "west"], net_id = 1, rate = "100 Mbit/s", delay = "1 ms" }},
  {{ name = "d", between = ["east", "d"], net_id = 1, rate = "100 Mbit/s", delay = "1 ms" }},
]
sctp = {{ bond = {{ profile = "recommended"{control} }} }}
flow = [
  {{ name = "transfer", client = "a", server = "b", sctp = "bond", networks = {networks}, frame_rate = "0 Hz", reset_time = "15 s", stop_time = "60 s" }},
  {{ name = "rival", client = "s", server = "d", networks = [1], count = 2, protocol = "TCP", frame_rate = "0 Hz", reset_time = "15 s", stop_time = "60 s" }},
]
{COUPLED}
"#
    );
    outcome(&text)
}

/// For each path of the transfer, records how many paths the congestion control treats as coupled with it,
/// itself included.
const COUPLED: &str = r#"probe = [{ quantity = "cc:coupled", flow = "transfer", every = "1 s" }]"#;

fn outcome(text: &str) -> RunOutput {
    let sweep = lab::parse(text, "shared-bottleneck.toml").unwrap_or_else(|error| panic!("{error}"));
    run(&sweep.variants()[0].scenario)
}

/// Mean rate of the TCP flows in Mbit/s.
fn rivals(output: &RunOutput) -> f64 {
    ["rival-1", "rival-2"].map(|name| scalar(output, name, "throughput_bps")).iter().sum::<f64>() / 2e6
}

/// From second `first` on, the share of time in which the first path counts as coupled to the second one.
fn coupled(output: &RunOutput, first: u64) -> f64 {
    let of_first = |series: &&Series| series.path == Some(0) && series.quantity == "cc:coupled";
    let series = output.series.iter().find(of_first).expect("probed");
    let points: Vec<f64> =
        series.points.iter().filter(|point| point.0 >= at(first)).map(|point| point.1).collect();
    points.iter().filter(|&&paths| paths == 2.0).count() as f64 / points.len() as f64
}

#[test]
fn tcp_keeps_beside_two_paths_over_its_bottleneck_what_it_has_beside_one() {
    let beside = |networks, control| rivals(&beside_two_flows(networks, control));
    let one = beside("[1]", "");
    let (coupled, uncoupled) = (beside("[1, 2]", ""), beside("[1, 2]", ", congestion_control = \"cubic\""));
    let rates = format!(
        "{one:.2} Mbit/s beside one path, {coupled:.2} beside two, {uncoupled:.2} if they are not coupled"
    );
    assert!(coupled > 0.85 * one && uncoupled < 0.85 * one, "{rates}");
}

#[test]
fn paths_over_one_bottleneck_stay_coupled() {
    let part = coupled(&beside_two_flows("[1, 2]", ""), 3);
    assert!(part > 0.95, "{part:.3} of the time");
}

/// A transfer over lines of 20 Mbit/s and 40 ms that lose 1 % of their packets at random.
fn over_lossy_lines(networks: &str, detect: bool) -> RunOutput {
    outcome(&format!(
        r#"title = "Two lossy lines"
seed = 1
node = [{{ name = "a", jitter = "1 ms" }}, {{ name = "b", jitter = "1 ms" }}]
link = [
  {{ name = "one", between = ["a", "b"], net_id = 1, rate = "20 Mbit/s", delay = "20 ms", loss = 0.01, queue = {{ kind = "drop-tail", bytes = "100 kB" }} }},
  {{ name = "two", between = ["a", "b"], net_id = 2, rate = "20 Mbit/s", delay = "20 ms", loss = 0.01, queue = {{ kind = "drop-tail", bytes = "100 kB" }} }},
]
sctp = {{ bond = {{ profile = "recommended", cmt = {{ detect_bottlenecks = {detect} }} }} }}
flow = [{{ name = "transfer", client = "a", server = "b", sctp = "bond", networks = {networks}, frame_rate = "0 Hz", reset_time = "10 s", stop_time = "60 s" }}]
{COUPLED}
"#
    ))
}

// Without detection of separate bottlenecks, each path takes half of what a single flow would.
#[test]
fn lossy_lines_that_share_nothing_carry_twice_what_one_carries() {
    let rate = |output: &RunOutput| scalar(output, "transfer", "throughput_bps") / 1e6;
    let (one, assumed) = (rate(&over_lossy_lines("[1]", true)), rate(&over_lossy_lines("[1, 2]", false)));
    let detected = over_lossy_lines("[1, 2]", true);
    let rates = format!("{one:.2} Mbit/s over one, {assumed:.2} if coupled, {:.2}", rate(&detected));
    assert!(rate(&detected) > 1.7 * one && assumed < 1.4 * one, "{rates}");
    assert!(coupled(&detected, 10) < 0.05, "coupled for {:.3} of the time", coupled(&detected, 10));
}
