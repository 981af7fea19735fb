//! The addresses of a flow, and the endpoints that it needs at both ends.

use super::endpoints::{Bindings, Claim, Options};
use crate::app::Dial;
use crate::host::Side;
use crate::output::RunError;
use crate::scenario::{
    self, IpVersion, LocalAddress, Misfit, PrimaryPath, Protocol, RemoteAddress, Scenario,
};
use net::{Network, NodeId};
use std::net::IpAddr;
use units::ByteCount;

/// Finds the addresses of a flow and claims its two endpoints, first the client's.
pub(super) fn bind(
    flow: &scenario::Flow,
    scenario: &Scenario,
    network: &Network,
    nodes: &[NodeId],
    bindings: &mut Bindings,
) -> Result<Dial, RunError> {
    let (dial, theirs) = find(flow, scenario, network, nodes).map_err(|misfit| failed(flow, misfit))?;
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
    let (dial, theirs) = find(flow, scenario, network, nodes).map_err(|misfit| failed(flow, misfit))?;
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

/// The error of a run whose flow cannot work on its network.
fn failed(flow: &scenario::Flow, misfit: Misfit) -> RunError {
    RunError::Failed(format!("flow `{}`: {}", flow.name, misfit.message))
}

fn misfit(key: &'static str, message: String) -> Misfit {
    Misfit { key, message }
}

/// Addresses as messages list them.
fn list(addresses: &[IpAddr]) -> String {
    let words: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    format!("expected {}{}", if words.len() > 1 { "one of " } else { "" }, words.join(", "))
}

/// Finds the addresses of a flow, and all of the server's that it may use.
pub(super) fn find(
    flow: &scenario::Flow,
    scenario: &Scenario,
    network: &Network,
    nodes: &[NodeId],
) -> Result<(Dial, Vec<IpAddr>), Misfit> {
    let (client, server) = (nodes[flow.client], nodes[flow.server]);
    if client == server {
        return Err(misfit("server", format!("both ends are `{}`", network.name(client))));
    }
    fits(flow)?;
    let own = addresses(flow, network, client);
    let locals = match flow.local_address {
        LocalAddress::Any => own,
        LocalAddress::Ip(ip) if own.contains(&ip) => vec![ip],
        LocalAddress::Ip(ip) => {
            let message = format!("local_address {ip} is not the client's; {}", list(&own));
            return Err(misfit("local_address", message));
        }
    };
    let theirs = addresses(flow, network, server);
    if locals.is_empty() || theirs.is_empty() {
        let message = format!("a host has no interface in the networks {:?}", flow.networks);
        return Err(misfit("networks", message));
    }
    let mut remotes = match flow.remote_address {
        RemoteAddress::Any => theirs.clone(),
        RemoteAddress::Ip(ip) if theirs.contains(&ip) => vec![ip],
        RemoteAddress::Ip(ip) => {
            let message = format!("remote_address {ip} is not the server's; {}", list(&theirs));
            return Err(misfit("remote_address", message));
        }
    };
    prefer(flow, network, server, &mut remotes)?;
    fits_the_way(flow, scenario, network, [client, server], [&locals, &remotes])?;
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
        Protocol::Sctp => Options::Sctp {
            config: Box::new(sctp.clone()),
            queue: traffic.as_ref().map(|traffic| traffic.queue_size),
        },
        Protocol::Tcp => Options::Tcp(Box::new(tcp.clone())),
        Protocol::Udp => Options::Udp,
    }
}

/// Checks that the server's port is valid and that a message of each direction can be sent.
fn fits(flow: &scenario::Flow) -> Result<(), Misfit> {
    if flow.remote_port == 0 {
        return Err(misfit("remote_port", "expected a `remote_port` from 1 to 65535".to_owned()));
    }
    for (key, traffic, options) in
        [("sctp", &flow.forward, &flow.client_options), ("server_sctp", &flow.back, &flow.server_options)]
    {
        if let Some(traffic) = traffic
            && flow.protocol == Protocol::Sctp
            && traffic.max_msg_size > options.send_buffer
        {
            let message = format!(
                "max_msg_size = {} can never fit the send buffer ({key}); expected at most {}",
                traffic.max_msg_size, options.send_buffer
            );
            return Err(misfit("max_msg_size", message));
        }
    }
    Ok(())
}

/// Whether there is a way for each direction, and the largest packets pass all links of it: no protocol here finds out
/// by itself what a path takes.
fn fits_the_way(
    flow: &scenario::Flow,
    scenario: &Scenario,
    network: &Network,
    [client, server]: [NodeId; 2],
    [locals, remotes]: [&[IpAddr]; 2],
) -> Result<(), Misfit> {
    // TCP and UDP call the first address, SCTP any.
    let called = if flow.protocol == Protocol::Sctp { remotes } else { &remotes[..remotes.len().min(1)] };
    let reached: Vec<IpAddr> =
        called.iter().copied().filter(|&remote| network.reaches(client, remote)).collect();
    let callers: Vec<IpAddr> = match flow.protocol {
        Protocol::Sctp => locals.to_vec(),
        _ => called.iter().filter_map(|&remote| transport::nearest(locals, remote)).collect(),
    };
    let callers: Vec<IpAddr> = callers.into_iter().filter(|&local| network.reaches(server, local)).collect();
    if reached.is_empty() || callers.is_empty() {
        let [from, to] = if reached.is_empty() { [client, server] } else { [server, client] };
        let message = format!(
            "no route leads from \"{}\" to \"{}\"; expected links of one network, over routers only",
            network.name(from),
            network.name(to)
        );
        return Err(misfit("server", message));
    }
    let ways = [
        (client, &reached, &flow.forward, &flow.client_options),
        (server, &callers, &flow.back, &flow.server_options),
    ];
    for (from, addresses, traffic, sctp) in ways {
        let Some(traffic) = traffic else { continue };
        let packet = Packet::largest(flow, traffic, sctp);
        for link in addresses.iter().flat_map(|&to| network.way(from, to)) {
            let spec = &scenario.links[link.link().index()];
            let channel = if link == link.link().forward() { &spec.forward } else { &spec.back };
            packet.fits(&spec.name, channel.mtu)?;
        }
    }
    Ok(())
}

/// The largest packet of a direction.
struct Packet {
    /// The key that says how large it is.
    key: &'static str,
    /// What that key says.
    payload: u64,
    /// What is added to it.
    headers: u64,
}

impl Packet {
    fn largest(flow: &scenario::Flow, traffic: &scenario::Traffic, sctp: &sctp::Config) -> Packet {
        let ip = match flow.ip_version {
            IpVersion::V4 => 20,
            IpVersion::V6 => 40,
        };
        let message = traffic.max_msg_size.get();
        // The common header, and that of a DATA chunk (rfc9260#section-3).
        let alone = message.next_multiple_of(4) + ip + 12 + 16;
        match flow.protocol {
            Protocol::Sctp if !sctp.bundling && alone < sctp.mtu.get() => {
                Packet { key: "max_msg_size", payload: message, headers: alone - message }
            }
            Protocol::Sctp => Packet { key: "mtu", payload: sctp.mtu.get(), headers: 0 },
            Protocol::Tcp => {
                let mss = flow.client_tcp.mss.min(flow.server_tcp.mss);
                Packet { key: "mss", payload: mss.into(), headers: ip + 20 }
            }
            Protocol::Udp => Packet { key: "max_msg_size", payload: message, headers: ip + 8 },
        }
    }

    fn fits(&self, link: &str, mtu: ByteCount) -> Result<(), Misfit> {
        let Packet { key, payload, headers } = *self;
        if payload + headers <= mtu.get() {
            return Ok(());
        }
        let headers_of = if headers > 0 { format!(" and {headers} B of headers") } else { String::new() };
        let message = format!(
            "{key} = {payload} B{headers_of} do not fit the link `{link}`, whose mtu is {mtu}; expected at most {} B",
            mtu.get().saturating_sub(headers)
        );
        Err(misfit(key, message))
    }
}

/// Puts the address of the primary path first: the first one called is the primary one.
fn prefer(
    flow: &scenario::Flow,
    network: &Network,
    server: NodeId,
    remotes: &mut [IpAddr],
) -> Result<(), Misfit> {
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
        None => {
            let message = format!("primary_path is none of the addresses that are called; {}", list(remotes));
            Err(misfit("primary_path", message))
        }
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
