//! Tests of the recommended options on paths that share one bottleneck with TCP.

mod common;

use anabranch_lab as lab;
use common::*;

/// Mean rate of two TCP flows in Mbit/s over 10 Mbit/s at 40 ms, while a transfer uses the paths `networks`.
fn rivals_beside(networks: &str, control: &str) -> f64 {
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
"#
    );
    let sweep = lab::parse(&text, "shared-bottleneck.toml").unwrap_or_else(|error| panic!("{error}"));
    let output = run(&sweep.variants()[0].scenario);
    let rate = |name| scalar(&output, name, "throughput_bps") / 1e6;
    (rate("rival-1") + rate("rival-2")) / 2.0
}

#[test]
fn tcp_keeps_beside_two_paths_over_its_bottleneck_what_it_has_beside_one() {
    let one = rivals_beside("[1]", "");
    let (coupled, uncoupled) =
        (rivals_beside("[1, 2]", ""), rivals_beside("[1, 2]", ", congestion_control = \"cubic\""));
    let rates = format!(
        "{one:.2} Mbit/s beside one path, {coupled:.2} beside two, {uncoupled:.2} if they are not coupled"
    );
    assert!(coupled > 0.85 * one && uncoupled < 0.85 * one, "{rates}");
}
