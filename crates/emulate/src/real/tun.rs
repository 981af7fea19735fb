//! TUN mode: a TUN device for each link end of a real host, optionally in a network namespace.

use super::namespace::Namespace;
use super::wait;
use crate::drive::{node_of, problem};
use crate::engine::{Doors, Entry};
use crate::error::EmulateError;
use lab::scenario::{Attachment, RealHost, Scenario};
use net::{Network, NodeId, Packet, Whole};
use nix::poll::{PollFd, PollFlags};
use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::os::fd::AsFd;
use tun_rs::{DeviceBuilder, SyncDevice};
use units::Span;

/// Longest packet of a TUN device.
const LONGEST: usize = 65_535;
/// Maximum number of packets to read from a device before the emulation does other work.
const READS: usize = 64;
/// Prefix length of automatic addresses. The addresses of one network are 10.net.x.y.
const PREFIX: u8 = 16;

/// The devices of an emulation.
pub(super) struct Devices {
    ends: Vec<End>,
    /// The link end of each address of the network, as an index into `ends`.
    by_address: BTreeMap<IpAddr, usize>,
    bytes: Vec<u8>,
    packet: Vec<u8>,
    /// This must be the last field, so that the namespaces are removed after the devices in them.
    _namespaces: Vec<Namespace>,
}

struct End {
    node: NodeId,
    device: SyncDevice,
}

/// A device that is to be made.
struct Wanted {
    name: String,
    addresses: Vec<(IpAddr, u8)>,
    mtu: u16,
}

impl Devices {
    /// Makes the devices, and the namespaces that do not exist. Also returns a line of text for each device.
    pub(super) fn open(
        scenario: &Scenario,
        network: &Network,
    ) -> Result<(Devices, Vec<String>), EmulateError> {
        let mut devices = Devices {
            ends: Vec::new(),
            by_address: BTreeMap::new(),
            bytes: vec![0; LONGEST],
            packet: Vec::new(),
            _namespaces: Vec::new(),
        };
        let mut ways = Vec::new();
        for host in &scenario.real {
            let Attachment::Tun { namespace, .. } = &host.attachment else { continue };
            let namespace = match namespace {
                Some(name) => Some(Namespace::named(name).map_err(|error| {
                    let message = format!(
                        "the network namespace {name} cannot be made, which needs root and `ip`: {error}"
                    );
                    problem(scenario, host.node, message)
                })?),
                None => None,
            };
            let node = node_of(scenario, network, host.node)?;
            for wanted in wanted(scenario, network, host, node) {
                let made = match &namespace {
                    Some(namespace) => namespace.inside(|| open(&wanted)),
                    None => open(&wanted),
                };
                let device = made.map_err(|error| {
                    let name = &wanted.name;
                    let message = format!(
                        "the TUN device {name} cannot be made, which needs CAP_NET_ADMIN and /dev/net/tun: {error}"
                    );
                    problem(scenario, host.node, message)
                })?;
                ways.push(way(scenario, host, &wanted));
                for (address, _) in &wanted.addresses {
                    devices.by_address.insert(*address, devices.ends.len());
                }
                devices.ends.push(End { node, device });
            }
            devices._namespaces.extend(namespace);
        }
        Ok((devices, ways))
    }
}

/// The devices of a host.
fn wanted(scenario: &Scenario, network: &Network, host: &RealHost, node: NodeId) -> Vec<Wanted> {
    let Attachment::Tun { device, addresses, .. } = &host.attachment else { return Vec::new() };
    let links = scenario.links.iter().filter(|link| link.between.contains(&host.node));
    let own = network.addresses(node);
    let device = |(at, (link, own)): (usize, (&lab::scenario::Link, &net::InterfaceAddress))| Wanted {
        name: if own_links(scenario, host) > 1 { format!("{device}-{}", at + 1) } else { device.clone() },
        addresses: match addresses.get(at) {
            Some(&address) => vec![address],
            None => vec![(own.ipv4.into(), PREFIX), (own.ipv6.into(), 64)],
        },
        mtu: link.forward.mtu.min(link.back.mtu).get().min(LONGEST as u64) as u16,
    };
    links.zip(own).enumerate().map(device).collect()
}

fn own_links(scenario: &Scenario, host: &RealHost) -> usize {
    scenario.links.iter().filter(|link| link.between.contains(&host.node)).count()
}

fn way(scenario: &Scenario, host: &RealHost, wanted: &Wanted) -> String {
    let name = &scenario.nodes[host.node].name;
    let addresses: Vec<String> =
        wanted.addresses.iter().map(|(address, prefix)| format!("{address}/{prefix}")).collect();
    let mut way = format!("{name} has the device {} with {}", wanted.name, addresses.join(" and "));
    if let Attachment::Tun { namespace: Some(namespace), .. } = &host.attachment {
        way += &format!("; start its programs with `ip netns exec {namespace}`");
    }
    way
}

fn open(wanted: &Wanted) -> io::Result<SyncDevice> {
    let mut builder = DeviceBuilder::new().name(&wanted.name).mtu(wanted.mtu);
    for &(address, prefix) in &wanted.addresses {
        builder = match address {
            IpAddr::V4(address) => builder.ipv4(address, prefix, None),
            IpAddr::V6(address) => builder.ipv6(address, prefix),
        };
    }
    let device = builder.build_sync()?;
    device.set_nonblocking(true)?;
    Ok(device)
}

impl Doors for Devices {
    fn read(&mut self, enter: &mut dyn FnMut(NodeId, Entry, &mut Vec<u8>)) {
        for End { node, device } in &self.ends {
            for _ in 0..READS {
                let Ok(length) = device.recv(&mut self.bytes) else { break };
                let bytes = &self.bytes[..length.min(LONGEST)];
                // The network has no receiver for multicast packets such as router solicitations.
                let Some(whole) = Whole::read(bytes).filter(|whole| !whole.dst.is_multicast()) else {
                    continue;
                };
                enter(*node, Entry::Whole(whole), &mut bytes.to_vec());
            }
        }
    }

    fn write(&mut self, to: NodeId, packet: &Packet<'_>) -> bool {
        let end = self.by_address.get(&packet.dst).map(|&at| &self.ends[at]);
        let Some(end) = end.filter(|end| end.node == to) else { return false };
        self.packet.clear();
        packet.write_whole(&mut self.packet);
        end.device.send(&self.packet).is_ok()
    }

    fn wait(&mut self, longest: Span) -> io::Result<()> {
        let devices = self.ends.iter().map(|end| PollFd::new(end.device.as_fd(), PollFlags::POLLIN));
        let mut descriptors: Vec<PollFd<'_>> = devices.collect();
        wait(&mut descriptors, longest)
    }
}
