//! Latency under load over the loopback interface.
#![cfg(target_os = "linux")] // Other systems have one loopback address only.

mod common;

use anabranch_measure::{
    Client, ClientOptions, LatencyPlan, Phase, Planned, ProbeKind, Report, ServerOptions,
};
use common::{HERE, Running, client};
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

const PHASES: [&str; 4] = ["idle", "down", "up", "both"];

/// Options of a measurement with phases of two seconds and a load of 4 Mbit/s.
fn options(server: &Running) -> ClientOptions {
    let plan = LatencyPlan { loaded: Duration::from_secs(2), rate: 20.0 };
    let flows = plan.flows(500.0, 1000.0).map(|spec| Planned { spec, association: 0 });
    ClientOptions {
        flows: flows.into(),
        duration: plan.total(),
        latency: Some(plan),
        ..client(HERE, server.ports, &[])
    }
}

fn run(options: ClientOptions) -> Report {
    Client::connect(options)
        .and_then(|client| client.run(&AtomicBool::new(false), |_| ()))
        .expect("a measurement")
}

#[test]
fn each_phase_has_its_load_and_answers_to_all_probes() {
    let server = Running::start();
    let report = run(options(&server));
    assert_eq!(report.failure(), None);
    let latency = report.latency.as_ref().expect("latency");
    assert_eq!(latency.phases.iter().map(|one| one.phase.name()).collect::<Vec<_>>(), PHASES);
    for one in &latency.phases {
        let loaded = |way: usize| one.load[way] > 1e6;
        let expected =
            [[Phase::Down, Phase::Both], [Phase::Up, Phase::Both]].map(|on| on.contains(&one.phase));
        assert_eq!([loaded(0), loaded(1)], expected, "{one:?}");
        for probes in &latency.probes {
            let spread = latency
                .spread(probes, one.phase)
                .unwrap_or_else(|| panic!("{:?} {:?}", one.phase, probes.kind));
            assert!(0.0 < spread.p50 && spread.p50 <= spread.p95 && spread.p95 <= spread.p99, "{spread:?}");
        }
    }
    assert_eq!(latency.probes.len(), 4, "one path, the association, and two of new associations");
    let json = report.to_json();
    for phase in &PHASES[1..] {
        assert!(json["latency"]["rpm"][phase].as_f64() > Some(0.0), "{json:#}");
        assert_eq!(json["latency"][phase]["paths"][0]["remote"], "127.0.0.1");
    }
    assert!(json["latency"]["grade"].is_string());
    // Rows: 4 kinds of probes have 5 quantities in each of 4 phases, and added latency in the 3 phases with
    // load. RPM and the rates of the load (down, up) have a row in each of these 3 phases.
    let [scalars, series] = report.tables();
    let plain = Report { latency: None, ..report }.tables();
    assert_eq!(scalars.rows() - plain[0].rows(), 4 * 5 * 4 + (4 + 3) * 3);
    assert!(series.rows() > plain[1].rows() + 4 * 15);
}

#[test]
fn each_path_of_an_association_is_probed_from_its_own_address() {
    let [near, far] = [[127, 0, 1, 1], [127, 0, 2, 1]].map(|address| [address, [127, 0, address[2], 2]]);
    let address = |bytes: [u8; 4]| IpAddr::from(bytes);
    let locals = vec![address(near[1]), address(far[1])];
    let server = Running::start_with(ServerOptions { locals: locals.clone(), ..ServerOptions::default() });
    let report = run(ClientOptions {
        peers: locals,
        locals: vec![address(near[0]), address(far[0])],
        ..options(&server)
    });
    let latency = report.latency.expect("latency");
    let answered = latency.probes.iter().filter_map(|probes| match &probes.kind {
        ProbeKind::Path { local, remote, .. } => {
            assert!(latency.spread(probes, Phase::Both).is_some(), "{local} to {remote}");
            Some((local.as_str(), remote.as_str()))
        }
        _ => None,
    });
    assert_eq!(answered.collect::<Vec<_>>(), [("127.0.1.1", "127.0.1.2"), ("127.0.2.1", "127.0.2.2")]);
}

/// Passes a control connection to a server, but removes the request for echoes from START. An older
/// server ignores that request.
fn pass_as_to_an_older_server(mut from: TcpStream, mut to: TcpStream) {
    let (mut back, mut answers) = (from.try_clone().expect("a handle"), to.try_clone().expect("a handle"));
    thread::spawn(move || std::io::copy(&mut answers, &mut back));
    let mut head = [0; 4];
    while from.read_exact(&mut head).is_ok() {
        let mut body = vec![0; usize::from(u16::from_be_bytes([head[2], head[3]])) - 4];
        from.read_exact(&mut body).expect("a whole message");
        if head[0] == 6 {
            assert_ne!(head[1] & 32, 0, "the client wants echoes");
            head[1] &= !32;
        }
        to.write_all(&[&head[..], &body].concat()).expect("it is open");
    }
    let _ = to.shutdown(std::net::Shutdown::Both);
}

#[test]
fn a_server_without_echoes_is_measured_by_heartbeats_alone() {
    let other = IpAddr::from(Ipv4Addr::new(127, 0, 0, 2));
    let locals = vec![other, HERE];
    let server = Running::start_with(ServerOptions { locals, ..ServerOptions::default() });
    let control = server.ports[0] + 1;
    let listener = TcpListener::bind((HERE, control)).expect("the server has this port at its first address");
    thread::spawn(move || {
        let (from, _) = listener.accept().expect("a client");
        pass_as_to_an_older_server(from, TcpStream::connect((other, control)).expect("the server"));
    });
    let report = run(options(&server));
    let latency = report.latency.as_ref().expect("latency");
    assert!(!latency.echoes);
    assert_eq!(latency.probes.iter().map(|probes| &probes.kind).collect::<Vec<_>>(), [&ProbeKind::Own]);
    for one in &latency.phases {
        assert!(latency.spread(&latency.probes[0], one.phase).is_some(), "{:?}", one.phase);
        assert_eq!(latency.rpm(one.phase), None);
    }
    assert!(latency.grade().is_some());
}
