//! From a scenario to a world at time zero.

use super::{LINGER, LabEvent, World, endpoints, topology};
use crate::app::{Dial, Flow, Meter, Plan, Side, Source, Step, draw_span};
use crate::host::Hosts;
use crate::metrics::{Links, Windows};
use crate::output::{RunControl, RunError};
use crate::probe::Probes;
use crate::scenario::{self, IpVersion, LocalAddress, PrimaryPath, Protocol, RemoteAddress, Scenario};
use des::{Kernel, Streams};
use endpoints::{Bindings, Claim, Options};
use net::{Network, NodeId};
use std::net::IpAddr;
use units::Instant;

impl World {
    /// Builds the simulation of one replica.
    pub(super) fn build(scenario: &Scenario, replica: u32, control: &RunControl) -> Result<World, RunError> {
        let streams = Streams::new(scenario.seed, replica);
        let topology::Built { mut network, nodes, links } = topology::build(scenario, &streams)?;
        let mut kernel = Kernel::new();
        topology::schedule_outages(scenario, &links, &mut kernel);
        topology::start_captures(scenario, &mut network, &nodes, &links, control)?;

        let mut bindings = Bindings::default();
        let mut dials = Vec::with_capacity(scenario.flows.len());
        for flow in &scenario.flows {
            dials.push(bind(flow, &network, &nodes, &mut bindings)?);
        }
        let checksum = topology::checksum(scenario);
        let mut hosts = Hosts::new(nodes.len());
        let placed = bindings.create(&streams, checksum, &network, &mut hosts)?;
        let mut flows = Vec::with_capacity(dials.len());
        let mut until = Instant::ZERO;
        for (index, (spec, dial)) in scenario.flows.iter().zip(dials).enumerate() {
            let (client, server) = (placed[2 * index], placed[2 * index + 1]);
            hosts.expect(server, &dial.locals, spec.local_port, index);
            let connect_time =
                draw_span(spec.connect_time, &mut streams.stream(&format!("connect {}", spec.name)));
            let plan = Plan {
                connect: Instant::ZERO + connect_time,
                start: spec.start_time,
                reset: spec.reset_time,
                stop: spec.stop_time,
            };
            kernel.schedule(plan.connect, LabEvent::Flow(index as u32, Step::Connect));
            kernel.schedule(plan.connect + plan.start, LabEvent::Flow(index as u32, Step::Start));
            until = until.max(plan.connect + plan.start + plan.stop + LINGER);
            let source = |side: Side| {
                let (traffic, way) = match side {
                    Side::Client => (&spec.forward, "forward"),
                    Side::Server => (&spec.back, "back"),
                };
                let random = streams.stream(&format!("frames {} {way}", spec.name));
                traffic.clone().map(|traffic| Source::new(traffic, random))
            };
            let ends = [Meter::new(client, source(Side::Client)), Meter::new(server, source(Side::Server))];
            let concurrent = spec.protocol == Protocol::Sctp && spec.client_options.cmt.enabled;
            flows.push(Flow::new(spec.name.clone(), plan, dial, concurrent, ends));
        }
        for (number, window) in (0..).zip(&scenario.windows) {
            kernel.schedule(window.from, LabEvent::Window(number));
            kernel.schedule(window.to, LabEvent::Window(number));
        }
        let probes = Probes::new(scenario, &links, &mut kernel)?;
        Ok(World {
            links: Links::new(scenario, &links),
            windows: Windows::new(scenario),
            kernel,
            network,
            hosts,
            flows,
            probes,
            signals: Vec::new(),
            datagrams: scenario.flows.iter().any(|flow| flow.protocol == Protocol::Udp),
            until,
        })
    }
}

/// Finds the addresses of a flow and claims its two endpoints, first the client's.
fn bind(
    flow: &scenario::Flow,
    network: &Network,
    nodes: &[NodeId],
    bindings: &mut Bindings,
) -> Result<Dial, RunError> {
    let (client, server) = (nodes[flow.client], nodes[flow.server]);
    let wrong = |what: String| RunError::Failed(format!("flow `{}`: {what}", flow.name));
    if client == server {
        return Err(wrong(format!("both ends are `{}`", network.name(client))));
    }
    fits(flow).map_err(wrong)?;
    let own = addresses(flow, network, client);
    let locals = match flow.local_address {
        LocalAddress::Any => own,
        LocalAddress::Ip(ip) if own.contains(&ip) => vec![ip],
        LocalAddress::Ip(ip) => return Err(wrong(format!("local_address {ip} is none of {own:?}"))),
    };
    let theirs = addresses(flow, network, server);
    if locals.is_empty() || theirs.is_empty() {
        return Err(wrong(format!("a host has no interface in the networks {:?}", flow.networks)));
    }
    let mut remotes = match flow.remote_address {
        RemoteAddress::Any => theirs.clone(),
        RemoteAddress::Ip(ip) if theirs.contains(&ip) => vec![ip],
        RemoteAddress::Ip(ip) => return Err(wrong(format!("remote_address {ip} is none of {theirs:?}"))),
    };
    prefer(flow, network, server, &mut remotes).map_err(wrong)?;
    let (local_port, port) = (flow.local_port, flow.remote_port);
    for (side, node, port, addresses) in
        [(Side::Client, client, local_port, locals.clone()), (Side::Server, server, port, theirs)]
    {
        bindings.claim(Claim { flow: &flow.name, node, port, addresses, options: options(flow, side) })?;
    }
    Ok(Dial { nodes: [client, server], locals, remotes, local_port, port })
}

/// What an end of a flow needs of its endpoint.
fn options(flow: &scenario::Flow, side: Side) -> Options {
    let (sctp, tcp, traffic) = match side {
        Side::Client => (&flow.client_options, &flow.client_tcp, &flow.forward),
        Side::Server => (&flow.server_options, &flow.server_tcp, &flow.back),
    };
    match flow.protocol {
        Protocol::Sctp => {
            Options::Sctp { config: sctp.clone(), queue: traffic.as_ref().map(|traffic| traffic.queue_size) }
        }
        Protocol::Tcp => Options::Tcp(tcp.clone()),
        Protocol::Udp => Options::Udp,
    }
}

/// Whether a message of each direction can ever be sent.
fn fits(flow: &scenario::Flow) -> Result<(), String> {
    for (key, traffic, options) in
        [("sctp", &flow.forward, &flow.client_options), ("server_sctp", &flow.back, &flow.server_options)]
    {
        if let Some(traffic) = traffic
            && flow.protocol == Protocol::Sctp
            && traffic.max_msg_size > options.send_buffer
        {
            return Err(format!(
                "max_msg_size = {} can never fit the send buffer of {} ({key})",
                traffic.max_msg_size, options.send_buffer
            ));
        }
    }
    Ok(())
}

/// Puts the address of the primary path first: the first one called is the primary one.
fn prefer(
    flow: &scenario::Flow,
    network: &Network,
    server: NodeId,
    remotes: &mut [IpAddr],
) -> Result<(), String> {
    let primary = match flow.primary_path {
        PrimaryPath::Any => return Ok(()),
        PrimaryPath::Ip(ip) => Some(ip),
        PrimaryPath::Network(net_id) => {
            let there =
                network.addresses(server).iter().position(|address| u16::from(address.net_id) == net_id);
            there.map(|place| address_of(flow, network, server, place))
        }
    };
    match remotes.iter().position(|&remote| Some(remote) == primary) {
        Some(place) => {
            remotes[..=place].rotate_right(1);
            Ok(())
        }
        None => Err(format!("primary_path leads to none of {remotes:?}")),
    }
}

/// The addresses of a host that a flow may use.
fn addresses(flow: &scenario::Flow, network: &Network, node: NodeId) -> Vec<IpAddr> {
    let in_use = |net_id: u8| {
        flow.networks.as_ref().is_none_or(|networks| net_id == 0 || networks.contains(&u16::from(net_id)))
    };
    let all = network.addresses(node).iter().enumerate();
    all.filter(|(_, a)| in_use(a.net_id)).map(|(place, _)| address_of(flow, network, node, place)).collect()
}

/// One address of a host, of the kind the flow uses.
fn address_of(flow: &scenario::Flow, network: &Network, node: NodeId, place: usize) -> IpAddr {
    let address = network.addresses(node)[place];
    match flow.ip_version {
        IpVersion::V4 => address.ipv4.into(),
        IpVersion::V6 => address.ipv6.into(),
    }
}
