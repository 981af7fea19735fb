//! Scenarios for the tests of the simulated world.
#![allow(dead_code, reason = "each test file uses some of it")]

use anabranch_lab as lab;
use lab::output::{RunControl, RunOutput};
use lab::scenario::*;
use net::{ChannelSpec, Impairments, Limit, QueueSpec};
use units::{BitRate, ByteCount, Instant, Probability, Span};

/// A client and a server joined by disjoint paths host - router - router - host, with the given rate, and
/// with a delay of 1 ms between the routers. Path `n` (from 1) is network `n`. In `links` the three links of
/// each path follow one another.
pub fn disjoint_paths(rate: BitRate, paths: u8) -> Scenario {
    let host =
        |name: &str| Node { name: name.into(), kind: NodeKind::Host { jitter: Span::from_micros(20) } };
    let router = |name: String| Node { name, kind: NodeKind::Router };
    let mut nodes = vec![host("client"), host("server")];
    let mut links = Vec::new();
    for path in 1..=paths {
        let (west, east) = (nodes.len(), nodes.len() + 1);
        nodes.push(router(format!("west{path}")));
        nodes.push(router(format!("east{path}")));
        links.push(fast_link(&nodes, [0, west], path));
        links.push(bottleneck(&nodes, [west, east], path, rate));
        links.push(fast_link(&nodes, [east, 1], path));
    }
    Scenario {
        title: "disjoint paths".into(),
        seed: 1,
        nodes,
        real: Vec::new(),
        links,
        flows: vec![saturated_flow("flow")],
        transfers: Vec::new(),
        changes: Vec::new(),
        windows: Vec::new(),
        probes: Vec::new(),
        captures: Vec::new(),
    }
}

fn fast_link(nodes: &[Node], between: [usize; 2], net_id: u8) -> Link {
    link(nodes, between, net_id, BitRate::from_mbps(1000), Span::ZERO, 10_000)
}

fn bottleneck(nodes: &[Node], between: [usize; 2], net_id: u8, rate: BitRate) -> Link {
    link(nodes, between, net_id, rate, Span::from_millis(1), 50)
}

/// A link with PPP framing and drop-tail queues.
pub fn link(
    nodes: &[Node],
    between: [usize; 2],
    net_id: u8,
    rate: BitRate,
    delay: Span,
    packets: u64,
) -> Link {
    let channel = ChannelSpec {
        transmitter: rate.into(),
        delay: delay.into(),
        queue: QueueSpec::DropTail(Limit::Packets(packets)),
        mtu: ByteCount::new(1500),
        framing: ByteCount::new(7),
        impairments: Impairments::default(),
        ..ChannelSpec::default()
    };
    Link {
        name: between.map(|node| nodes[node].name.clone()).join("-"),
        between,
        net_id,
        forward: channel.clone(),
        back: channel,
        down: Vec::new(),
        carrier_delay: None,
        renumber: Vec::new(),
    }
}

/// Applies the same change to both directions of a link.
pub fn impair(link: &mut Link, change: impl Fn(&mut ChannelSpec)) {
    change(&mut link.forward);
    change(&mut link.back);
}

/// A saturated flow of full, unordered packets from node 0 to node 1, measured from 5 s to 30 s after its
/// start.
pub fn saturated_flow(name: &str) -> Flow {
    let options = sctp::Config {
        receive_buffer: ByteCount::new(50_000_000).into(),
        send_buffer: ByteCount::new(50_000_000).into(),
        ..sctp::Config::default()
    };
    Flow {
        name: name.into(),
        client: 0,
        server: 1,
        protocol: Protocol::Sctp,
        udp_encapsulation: false,
        client_options: options.clone(),
        server_options: options,
        client_tcp: tcp::Config::modern(),
        server_tcp: tcp::Config::modern(),
        identify: false,
        echo: false,
        connect_time: Distribution::Constant(Span::ZERO),
        start_time: Distribution::Constant(Span::from_secs(1)),
        reset_time: Span::from_secs(5),
        stop_time: Span::from_secs(30),
        forward: Some(Traffic {
            pace: Pace::Saturated,
            on_off: None,
            changes: Default::default(),
            frame_size: Distribution::Constant(ByteCount::new(1452)),
            max_msg_size: ByteCount::new(1452),
            queue_size: 1000,
            unordered: Probability::ONE,
            unreliable: Probability::ZERO,
            reliability: sctp::Reliability::Reliable,
            streams: 1,
        }),
        back: None,
        local_address: LocalAddress::Any,
        local_port: 9000,
        remote_address: RemoteAddress::Any,
        remote_port: 9000,
        primary_path: PrimaryPath::Any,
        networks: None,
        ip_version: IpVersion::V4,
        stream_resets: StreamResets::default(),
    }
}

/// Changes a flow to TCP.
pub fn over_tcp(flow: &mut Flow, config: &tcp::Config) {
    flow.protocol = Protocol::Tcp;
    (flow.client_tcp, flow.server_tcp) = (config.clone(), config.clone());
    for traffic in [&mut flow.forward, &mut flow.back].into_iter().flatten() {
        traffic.unordered = Probability::ZERO;
    }
}

/// Turns CMT on at both ends.
pub fn enable_cmt(flow: &mut Flow) {
    for options in [&mut flow.client_options, &mut flow.server_options] {
        options.cmt.enabled = true;
    }
}

/// Runs replica 0.
pub fn run(scenario: &Scenario) -> RunOutput {
    lab::world::run(scenario, 0, &RunControl::default()).expect("the scenario can be simulated")
}

/// A scalar of a whole flow or link.
pub fn scalar(output: &RunOutput, flow: &str, quantity: &str) -> f64 {
    path_scalar(output, flow, None, quantity)
}

/// A scalar of a path.
pub fn path_scalar(output: &RunOutput, flow: &str, path: Option<u8>, quantity: &str) -> f64 {
    window_scalar(output, "", flow, path, quantity)
}

/// A scalar in a window.
pub fn window_scalar(output: &RunOutput, window: &str, flow: &str, path: Option<u8>, quantity: &str) -> f64 {
    let mut found = output
        .scalars
        .iter()
        .filter(|s| s.window == window && s.flow == flow && s.path == path && s.quantity == quantity);
    let one = found.next().unwrap_or_else(|| panic!("no {quantity} of {flow} {path:?} in \"{window}\""));
    assert_eq!(found.next(), None, "{quantity} of {flow} appears twice");
    one.value
}

/// The instant `s` seconds after the start of the run.
pub fn at(s: u64) -> Instant {
    Instant::ZERO + Span::from_secs(s)
}
