//! Tests of both sides over the loopback interface.

mod common;

use anabranch_measure::noise::{ListedPeer, PrivateKey, PublicKey};
use anabranch_measure::{Client, ClientOptions, Keys, MeasureError, Report, ServerOptions, Transport};
use common::{HERE, Running, SOON, client};
use lab::results::{Kind, read_parquet};
use std::net::IpAddr;
use std::sync::atomic::AtomicBool;

fn options(server: &Running, specs: &[&str]) -> ClientOptions {
    client(HERE, server.ports, specs)
}

fn measure(options: ClientOptions) -> Result<Report, MeasureError> {
    Client::connect(options)?.run(&AtomicBool::new(false), |_| {})
}

#[test]
fn both_sides_count_the_same_on_flows_of_all_transports_in_both_directions() {
    let server = Running::start();
    let flow = "const200:const1000:const100:exp500";
    let specs = ["sctp", "tcp", "udp"].map(|transport| format!("{transport}:{flow}:description={transport}"));
    let mut options = options(&server, &specs.each_ref().map(String::as_str));
    options.bytes = Some(20_000);
    options.duration = SOON;
    let report = measure(options).expect("a measurement");
    let theirs = server.report();
    for (ours, theirs) in report.total.flows.iter().zip(&theirs.total.flows) {
        let peer = ours.peer.expect("the server counted");
        assert_eq!(ours.description, theirs.description);
        assert_eq!(ours.sent.amount.bytes, 20_000);
        assert_eq!(peer.received, theirs.received.amount);
        assert_eq!(peer.lost, Some(Default::default()), "nothing is lost here");
        assert_eq!(ours.lost, Default::default());
        assert!(ours.received.amount.bytes >= 20_000, "{ours:?}");
        if ours.transport == Transport::Sctp {
            assert_eq!(peer.received.bytes, 20_000);
            let limit = ours.limits.expect("the stack accounts").main().expect("it sent").0;
            assert_eq!(limit, anabranch_measure::io::Limit::Application);
            assert!(peer.limits.is_some(), "the server told what limited it");
        }
    }
    let paths = &report.total.associations[0].paths;
    assert!(paths.iter().map(|path| path.user_bytes).sum::<u64>() >= 20_000, "{paths:?}");
    let folder =
        std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("tables-{}", std::process::id()));
    report.write(&folder).expect("tables");
    let shape = |columns: &[(&str, Kind)]| {
        columns.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect::<Vec<_>>()
    };
    let run = [("run", Kind::Whole), ("replica", Kind::Whole)];
    let names = [("flow", Kind::Text), ("path", Kind::OptionalWhole), ("quantity", Kind::Text)];
    let value = [("value", Kind::Real)];
    for (name, columns) in [
        ("scalars", [&run[..], &[("window", Kind::Text)], &names, &value].concat()),
        ("series", [&run[..], &names, &[("time", Kind::Real)], &value].concat()),
    ] {
        let file = std::fs::File::open(folder.join(name).with_extension("parquet")).expect("a file");
        let table = read_parquet(file, &shape(&columns)).expect("the columns of a simulated run");
        assert!(table.rows() > 0 || name == "series");
    }
    std::fs::remove_dir_all(&folder).expect("it was there");
}

#[test]
fn a_saturated_flow_has_intervals_for_each_path() {
    let server = Running::start();
    let report = measure(options(&server, &["sctp:const0:const1400"])).expect("a measurement");
    assert!(report.intervals.len() >= 2, "{}", report.intervals.len());
    let sum: u64 = report.intervals.iter().map(|interval| interval.flows[0].sent.amount.bytes).sum();
    assert!(sum > 0 && sum <= report.total.flows[0].sent.amount.bytes);
    for interval in &report.intervals {
        assert_eq!(interval.associations[0].paths.len(), 1);
        assert_eq!(interval.associations[0].paths[0].remote, "127.0.0.1");
    }
    let json = report.to_json();
    assert_eq!(json["schema"], "anabranch.measure/1");
    assert_eq!(json["intervals"][0]["associations"][0]["paths"][0]["state"], "active");
}

#[test]
fn streams_of_one_association_are_flows() {
    let server = Running::start();
    let mut options =
        options(&server, &["const0:const1000", "const0:const1000", "const0:const0:const0:const700"]);
    options.bytes = Some(50_000);
    options.duration = SOON;
    let report = measure(options).expect("a measurement");
    assert_eq!(report.total.associations.len(), 1);
    let streams: Vec<_> = report.total.flows.iter().map(|flow| flow.stream).collect();
    assert_eq!(streams, [0, 1, 2]);
    assert!(report.total.flows[2].received.amount.bytes >= 50_000);
    assert_eq!(report.total.flows[0].peer.expect("counted").received.bytes, 50_000);
}

// Two endpoints have at most one association (`rfc9260#section-1.4`). So each association of a client needs a
// separate endpoint with a separate port.
#[test]
fn parallel_flows_are_associations_in_both_directions() {
    let addresses = [HERE, IpAddr::from([127, 0, 0, 2])];
    for locals in [&[][..], &addresses[..1], &addresses] {
        let server = Running::start_with(ServerOptions { locals: addresses.to_vec(), ..Default::default() });
        let mut options = options(&server, &["const0:const1000:const0:const900"; 4]);
        options.peers = addresses.to_vec();
        options.locals = locals.to_vec();
        options.bytes = Some(50_000);
        options.duration = SOON;
        for (planned, association) in options.flows.iter_mut().zip([0, 0, 1, 2]) {
            planned.association = association;
        }
        let report = measure(options).expect("a measurement");
        assert_eq!(report.total.associations.len(), 3, "{locals:?}");
        for (flow, place) in report.total.flows.iter().zip([(0, 0), (0, 1), (1, 0), (2, 0)]) {
            assert_eq!((flow.association, flow.stream), (Some(place.0), place.1));
            assert_eq!(flow.peer.expect("counted").received.bytes, 50_000);
            assert!(flow.received.amount.bytes >= 50_000, "{flow:?}");
        }
    }
}

#[test]
fn files_of_both_sides_are_written() {
    let server = Running::start();
    let folder =
        std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("files-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let mut options = options(&server, &["tcp:const50:const1000:const50:const500", "udp:const50:const400"]);
    options.scalars = Some(folder.join("x.sca"));
    options.vectors = Some(folder.join("x.vec"));
    let report = measure(options).expect("a measurement");
    let text = |name: &str| std::fs::read_to_string(folder.join(name)).expect(name);
    for side in ["active", "passive"] {
        assert!(text(&format!("x-{side}.sca")).contains(&format!("netPerfMeter.{side}.flow[1]")));
        assert!(text(&format!("x-{side}.vec")).contains("\"Total\""));
    }
    let rows = text("x-passive-00000000-0000.vec").lines().count() as u64;
    let received = report.total.flows[0].peer.expect("counted").received.packets;
    assert!(rows > received, "a header, and a row for each message: {rows} {received}");
    assert_eq!(text("x-active-00000001-0000.vec").lines().count(), 1, "nothing came back on this flow");
    std::fs::remove_dir_all(&folder).expect("it was there");
}

#[test]
fn a_flow_that_cannot_be_is_refused_before_anything_is_sent() {
    let server = Running::start();
    let mut options = options(&server, &["tcp:const1:const1"]);
    options.flows[0].spec.inbound.size.generator = 9;
    options.flows[0].spec.inbound.size.values[0] = 5.0;
    assert!(matches!(measure(options), Err(MeasureError::Refused(_))));
    assert!(server.refusal().contains("no distribution 9"));
}

#[test]
fn without_a_server_the_error_says_where_it_was_looked_for() {
    let server = Running::start();
    let options = options(&server, &["tcp:const1:const1"]);
    drop(server);
    let port = options.port;
    let error = measure(options).expect_err("nobody listens").to_string();
    assert!(error.contains(&format!("127.0.0.1 on port {port} ")), "{error}");
}

/// Keys with a new private key.
fn keys(known: &[PublicKey]) -> Keys {
    let peers = known.iter().map(|&key| ListedPeer { key, name: String::new(), psk: None });
    let private = PrivateKey::generate().expect("randomness");
    Keys { private, peers: peers.collect(), accept_any: known.is_empty() }
}

#[test]
fn with_keys_one_client_measures_again_and_a_client_without_keys_gets_no_association() {
    let theirs = keys(&[]);
    let ours = keys(&[theirs.public()]);
    let server = Running::start_with(ServerOptions { keys: Some(theirs), ..ServerOptions::default() });
    let specs = ["sctp:const50:const1000", "udp:const50:const1000"];
    for _ in 0..2 {
        let options = ClientOptions { keys: Some(ours.clone()), ..options(&server, &specs) };
        let report = measure(options).expect("a measurement");
        assert!(report.total.flows.iter().all(|flow| flow.peer.expect("counted").received.bytes > 0));
    }
    let mut options = ClientOptions { keys: Some(ours), ..options(&server, &["sctp:const1:const1"; 2]) };
    options.flows[1].association = 1;
    assert!(matches!(measure(options.clone()), Err(MeasureError::Associations)));
    options.flows.pop();
    options.keys = None;
    let error = measure(options).expect_err("no key").to_string();
    assert!(error.contains("does the server expect a key?"), "{error}");
}
