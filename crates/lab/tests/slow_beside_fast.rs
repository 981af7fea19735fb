//! A slow path beside a fast one must not make the transfer slower than the fast path alone.

use crate::common;

use anabranch_lab as lab;
use common::*;

/// Rate, one-way delay and queue of a link.
type Line = (&'static str, &'static str, &'static str);

/// Throughput in Mbit/s over these lines, from 6 to 17 s, of a transfer that begins after `begins`.
fn transfer(lines: [Line; 2], begins: &str, buffer: &str, networks: &str, seed: u64) -> f64 {
    let link = |n: usize| {
        let (rate, delay, queue) = lines[n];
        format!(
            r#"{{ name = "l{n}", between = ["a", "b"], net_id = {}, rate = "{rate}", delay = "{delay}", queue = {{ kind = "drop-tail", bytes = "{queue}" }} }}"#,
            n + 1
        )
    };
    let text = format!(
        r#"title = "A slow path beside a fast one"
seed = {seed}
node = [{{ name = "a", jitter = "100 us" }}, {{ name = "b", jitter = "100 us" }}]
link = [{}, {}]
sctp = {{ bond = {{ profile = "recommended", receive_buffer = "{buffer}", send_buffer = "8 MiB" }} }}
flow = [{{ name = "transfer", client = "a", server = "b", sctp = "bond", networks = {networks}, frame_rate = "0 Hz", start_time = "{begins}", reset_time = "6 s", stop_time = "17 s" }}]
"#,
        link(0),
        link(1)
    );
    let sweep = lab::parse(&text, "slow-beside-fast.toml").unwrap_or_else(|error| panic!("{error}"));
    scalar(&run(&sweep.variants()[0].scenario), "transfer", "throughput_bps") / 1e6
}

/// Checks that each of six transfers over both lines carries more than
/// `least` times as much as a transfer over the first line alone.
fn assert_both_carry(least: f64, lines: [Line; 2], begins: &str, buffer: &str) {
    let alone = transfer(lines, begins, buffer, "[1]", 1);
    for seed in 1..=6 {
        let both = transfer(lines, begins, buffer, "[1, 2]", seed);
        assert!(both > least * alone, "seed {seed}: {both:.1} Mbit/s with it, {alone:.1} without");
    }
}

// The queue of the narrow path holds 2 s and never overflows, so slow start on this path never ends. The path
// fills its queue once, before the measurement begins.
#[test]
fn a_narrow_path_with_a_deep_queue_does_not_slow_the_other() {
    let lines = [("200 Mbit/s", "20 ms", "500 kB"), ("3 Mbit/s", "100 ms", "750 kB")];
    assert_both_carry(0.98, lines, "3 s", "4 MiB");
}

// The buffer holds little more than the longer path needs, so this path must not fill its queue. Slow start
// on this path never ends, because the sender does not use its whole cwnd.
#[test]
fn a_path_whose_slow_start_never_ends_gets_no_more_than_it_delivers() {
    let lines = [("50 Mbit/s", "10 ms", "125 kB"), ("10 Mbit/s", "50 ms", "125 kB")];
    assert_both_carry(1.15, lines, "0 s", "512 KiB");
}
