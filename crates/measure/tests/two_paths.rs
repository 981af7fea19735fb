//! Tests over two paths of the loopback interface: reports of the server about its paths, and captures.
#![cfg(target_os = "linux")] // Other systems have one loopback address only.

mod common;

use anabranch_measure::noise::{ListedPeer, PrivateKey};
use anabranch_measure::{CaptureFile, Client, ClientOptions, Keys, PathSample, Report, ServerOptions, sctp};
use common::{Running, client};
use lab::explain::capture::read_capture;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufReader;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use testkit::dissect::{BAD_CHECKSUM, MALFORMED};
use units::ByteCount;

/// Addresses of both sides in two subnets. A packet to an address has the source address in the same subnet.
const CLIENT: [IpAddr; 2] = [here(1, 1), here(2, 1)];
const SERVER: [IpAddr; 2] = [here(1, 2), here(2, 2)];

const fn here(subnet: u8, host: u8) -> IpAddr {
    IpAddr::V4(std::net::Ipv4Addr::new(127, 0, subnet, host))
}

/// Options with which data uses both paths, regardless of their RTTs.
fn config() -> sctp::Config {
    let mut config = ServerOptions::default().config;
    config.cmt.path_selection = sctp::PathSelection::RoundRobin;
    config
}

fn start() -> Running {
    start_with(None)
}

fn start_with(keys: Option<Keys>) -> Running {
    let locals = SERVER.to_vec();
    Running::start_with(ServerOptions { locals, config: config(), keys, ..ServerOptions::default() })
}

/// Options of a client with two addresses.
fn options(server: &Running, specs: &[&str]) -> ClientOptions {
    let mut options = client(SERVER[0], server.ports, specs);
    options.peers = SERVER.to_vec();
    options.locals = CLIENT.to_vec();
    options.config = config();
    options.duration = Duration::from_millis(1000);
    options.interval = Duration::from_millis(250);
    options
}

fn measure(options: ClientOptions) -> Report {
    let client = Client::connect(options).expect("it connects");
    client.run(&AtomicBool::new(false), |_| {}).expect("a measurement")
}

/// User bytes of each path.
fn bytes(paths: &[PathSample]) -> Vec<u64> {
    paths.iter().map(|path| path.user_bytes).collect()
}

#[test]
fn paths_of_a_sending_server_have_intervals_series_and_totals() {
    let server = start();
    let report = measure(options(&server, &["const0:const0:const0:const1400"]));
    let total = report.total.peer.as_ref().expect("the server told");
    assert!(0.0 <= total.from && total.from < total.to, "{total:?}");
    let sent = bytes(&total.associations[0].paths);
    assert!(sent.len() == 2 && sent.iter().all(|&bytes| bytes > 0), "both paths carry data: {sent:?}");
    let remotes: BTreeSet<_> = total.associations[0].paths.iter().map(|path| path.local.clone()).collect();
    assert_eq!(remotes, SERVER.iter().map(IpAddr::to_string).collect(), "paths as the server sees them");
    assert!(total.associations[0].limits.main().is_some(), "{total:?}");

    let told: Vec<_> = report.intervals.iter().filter_map(|interval| interval.peer.as_ref()).collect();
    assert!(!told.is_empty(), "{:?}", report.intervals);
    assert!(told.windows(2).all(|pair| pair[0].to <= pair[1].from), "they follow one another: {told:?}");
    for (path, &all) in sent.iter().enumerate() {
        let sum: u64 = told.iter().map(|peer| bytes(&peer.associations[0].paths)[path]).sum();
        assert!(sum > 0 && sum <= all, "path {path}: {sum} of {all}");
    }
    let json = report.to_json();
    assert_eq!(json["total"]["peer"]["associations"][0]["paths"][1]["user_bytes"], sent[1]);
    assert!(json["total"]["peer"]["associations"][0]["paths"][0]["limits"].is_object());

    let [scalars, series] = report.tables().map(|table| format!("{table:?}"));
    for name in ["back_sent_user_bytes", "back_sent_throughput_bps", "back_data_packets", "back_srtt_s"] {
        assert!(scalars.contains(name), "{name} in {scalars}");
    }
    assert!(!scalars.contains("\"limited_by_"), "the client sent nothing: {scalars}");
    for name in ["back-sent-throughput", "back-cwnd", "back-srtt"] {
        assert!(series.contains(name), "{name} in {series}");
    }
}

#[test]
fn both_directions_have_paths_of_their_own() {
    let server = start();
    let report = measure(options(&server, &["const0:const1400:const0:const1400"]));
    let ours = bytes(&report.total.associations[0].paths);
    let theirs = bytes(&report.total.peer.expect("the server told").associations[0].paths);
    assert!(ours.iter().chain(&theirs).all(|&bytes| bytes > 0), "{ours:?} {theirs:?}");
}

#[test]
fn a_server_that_sends_nothing_is_not_asked_for_its_paths() {
    let server = start();
    let report = measure(options(&server, &["const0:const1400"]));
    assert!(report.total.peer.is_none() && report.intervals.iter().all(|interval| interval.peer.is_none()));
}

/// A file name that only this process uses.
fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}.pcapng", std::process::id()))
}

/// Measures at 8 Mbit/s in each direction, with a capture on the active side. Returns the UDP port of the
/// server and the report.
fn captured(file: &Path, limit: u64, [client, server]: [Option<Keys>; 2]) -> (u16, Report) {
    let server = start_with(server);
    let mut options = options(&server, &["const700:const1400:const700:const1400"]);
    options.capture = Some(CaptureFile { file: file.to_owned(), limit: ByteCount::new(limit) });
    options.keys = client;
    (server.ports[1], measure(options))
}

#[test]
fn a_capture_has_both_paths_in_both_directions_and_can_be_explained() {
    check_capture("explained", [None, None]);
}

#[test]
fn a_capture_of_an_encrypted_association_has_the_packets_in_clear() {
    let server =
        Keys { private: PrivateKey::generate().expect("randomness"), peers: Vec::new(), accept_any: true };
    let known = ListedPeer { key: server.public(), name: String::new(), psk: None };
    let private = PrivateKey::generate().expect("randomness");
    let client = Keys { private, peers: vec![known], accept_any: false };
    check_capture("encrypted", [Some(client), Some(server)]);
}

fn check_capture(name: &str, keys: [Option<Keys>; 2]) {
    let file = scratch(name);
    let (_, report) = captured(&file, 100 << 20, keys);
    let capture = report.capture.expect("it was captured");
    assert_eq!((capture.left_out, capture.failure), (0, None));
    let found = read_capture(BufReader::new(File::open(&file).expect("a file"))).expect("a capture");
    assert_eq!((found.truncated, found.directions.len()), (false, 2));
    assert_eq!(found.not_decoded.iter().count(), 0, "{:?}", found.not_decoded);
    assert_eq!(found.frames, found.sctp_packets, "nothing else is in it");
    for (direction, paths) in found.directions.iter().zip([
        &report.total.associations[0].paths,
        &report.total.peer.expect("the server told").associations[0].paths,
    ]) {
        let ends = |of: fn(&lab::explain::capture::PathReport) -> IpAddr| -> BTreeSet<_> {
            direction.paths.iter().filter(|path| path.packets > 0).map(of).collect()
        };
        let ends = [ends(|path| path.src), ends(|path| path.dst)];
        assert!(ends.contains(&CLIENT.into()) && ends.contains(&SERVER.into()), "{:?}", direction.paths);
        let captured: u64 = direction.paths.iter().map(|path| path.user_bytes).sum();
        let counted: u64 = bytes(paths).iter().sum();
        assert!(captured >= counted, "{captured} bytes in the capture, {counted} were counted");
        assert!(direction.paths.iter().any(|path| path.rtt.is_some()));
    }
    std::fs::remove_file(&file).expect("it was there");
}

#[test]
fn a_capture_that_reaches_its_limit_ends_with_a_whole_packet() {
    let file = scratch("limited");
    let (_, report) = captured(&file, 50_000, [None, None]);
    let capture = report.capture.as_ref().expect("it was captured");
    assert!(capture.left_out > 0 && capture.failure.is_none(), "{capture:?}");
    assert_eq!(report.to_json()["capture"]["left_out"], capture.left_out);
    assert!(std::fs::metadata(&file).expect("a file").len() <= 50_000);
    let found = read_capture(BufReader::new(File::open(&file).expect("a file"))).expect("a capture");
    assert!(!found.truncated && found.sctp_packets > 20, "{found:?}");
    std::fs::remove_file(&file).expect("it was there");
}

#[test]
fn tshark_finds_no_fault_in_a_capture() {
    if Command::new("tshark").arg("-v").output().is_err() {
        assert!(
            std::env::var_os("ANABRANCH_REQUIRE_TOOLS").is_none(),
            "tshark is required and not installed"
        );
        eprintln!("SKIPPED: tshark is not installed");
        return;
    }
    let file = scratch("dissected");
    let (udp_port, report) = captured(&file, 100 << 20, [None, None]);
    let read = |arguments: &[&str]| {
        let mut command = Command::new("tshark");
        // tshark recognizes SCTP only at UDP port 9899; this server uses another port.
        command.args(["-n", "-o", "udp.check_checksum:TRUE", "-d", &format!("udp.port=={udp_port},sctp")]);
        let output = command.arg("-r").arg(&file).args(arguments).output().expect("tshark runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text").lines().count() as u64
    };
    let bad = "!sctp || udp.checksum.status != 1 || ip.checksum.status == 0";
    let checked = ["-o", "sctp.checksum:CRC-32C"];
    let faults = format!("{bad} || ({BAD_CHECKSUM}) || {MALFORMED}");
    assert_eq!(read(&[&checked[..], &["-Y", &faults]].concat()), 0, "{}", file.display());
    let data = read(&[&checked[..], &["-Y", "sctp.chunk_type == 0 || sctp.chunk_type == 64"]].concat());
    let sent: u64 = report.total.associations[0].paths.iter().map(|path| path.data_packets).sum();
    assert!(data > sent, "{data} packets with data in both directions, {sent} of the client");
    std::fs::remove_file(&file).expect("it was there");
}
