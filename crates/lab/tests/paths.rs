//! Addresses and paths of a flow, and flows that cannot be simulated.

use crate::common;

use anabranch_lab as lab;
use common::*;
use lab::output::{FlowPaths, RunControl};
use lab::scenario::{LocalAddress, PrimaryPath, RemoteAddress, Scenario};
use units::{BitRate, ByteCount, Span};

/// Two paths and a short flow.
fn scenario() -> Scenario {
    let mut scenario = disjoint_paths(BitRate::from_mbps(10), 2);
    scenario.flows[0].stop_time = Span::from_secs(6);
    scenario
}

/// A client with an uplink in each of two networks, and a server with one address. Both uplinks lead to the
/// same fast link of the server.
fn two_uplinks(paths: sctp::PathSet) -> Scenario {
    let mut scenario = disjoint_paths(BitRate::from_mbps(10), 2);
    let (east1, east2) = (3, 5);
    scenario.links.truncate(5);
    scenario.links[2] =
        link(&scenario.nodes, [east2, east1], 2, BitRate::from_mbps(1000), Span::ZERO, 10_000);
    scenario.links.push(link(&scenario.nodes, [east1, 1], 0, BitRate::from_mbps(1000), Span::ZERO, 10_000));
    let flow = &mut scenario.flows[0];
    enable_cmt(flow);
    flow.client_options.paths = paths;
    (flow.reset_time, flow.stop_time) = (Span::from_secs(2), Span::from_secs(8));
    scenario
}

#[test]
fn a_client_with_two_uplinks_and_a_server_with_one_address_send_on_both_by_pairs() {
    let throughput = |paths, back: bool| {
        let mut scenario = two_uplinks(paths);
        let flow = &mut scenario.flows[0];
        if back {
            flow.back = flow.forward.take();
        }
        let output = run(&scenario);
        assert_eq!(output.warnings, Vec::<String>::new());
        scalar(&output, "flow", if back { "back_throughput_bps" } else { "throughput_bps" }) / 1e6
    };
    let by_address = throughput(sctp::PathSet::Addresses, false);
    assert!((9.0..9.7).contains(&by_address), "{by_address} Mbit/s on one uplink");
    for paths in [sctp::PathSet::SameSubnet, sctp::PathSet::Pairs] {
        for back in [false, true] {
            let both = throughput(paths, back);
            assert!(both > 18.0, "{paths}, back {back}: {both} Mbit/s");
        }
    }
    let output = run(&two_uplinks(sctp::PathSet::Pairs));
    for path in [0, 1] {
        let share = path_scalar(&output, "flow", Some(path), "sent_share");
        assert!((0.8..1.0).contains(&share), "path {path} has the rate of its own uplink: {share}");
    }
}

#[test]
fn groups_couple_pairs() {
    let digest = |groups: &[u8]| {
        let mut scenario = two_uplinks(sctp::PathSet::Pairs);
        let options = &mut scenario.flows[0].client_options;
        options.congestion_control = cc::Algorithm::CmtRpV2.into();
        options.cmt.groups = groups.to_vec();
        run(&scenario).digest
    };
    assert_eq!(digest(&[]), digest(&[1, 1]));
    assert_ne!(digest(&[]), digest(&[0, 1]), "the number of a pair selects its group");
}

/// Packets that crossed the links between the routers of both paths, towards the server.
fn carried(scenario: &Scenario) -> [f64; 2] {
    let output = run(scenario);
    assert_eq!(output.warnings, Vec::<String>::new());
    ["link:west1-east1", "link:west2-east2"].map(|link| scalar(&output, link, "delivered_packets"))
}

#[test]
fn the_primary_path_carries_the_data() {
    let [first, second] = carried(&scenario());
    assert!(first > 700.0 && second < 10.0, "by default the first: {first}, {second}");
    let mut other = scenario();
    other.flows[0].primary_path = PrimaryPath::Network(2);
    let [first, second] = carried(&other);
    assert!(first < 10.0 && second > 700.0, "network 2: {first}, {second}");
    other.flows[0].primary_path = PrimaryPath::Ip([10, 2, 0, 2].into());
    assert!(carried(&other)[1] > 700.0, "the server's address in network 2");
}

#[test]
fn a_flow_uses_only_its_networks() {
    let mut scenario = scenario();
    enable_cmt(&mut scenario.flows[0]);
    assert!(carried(&scenario).iter().all(|&packets| packets > 700.0));
    scenario.flows[0].networks = Some(vec![2]);
    let [first, second] = carried(&scenario);
    assert!(first == 0.0 && second > 700.0, "{first}, {second}");
}

#[test]
fn the_server_announces_addresses_that_the_client_did_not_connect_to() {
    let mut scenario = scenario();
    enable_cmt(&mut scenario.flows[0]);
    scenario.flows[0].remote_address = RemoteAddress::Ip([10, 1, 0, 2].into());
    assert!(carried(&scenario).iter().all(|&packets| packets > 700.0));
}

#[test]
fn errors_say_why_a_scenario_cannot_be_simulated() {
    type Spoil = fn(&mut Scenario);
    let cases: [(Spoil, &str); 6] = [
        (|s| s.flows[0].server = 0, "flow `flow`: both ends are `client`"),
        (
            |s| s.flows[0].local_address = LocalAddress::Ip([10, 9, 0, 1].into()),
            "flow `flow`: local_address 10.9.0.1 is not the client's; expected one of 10.1.0.1, 10.2.0.1",
        ),
        (
            |s| s.flows[0].primary_path = PrimaryPath::Network(3),
            "flow `flow`: primary_path is none of the addresses that are called; expected one of 10.1.0.2, 10.2.0.2",
        ),
        (
            |s| s.flows[0].client_options.send_buffer = ByteCount::new(1000).into(),
            "flow `flow`: max_msg_size = 1452 B can never fit the send buffer (sctp); expected at most 1000 B",
        ),
        (
            |s| {
                let mut other = s.flows[0].clone();
                (other.name, other.local_port) = ("other".into(), 9001);
                other.server_options.hb_interval = None;
                s.flows.push(other);
            },
            "flows `flow` and `other` share port 9000 of a host with different SCTP options: give one another port",
        ),
        (
            |s| s.flows[0].client_options.sack_delay = Span::from_secs(1),
            "flow `flow`: sack_delay = 1 s: expected at most 500 ms",
        ),
    ];
    for (spoil, expected) in cases {
        let mut scenario = scenario();
        spoil(&mut scenario);
        let error = lab::world::run(&scenario, 0, &RunControl::default()).expect_err(expected);
        assert_eq!(error.to_string(), expected);
    }
}

/// Traffic in both directions over two lines between the same hosts. The client gets another address on the
/// first line.
const NAMED: &str = r#"
[[node]]
name = "home"
[[node]]
name = "server"
[[link]]
name = "dsl"
between = ["home", "server"]
net_id = 1
rate = "4 Mbit/s"
renumber = [{ node = "home", at = "2 s" }]
[[link]]
name = "lte"
between = ["home", "server"]
net_id = 2
rate = "2 Mbit/s"
[sctp.moving]
profile = "recommended"
auth = true
asconf = true
[[flow]]
name = "flow"
client = "home"
server = "server"
sctp = "moving"
reset_time = "1 s"
stop_time = "3 s"
frame_rate = "0 Hz"
back = { frame_rate = "0 Hz" }
"#;

#[test]
fn paths_of_both_ends_have_the_names_of_their_links_also_after_an_address_changed() {
    let sweep = lab::parse(NAMED, "named.toml").expect("a scenario");
    let output = run(&sweep.variants()[0].scenario);
    let names = |names: &[&str]| names.iter().map(|name| Some((*name).to_owned())).collect::<Vec<_>>();
    // For the client, each address of the server is a path. The server has a third path, to the new address
    // of the client.
    let (forward, back) = (names(&["dsl", "lte"]), names(&["dsl", "lte", "dsl"]));
    assert_eq!(output.paths, [FlowPaths { flow: "flow".into(), forward, back }]);
    let label = |back, path| FlowPaths::numbered(&output.paths, "flow", back, path);
    assert_eq!([label(false, 1), label(true, 2), label(false, 2)], ["1 (lte)", "2 (dsl)", "2"]);
    let first = "name = \"dsl\"\nbetween = [\"home\", \"server\"]";
    let unnamed = NAMED.replace(first, "between = [\"server\", \"home\"]").replace("name = \"lte\"\n", "");
    let sweep = lab::parse(&unnamed, "unnamed.toml").expect("a scenario");
    assert_eq!(run(&sweep.variants()[0].scenario).paths, [], "names made of nodes say nothing of a path");
}
