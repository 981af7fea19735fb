//! Measures the cost of a packet that crosses a link: `cargo bench -p anabranch-net`. Words after `--` select
//! the cases to run.
//!
//! A client keeps a window of packets of 1500 bytes in flight to a server behind two routers, so each packet
//! crosses three links. The work for each link is queueing, transmission, propagation, a route lookup and an
//! event. The time for sending and releasing a packet is included.

use des::{Kernel, Streams};
use net::{
    ChannelSpec, Ecn, Limit, LinkSpec, NetEvent, Network, NetworkBuilder, NodeId, NodeKind, Outgoing,
    Protocol,
};
use net::{QueueSpec, RedQuirk, RedSpec, RedUnit};
use units::{BitRate, ByteCount, Instant, Probability, Span};

use anabranch_net as net;

#[allow(dead_code, reason = "the tests use the rest")]
#[path = "../tests/common/disciplines.rs"]
mod disciplines;

const PACKETS: u64 = 10_000_000;

struct Case {
    name: &'static str,
    pairs: usize,
    window: usize,
    rate: BitRate,
    queue: QueueSpec,
    jitter: Span,
}

fn red() -> QueueSpec {
    QueueSpec::Red(RedSpec {
        weight: 0.002,
        min: 20.0,
        max: 1e6,
        max_p: Probability::ZERO,
        limit: 1e9,
        unit: RedUnit::Packets,
        mean_packet: ByteCount::new(1500),
        packet_rate: None,
        gentle: true,
        ecn: false,
        quirk: RedQuirk::None,
    })
}

/// Pairs of hosts around one link between two routers.
fn dumbbell(case: &Case) -> (Network, Vec<(NodeId, Outgoing)>) {
    let mut builder = NetworkBuilder::new();
    let left = builder.add_node("left", NodeKind::Router);
    let right = builder.add_node("right", NodeKind::Router);
    let edge = ChannelSpec {
        transmitter: BitRate::from_mbps(1000).into(),
        queue: QueueSpec::DropTail(Limit::NONE),
        framing: ByteCount::new(7),
        ..ChannelSpec::default()
    };
    let core = ChannelSpec {
        transmitter: case.rate.into(),
        delay: Span::from_millis(1).into(),
        queue: case.queue.clone(),
        ..edge.clone()
    };
    builder.add_link(LinkSpec::symmetric(left, right, 0, core));
    let mut hosts = Vec::new();
    for pair in 0..case.pairs {
        let kind = NodeKind::Host { jitter: case.jitter };
        let client = builder.add_node(&format!("client {pair}"), kind);
        let server = builder.add_node(&format!("server {pair}"), kind);
        builder.add_link(LinkSpec::symmetric(client, left, 0, edge.clone()));
        builder.add_link(LinkSpec::symmetric(right, server, 0, edge.clone()));
        hosts.push((client, server));
    }
    let network = builder.configure(&Streams::new(1, 0)).expect("a sound network");
    let first = |node| network.addresses(node)[0].ipv4.into();
    let flow = |(client, server)| {
        (
            client,
            Outgoing {
                src: first(client),
                dst: first(server),
                protocol: Protocol::Sctp,
                ecn: Ecn::NotCapable,
                zeros: 1452,
            },
        )
    };
    let flows = hosts.into_iter().map(flow).collect();
    (network, flows)
}

fn run(case: &Case) {
    let mut words = std::env::args().skip(1).filter(|word| !word.starts_with('-'));
    if !words.all(|word| case.name.contains(&word)) {
        return;
    }
    let (mut network, flows) = dumbbell(case);
    let mut kernel = Kernel::<NetEvent>::new();
    let mut head = Vec::with_capacity(28);
    for _ in 0..case.window {
        for &(client, outgoing) in &flows {
            head.resize(28, 1);
            network.send(&mut kernel, client, outgoing, &mut head);
        }
    }
    // The nodes are numbered in this order: left, right, client 0, server 0, client 1, ...
    let flow_of = |server: NodeId| (server.index() - 3) / 2;
    let mut left = PACKETS;
    let begin = cpu_nanos();
    while left > 0 {
        let event = kernel.pop(Instant::FAR).expect("a full window never runs dry");
        if let Some(delivered) = network.handle(&mut kernel, event) {
            network.release(delivered.packet);
            let (client, outgoing) = flows[flow_of(delivered.node)];
            head.resize(28, 1);
            network.send(&mut kernel, client, outgoing, &mut head);
            left -= 1;
        }
    }
    let nanos = cpu_nanos() - begin;
    let hops = network.packet_hops() as f64;
    println!("{:<44} {:6.1} ns per packet-hop ({:.1} M hops)", case.name, nanos / hops, hops / 1e6);
}

/// CPU time of this process in ns, or wall-clock time if the system does not report CPU time.
fn cpu_nanos() -> f64 {
    let scheduled = std::fs::read_to_string("/proc/self/schedstat").ok();
    match scheduled.and_then(|line| line.split_whitespace().next()?.parse().ok()) {
        Some(nanos) => nanos,
        #[allow(clippy::disallowed_types, reason = "a benchmark measures real time")]
        None => std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0.0, |time| time.as_secs_f64() * 1e9),
    }
}

fn main() {
    let drop_tail = || QueueSpec::DropTail(Limit::NONE);
    let fast = BitRate::from_mbps(100);
    let odd = BitRate::from_mbps(73);
    let jitter = Span::from_micros(10);
    let case = |name, pairs, window, rate, queue, jitter| Case { name, pairs, window, rate, queue, jitter };
    run(&case("drop-tail, window 50", 1, 50, fast, drop_tail(), Span::ZERO));
    run(&case("drop-tail, window 7000", 1, 7000, fast, drop_tail(), Span::ZERO));
    run(&case("drop-tail, rate with remainders", 1, 50, odd, drop_tail(), Span::ZERO));
    let server = QueueSpec::custom(disciplines::Fifo(usize::MAX));
    run(&case("server, first in first out, window 50", 1, 50, fast, server, Span::ZERO));
    run(&case("RED, window 50", 1, 50, fast, red(), Span::ZERO));
    run(&case("RED, never busy", 1, 4, fast, red(), Span::ZERO));
    run(&case("RED, window 50, host jitter", 1, 50, fast, red(), jitter));
    run(&case("RED, 100 pairs of window 10, host jitter", 100, 10, fast, red(), jitter));
    run(&case("RED, 1000 pairs of window 10, host jitter", 1000, 10, fast, red(), jitter));
}
