//! Who calls whom: the addresses of a flow, and what it needs of the endpoints at both ends.

use super::endpoints::{Bindings, Claim, Options};
use crate::app::{Dial, Side};
use crate::output::RunError;
use crate::scenario::{self, IpVersion, LocalAddress, PrimaryPath, Protocol, RemoteAddress, Scenario};
use net::{Network, NodeId};
use std::net::IpAddr;

/// Finds the addresses of a flow and claims its two endpoints, first the client's.
pub(super) fn bind(
    flow: &scenario::Flow,
    scenario: &Scenario,
    network: &Network,
    nodes: &[NodeId],
    bindings: &mut Bindings,
) -> Result<Dial, RunError> {
    let (dial, theirs) = find(flow, scenario, network, nodes)?;
    for (side, port, addresses) in
        [(Side::Client, dial.local_port, dial.locals.clone()), (Side::Server, dial.port, theirs)]
    {
        bindings.claim(claim(flow, side, &dial, port, addresses, 1))?;
    }
    Ok(dial)
}

/// The same for short transfers, whose clients come and go: claims the server's endpoint only.
pub(super) fn bind_server(
    flow: &scenario::Flow,
    scenario: &Scenario,
    network: &Network,
    nodes: &[NodeId],
    bindings: &mut Bindings,
) -> Result<Dial, RunError> {
    let (dial, theirs) = find(flow, scenario, network, nodes)?;
    bindings.claim(claim(flow, Side::Server, &dial, dial.port, theirs, MOST_TRANSFERS))?;
    Ok(dial)
}

/// Transfers of one source at a time.
pub(super) const MOST_TRANSFERS: usize = 16_384;

/// What an end needs of the endpoint at `port`.
pub(super) fn claim<'a>(
    flow: &'a scenario::Flow,
    side: Side,
    dial: &Dial,
    port: u16,
    addresses: Vec<IpAddr>,
    connections: usize,
) -> Claim<'a> {
    let node = dial.nodes[side as usize];
    Claim { flow: &flow.name, node, port, addresses, options: options(flow, side), connections }
}

/// Finds the addresses of a flow, and all of the server's that it may use.
fn find(
    flow: &scenario::Flow,
    scenario: &Scenario,
    network: &Network,
    nodes: &[NodeId],
) -> Result<(Dial, Vec<IpAddr>), RunError> {
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
    fits_the_way(flow, scenario, network, [client, server], [&locals, &remotes]).map_err(wrong)?;
    let (local_port, port) = (flow.local_port, flow.remote_port);
    Ok((Dial { nodes: [client, server], locals, remotes, local_port, port }, theirs))
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

/// Whether the largest packets pass all links of the path: neither TCP nor UDP find that out by themselves.
fn fits_the_way(
    flow: &scenario::Flow,
    scenario: &Scenario,
    network: &Network,
    nodes: [NodeId; 2],
    [locals, remotes]: [&[IpAddr]; 2],
) -> Result<(), String> {
    let header = match flow.ip_version {
        IpVersion::V4 => 20,
        IpVersion::V6 => 40,
    };
    let mss = u64::from(flow.client_tcp.mss.min(flow.server_tcp.mss));
    let Some(&remote) = remotes.first() else { return Ok(()) };
    let Some(local) = wire::nearest(locals, remote) else { return Ok(()) };
    for (from, to, traffic) in [(nodes[0], remote, &flow.forward), (nodes[1], local, &flow.back)] {
        let Some(traffic) = traffic else { continue };
        let (what, payload, headers) = match flow.protocol {
            Protocol::Sctp => return Ok(()),
            Protocol::Tcp => ("mss", mss, header + 20),
            Protocol::Udp => ("max_msg_size", traffic.max_msg_size.get(), header + 8),
        };
        for link in network.way(from, to) {
            let link = &scenario.links[link.link().index()];
            if payload + headers > link.mtu.get() {
                return Err(format!(
                    "{what} = {payload} B and {headers} B of headers do not fit the link `{}`, whose mtu is {}; \
                     expected at most {} B",
                    link.name,
                    link.mtu,
                    link.mtu.get().saturating_sub(headers)
                ));
            }
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
