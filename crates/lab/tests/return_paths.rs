//! SACKs on the fastest path that has room for them: their gain, and their cost if the path has no room or
//! fails.

use crate::common;

use anabranch_lab as lab;
use common::*;
use lab::output::RunOutput;

/// A transfer over a long path and a short path. `rate` and `back` are the rates of the short path to and
/// from the receiver.
fn transfer(sack_path: &str, rate: &str, back: &str, more: &str) -> RunOutput {
    let text = format!(
        r#"title = "Ways back"
seed = 11
node = [{{ name = "a" }}, {{ name = "b" }}]
link = [
  {{ name = "long", between = ["a", "b"], net_id = 1, rate = "200 Mbit/s", delay = "80 ms", queue = {{ kind = "drop-tail", packets = 500 }} }},
  {{ name = "short", between = ["a", "b"], net_id = 2, rate = "{rate}", delay = "5 ms", queue = {{ kind = "drop-tail", bytes = "20 kB" }}, back = {{ rate = "{back}", queue = {{ kind = "drop-tail", bytes = "15 kB" }} }}{more} }},
]
sctp = {{ way = {{ profile = "recommended", congestion_control = "cubic", sack_path = "{sack_path}", receive_buffer = "1 MiB", send_buffer = "8 MiB" }} }}
flow = [{{ name = "transfer", client = "a", server = "b", sctp = "way", frame_rate = "0 Hz", start_time = "1 s", reset_time = "3 s", stop_time = "12 s" }}]
probe = [{{ quantity = "throughput", flow = "transfer", every = "100 ms", from = "5 s", to = "9 s" }}]
"#
    );
    let sweep = lab::parse(&text, "ways-back.toml").unwrap_or_else(|error| panic!("{error}"));
    run(&sweep.variants()[0].scenario)
}

fn mbps(output: &RunOutput) -> f64 {
    scalar(output, "transfer", "throughput_bps") / 1e6
}

// One receive buffer (1 MiB) per round trip is 52 Mbit/s at an RTT of 160 ms, and 99 Mbit/s at 85 ms.
// With "standard" some SACKs return on the short path, too: those that data of the short path triggers.
#[test]
fn a_short_way_back_shortens_the_round_trip_of_a_long_path() {
    let (standard, fastest) =
        (transfer("standard", "1 Mbit/s", "2 Mbit/s", ""), transfer("fastest", "1 Mbit/s", "2 Mbit/s", ""));
    assert!(mbps(&fastest) > 1.15 * mbps(&standard), "{} and {}", mbps(&fastest), mbps(&standard));
    let used = scalar(&fastest, "link:short:back", "utilisation");
    assert!(used < 0.6, "{used}");
}

// At 64 B each, 16 SACKs per round trip of 47 ms are 174 kbit/s. SACKs for which the link has no room return
// on the path of their data.
#[test]
fn a_narrow_way_back_is_not_filled() {
    let (standard, fastest) = (
        transfer("standard", "1 Mbit/s", "160 kbit/s", ""),
        transfer("fastest", "1 Mbit/s", "160 kbit/s", ""),
    );
    assert!(mbps(&fastest) > 1.15 * mbps(&standard), "{} and {}", mbps(&fastest), mbps(&standard));
    let of = |output, quantity| scalar(output, "link:short:back", quantity);
    assert_eq!(of(&fastest, "drops_queue_full"), 0.0);
    let (own, both) = (of(&standard, "queue_max_packets"), of(&fastest, "queue_max_packets"));
    assert!(both <= own, "{both} packets wait at most, and {own} of the path's own");
}

#[test]
fn the_sender_goes_on_when_the_fastest_path_fails() {
    for at in ["6 s", "6.07 s", "6.141 s"] {
        let down = format!(r#", down = [["{at}", "8.3 s"]]"#);
        let output = transfer("fastest", "8 Mbit/s", "2 Mbit/s", &down);
        let [throughput] = output.series.as_slice() else {
            panic!("one series, not {}", output.series.len())
        };
        let idle = throughput.points.iter().filter(|&&(_, value)| value == 0.0).count();
        assert!(idle <= 3, "{idle} tenths of a second without progress, path down at {at}");
    }
}

/// Throughput in Mbit/s from 1 s after the failure of the short path, on which the SACKs of the long path
/// returned.
fn after_the_failure(networks: &str) -> f64 {
    let text = format!(
        r#"title = "A longer way back"
seed = 1
node = [{{ name = "a", jitter = "10 us" }}, {{ name = "b", jitter = "10 us" }}]
link = [
  {{ name = "short", between = ["a", "b"], net_id = 1, rate = "10 Mbit/s", delay = "5 ms", queue = {{ kind = "drop-tail", bytes = "30 kB" }}, down = [["8 s", "20 s"]] }},
  {{ name = "long", between = ["a", "b"], net_id = 2, rate = "200 Mbit/s", delay = "20 ms", queue = {{ kind = "drop-tail", bytes = "100 kB" }} }},
]
sctp = {{ bond = {{ profile = "recommended" }} }}
flow = [{{ name = "transfer", client = "a", server = "b", sctp = "bond", networks = {networks}, frame_rate = "0 Hz", start_time = "2 s", reset_time = "9 s", stop_time = "12 s" }}]
"#
    );
    let sweep = lab::parse(&text, "longer-way-back.toml").unwrap_or_else(|error| panic!("{error}"));
    mbps(&run(&sweep.variants()[0].scenario))
}

// While SACKs return on the short path, cwnd of the long path grows for a round trip of 25 ms. When
// they return on the long path, the round trip is 40 ms, so the same rate needs more bytes in flight.
#[test]
fn a_path_keeps_its_rate_when_the_path_of_its_sacks_fails() {
    let (both, alone) = (after_the_failure("[1, 2]"), after_the_failure("[2]"));
    assert!(both > 0.95 * alone, "{both:.1} Mbit/s with it, {alone:.1} without");
}
