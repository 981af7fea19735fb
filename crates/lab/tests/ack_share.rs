//! The share of acknowledgements in the traffic, and the path for which they count.

use crate::common;

use anabranch_lab as lab;
use common::*;
use lab::output::RunOutput;

/// A transfer over two paths. Each path has a rate, a rate of its
/// reverse direction, a one-way delay and further keys of its link.
fn transfer(paths: [[&str; 4]; 2], options: &str, stop: u32) -> RunOutput {
    let link = |n: usize| {
        let [rate, back, delay, more] = paths[n - 1];
        format!(
            r#"{{ name = "link-{n}", between = ["a", "b"], net_id = {n}, rate = "{rate}", delay = "{delay}", queue = {{ kind = "drop-tail", delay = "20 ms" }}, back = {{ rate = "{back}", queue = {{ kind = "drop-tail", bytes = "30 kB" }} }}{more} }}"#
        )
    };
    let text = format!(
        r#"title = "What acknowledgements cost"
seed = 5
node = [{{ name = "a", jitter = "10 us" }}, {{ name = "b", jitter = "10 us" }}]
link = [{}, {}]
sctp = {{ both = {{ {options} }} }}
flow = [{{ name = "transfer", client = "a", server = "b", sctp = "both", frame_rate = "0 Hz", start_time = "5 s", reset_time = "6 s", stop_time = "{stop} s" }}]
"#,
        link(1),
        link(2)
    );
    let sweep = lab::parse(&text, "ack-share.toml").unwrap_or_else(|error| panic!("{error}"));
    run(&sweep.variants()[0].scenario)
}

fn ack_bytes(output: &RunOutput, path: u8) -> f64 {
    path_scalar(output, "transfer", Some(path), "ack_bytes")
}

// In the second case the first handshake packet on the first path is lost, so the server numbers this path as
// its second one.
#[test]
fn acknowledgements_count_for_the_path_of_their_data() {
    for down in ["", r#", down = [["0 s", "500 ms"]]"#] {
        let paths = [["1 Mbit/s", "1 Mbit/s", "10 ms", down], ["10 Mbit/s", "10 Mbit/s", "10 ms", ""]];
        let output = transfer(paths, "cmt = { enabled = true }", 12);
        let (slow, fast) = (ack_bytes(&output, 0), ack_bytes(&output, 1));
        assert!(0.0 < slow && slow < fast / 4.0, "{slow} bytes for 1 Mbit/s, {fast} for 10{down}");
        assert_eq!(slow + fast, scalar(&output, "transfer", "ack_bytes"));
    }
}

// cwnd of the fast path exceeds the receive buffer, and this path stays in slow start. A SACK for each second
// packet would let cwnd grow, and the share of acknowledgements would be 0.018.
#[test]
fn a_path_that_the_receive_buffer_limits_does_not_ask_for_more_sacks() {
    let paths = [["300 Mbit/s", "300 Mbit/s", "5 ms", ""], ["1 Mbit/s", "1 Mbit/s", "300 ms", ""]];
    let output = transfer(paths, r#"profile = "recommended", receive_buffer = "300 KiB""#, 9);
    let share = scalar(&output, "transfer", "ack_share");
    assert!(share < 0.015, "{share} bytes of acknowledgements for a byte of data");
}

// The path of 1 Gbit/s at 4 ms alone carries 968 Mbit/s of payload; both paths together could carry 1065
// Mbit/s.
#[test]
fn a_path_of_a_gigabit_gains_from_a_slower_one() {
    let paths = [["1 Gbit/s", "1 Gbit/s", "2 ms", ""], ["100 Mbit/s", "100 Mbit/s", "20 ms", ""]];
    let output = transfer(paths, r#"profile = "recommended", receive_buffer = "16 MiB""#, 8);
    let throughput = scalar(&output, "transfer", "throughput_bps") / 1e6;
    assert!(throughput > 0.95 * 1100.0 * 1452.0 / 1500.0, "{throughput} Mbit/s");
}
