//! A narrow path with a deep queue beside a fast one.

use crate::common;

use anabranch_lab as lab;
use common::*;

/// Throughput in Mbit/s over paths of 200 Mbit/s at 40 ms, and of 3 Mbit/s at 200 ms with a queue of 2 s.
fn transfer(networks: &str) -> f64 {
    let text = format!(
        r#"title = "A deep queue"
seed = 1
node = [{{ name = "a", jitter = "10 us" }}, {{ name = "b", jitter = "10 us" }}]
link = [
  {{ name = "fast", between = ["a", "b"], net_id = 1, rate = "200 Mbit/s", delay = "20 ms", queue = {{ kind = "drop-tail", bytes = "500 kB" }} }},
  {{ name = "deep", between = ["a", "b"], net_id = 2, rate = "3 Mbit/s", delay = "100 ms", queue = {{ kind = "drop-tail", bytes = "750 kB" }} }},
]
sctp = {{ bond = {{ profile = "recommended", receive_buffer = "4 MiB", send_buffer = "8 MiB" }} }}
flow = [{{ name = "transfer", client = "a", server = "b", sctp = "bond", networks = {networks}, frame_rate = "0 Hz", start_time = "3 s", reset_time = "6 s", stop_time = "17 s" }}]
"#
    );
    let sweep = lab::parse(&text, "deep-queue.toml").unwrap_or_else(|error| panic!("{error}"));
    scalar(&run(&sweep.variants()[0].scenario), "transfer", "throughput_bps") / 1e6
}

// The queue of the narrow path never overflows, so slow start on this path never ends. The path fills its
// queue once, before the measurement begins.
#[test]
fn a_narrow_path_with_a_deep_queue_does_not_slow_the_other() {
    let (both, alone) = (transfer("[1, 2]"), transfer("[1]"));
    assert!(both > 0.98 * alone, "{both:.1} Mbit/s with it, {alone:.1} without");
}
