//! Measures the cost of a packet-hop (one packet that crosses one link): the CPU time and memory of whole
//! simulations. Each simulation runs in its own process. ns-2 and ns-3 run the same cases if they are
//! installed.
//!
//! `cargo bench --bench hops` runs all cases; `cargo bench --bench hops -- cmt many` runs only the named
//! cases.

#[path = "../tests/common/mod.rs"]
mod common;

use anabranch_lab as lab;
use common::{disjoint_paths, enable_cmt, link, saturated_flow};
use lab::output::RunControl;
use lab::scenario::{Distribution, Link, Node, NodeKind, Protocol, Scenario, Window};
use net::{Limit, QueueSpec};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use std::process::{Command, Stdio};
use units::{BitRate, ByteCount, Instant, Span};

/// Number of runs of a case. The result is the run with the median cost.
const RUNS: usize = 3;

/// The simulators that `benches/measure.py` can measure.
const RIVALS: [&str; 2] = ["ns2", "ns3"];

struct Case {
    name: &'static str,
    what: &'static str,
    /// The other simulators that have this case.
    rivals: &'static [&'static str],
    build: fn() -> Scenario,
}

/// The measured cases. The first six are those of `benches/ns2`. The others vary the number of associations.
const CASES: [Case; 16] = [
    Case { name: "single", what: "(a) one path of 100 Mbit/s, 50 s", rivals: &["ns2"], build: single },
    Case { name: "cmt", what: "(b) CMT on two paths of 100 Mbit/s, 50 s", rivals: &["ns2"], build: cmt },
    Case {
        name: "many",
        what: "(c) 100 associations over 1 Gbit/s, 20 s",
        rivals: &["ns2"],
        build: || dumbbell(100),
    },
    Case {
        name: "window",
        what: "(d) 2 associations, 800 Mbit/s, 100 ms, 10 s",
        rivals: &["ns2"],
        build: window,
    },
    Case {
        name: "rivals10",
        what: "(e) 10 TCP flows over 100 Mbit/s, 100 s",
        rivals: &RIVALS,
        build: || rivals(10, 100, 100),
    },
    Case {
        name: "rivals100",
        what: "(f) 100 TCP flows over 1 Gbit/s, 20 s",
        rivals: &RIVALS,
        build: || rivals(100, 1000, 20),
    },
    Case {
        name: "1",
        what: "1 association of two hosts, 1 Gbit/s, 20 s",
        rivals: &[],
        build: || together(1),
    },
    Case { name: "10", what: "10 associations of two hosts", rivals: &[], build: || together(10) },
    Case { name: "100", what: "100 associations of two hosts", rivals: &[], build: || together(100) },
    Case { name: "1000", what: "1000 associations of two hosts", rivals: &[], build: || together(1000) },
    Case {
        name: "tenth",
        what: "100 associations, 100 Mbit/s: the crowd, at a tenth in everything",
        rivals: &[],
        build: || crowd(100, 100, 100, 20),
    },
    Case {
        name: "share",
        what: "1 association, 10 Mbit/s, 600 s",
        rivals: &[],
        build: || shares(1, 10, 600),
    },
    Case {
        name: "shares",
        what: "1000 associations, 10 Mbit/s each, 5 s",
        rivals: &[],
        build: || shares(1000, 10, 5),
    },
    Case { name: "mite", what: "1 association, 1 Mbit/s, 2000 s", rivals: &[], build: || shares(1, 1, 2000) },
    Case {
        name: "mites",
        what: "1000 associations, 1 Mbit/s each, 20 s",
        rivals: &[],
        build: || shares(1000, 1, 20),
    },
    Case { name: "apart", what: "1000 associations of 2000 hosts", rivals: &[], build: || dumbbell(1000) },
];

/// The shared link of a dumbbell, in the direction from left to right.
const MIDDLE: &str = "link:left-right";

/// Cost of a run; for TCP also the goodput in Mbit/s and the share of packets that the middle link dropped.
#[derive(Clone, Copy)]
struct Cost {
    hops: f64,
    cpu_seconds: f64,
    peak_kib: f64,
    outcome: Option<[f64; 2]>,
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
    let rivals: Vec<&str> = RIVALS.into_iter().filter(|name| ask(&[name, "--installed"]).is_some()).collect();
    let columns = rivals
        .iter()
        .map(|name| format!(" {:>11} {:>9} {:>7}", format!("{name} ns/hop"), "peak MiB", "factor"));
    println!(
        "{:<46} {:>9} {:>10} {:>8} {:>9} {}",
        "case",
        "hops",
        "hops/CPU-s",
        "ns/hop",
        "peak MiB",
        columns.collect::<String>()
    );
    for case in
        CASES.iter().filter(|case| arguments.is_empty() || arguments.iter().any(|name| name == case.name))
    {
        compare(case, &rivals);
    }
}

/// Prints the line of a case and, for TCP, a second line with the goodput and the losses.
fn compare(case: &Case, rivals: &[&str]) {
    let ours = median(case.name);
    let per_second = format!("{:.2} M", 1e-6 * ours.hops / ours.cpu_seconds);
    print!(
        "{:<46} {:>7.2} M {per_second:>10} {:>8.1} {:>9.1} ",
        case.what,
        1e-6 * ours.hops,
        ours.ns_per_hop(),
        ours.peak_kib / 1024.0
    );
    let mut outcomes = vec![("ours", ours)];
    for rival in rivals {
        let cost = if case.rivals.contains(rival) { theirs(rival, case.name) } else { None };
        let Some(cost) = cost else {
            print!("{:30}", "");
            continue;
        };
        print!(
            " {:>11.1} {:>9.1} {:>7.1}",
            cost.ns_per_hop(),
            cost.peak_kib / 1024.0,
            cost.ns_per_hop() / ours.ns_per_hop()
        );
        outcomes.push((rival, cost));
    }
    println!();
    for (name, cost) in outcomes {
        if let Some([goodput, lost]) = cost.outcome {
            let hops = 1e-6 * cost.hops;
            println!(
                "    {name:>4}: {hops:.2} M hops, goodput {goodput:.1} Mbit/s, {:.2} % lost",
                100.0 * lost
            );
        }
    }
}

/// Runs a case and prints its counters, CPU seconds and peak memory in KiB, for the parent process.
fn measure(name: &str) {
    let case = CASES.iter().find(|case| case.name == name).expect("a known case");
    let scenario = (case.build)();
    let output = lab::world::run(&scenario, 0, &RunControl::default()).expect("the case can be simulated");
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("the system tells");
    let cpu = usage.user_time() + usage.system_time();
    print!("{} {} {}", output.packet_hops, cpu.num_microseconds() as f64 * 1e-6, usage.max_rss());
    if let [whole] = scenario.windows.as_slice() {
        let total = |quantity: &str, of: fn(&str) -> bool| -> f64 {
            let counts = output.scalars.iter().filter(|scalar| {
                scalar.window == whole.name
                    && scalar.path.is_none()
                    && scalar.quantity == quantity
                    && of(&scalar.flow)
            });
            counts.map(|scalar| scalar.value).sum()
        };
        let middle = |name: &str| name == MIDDLE;
        let goodput = total("throughput_bps", |name| !name.contains(':'));
        let lost = total("drops_queue_full", middle) / total("offered_packets", middle);
        print!(" {} {lost}", 1e-6 * goodput);
    }
    println!();
}

/// Runs a case several times, each time in its own process, and returns the run with the median cost.
fn median(name: &str) -> Cost {
    let this = std::env::current_exe().expect("the system tells");
    let mut costs: Vec<Cost> = (0..RUNS)
        .map(|_| {
            let output = Command::new(&this).args(["--measure", name]).output().expect("it can run itself");
            assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
            let text = String::from_utf8_lossy(&output.stdout);
            let numbers: Vec<f64> =
                text.split_whitespace().map(|word| word.parse().expect("a number")).collect();
            let outcome = numbers[3..].try_into().ok();
            Cost { hops: numbers[0], cpu_seconds: numbers[1], peak_kib: numbers[2], outcome }
        })
        .collect();
    costs.sort_by(|a, b| a.ns_per_hop().total_cmp(&b.ns_per_hop()));
    costs[RUNS / 2]
}

/// The output of `benches/measure.py`; `None` if it fails. Its errors go to the terminal.
fn ask(arguments: &[&str]) -> Option<String> {
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/../../benches/measure.py");
    let output =
        Command::new("python3").arg(program).args(arguments).stderr(Stdio::inherit()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The cost of the same case in another simulator.
fn theirs(simulator: &str, name: &str) -> Option<Cost> {
    let text = ask(&[simulator, name])?;
    let field = |key: &str| -> Option<f64> {
        let (_, rest) = text.split_once(&format!("\"{key}\": "))?;
        rest.split([',', '}']).next()?.parse().ok()
    };
    Some(Cost {
        hops: field("packet_hops")?,
        cpu_seconds: field("cpu_seconds")?,
        peak_kib: field("peak_kib")?,
        outcome: field("goodput_mbps").zip(field("lost")).map(<[f64; 2]>::from),
    })
}

/// Gives all flows saturated senders and this receive window. The flows start within `spread` and stop at the
/// end of the case.
fn saturate(scenario: &mut Scenario, window: u64, spread: Span, seconds: u64) {
    for flow in &mut scenario.flows {
        for options in [&mut flow.client_options, &mut flow.server_options] {
            options.receive_buffer = ByteCount::new(window).into();
            options.send_buffer = ByteCount::new(2 * window).into();
        }
        if let Some(traffic) = &mut flow.forward {
            // A queue large enough to keep the sender saturated,
            // and small enough to leave few messages at the end.
            traffic.queue_size = 50;
        }
        flow.connect_time = Distribution::Uniform(Span::ZERO, spread);
        flow.start_time = Distribution::Constant(Span::ZERO);
        flow.reset_time = Span::from_secs(seconds / 5);
        flow.stop_time = Span::from_secs(seconds) - spread;
    }
}

fn queue_limit(link: &mut Link, packets: u64) {
    for direction in [&mut link.forward, &mut link.back] {
        direction.queue = QueueSpec::DropTail(Limit::Packets(packets));
    }
}

fn no_framing(link: &mut Link) {
    (link.forward.framing, link.back.framing) = (ByteCount::ZERO, ByteCount::ZERO);
}

fn paths(paths: u8) -> Scenario {
    let mut scenario = disjoint_paths(BitRate::from_mbps(100), paths);
    for link in &mut scenario.links {
        no_framing(link);
        if link.forward.transmitter == BitRate::from_mbps(100).into() {
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

/// Associations that share a link of 1 Gbit/s. If there are a thousand, each sends only two packets per round
/// trip, and many of these packets are lost.
fn together(associations: u16) -> Scenario {
    crowd(associations, 1000, 1000, 20)
}

/// Associations over a link whose rate and queue are proportional to the number of associations, so that each
/// association does the same work.
fn shares(associations: u16, mbps_each: u64, seconds: u64) -> Scenario {
    let number = u64::from(associations);
    crowd(associations, mbps_each * number, 20 * number, seconds)
}

/// Associations between the same two hosts, from different ports to the same port, over a link of `mbps`
/// Mbit/s with a queue of `packets` packets.
fn crowd(associations: u16, mbps: u64, packets: u64, seconds: u64) -> Scenario {
    let mut scenario = bell(1, BitRate::from_mbps(mbps), Span::from_millis(10), packets);
    for link in &mut scenario.links[1..] {
        link.forward.transmitter = BitRate::from_mbps(10 * mbps).into();
        link.back.transmitter = link.forward.transmitter.clone();
    }
    let template = scenario.flows.remove(0);
    for number in 0..associations {
        let mut flow = template.clone();
        flow.name = format!("flow{number}");
        flow.local_port = 10_000 + number;
        scenario.flows.push(flow);
    }
    saturate(&mut scenario, 1_000_000, Span::from_secs(1), seconds);
    scenario
}

/// TCP flows with SACK, an ACK for each segment, and no timestamps, as in the other simulators.
fn rivals(flows: usize, mbps: u64, seconds: u64) -> Scenario {
    let mut scenario = bell(flows, BitRate::from_mbps(mbps), Span::from_millis(10), mbps);
    saturate(&mut scenario, 1_000_000, Span::from_secs(1), seconds);
    let to = Instant::ZERO + Span::from_secs(seconds);
    scenario.windows = vec![Window { name: "whole".into(), from: Instant::ZERO, to }];
    for flow in &mut scenario.flows {
        flow.stop_time = Span::from_secs(seconds);
        flow.protocol = Protocol::Tcp;
        for options in [&mut flow.client_tcp, &mut flow.server_tcp] {
            *options = tcp::Config {
                mss: 1460,
                timestamps: false,
                delayed_ack: tcp::DelayedAck { every: 1, timeout: Span::from_millis(200) },
                receive_buffer: ByteCount::new(1_000_000).into(),
                send_buffer: ByteCount::new(1_000_000).into(),
                ..tcp::Config::qualnet()
            };
        }
    }
    scenario
}

fn window() -> Scenario {
    let mut scenario = bell(2, BitRate::from_mbps(800), Span::from_millis(50), 3000);
    saturate(&mut scenario, 10_000_000, Span::from_millis(100), 10);
    scenario
}

/// A dumbbell: pairs of hosts with links of 10 Gbit/s, and two routers with the shared link between them.
fn bell(pairs: usize, rate: BitRate, delay: Span, packets: u64) -> Scenario {
    let node = |name: String, kind: NodeKind| Node { name, kind };
    let mut nodes = vec![node("left".into(), NodeKind::Router), node("right".into(), NodeKind::Router)];
    let mut links = vec![link(&nodes, [0, 1], 1, rate, delay, packets)];
    let mut flows = Vec::new();
    for pair in 0..pairs {
        let (client, server) = (nodes.len(), nodes.len() + 1);
        let kind = NodeKind::Host { jitter: Span::from_micros(20) };
        nodes.push(node(format!("client{pair}"), kind.clone()));
        nodes.push(node(format!("server{pair}"), kind));
        for between in [[client, 0], [1, server]] {
            links.push(link(&nodes, between, 1, BitRate::from_mbps(10_000), Span::ZERO, 10_000));
        }
        let mut flow = saturated_flow(&format!("flow{pair}"));
        (flow.client, flow.server) = (client, server);
        flows.push(flow);
    }
    links.iter_mut().for_each(no_framing);
    Scenario {
        title: "dumbbell".into(),
        seed: 1,
        nodes,
        real: Vec::new(),
        links,
        flows,
        transfers: Vec::new(),
        changes: Vec::new(),
        windows: Vec::new(),
        probes: Vec::new(),
        captures: Vec::new(),
    }
}
