//! The network of a scenario.

use super::LabEvent;
use crate::host::{encapsulation, udp};
use crate::output::{RunControl, RunError};
use crate::scenario::{self, Attachment, Effect, RealHost, Renumbering, Scenario};
use des::{Kernel, Streams};
use net::{
    CaptureOptions, FinishPacket, LinkId, LinkSpec, NatSpec, NetEvent, Network, NetworkBuilder, NodeId,
    Protocol,
};
use std::fs::{self, File};
use std::net::IpAddr;
use transport::{Checksum, Octets};
use units::Instant;

/// The network, with the ids of the scenario's nodes and links.
pub(super) struct Built {
    pub(super) network: Network,
    pub(super) nodes: Vec<NodeId>,
    pub(super) links: Vec<LinkId>,
}

/// Builds nodes and links, assigns addresses and computes the routes.
pub(super) fn build(scenario: &Scenario, streams: &Streams) -> Result<Built, RunError> {
    let mut builder = NetworkBuilder::new();
    let nodes: Vec<NodeId> =
        scenario.nodes.iter().map(|node| builder.add_node(&node.name, kind(node))).collect();
    let mut links = Vec::with_capacity(scenario.links.len());
    for link in &scenario.links {
        let [a, b] = link.between.map(|node| nodes[node]);
        links.push(builder.add_link(LinkSpec {
            a,
            b,
            net_id: link.net_id,
            cost: 1,
            forward: link.forward.clone(),
            backward: link.back.clone(),
        }));
    }
    for change in &scenario.changes {
        if let Effect::Link { link, .. } = change.effect {
            builder.let_change(links[link]);
        }
    }
    for (node, &router) in scenario.nodes.iter().zip(&nodes) {
        if let scenario::NodeKind::Nat { outside, timeout, .. } = node.kind {
            builder.set_nat(router, NatSpec { outside: links[outside], timeout });
        }
    }
    for (link, &id) in scenario.links.iter().zip(&links) {
        for change in &link.renumber {
            builder.add_spare_address(nodes[link.between[usize::from(change.second)]], id);
        }
    }
    for RealHost { node, attachment } in &scenario.real {
        let Attachment::Tun { addresses, .. } = attachment else { continue };
        let own = scenario.links.iter().zip(&links).filter(|(link, _)| link.between.contains(node));
        for ((_, &link), &(address, _)) in own.zip(addresses) {
            builder.set_address(nodes[*node], link, address);
        }
    }
    let network = builder.configure(streams).map_err(|error| RunError::Failed(error.to_string()))?;
    Ok(Built { network, nodes, links })
}

fn kind(node: &scenario::Node) -> net::NodeKind {
    match node.kind {
        scenario::NodeKind::Host { jitter } => net::NodeKind::Host { jitter },
        scenario::NodeKind::Router | scenario::NodeKind::Nat { .. } => net::NodeKind::Router,
    }
}

/// Whether endpoints compute checksums. With bit errors or real hosts they must; otherwise checksums are
/// offloaded.
pub(super) fn checksum(scenario: &Scenario) -> Checksum {
    let mut directions = scenario.links.iter().flat_map(|link| [&link.forward, &link.back]);
    if !scenario.real.is_empty() || directions.any(|direction| !direction.impairments.bit_errors.is_zero()) {
        Checksum::Computed
    } else {
        Checksum::Offloaded
    }
}

pub(super) fn schedule_outages(scenario: &Scenario, links: &[LinkId], kernel: &mut Kernel<LabEvent>) {
    for (link, &id) in scenario.links.iter().zip(links) {
        for outage in &link.down {
            kernel.schedule(outage.from, NetEvent::fail(id).into());
            if outage.to < Instant::FAR {
                kernel.schedule(outage.to, NetEvent::repair(id).into());
            }
        }
    }
}

/// Schedules the times at which hosts detect that links fail and are repaired.
pub(super) fn schedule_carriers(scenario: &Scenario, kernel: &mut Kernel<LabEvent>) {
    for (link, spec) in (0..).zip(&scenario.links) {
        let Some(delay) = spec.carrier_delay else { continue };
        for outage in &spec.down {
            kernel.schedule(outage.from + delay, LabEvent::Carrier { link, up: false });
            if outage.to < Instant::FAR {
                kernel.schedule(outage.to + delay, LabEvent::Carrier { link, up: true });
            }
        }
    }
}

/// Schedules the times at which hosts get other addresses.
pub(super) fn schedule_renumberings(
    scenario: &Scenario,
    nodes: &[NodeId],
    links: &[LinkId],
    kernel: &mut Kernel<LabEvent>,
) {
    for (spec, &link) in scenario.links.iter().zip(links) {
        for &Renumbering { second, at } in &spec.renumber {
            let node = nodes[spec.between[usize::from(second)]];
            kernel.schedule(at, LabEvent::Renumber { node, link });
        }
    }
}

/// Schedules the times at which NATs drop their mappings.
pub(super) fn schedule_rebindings(scenario: &Scenario, nodes: &[NodeId], kernel: &mut Kernel<LabEvent>) {
    for (node, &id) in scenario.nodes.iter().zip(nodes) {
        if let scenario::NodeKind::Nat { rebind_at, .. } = &node.kind {
            rebind_at.iter().for_each(|&at| kernel.schedule(at, NetEvent::rebind(id).into()));
        }
    }
}

/// Opens the capture files if captures are enabled. A link is captured at the interface of its first node.
pub(super) fn start_captures(
    scenario: &Scenario,
    network: &mut Network,
    nodes: &[NodeId],
    links: &[LinkId],
    control: &RunControl,
) -> Result<(), RunError> {
    let Some(directory) = &control.captures else { return Ok(()) };
    let encapsulated = scenario.flows.iter().any(|flow| flow.udp_encapsulation);
    let finish: FinishPacket = if encapsulated { fill_in_checksums } else { fill_in_checksum };
    for capture in &scenario.captures {
        let options = CaptureOptions { finish: Some(finish), limit: capture.limit.or(control.capture_limit) };
        let path = directory.join(&capture.file);
        let link = &scenario.links[capture.link];
        let interface = (links[capture.link], nodes[link.between[0]], link.name.as_str());
        let mut open = || {
            fs::create_dir_all(path.parent().unwrap_or(directory))?;
            network.capture(&[interface], Box::new(File::create(&path)?), options)
        };
        open().map_err(|source| RunError::Capture { path: path.clone(), source })?;
    }
    Ok(())
}

/// A warning for each capture that reached its limit, with the number of packets left out.
pub(super) fn cut_captures<'s>(
    scenario: &'s Scenario,
    left_out: &'s [u64],
) -> impl Iterator<Item = String> + 's {
    let cut = scenario.captures.iter().zip(left_out).filter(|(_, left_out)| **left_out > 0);
    cut.map(|(capture, left_out)| {
        format!(
            "capture {} reached its limit: the last {left_out} packets are not in it; `limit` of the [[capture]] allows more",
            capture.file
        )
    })
}

/// As [`fill_in_checksum`], but datagrams from or to the port of encapsulation contain SCTP packets.
fn fill_in_checksums(protocol: Protocol, src: IpAddr, dst: IpAddr, packet: &mut [u8]) {
    if let (Protocol::Udp, Some((header, inner))) =
        (protocol, packet.split_at_mut_checked(encapsulation::HEADER))
        && header.chunks_exact(2).take(2).any(|port| port == encapsulation::PORT.to_be_bytes())
    {
        fill_in_checksum(Protocol::Sctp, src, dst, inner);
    }
    fill_in_checksum(protocol, src, dst, packet);
}

/// Writes the checksum of a packet: the CRC32c of SCTP (`rfc9260#section-6.8`), the Internet checksum of
/// other protocols.
fn fill_in_checksum(protocol: Protocol, src: IpAddr, dst: IpAddr, packet: &mut [u8]) {
    match protocol {
        Protocol::Sctp => {
            let crc = wire::crc32c(Octets::from(&*packet));
            if let Some(field) = packet.get_mut(8..12) {
                field.copy_from_slice(&crc.to_le_bytes());
            }
        }
        Protocol::Tcp => {
            // rfc9293#section-3.1
            packet.get_mut(16..18).into_iter().for_each(|field| field.fill(0));
            let sum = transport::internet_checksum(protocol as u8, src, dst, Octets::from(&*packet));
            packet.get_mut(16..18).into_iter().for_each(|field| field.copy_from_slice(&sum.to_be_bytes()));
        }
        Protocol::Udp => udp::fill_in_checksum(src, dst, packet, 0),
        // The real host has computed the checksum.
        Protocol::Opaque => {}
    }
}
