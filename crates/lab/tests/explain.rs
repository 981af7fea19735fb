//! Captures and changed scenarios of `anabranch explain`.

use crate::common;

use anabranch_lab as lab;
use common::*;
use lab::explain::capture::{CaptureReport, DirectionReport, PathReport, read_capture};
use lab::explain::{Diagnosis, Kind, alternatives};
use lab::output::{RunControl, RunOutput};
use lab::scenario::{Capture, Flow, Scenario};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use units::{BitRate, ByteCount, Probability, Span};

fn read(file: &Path) -> CaptureReport {
    read_capture(BufReader::new(File::open(file).expect("a file"))).expect("a capture")
}

/// A conversation of this stack with usrsctp 0.9.5 in UDP. dumpcap captured 96 bytes of each packet. The
/// numbers are those of tshark: `sctp.chunk_type == 0` and `== 3` by source address, and
/// `sctp.retransmission`.
#[test]
fn a_capture_of_usrsctp_says_what_tshark_says() {
    let report = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures/usrsctp.pcap"));
    assert_eq!((report.frames, report.sctp_packets, report.truncated), (290, 290, false));
    let found: Vec<_> = report
        .directions
        .iter()
        .map(|direction| {
            let [path] = direction.paths.as_slice() else { panic!("{direction:?}") };
            (path.src.to_string(), path.chunks, path.user_bytes, path.retransmissions, path.sacks)
        })
        .collect();
    let both = [("10.7.0.2".to_owned(), 80, 80_000, 0, 41), ("10.7.0.1".to_owned(), 80, 80_000, 0, 78)];
    assert_eq!(found, both);
    assert!(
        report.directions.iter().all(|direction| direction.association == 0 && direction.closed.is_zero())
    );
}

/// usrsctp with CMT over two paths with losses, captured at two interfaces of the sender by
/// captures/losses.sh. The numbers of chunks, retransmissions and SACKs are those of tshark; the other
/// numbers are those that the sending and the receiving usrsctp program counted.
#[test]
fn a_capture_of_usrsctp_with_losses_on_two_paths_says_what_tshark_and_usrsctp_say() {
    let report = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures/usrsctp-losses.pcap"));
    let [direction] = report.directions.as_slice() else { panic!("{report:?}") };
    let counts = |path: &PathReport| (path.src.to_string(), path.chunks, path.retransmissions, path.sacks);
    let found: Vec<_> = direction.paths.iter().map(counts).collect();
    assert_eq!(found, [("10.1.0.1".to_owned(), 595, 30, 535), ("10.2.0.1".to_owned(), 116, 34, 85)]);
    assert_eq!((report.not_decoded.iter().count(), report.truncated), (0, false));
    // No SACK reports a duplicate, and the receiver counted none.
    assert!(direction.paths.iter().all(|path| path.needless == 0), "{direction:?}");
    let sent_once: u64 = direction.paths.iter().map(|path| path.chunks - path.retransmissions).sum();
    assert_eq!((sent_once, direction.user_bytes), (647, 905_800));
    // Delays are 10 and 40 ms, and SACKs return on either path. A full queue takes 0.2 s on the first path,
    // 0.24 s on the second.
    for (path, (least, full)) in direction.paths.iter().zip([(20, 250), (50, 320)]) {
        let rtt = path.rtt.expect("samples");
        assert!(rtt.least > Span::from_millis(least) && rtt.greatest < Span::from_millis(full), "{rtt:?}");
    }
    assert!(direction.closed.is_zero(), "its receive window has 4 MiB");
}

/// Runs a scenario of one path with a capture of its client's link.
fn captured(name: &str, change: impl FnOnce(&mut Scenario)) -> (RunOutput, DirectionReport) {
    let mut scenario = disjoint_paths(BitRate::from_mbps(10), 1);
    let flow = &mut scenario.flows[0];
    let traffic = flow.forward.as_mut().expect("traffic");
    (traffic.unordered, traffic.queue_size) = (Probability::ZERO, 10);
    (flow.reset_time, flow.stop_time) = (Span::ZERO, Span::from_secs(5));
    scenario.captures.push(Capture { link: 0, file: "client.pcapng".to_owned(), limit: None });
    change(&mut scenario);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("explain-{name}"));
    std::fs::create_dir_all(&folder).expect("a folder");
    let control = RunControl { captures: Some(folder.clone()), ..RunControl::default() };
    let output = lab::world::run(&scenario, 0, &control).expect("it can be simulated");
    let report = read(&folder.join("client.pcapng"));
    std::fs::remove_dir_all(folder).expect("it was there");
    let [direction] = report.directions.as_slice() else { panic!("{report:?}") };
    (output, direction.clone())
}

#[test]
fn a_capture_of_a_lossy_path_has_the_retransmissions_of_the_sender() {
    let (output, found) = captured("lossy", |scenario| {
        scenario.links[1].forward.impairments.loss = Probability::new(0.01).expect("a probability");
    });
    let path = &found.paths[0];
    let counted = |quantity| scalar(&output, "flow", quantity);
    // The flow's counters stop when its transmission stops, but the capture goes on.
    let (again, sent) = (counted("retransmitted_chunks"), counted("data_packets"));
    assert!(again > 20.0 && (path.retransmissions as f64 - again).abs() <= 3.0, "{path:?}, {again}");
    assert!(path.packets as f64 >= sent && path.packets as f64 <= sent + 20.0, "{path:?}, {sent}");
    assert!(path.needless * 4 <= path.retransmissions, "{path:?}");
    let rtt = path.rtt.expect("samples");
    assert!(rtt.least >= Span::from_millis(2) && rtt.greatest <= Span::from_millis(300), "{rtt:?}");
    assert!(found.closed.as_secs_f64() < 0.01 * found.time.as_secs_f64(), "{found:?}");
}

#[test]
fn a_capture_shows_that_a_small_receive_window_is_closed() {
    let (_, found) = captured("window", |scenario| {
        scenario.links[1].forward.delay = Span::from_millis(50).into();
        scenario.flows[0].server_options.receive_buffer = ByteCount::new(32 << 10).into();
    });
    let share = found.closed.as_secs_f64() / found.time.as_secs_f64();
    assert!(share > 0.8, "{share}: {found:?}");
    assert_eq!(found.paths[0].retransmissions, 0);
}

#[test]
fn a_capture_of_reordering_calls_its_retransmissions_needless() {
    let (_, found) = captured("reordering", |scenario| {
        let impairments = &mut scenario.links[1].forward.impairments;
        impairments.reordering = Probability::new(0.01).expect("a probability");
        impairments.reordering_delay = Span::from_millis(20);
    });
    let path = &found.paths[0];
    assert!(path.retransmissions > 5 && path.needless * 2 > path.retransmissions, "{path:?}");
}

/// The flow in the alternative with this change.
fn changed<'a>(list: &'a [lab::explain::Alternative], change: &str) -> &'a Flow {
    let names: Vec<&str> = list.iter().map(|one| one.change.as_str()).collect();
    let found = list.iter().find(|one| one.change == change).unwrap_or_else(|| panic!("{change}: {names:?}"));
    &found.scenario.flows[0]
}

#[test]
fn buffers_schedulers_controls_and_single_paths_are_tried() {
    let mut scenario = disjoint_paths(BitRate::from_mbps(10), 2);
    enable_cmt(&mut scenario.flows[0]);
    let flow = &mut scenario.flows[0];
    for options in [&mut flow.client_options, &mut flow.server_options] {
        options.receive_buffer = ByteCount::new(1 << 20).into();
        options.send_buffer = ByteCount::new(3 << 20).into();
    }
    let list = alternatives(&scenario, 0, false);
    let receive = changed(&list, "receive_buffer = 2 MiB");
    assert_eq!(receive.server_options.receive_buffer.first().get(), 2 << 20);
    assert_eq!(receive.client_options, scenario.flows[0].client_options, "and nothing else");
    assert_eq!(changed(&list, "send_buffer = 6 MiB").client_options.send_buffer.first().get(), 6 << 20);
    changed(&list, "receive_buffer = 2 MiB, send_buffer = 6 MiB");
    changed(&list, "cmt.path_selection = \"in-time\"");
    changed(&list, "congestion_control = \"cubic\"");
    assert_eq!(changed(&list, "max_burst = 16").client_options.max_burst, 16);
    assert!(changed(&list, "pacing = true").client_options.pacing);
    changed(&list, "profile = \"recommended\"");
    assert_eq!(changed(&list, "networks = [2]").networks, Some(vec![2]));
    assert!(list.iter().all(|one| one.kind != Kind::Traffic), "it is saturated already");
    let back = alternatives(&scenario, 0, true);
    assert_eq!(changed(&back, "receive_buffer = 2 MiB").client_options.receive_buffer.first().get(), 2 << 20);
}

#[test]
fn a_flow_that_shares_its_port_gets_one_of_its_own() {
    let mut scenario = disjoint_paths(BitRate::from_mbps(10), 2);
    scenario.flows.push(Flow { local_port: 9001, ..saturated_flow("other") });
    for flow in &mut scenario.flows {
        (flow.reset_time, flow.stop_time) = (Span::ZERO, Span::from_millis(200));
    }
    let list = alternatives(&scenario, 0, false);
    assert!(list.len() > 5);
    for one in list {
        let output = run(&one.scenario);
        assert!(Diagnosis::of(&output.scalars, "flow", false).throughput > 0.0, "{}", one.change);
    }
}

#[test]
fn what_is_tried_does_what_the_limit_says() {
    let mut scenario = disjoint_paths(BitRate::from_mbps(20), 1);
    impair(&mut scenario.links[1], |channel| channel.delay = Span::from_millis(50).into());
    let flow = &mut scenario.flows[0];
    flow.server_options.receive_buffer = ByteCount::new(64 << 10).into();
    flow.forward.as_mut().expect("traffic").unordered = Probability::ZERO;
    let throughput = |scenario: &Scenario| Diagnosis::of(&run(scenario).scalars, "flow", false).throughput;
    let list = alternatives(&scenario, 0, false);
    let base = throughput(&scenario);
    let gain = |change: &str| {
        let found = list.iter().find(|one| one.change == change).expect("it is tried");
        throughput(&found.scenario) / base
    };
    let window = gain("receive_buffer = 128 KiB");
    assert!((1.9..2.1).contains(&window), "{window}");
    let control = gain("congestion_control = \"cubic\"");
    assert!((0.95..1.05).contains(&control), "{control}");
}

#[test]
fn a_profile_names_the_options_of_the_scenario_that_it_gives_up() {
    let mut scenario = disjoint_paths(BitRate::from_mbps(10), 2);
    let flow = &mut scenario.flows[0];
    for options in [&mut flow.client_options, &mut flow.server_options] {
        *options = sctp::Config::recommended();
        options.congestion_control = cc::Algorithm::Lia.into();
        options.cmt.path_selection = "ecf".parse().expect("a scheduler");
    }
    let list = alternatives(&scenario, 0, false);
    let profile = list.iter().find(|one| one.kind == Kind::Profile).expect("it is tried");
    assert_eq!(profile.without, ["congestion_control", "cmt.path_selection"]);
    assert!(list.iter().filter(|one| one.kind != Kind::Profile).all(|one| one.without.is_empty()));
}
