//! The addresses of a flow, and its endpoints at both ends.

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

/// Finds the addresses of a flow, and registers in `bindings` the two endpoints that it needs, the client's
/// first.
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

/// Finds the addresses of short transfers, and registers in `bindings` the endpoint that the server needs.
/// The endpoints of clients are created during the run.
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

/// Largest number of simultaneous transfers of one source.
pub(super) const MOST_TRANSFERS: usize = 16_384;

/// The requirements of one end of a flow for the endpoint at `port`.
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

/// A list of addresses for error messages.
fn list(addresses: &[IpAddr]) -> String {
    let words: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    format!("expected {}{}", if words.len() > 1 { "one of " } else { "" }, words.join(", "))
}

/// Finds the addresses of a flow, and all server addresses that it may use.
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
    let callers = callers(flow, network, client, &locals, &remotes)?;
    let (local_port, port) = (flow.local_port, flow.remote_port);
    let dial = Dial { nodes: [client, server], locals, callers, remotes, local_port, port };
    fits_the_way(flow, scenario, network, &dial, &theirs)?;
    Ok((dial, theirs))
}

/// The client's addresses as the server sees them: those of NATs on the path, for a flow through NATs.
fn callers(
    flow: &scenario::Flow,
    network: &Network,
    client: NodeId,
    locals: &[IpAddr],
    remotes: &[IpAddr],
) -> Result<Vec<IpAddr>, Misfit> {
    let (mut callers, mut nat) = (Vec::new(), None);
    for &local in locals {
        let reached = remotes.iter().filter(|&&remote| network.reaches(client, local, remote));
        let mut seen: Vec<_> = reached.map(|&remote| network.source_at(client, local, remote)).collect();
        if seen.is_empty() {
            seen.push((local, None));
        }
        for (caller, by) in seen {
            nat = nat.or(by);
            if !callers.contains(&caller) {
                callers.push(caller);
            }
        }
    }
    let Some(nat) = nat.map(|nat| network.name(nat)) else { return Ok(callers) };
    if flow.protocol != Protocol::Sctp || !flow.udp_encapsulation {
        let message = format!(
            "only SCTP in UDP passes the NAT \"{nat}\" on the way; expected protocol = \"SCTP\" with \
             udp_encapsulation = true"
        );
        return Err(misfit("udp_encapsulation", message));
    }
    if locals.len() > 1 {
        let message = format!(
            "the server cannot reach the {} addresses that the client lists from behind the NAT \"{nat}\"; expected \
             `networks` or `local_address` to choose one",
            locals.len()
        );
        return Err(misfit("networks", message));
    }
    Ok(callers)
}

/// The options that one end of a flow requires of its endpoint.
fn options(flow: &scenario::Flow, side: Side) -> Options {
    let (sctp, tcp, traffic) = match side {
        Side::Client => (&flow.client_options, &flow.client_tcp, &flow.forward),
        Side::Server => (&flow.server_options, &flow.server_tcp, &flow.back),
    };
    match flow.protocol {
        Protocol::Sctp => {
            let queue = traffic.as_ref().map(|traffic| traffic.queue_size);
            let config = Box::new(sctp.clone());
            Options::Sctp { config, queue, encapsulated: flow.udp_encapsulation }
        }
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
            && traffic.max_msg_size > options.send_buffer.most()
        {
            let message = format!(
                "max_msg_size = {} can never fit the send buffer ({key}); expected at most {}",
                traffic.max_msg_size,
                options.send_buffer.most()
            );
            return Err(misfit("max_msg_size", message));
        }
    }
    Ok(())
}

/// Checks that each direction has a route whose links all carry the largest packets. An SCTP sender with
/// `pmtud` reduces its packets, down to the size that every path must carry.
fn fits_the_way(
    flow: &scenario::Flow,
    scenario: &Scenario,
    network: &Network,
    dial: &Dial,
    theirs: &[IpAddr],
) -> Result<(), Misfit> {
    let [client, server] = dial.nodes;
    // TCP and UDP connect to the first address, SCTP to all addresses.
    let called = if flow.protocol == Protocol::Sctp {
        &dial.remotes[..]
    } else {
        &dial.remotes[..dial.remotes.len().min(1)]
    };
    let callers: Vec<IpAddr> = match flow.protocol {
        Protocol::Sctp => dial.callers.clone(),
        _ => called.iter().filter_map(|&remote| transport::nearest(&dial.locals, remote)).collect(),
    };
    let forth = Ends { node: client, own: &dial.locals, sctp: &flow.client_options };
    let back = Ends { node: server, own: theirs, sctp: &flow.server_options };
    let ways = [
        (&forth, forth.reached(flow, network, called), &flow.forward),
        (&back, back.reached(flow, network, &callers), &flow.back),
    ];
    if let Some(missing) = ways.iter().position(|(_, reached, _)| reached.is_empty()) {
        let [from, to] = if missing == 0 { [client, server] } else { [server, client] };
        let message = format!(
            "no route leads from \"{}\" to \"{}\"; expected links of one network, over routers only, or over NATs to \
             their outside",
            network.name(from),
            network.name(to)
        );
        return Err(misfit("server", message));
    }
    for (from, reached, traffic) in ways {
        let Some(traffic) = traffic else { continue };
        let discovers = flow.protocol == Protocol::Sctp && from.sctp.pmtud;
        let packet = Packet::largest(flow, traffic, from.sctp);
        for link in reached.iter().flat_map(|&(src, dst)| network.way(from.node, src, dst)) {
            let spec = &scenario.links[link.link().index()];
            let channel = if link == link.link().forward() { &spec.forward } else { &spec.back };
            if discovers {
                carries_the_least(flow.ip_version, &spec.name, channel.mtu)?;
            } else {
                packet.fits(&spec.name, channel.mtu)?;
            }
        }
    }
    Ok(())
}

/// Checks that a link carries the least MTU of path MTU discovery (MIN_PLPMTU, `rfc8899#section-5.1.2`).
fn carries_the_least(version: IpVersion, link: &str, mtu: ByteCount) -> Result<(), Misfit> {
    let (least, name) = match version {
        IpVersion::V4 => (576, "IPv4"),
        IpVersion::V6 => (1280, "IPv6"),
    };
    if mtu.get() >= least {
        return Ok(());
    }
    let message = format!(
        "the mtu of the link `{link}` is {mtu}, less than `pmtud` can find; expected at least {least} B for {name}"
    );
    Err(misfit("mtu", message))
}

/// The sending end of a direction.
struct Ends<'a> {
    node: NodeId,
    own: &'a [IpAddr],
    sctp: &'a sctp::Config,
}

impl Ends<'_> {
    /// The pairs of source and destination addresses with a route: from the address with the longest prefix
    /// in common with each of `remotes`, or from all addresses if each pair of addresses is a path.
    fn reached(&self, flow: &scenario::Flow, network: &Network, remotes: &[IpAddr]) -> Vec<(IpAddr, IpAddr)> {
        let pairs = flow.protocol == Protocol::Sctp && self.sctp.paths != sctp::PathSet::Addresses;
        let from = |remote: IpAddr| match transport::nearest(self.own, remote) {
            Some(near) if !pairs => vec![near],
            _ => self.own.to_vec(),
        };
        let all = remotes.iter().flat_map(|&remote| from(remote).into_iter().map(move |own| (own, remote)));
        all.filter(|&(own, remote)| network.reaches(self.node, own, remote)).collect()
    }
}

/// The largest packet of a direction.
struct Packet {
    /// The key of the scenario file that sets the payload.
    key: &'static str,
    /// The payload in bytes.
    payload: u64,
    /// Bytes of headers.
    headers: u64,
}

impl Packet {
    fn largest(flow: &scenario::Flow, traffic: &scenario::Traffic, sctp: &sctp::Config) -> Packet {
        let ip = match flow.ip_version {
            IpVersion::V4 => 20,
            IpVersion::V6 => 40,
        };
        let message = traffic.max_msg_size.get();
        let udp = if flow.udp_encapsulation { 8 } else { 0 };
        // The common header has 12 bytes, the header of a DATA chunk 16 (rfc9260#section-3).
        let alone = message.next_multiple_of(4) + ip + udp + 12 + 16;
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
        let or_discovery = if key == "mtu" { ", or `pmtud = true`, which finds it" } else { "" };
        let message = format!(
            "{key} = {payload} B{headers_of} do not fit the link `{link}`, whose mtu is {mtu}; expected at most {} B{or_discovery}",
            mtu.get().saturating_sub(headers)
        );
        Err(misfit(key, message))
    }
}

/// Moves the address of the primary path to the front: the path to the first address becomes the primary
/// path.
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

/// One address of a host, of the flow's IP version.
fn address_of(flow: &scenario::Flow, network: &Network, node: NodeId, place: usize) -> IpAddr {
    let address = network.addresses(node)[place];
    match flow.ip_version {
        IpVersion::V4 => address.ipv4.into(),
        IpVersion::V6 => address.ipv6.into(),
    }
}
