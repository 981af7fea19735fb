//! What a packet-hop (a packet crossing a link) costs: CPU time and memory of whole simulations, each in a process of
//! its own, and beside them ns-2 on the same work where its command `ns` is installed.
//!
//! `cargo bench --bench hops` runs all cases; names after `--` choose some: `cargo bench --bench hops -- cmt many`.

#[path = "../tests/common/mod.rs"]
mod common;

use anabranch_lab as lab;
use common::{disjoint_paths, enable_cmt, link, saturated_flow};
use lab::output::RunControl;
use lab::scenario::{Distribution, Link, Node, NodeKind, Queue, QueueLimit, Scenario};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use std::process::Command;
use units::{BitRate, ByteCount, Span};

/// Of so many runs the one of median cost counts.
const RUNS: usize = 3;

struct Case {
    name: &'static str,
    what: &'static str,
    build: fn() -> Scenario,
}

/// The first four as in `benches/ns2`; then what the number of associations changes.
const CASES: [Case; 9] = [
    Case { name: "single", what: "(a) one path of 100 Mbit/s, 50 s", build: single },
    Case { name: "cmt", what: "(b) CMT on two paths of 100 Mbit/s, 50 s", build: cmt },
    Case { name: "many", what: "(c) 100 associations over 1 Gbit/s, 20 s", build: || dumbbell(100) },
    Case { name: "window", what: "(d) 2 associations, 800 Mbit/s, 100 ms, 10 s", build: window },
    Case { name: "1", what: "1 association of two hosts, 1 Gbit/s, 20 s", build: || together(1) },
    Case { name: "10", what: "10 associations of two hosts", build: || together(10) },
    Case { name: "100", what: "100 associations of two hosts", build: || together(100) },
    Case { name: "1000", what: "1000 associations of two hosts", build: || together(1000) },
    Case { name: "apart", what: "1000 associations of 2000 hosts", build: || dumbbell(1000) },
];

/// What a run cost.
#[derive(Clone, Copy)]
struct Cost {
    hops: f64,
    cpu_seconds: f64,
    peak_kib: f64,
}

impl Cost {
    fn ns_per_hop(self) -> f64 {
        self.cpu_seconds * 1e9 / self.hops
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [flag, name] = arguments.as_slice()
        && flag == "--measure"
    {
        return measure(name);
    }
    println!(
        "{:<46} {:>9} {:>10} {:>8} {:>9} {:>11} {:>9} {:>7}",
        "case", "hops", "hops/CPU-s", "ns/hop", "peak MiB", "ns-2 ns/hop", "ns-2 MiB", "factor"
    );
    for case in
        CASES.iter().filter(|case| arguments.is_empty() || arguments.iter().any(|name| name == case.name))
    {
        let ours = median(case.name);
        let per_second = format!("{:.2} M", 1e-6 * ours.hops / ours.cpu_seconds);
        print!(
            "{:<46} {:>7.2} M {per_second:>10} {:>8.1} {:>9.1}",
            case.what,
            1e-6 * ours.hops,
            ours.ns_per_hop(),
            ours.peak_kib / 1024.0
        );
        match ns2(case.name) {
            Some(theirs) => println!(
                " {:>11.1} {:>9.1} {:>7.1}",
                theirs.ns_per_hop(),
                theirs.peak_kib / 1024.0,
                theirs.ns_per_hop() / ours.ns_per_hop()
            ),
            None => println!(),
        }
    }
}

/// Runs a case and prints hops, CPU seconds and peak memory in KiB: the parent reads this.
fn measure(name: &str) {
    let case = CASES.iter().find(|case| case.name == name).expect("a known case");
    let output =
        lab::world::run(&(case.build)(), 0, &RunControl::default()).expect("the case can be simulated");
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("the system tells");
    let cpu = usage.user_time() + usage.system_time();
    println!("{} {} {}", output.packet_hops, cpu.num_microseconds() as f64 * 1e-6, usage.max_rss());
}

/// The run of median cost of a case, each in a process of its own.
fn median(name: &str) -> Cost {
    let this = std::env::current_exe().expect("the system tells");
    let mut costs: Vec<Cost> = (0..RUNS)
        .map(|_| {
            let output = Command::new(&this).args(["--measure", name]).output().expect("it can run itself");
            assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
            let text = String::from_utf8_lossy(&output.stdout);
            let numbers: Vec<f64> =
                text.split_whitespace().map(|word| word.parse().expect("a number")).collect();
            Cost { hops: numbers[0], cpu_seconds: numbers[1], peak_kib: numbers[2] }
        })
        .collect();
    costs.sort_by(|a, b| a.ns_per_hop().total_cmp(&b.ns_per_hop()));
    costs[RUNS / 2]
}

/// What ns-2 needs for the case of the same name, if it has one and is installed.
fn ns2(name: &str) -> Option<Cost> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../benches/ns2");
    if !std::path::Path::new(&format!("{folder}/{name}.tcl")).exists() {
        return None;
    }
    let output = Command::new("python3").arg(format!("{folder}/measure.py")).arg(name).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let field = |key: &str| -> Option<f64> {
        let (_, rest) = text.split_once(&format!("\"{key}\": "))?;
        rest.split([',', '}']).next()?.parse().ok()
    };
    Some(Cost {
        hops: field("packet_hops")?,
        cpu_seconds: field("cpu_seconds")?,
        peak_kib: field("peak_kib")?,
    })
}

/// Saturated flows have the given receive window, start within `spread`, and stop when the case ends.
fn saturate(scenario: &mut Scenario, window: u64, spread: Span, seconds: u64) {
    for flow in &mut scenario.flows {
        for options in [&mut flow.client_options, &mut flow.server_options] {
            options.receive_buffer = ByteCount::new(window);
            options.send_buffer = ByteCount::new(2 * window);
        }
        if let Some(traffic) = &mut flow.forward {
            // Always something to send, and little left of it when the time is over.
            traffic.queue_size = 50;
        }
        flow.connect_time = Distribution::Uniform(Span::ZERO, spread);
        flow.start_time = Span::ZERO;
        flow.reset_time = Span::from_secs(seconds / 5);
        flow.stop_time = Span::from_secs(seconds) - spread;
    }
}

fn queue_limit(link: &mut Link, packets: u32) {
    for direction in [&mut link.forward, &mut link.back] {
        direction.queue = Queue::DropTail(QueueLimit::Packets(packets));
    }
}

fn paths(paths: u16) -> Scenario {
    let mut scenario = disjoint_paths(BitRate::from_mbps(100), paths);
    for link in &mut scenario.links {
        link.framing = ByteCount::ZERO;
        if link.forward.rate == BitRate::from_mbps(100) {
            queue_limit(link, 100);
        }
    }
    scenario
}

fn single() -> Scenario {
    let mut scenario = paths(1);
    saturate(&mut scenario, 200_000, Span::from_millis(100), 50);
    scenario
}

fn cmt() -> Scenario {
    let mut scenario = paths(2);
    enable_cmt(&mut scenario.flows[0]);
    saturate(&mut scenario, 200_000, Span::from_millis(100), 50);
    scenario
}

fn dumbbell(associations: usize) -> Scenario {
    let mut scenario = bell(associations, BitRate::from_mbps(1000), Span::from_millis(10), 1000);
    saturate(&mut scenario, 1_000_000, Span::from_secs(1), 20);
    scenario
}

/// All associations between the same two hosts, each from a port of its own to the same port.
fn together(associations: u16) -> Scenario {
    let mut scenario = bell(1, BitRate::from_mbps(1000), Span::from_millis(10), 1000);
    let template = scenario.flows.remove(0);
    for number in 0..associations {
        let mut flow = template.clone();
        flow.name = format!("flow{number}");
        flow.local_port = 10_000 + number;
        scenario.flows.push(flow);
    }
    saturate(&mut scenario, 1_000_000, Span::from_secs(1), 20);
    scenario
}

fn window() -> Scenario {
    let mut scenario = bell(2, BitRate::from_mbps(800), Span::from_millis(50), 3000);
    saturate(&mut scenario, 10_000_000, Span::from_millis(100), 10);
    scenario
}

/// Pairs of hosts joined by two routers and the link between them; hosts have links of 10 Gbit/s.
fn bell(pairs: usize, rate: BitRate, delay: Span, packets: u32) -> Scenario {
    let node = |name: String, kind: NodeKind| Node { name, kind };
    let mut nodes = vec![node("left".into(), NodeKind::Router), node("right".into(), NodeKind::Router)];
    let mut links = vec![link(&nodes, [0, 1], 1, rate, delay, packets)];
    let mut flows = Vec::new();
    for pair in 0..pairs {
        let (client, server) = (nodes.len(), nodes.len() + 1);
        let kind = NodeKind::Host { jitter: Span::from_micros(20) };
        nodes.push(node(format!("client{pair}"), kind));
        nodes.push(node(format!("server{pair}"), kind));
        for between in [[client, 0], [1, server]] {
            links.push(link(&nodes, between, 1, BitRate::from_mbps(10_000), Span::ZERO, 10_000));
        }
        let mut flow = saturated_flow(&format!("flow{pair}"));
        (flow.client, flow.server) = (client, server);
        flows.push(flow);
    }
    links.iter_mut().for_each(|link| link.framing = ByteCount::ZERO);
    Scenario {
        title: "dumbbell".into(),
        seed: 1,
        nodes,
        links,
        flows,
        transfers: Vec::new(),
        windows: Vec::new(),
        probes: Vec::new(),
        captures: Vec::new(),
    }
}
