//! Captures: tshark reads whole associations and connections, with CMT, losses, path failure and shutdown.
//!
//! If tshark is not installed, the tests that need it print a message and pass. With
//! `ANABRANCH_REQUIRE_TOOLS=1` they fail instead.

use crate::common;

use anabranch_lab as lab;
use common::*;
use lab::output::RunControl;
use lab::scenario::{Capture, Distribution, Hertz, IpVersion, Outage, Pace, Protocol, Scenario};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use units::{BitRate, ByteCount, Probability, Span};

/// Folder of the captures of a test.
fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("capture").join(name)
}

/// Returns true if tshark is installed; otherwise prints a message.
fn tshark_is_here() -> bool {
    if Command::new("tshark").arg("--version").output().is_ok() {
        return true;
    }
    assert!(std::env::var_os("ANABRANCH_REQUIRE_TOOLS").is_none(), "tshark is required and not installed");
    eprintln!("SKIPPED: tshark is not installed");
    false
}

/// Reads fields of all packets that match a filter. tshark verifies the checksums.
fn tshark(file: &Path, filter: &str, fields: &[&str]) -> Vec<Vec<String>> {
    let mut command = Command::new("tshark");
    for checked in ["sctp.checksum:CRC-32C", "tcp.check_checksum:TRUE", "udp.check_checksum:TRUE"] {
        command.args(["-o", checked]);
    }
    command.args(["-n", "-r"]).arg(file).args(["-Y", filter, "-T", "fields"]);
    for field in fields {
        command.args(["-e", field]);
    }
    let output = command.output().expect("tshark runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("tshark writes UTF-8");
    text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

/// Runs a scenario with a capture of the link between the routers of each path.
fn capture(mut scenario: Scenario, folder: &Path) -> Vec<PathBuf> {
    for link in 0..scenario.links.len() {
        if scenario.links[link].name.starts_with("west") {
            let file = format!("{}.pcapng", scenario.links[link].name);
            scenario.captures.push(Capture { link, file, limit: None });
        }
    }
    let control = RunControl { captures: Some(folder.to_owned()), ..RunControl::default() };
    lab::world::run(&scenario, 0, &control).expect("the scenario can be simulated");
    scenario.captures.iter().map(|capture| folder.join(&capture.file)).collect()
}

/// Three seconds of CMT over two paths of 2 Mbit/s, both ways, with loss and with heartbeats.
fn scenario() -> Scenario {
    let mut scenario = disjoint_paths(BitRate::from_mbps(2), 2);
    for link in &mut scenario.links {
        impair(link, |direction| {
            direction.impairments.loss = Probability::new(0.002).expect("a probability")
        });
    }
    let flow = &mut scenario.flows[0];
    enable_cmt(flow);
    for options in [&mut flow.client_options, &mut flow.server_options] {
        // The send buffer has room for only 40 chunks, because tshark warns of a SACK whose Gap Ack Blocks
        // cover more than 100 chunks.
        options.send_buffer = ByteCount::new(60_000).into();
        options.hb_interval = Some(Span::from_secs(1));
    }
    (flow.reset_time, flow.stop_time) = (Span::from_secs(1), Span::from_secs(3));
    flow.back = flow.forward.clone();
    let back = flow.back.as_mut().expect("a direction back");
    back.queue_size = 10;
    assert_eq!(back.pace, Pace::Saturated);
    flow.forward.as_mut().expect("a direction forth").queue_size = 10;
    scenario
}

fn check(file: &Path) {
    let packets = tshark(file, "sctp", &["frame.number"]).len();
    assert!(packets > 500, "{packets} packets in {}", file.display());
    let all = tshark(file, "frame", &["frame.number"]).len();
    assert_eq!(packets, all, "every packet is SCTP");
    for (what, filter) in [
        ("a checksum that is not good", "sctp.checksum.status != 1"),
        ("a warning or an error", "_ws.expert.severity >= 0x600000"),
        ("something malformed", "_ws.malformed"),
        ("a chunk without a name", "sctp.chunk_type > 14 && sctp.chunk_type != 16 && sctp.chunk_type != 64"),
    ] {
        let found = tshark(file, filter, &["frame.number", "_ws.col.Info", "_ws.expert.message"]);
        assert!(found.is_empty(), "{what} in {}: {:?}", file.display(), &found[..found.len().min(5)]);
    }
}

/// Counts the chunks of each type in a file.
fn chunk_types(file: &Path, into: &mut BTreeMap<u8, usize>) {
    for line in tshark(file, "sctp", &["sctp.chunk_type"]) {
        for word in line[0].split(',') {
            *into.entry(word.parse().expect("a number")).or_default() += 1;
        }
    }
}

#[test]
fn tshark_decodes_every_chunk_and_reports_no_fault() {
    if !tshark_is_here() {
        return;
    }
    let folder = scratch("cmt");
    let mut types = BTreeMap::new();
    for file in capture(scenario(), &folder) {
        check(&file);
        chunk_types(&file, &mut types);
    }
    // DATA, INIT, INIT ACK, SACK, HEARTBEAT, HEARTBEAT ACK, SHUTDOWN, SHUTDOWN ACK, COOKIE ECHO, COOKIE ACK
    // and SHUTDOWN COMPLETE.
    assert_eq!(types.keys().copied().collect::<Vec<u8>>(), [0, 1, 2, 3, 4, 5, 7, 8, 10, 11, 14], "{types:?}");
}

// rfc8260#section-2.1
#[test]
fn tshark_decodes_interleaved_messages_of_several_streams() {
    if !tshark_is_here() {
        return;
    }
    let mut scenario = scenario();
    let flow = &mut scenario.flows[0];
    for options in [&mut flow.client_options, &mut flow.server_options] {
        options.interleaving = true;
        options.stream_scheduler = sctp::StreamScheduler::Rr;
    }
    for traffic in [&mut flow.forward, &mut flow.back].into_iter().flatten() {
        traffic.max_msg_size = ByteCount::new(5000);
        traffic.frame_size = Distribution::Constant(ByteCount::new(5000));
        traffic.streams = 3;
    }
    let folder = scratch("interleaving");
    let mut types = BTreeMap::new();
    for file in capture(scenario, &folder) {
        check(&file);
        chunk_types(&file, &mut types);
    }
    assert!(types.contains_key(&64) && !types.contains_key(&0), "{types:?}");
}

#[test]
fn tshark_reports_no_fault_in_packets_over_ipv6() {
    if !tshark_is_here() {
        return;
    }
    let mut scenario = scenario();
    let flow = &mut scenario.flows[0];
    flow.ip_version = IpVersion::V6;
    for traffic in [&mut flow.forward, &mut flow.back].into_iter().flatten() {
        traffic.max_msg_size = ByteCount::new(1432);
    }
    let folder = scratch("ipv6");
    for file in capture(scenario, &folder) {
        check(&file);
        assert_eq!(tshark(&file, "ip", &["frame.number"]).len(), 0);
    }
}

/// The result of [`scenario`], with a flow of another protocol.
fn over(protocol: Protocol) -> Scenario {
    let mut scenario = scenario();
    let flow = &mut scenario.flows[0];
    flow.protocol = protocol;
    for traffic in [&mut flow.forward, &mut flow.back].into_iter().flatten() {
        traffic.unordered = Probability::ZERO;
    }
    scenario
}

fn nothing_wrong(file: &Path, protocol: &str) {
    let count = |filter: &str| tshark(file, filter, &["frame.number"]).len();
    assert!(count(protocol) > 300, "{} packets", count(protocol));
    assert_eq!(count(protocol), count("frame"), "every packet is {protocol}");
    assert_eq!(count(&format!("{protocol}.checksum.status != 1")), 0, "a checksum that is not good");
    assert_eq!(count("_ws.malformed"), 0, "something malformed");
}

#[test]
fn tshark_reads_tcp_with_its_handshake_and_options() {
    if !tshark_is_here() {
        return;
    }
    for v6 in [false, true] {
        let mut scenario = over(Protocol::Tcp);
        let flow = &mut scenario.flows[0];
        if v6 {
            flow.ip_version = IpVersion::V6;
            (flow.client_tcp.mss, flow.server_tcp.mss) = (1440, 1440);
        }
        let file = &capture(scenario, &scratch(if v6 { "tcp6" } else { "tcp" }))[0];
        nothing_wrong(file, "tcp");
        // tshark notes segments that were lost before the capture point; these notes are not errors.
        let severe = tshark(file, "_ws.expert.severity >= 0x800000", &["frame.number", "_ws.expert.message"]);
        assert!(severe.is_empty(), "{severe:?}");
        let count = |filter: &str| tshark(file, filter, &["frame.number"]).len();
        assert_eq!(
            (count("tcp.flags.syn == 1 && tcp.flags.ack == 0"), count("tcp.flags.reset == 1")),
            (1, 0)
        );
        let syn = tshark(
            file,
            "tcp.flags.syn == 1",
            &[
                "tcp.options.mss_val",
                "tcp.options.wscale.shift",
                "tcp.options.sack_perm",
                "tcp.options.timestamp.tsval",
            ],
        );
        let mss = if v6 { "1440" } else { "1460" };
        assert!(
            syn.len() >= 2
                && syn.iter().all(|line| line[0] == mss && line[1..].iter().all(|v| !v.is_empty()))
        );
        assert!(count("tcp.options.sack.count > 0") > 0, "no SACK blocks in spite of losses");
        assert_eq!(count("!tcp.options.timestamp.tsval"), 0);
        assert!(count("tcp.flags.fin == 1") >= 2);
        // No ACK acknowledges data that the capture does not contain.
        assert_eq!(count("tcp.analysis.ack_lost_segment"), 0);
    }
}

#[test]
fn tshark_reads_udp_datagrams_with_valid_checksums() {
    if !tshark_is_here() {
        return;
    }
    let mut scenario = over(Protocol::Udp);
    let rate = Pace::Frames(Distribution::Constant(Hertz::new(100.0).expect("a frequency")));
    let flow = &mut scenario.flows[0];
    [&mut flow.forward, &mut flow.back].into_iter().flatten().for_each(|traffic| traffic.pace = rate);
    let file = &capture(scenario, &scratch("udp"))[0];
    nothing_wrong(file, "udp");
    let lengths = tshark(file, "udp", &["udp.length", "udp.dstport"]);
    assert!(lengths.iter().all(|line| line[0] == "1460" && line[1] == "9000"));
    let warned = tshark(file, "_ws.expert.severity >= 0x600000", &["frame.number", "_ws.expert.message"]);
    assert!(warned.is_empty(), "{warned:?}");
}

#[test]
fn tshark_reads_sctp_in_udp_with_both_checksums() {
    if !tshark_is_here() {
        return;
    }
    for ip_version in [IpVersion::V4, IpVersion::V6] {
        let mut scenario = scenario();
        for link in &mut scenario.links {
            impair(link, |direction| direction.impairments.loss = Probability::ZERO);
        }
        let flow = &mut scenario.flows[0];
        flow.udp_encapsulation = true;
        flow.ip_version = ip_version;
        for traffic in [&mut flow.forward, &mut flow.back].into_iter().flatten() {
            traffic.max_msg_size = ByteCount::new(1424);
        }
        let file = &capture(scenario, &scratch("encapsulated"))[0];
        check(file);
        let wrong = "udp.checksum.status != 1 || udp.port != 9899 || sctp.port != 9000";
        assert_eq!(tshark(file, wrong, &["frame.number"]), Vec::<Vec<String>>::new());
        let lengths = tshark(file, "udp", &["frame.len"]);
        let longest = lengths.iter().map(|line| line[0].parse::<u32>().expect("a number")).max();
        assert_eq!(longest, Some(1500), "full packets, with a bundled SACK over IPv4");
    }
}

#[test]
fn packets_with_bit_errors_fail_the_checksum_and_their_data_is_retransmitted() {
    let mut scenario = scenario();
    for link in &mut scenario.links {
        impair(link, |direction| {
            direction.impairments.bit_errors = Probability::new(1e-6).expect("a probability")
        });
    }
    let output = run(&scenario);
    for quantity in ["undelivered_messages", "back_undelivered_messages"] {
        assert_eq!(scalar(&output, "flow", quantity), 0.0);
    }
    if !tshark_is_here() {
        return;
    }
    let folder = scratch("bits");
    let files = capture(scenario, &folder);
    let wrong: usize =
        files.iter().map(|file| tshark(file, "sctp.checksum.status == 0", &["frame.number"]).len()).sum();
    assert!(wrong > 0, "a bit error keeps its wrong checksum in the capture");
}

#[test]
fn dropped_packets_have_a_comment_in_the_capture() {
    if !tshark_is_here() {
        return;
    }
    let mut scenario = scenario();
    scenario.links[1].down = vec![Outage { from: at(2), to: at(3) }];
    let folder = scratch("drops");
    let files = capture(scenario, &folder);
    let comments = tshark(&files[0], "frame.comment", &["frame.comment"]);
    assert!(comments.iter().any(|line| line[0] == "dropped: link down"), "{comments:?}");
}
