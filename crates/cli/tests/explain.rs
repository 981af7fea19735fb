//! Tests of `anabranch explain` in its own process.

use crate::scratch::Scratch;
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

/// A classic capture of raw IP: INIT, INIT ACK, COOKIE ECHO, COOKIE ACK, then ABORT with the cause
/// User-Initiated Abort.
fn aborted() -> Vec<u8> {
    let mut file: Vec<u8> =
        [0xa1b2_c3d4u32, 0x0004_0002, 0, 0, 65_535, 101].into_iter().flat_map(u32::to_le_bytes).collect();
    let init = [0, 0, 0, 9, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1];
    let chunks: [(bool, u32, u8, &[u8]); 5] = [
        (false, 0, 1, &init),
        (true, 9, 2, &init),
        (false, 9, 10, &[1, 2, 3, 4]),
        (true, 9, 11, &[]),
        (false, 9, 6, &[0, 12, 0, 4]),
    ];
    for (n, (back, tag, kind, body)) in chunks.into_iter().enumerate() {
        let length = body.len() as u8 + 4;
        let mut ip = vec![0x45, 0, 0, 32 + length, 0, n as u8, 0, 0, 64, 132, 0, 0];
        let (from, to) = if back { (2, 1) } else { (1, 2) };
        ip.extend([10, 0, 0, from, 10, 0, 0, to, 0, from, 0, to]);
        ip.extend(tag.to_be_bytes());
        ip.extend([0, 0, 0, 0, kind, 0, 0, length]);
        ip.extend(body);
        let words = [n as u32, 0, ip.len() as u32, ip.len() as u32];
        file.extend(words.into_iter().flat_map(u32::to_le_bytes));
        file.extend(ip);
    }
    file
}

#[test]
fn a_capture_without_data_tells_who_ended_the_association_and_why() {
    let scratch = scratch("aborted");
    fs::write(scratch.0.join("aborted.pcap"), aborted()).unwrap();
    let (code, out, err) = scratch.call(&["explain", "aborted.pcap"]);
    let line = "Association 0, 10.0.0.1 port 1 to 10.0.0.2 port 2: established; 10.0.0.1 port 1 aborted it with the \
                cause \"User-Initiated Abort\".\n";
    assert_eq!((code, out.as_str(), err.as_str()), (0, line, ""));
    let found = scratch.json(&["explain", "aborted.pcap", "--json"]);
    let one = &found["associations"][0];
    assert_eq!(
        (&one["handshake"], &one["end"], &one["ended_by"]),
        (&"established".into(), &"abort".into(), &0.into())
    );
}

#[test]
fn what_is_left_out_of_a_capture_is_told_in_one_line() {
    let scratch = scratch("left-out");
    let mut other = aborted();
    other[20] = 147;
    fs::write(scratch.0.join("other.pcap"), &other).unwrap();
    let (code, _, err) = scratch.call(&["explain", "other.pcap"]);
    assert_eq!(code, 1);
    assert!(err.contains("left out: 5 packets: link type 147, which is not supported"), "{err}");
    // The last packet is not an IP packet.
    let mut damaged = aborted();
    let last = damaged.len() - 40;
    damaged[last] = 0x15;
    fs::write(scratch.0.join("damaged.pcap"), &damaged).unwrap();
    let (code, _, err) = scratch.call(&["explain", "damaged.pcap"]);
    assert!(code == 0 && err.contains("left out: 1 packets: malformed headers below SCTP"), "{err}");
    let found: Json = serde_json::from_str(&scratch.call(&["explain", "damaged.pcap", "--json"]).1).unwrap();
    assert_eq!(found["not_decoded"][0]["count"], 1, "{found}");
}

#[test]
fn captures_compressed_with_gzip_are_read() {
    use std::io::Write as _;
    let scratch = scratch("gzip");
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(&aborted()).unwrap();
    fs::write(scratch.0.join("aborted.pcap.gz"), packed.finish().unwrap()).unwrap();
    let (code, out, err) = scratch.call(&["explain", "aborted.pcap.gz"]);
    assert!(code == 0 && out.contains("User-Initiated Abort"), "{out}{err}");
}

#[test]
fn captures_come_through_pipes() {
    let scratch = scratch("pipe");
    let pipe = scratch.0.join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let writer = std::thread::spawn(move || fs::write(pipe, aborted()).unwrap());
    let (code, out, err) = scratch.call(&["explain", "pipe"]);
    writer.join().unwrap();
    assert!(code == 0 && out.contains("User-Initiated Abort"), "{out}{err}");
}

#[test]
fn a_file_that_is_neither_scenario_nor_folder_nor_capture_is_named_so() {
    let scratch = scratch("neither");
    fs::write(scratch.0.join("hostname"), "vm\n").unwrap();
    let (code, _, err) = scratch.call(&["explain", "hostname"]);
    assert_eq!((code, err.lines().count()), (2, 1), "{err}");
    assert!(err.contains("is neither a scenario (.toml), nor a folder with results, nor a capture"), "{err}");
}

#[test]
fn a_profile_that_replaces_options_names_them() {
    let scratch = scratch("without");
    let found = scratch.json(&["explain", "small.toml", "--json"]);
    let changes = found["changes"].as_array().unwrap();
    let profile = changes.iter().find(|one| one["change"] == "profile = \"recommended\"").unwrap();
    assert_eq!(profile["without"], serde_json::json!(["receive_buffer"]));
    let sentence = found["sentences"][2].as_str().unwrap();
    assert!(sentence.contains("profile = \"recommended\", without your receive_buffer, it is"), "{sentence}");
}

/// `ANABRANCH_UPDATE=1 cargo test -p anabranch-cli explain` rewrites the outputs.
#[test]
fn the_page_shows_what_its_commands_print() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let file = root.join("docs/explain.md");
    let before = fs::read_to_string(&file).expect("docs/explain.md");
    let here = Scratch::with("explain-page", &[]);
    let (mut now, mut commands) = (String::new(), 0);
    let mut blocks = before.split("```text\n$ anabranch ");
    now += blocks.next().expect("what is before the first command");
    for block in blocks {
        let (shown, after) = block.split_once("\n```\n").expect("the end of the output");
        let line = shown.lines().next().expect("a command");
        let arguments: Vec<&str> = line.split(' ').collect();
        let printed = here.command(&arguments).current_dir(&root).output().expect("runs");
        let printed = String::from_utf8(printed.stdout).expect("text");
        now += &format!("```text\n$ anabranch {line}\n{printed}```\n{after}");
        commands += 1;
    }
    assert_eq!(commands, 2, "the page has two commands with their output");
    if std::env::var_os("ANABRANCH_UPDATE").is_some() {
        return fs::write(&file, now).expect("the page can be written");
    }
    assert!(
        now == before,
        "outputs in docs/explain.md are old: run this test with ANABRANCH_UPDATE=1\n{now}"
    );
}
