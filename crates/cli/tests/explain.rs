//! `anabranch explain` as a user meets it.

mod scratch;

use scratch::Scratch;
use serde_json::Value as Json;
use std::fs;
use std::path::Path;

/// A receive buffer of 64 KiB on a path of 20 Mbit/s and an RTT of 100 ms.
const SCENARIO: &str = r#"title = "a small window"
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
between = ["a", "b"]
rate = "20 Mbit/s"
delay = "50 ms"
[sctp.small]
receive_buffer = "64 KiB"
[[flow]]
name = "f"
client = "a"
server = "b"
sctp = "small"
reset_time = "1 s"
stop_time = "4 s"
frame_rate = "0 Hz"
queue_size = 10
[[capture]]
link = "a-b"
file = "a-b.pcapng"
"#;

fn scratch(name: &str) -> Scratch {
    Scratch::with(&format!("explain-{name}"), &[("small.toml", SCENARIO)])
}

#[test]
fn three_sentences_name_the_limit_the_evidence_and_what_helps() {
    let scratch = scratch("words");
    let (code, out, err) = scratch.call(&["explain", "small.toml"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let lines: Vec<&str> = out.lines().collect();
    assert!(
        lines[0].starts_with("`f` received ") && lines[0].contains("by the peer's receive window"),
        "{out}"
    );
    assert!(
        lines[1].starts_with("The receive buffer of 64 KiB was full, and path 0 has an RTT of "),
        "{out}"
    );
    assert!(lines[2].starts_with("With ") && lines[2].contains(" instead of "), "{out}");
    assert!(out.contains("\nreceive_buffer = 128 KiB "), "{out}");
}

#[test]
fn shares_in_json_add_up_to_one_and_changes_have_a_throughput() {
    let scratch = scratch("json");
    let found = scratch.json(&["explain", "small.toml", "--json"]);
    let sum = |shares: &Json| -> f64 { shares.as_object().unwrap().values().filter_map(Json::as_f64).sum() };
    assert!((sum(&found["limited_by"]) - 1.0).abs() < 1e-9);
    assert!((sum(&found["paths"][0]["limited_by"]) - 1.0).abs() < 1e-9);
    assert!(found["limited_by"]["peer-window"].as_f64().unwrap() > 0.9);
    let base = found["throughput_bps"].as_f64().unwrap();
    let changes = found["changes"].as_array().unwrap();
    let twice = changes.iter().find(|one| one["change"] == "receive_buffer = 128 KiB").unwrap();
    assert!((1.9..2.1).contains(&(twice["throughput_bps"].as_f64().unwrap() / base)), "{twice}");
    assert_eq!(found["sentences"].as_array().unwrap().len(), 3);
    assert!(
        scratch.json(&["explain", "small.toml", "--json", "--quick"])["changes"]
            .as_array()
            .unwrap()
            .is_empty()
    );
}

#[test]
fn a_finished_run_and_its_capture_are_explained_too() {
    let scratch = scratch("run");
    assert_eq!(scratch.call(&["run", "small.toml", "--out", "done", "-q"]).0, 0);
    let (code, out, err) = scratch.call(&["explain", "done"]);
    assert!(code == 0 && out.contains("by the peer's receive window"), "{out}{err}");
    assert!(err.contains("explain the scenario instead"), "{err}");
    let capture = Path::new("done").join("a-b.pcapng").display().to_string();
    let found = scratch.json(&["explain", &capture, "--json"]);
    let direction = &found["directions"][0];
    assert!(direction["window_closed_share"].as_f64().unwrap() > 0.7, "{direction}");
    assert!(direction["paths"][0]["rtt"]["least_s"].as_f64().unwrap() > 0.1, "{direction}");
    let (code, out, _) = scratch.call(&["explain", &capture]);
    assert!(code == 0 && out.contains("the receive window had no room for another chunk"), "{out}");
}

#[test]
fn an_idle_flow_is_told_that_only_more_data_helps() {
    let scratch = scratch("idle");
    let idle = SCENARIO.replace("frame_rate = \"0 Hz\"", "frame_rate = \"20 Hz\"");
    fs::write(scratch.0.join("idle.toml"), idle).unwrap();
    let found = scratch.json(&["explain", "idle.toml", "--json"]);
    let changes = found["changes"].as_array().unwrap();
    assert_eq!((changes.len(), &changes[0]["change"]), (1, &"frame_rate = \"0 Hz\"".into()));
}

#[test]
fn what_cannot_be_explained_is_refused_with_the_reason() {
    let scratch = scratch("wrong");
    fs::create_dir(scratch.0.join("empty")).unwrap();
    fs::write(scratch.0.join("cut.pcap"), 0xa1b2_c3d4u32.to_le_bytes()).unwrap();
    let nothing: Vec<u8> = [0xa1b2_c3d4u32, 0, 0, 0, 0, 1].into_iter().flat_map(u32::to_le_bytes).collect();
    fs::write(scratch.0.join("nothing.pcap"), nothing).unwrap();
    let udp = SCENARIO.replace("sctp = \"small\"", "protocol = \"UDP\"").replace("\"0 Hz\"", "\"9 Hz\"");
    fs::write(scratch.0.join("udp.toml"), udp).unwrap();
    for (arguments, code, told) in [
        (&["explain", "none.toml"][..], 2, "cannot read none.toml"),
        (&["explain", "empty"], 2, "no run in empty"),
        (&["explain", "cut.pcap"], 2, "damaged capture: it ends in its header"),
        (&["explain", "nothing.pcap"], 1, "no data of SCTP in nothing.pcap: 0 packets"),
        (&["explain", "small.toml", "--flow", "g"], 2, "--flow g: no such flow; expected `f`"),
        (&["explain", "udp.toml"], 1, "is of UDP, which has no limits"),
        (&["explain"], 2, "<SCENARIO|RUN|CAPTURE>"),
    ] {
        let (found, out, err) = scratch.call(arguments);
        assert_eq!((found, out.as_str()), (code, ""), "{arguments:?}: {err}");
        assert!(err.contains(told), "{arguments:?}: {err}");
    }
}
