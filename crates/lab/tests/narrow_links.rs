//! Tests of the recommended options on narrow uplinks that carry the acknowledgements of several paths, with
//! reordering, and with a window that is too small for two paths together.

use crate::common;

use common::*;
use lab::output::RunOutput;
use lab::scenario::{Scenario, Sweep};
use std::path::Path;

use anabranch_lab as lab;

/// The scenarios of a file of `scenarios/` with these options, in the order of the other axis.
fn variants(file: &str, options: &str) -> Vec<Scenario> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(file);
    let text = std::fs::read_to_string(&path).expect("a scenario file");
    let sweep: Sweep = lab::parse(&text, file).unwrap_or_else(|error| panic!("{error}"));
    let chosen = |parameters: &[_]| parameters.iter().any(|(_, value)| format!("{value}") == options);
    sweep.variants().iter().filter(|v| chosen(&v.parameters)).map(|v| v.scenario.clone()).collect()
}

fn mbps(output: &RunOutput) -> f64 {
    scalar(output, "transfer", "throughput_bps") / 1e6
}

/// Sum of the payload rates of 50 and 30 Mbit/s: 1452 bytes of payload in packets of 1500 bytes.
const SUM: f64 = 80.0 * 1452.0 / 1500.0;

// First the uplinks have 1/25 and 1/15 of the rates of their downlinks, then 1/50 and 1/30.
#[test]
fn acknowledgements_leave_room_on_narrow_uplinks() {
    for scenario in variants("narrow-uplinks.toml", "recommended") {
        let output = run(&scenario);
        assert!(mbps(&output) > 0.98 * SUM, "{} Mbit/s", mbps(&output));
        let share = scalar(&output, "transfer", "ack_share");
        assert!(share < 0.015, "{share} bytes of acknowledgements for a byte of data");
        for link in ["link:first:back", "link:second:back"] {
            let used = scalar(&output, link, "utilisation");
            assert!(used < 0.6, "{link}: {used}");
        }
    }
    let full = run(&variants("narrow-uplinks.toml", "full-sacks")[0]);
    assert!(mbps(&full) < 50.0, "full SACKs fill the uplinks: {} Mbit/s", mbps(&full));
}

#[test]
fn packets_that_overtake_each_other_are_not_taken_for_lost() {
    for scenario in variants("reordering.toml", "recommended") {
        let output = run(&scenario);
        assert!(mbps(&output) > 28.5, "{} Mbit/s", mbps(&output));
        let needless = scalar(&output, "transfer", "duplicate_chunks");
        assert!(needless <= 50.0, "{needless} needless retransmissions in 20 s");
    }
    let worst = variants("reordering.toml", "missing-reports").pop().expect("four of them");
    assert!(mbps(&run(&worst)) < 5.0);
}

// Paths of 50 Mbit/s at 24 ms and 10 Mbit/s at 200 ms hold 400 KB, and the buffer has 512 KiB. Ordered
// messages would need a buffer of 1.3 MB.
#[test]
fn unordered_messages_use_a_slow_path_that_ordered_ones_leave_idle() {
    let file = "two-lines.toml";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(file);
    let text = std::fs::read_to_string(&path).expect("a scenario file");
    let recommended = text.replace("cmt = { enabled = true }", "profile = \"recommended\"");
    let goodput = |unordered: &str| {
        let text =
            recommended.replace("frame_rate = \"0 Hz\"", &format!("frame_rate = \"0 Hz\"\n{unordered}"));
        let sweep = lab::parse(&text, file).unwrap_or_else(|error| panic!("{error}"));
        mbps(&run(&sweep.variants()[0].scenario))
    };
    let (ordered, unordered) = (goodput(""), goodput("unordered = 1.0"));
    let sum = 60.0 * 1452.0 / 1500.0;
    assert!(unordered > 0.95 * sum && ordered < 0.9 * sum, "{unordered} and {ordered} Mbit/s");
}
