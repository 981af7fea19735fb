use crate::address::{self, AddressTable, Ambiguous, InterfaceAddress};
use crate::channel::{ChangingDelay, Channel, HostJitter, Lateness, Parts};
use crate::fault::SpecFault;
use crate::ids::{LinkId, NodeId};
use crate::nat::{Nat, NatSpec};
use crate::network::{Host, Network, NodeInfo, Spare};
use crate::queue::Site;
use crate::routing::{Edge, Routes, Target};
use crate::topology::{ChannelSpec, LinkSpec, NodeKind};
use crate::transmitter::Transmitter;
use crate::wire::Wire;
use des::Streams;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use thiserror::Error;
use units::Instant;

/// Collects nodes and links, and builds a [`Network`] of them.
#[derive(Debug, Default)]
pub struct NetworkBuilder {
    nodes: Vec<(String, NodeKind)>,
    links: Vec<LinkSpec>,
    overrides: Vec<(NodeId, LinkId, IpAddr)>,
    spares: Vec<(NodeId, LinkId)>,
    nats: BTreeMap<NodeId, NatSpec>,
    changing: BTreeSet<LinkId>,
}

/// Error: why a network cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ConfigError {
    /// Two nodes have the same name. Random streams and captures are named after nodes.
    #[error("two nodes are called `{0}`")]
    DuplicateName(String),
    /// Both ends of a link are the same node.
    #[error("a link of `{0}` to itself")]
    Loop(String),
    /// A link has cost 0. Routing needs positive costs.
    #[error("the link {0} has cost 0")]
    NoCost(String),
    /// A parameter of a part of a channel is wrong.
    #[error("the {part} of the link {link} has a wrong `{}`: expected {}", fault.field, fault.expected)]
    Channel {
        /// The name of the link.
        link: String,
        /// The part as scenario files name it, such as `rate`, `delay`, `queue` or `loss`.
        part: &'static str,
        /// The wrong parameter, and its valid values.
        fault: SpecFault,
    },
    /// A network has more host interfaces than IPv4 addresses 10.net.x.y.
    #[error("network {0} has more than 65534 host interfaces")]
    TooManyInterfaces(u8),
    /// A NAT is not a router, or its outside link does not end at the NAT.
    #[error("`{0}` cannot be a NAT: expected a router, and an outside link that ends there")]
    WrongNat(String),
    /// An address was set for a node without an interface on the link: a router, or not an end of the link.
    #[error("`{0}` has no interface on the link {1} to set an address of")]
    NoInterface(String, String),
    /// Two interfaces have the same address.
    #[error("the address {0} is given twice")]
    DuplicateAddress(IpAddr),
}

/// All interfaces, grouped by node, with the range of the interfaces of each host. Spare addresses are
/// interfaces at the end of the list.
struct Assigned {
    interfaces: Vec<InterfaceAddress>,
    hosts: Vec<Option<Host>>,
    spares: Vec<Spare>,
}

impl NetworkBuilder {
    /// A builder without nodes and links.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a node. The name of each node must be unique.
    pub fn add_node(&mut self, name: &str, kind: NodeKind) -> NodeId {
        self.nodes.push((name.to_owned(), kind));
        NodeId(self.nodes.len() as u32 - 1)
    }

    /// Adds a link. There may be several links between two nodes.
    ///
    /// # Panics
    /// If an end is not a node of this builder.
    pub fn add_link(&mut self, spec: LinkSpec) -> LinkId {
        assert!(spec.a.index() < self.nodes.len() && spec.b.index() < self.nodes.len(), "an unknown node");
        self.links.push(spec);
        LinkId(self.links.len() as u32 - 1)
    }

    /// Sets an address of a host's interface; it replaces the automatic address of the same family.
    pub fn set_address(&mut self, node: NodeId, link: LinkId, address: IpAddr) {
        self.overrides.push((node, link, address));
    }

    /// Gives a host's interface a spare address. [`Network::renumber`] replaces the current address of the
    /// interface by its next spare address.
    pub fn add_spare_address(&mut self, node: NodeId, link: LinkId) {
        self.spares.push((node, link));
    }

    /// Lets the parameters of a link change during the run ([`Network::change`]). A packet that waits in a
    /// queue of this link then costs one more event, also if the discipline is an
    /// [`Admission`](crate::Admission).
    pub fn let_change(&mut self, link: LinkId) {
        self.changing.insert(link);
    }

    /// Makes a router a NAT.
    pub fn set_nat(&mut self, router: NodeId, spec: NatSpec) {
        self.nats.insert(router, spec);
    }

    /// Assigns addresses, computes routes and builds the network. `streams` provides its random streams.
    ///
    /// # Errors
    /// [`ConfigError`] names the first node or link that does not fit.
    pub fn configure(self, streams: &Streams) -> Result<Network, ConfigError> {
        self.check_nodes()?;
        let names = self.link_names();
        for (spec, name) in self.links.iter().zip(&names) {
            self.check_link(spec, name)?;
        }
        let Assigned { interfaces, hosts, spares } = self.assign_addresses(&names)?;
        let addresses = AddressTable::new(&interfaces)
            .map_err(|Ambiguous(address)| ConfigError::DuplicateAddress(address))?;
        let mut routes = self.compute_routes(&interfaces, &hosts, &spares);
        let nats = self.nats.iter().map(|(&node, spec)| (node.0, self.nat(node, spec, &hosts, &mut routes)));
        let nats = nats.collect();
        let mut channels = Vec::with_capacity(self.links.len() * 2);
        for ((number, spec), name) in (0..).zip(&self.links).zip(&names) {
            let changes = self.changing.contains(&LinkId(number));
            let directions = [(&spec.forward, spec.b, "forward"), (&spec.backward, spec.a, "backward")];
            for (channel, to, way) in directions {
                channels.push(self.channel(streams, channel, to, &format!("{name} {way}"), changes));
            }
        }
        let nodes =
            self.nodes.into_iter().zip(hosts).map(|((name, _), host)| NodeInfo { name, host }).collect();
        Ok(Network::new(nodes, interfaces, spares, addresses, routes, channels, nats))
    }

    fn is_host(&self, node: NodeId) -> bool {
        matches!(self.nodes[node.index()].1, NodeKind::Host { .. })
    }

    /// True if the node has an address on the link: it is a host, or a NAT with this outside link.
    fn has_address(&self, node: NodeId, link: LinkId) -> bool {
        self.is_host(node) || self.nats.get(&node).is_some_and(|nat| nat.outside == link)
    }

    fn name(&self, node: NodeId) -> String {
        self.nodes[node.index()].0.clone()
    }

    /// Names of the links: "a-b" for the first link between two nodes, "a-b#2" for the second. A name does
    /// not depend on the links of other nodes.
    fn link_names(&self) -> Vec<String> {
        let mut seen = BTreeMap::new();
        let mut names = Vec::with_capacity(self.links.len());
        for spec in &self.links {
            let base = format!("{}-{}", self.name(spec.a), self.name(spec.b));
            let count = seen.entry(base.clone()).and_modify(|count| *count += 1).or_insert(1);
            names.push(if *count == 1 { base } else { format!("{base}#{count}") });
        }
        names
    }

    fn check_nodes(&self) -> Result<(), ConfigError> {
        let mut names: Vec<&str> = self.nodes.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(ConfigError::DuplicateName(pair[0].to_owned()));
        }
        let wrong = |(node, nat): &(&NodeId, &NatSpec)| {
            let ends =
                self.links.get(nat.outside.index()).is_some_and(|link| [link.a, link.b].contains(node));
            self.is_host(**node) || !ends
        };
        match self.nats.iter().find(wrong) {
            Some((&node, _)) => Err(ConfigError::WrongNat(self.name(node))),
            None => Ok(()),
        }
    }

    fn check_link(&self, spec: &LinkSpec, name: &str) -> Result<(), ConfigError> {
        if spec.a == spec.b {
            return Err(ConfigError::Loop(self.name(spec.a)));
        }
        if spec.cost == 0 {
            return Err(ConfigError::NoCost(name.to_owned()));
        }
        for channel in [&spec.forward, &spec.backward] {
            let wrong = |(part, fault)| ConfigError::Channel { link: name.to_owned(), part, fault };
            channel.check().map_err(wrong)?;
        }
        Ok(())
    }

    /// Assigns the interfaces of each node, and the numbers within each network, in the order of the links.
    fn assign_addresses(&self, names: &[String]) -> Result<Assigned, ConfigError> {
        let mut of_node: Vec<Vec<InterfaceAddress>> = vec![Vec::new(); self.nodes.len()];
        let mut used = BTreeMap::new();
        for (index, spec) in self.links.iter().enumerate() {
            for node in [spec.a, spec.b] {
                let link = LinkId(index as u32);
                if !self.has_address(node, link) {
                    continue;
                }
                of_node[node.index()].push(next_address(link, spec.net_id, &mut used)?);
            }
        }
        for &(node, link, address) in &self.overrides {
            let interface = of_node[node.index()].iter_mut().find(|interface| interface.link == link);
            match (interface, address) {
                (Some(interface), IpAddr::V4(v4)) => interface.ipv4 = v4,
                (Some(interface), IpAddr::V6(v6)) => interface.ipv6 = v6,
                (None, _) => return Err(self.no_interface(node, link, names)),
            }
        }
        let mut spares = Vec::with_capacity(self.spares.len());
        for &(node, link) in &self.spares {
            let before = of_node[node.index()].iter().find(|interface| interface.link == link);
            let Some(&InterfaceAddress { net_id, .. }) = before.filter(|_| self.is_host(node)) else {
                return Err(self.no_interface(node, link, names));
            };
            spares.push(Spare { node, address: next_address(link, net_id, &mut used)? });
        }
        let mut interfaces = Vec::new();
        let mut hosts = Vec::new();
        for (node, own) in (0..).map(NodeId).zip(of_node) {
            let first = interfaces.len();
            interfaces.extend(own);
            let addressed = self.is_host(node) || self.nats.contains_key(&node);
            hosts.push(addressed.then_some(Host { first, end: interfaces.len() }));
        }
        interfaces.extend(spares.iter().map(|spare| spare.address));
        Ok(Assigned { interfaces, hosts, spares })
    }

    fn no_interface(&self, node: NodeId, link: LinkId, names: &[String]) -> ConfigError {
        ConfigError::NoInterface(self.name(node), names.get(link.index()).cloned().unwrap_or_default())
    }

    fn compute_routes(
        &self,
        interfaces: &[InterfaceAddress],
        hosts: &[Option<Host>],
        spares: &[Spare],
    ) -> Routes {
        let forwards: Vec<bool> = (0..hosts.len() as u32).map(|node| !self.is_host(NodeId(node))).collect();
        let edge = |(link, spec): (u32, &LinkSpec)| {
            let is_nat = |node: &NodeId| self.nats.get(node).is_some_and(|nat| nat.outside == LinkId(link));
            let nat = [spec.a, spec.b].into_iter().find(is_nat).map(|node| node.0);
            Edge { a: spec.a.0, b: spec.b.0, net_id: spec.net_id, cost: spec.cost, nat }
        };
        let edges: Vec<Edge> = (0..).zip(&self.links).map(edge).collect();
        let mut targets = Vec::with_capacity(interfaces.len());
        for (node, host) in hosts.iter().enumerate() {
            for interface in host.iter().flat_map(|host| &interfaces[host.first..host.end]) {
                targets.push(Target { node: node as u32, link: interface.link.0 });
            }
        }
        targets.extend(spares.iter().map(|spare| Target { node: spare.node.0, link: spare.address.link.0 }));
        Routes::compute(&forwards, &edges, &targets)
    }

    /// Builds a NAT. The routes of the node that lead over the
    /// outside link are removed from `routes` and given to the NAT.
    fn nat(&self, node: NodeId, spec: &NatSpec, hosts: &[Option<Host>], routes: &mut Routes) -> Nat {
        let link = &self.links[spec.outside.index()];
        let outward = if link.a == node { spec.outside.forward() } else { spec.outside.backward() };
        let interface = hosts[node.index()].map_or(0, |own| own.first);
        Nat::new(spec.timeout, outward.0, interface as u32, routes.take(node.0, spec.outside.0))
    }

    fn channel(
        &self,
        streams: &Streams,
        spec: &ChannelSpec,
        to: NodeId,
        name: &str,
        changes: bool,
    ) -> Channel {
        let small = |bytes: units::ByteCount| u32::try_from(bytes.get()).unwrap_or(u32::MAX);
        let framing = small(spec.framing);
        let mut queue = spec.queue.build(&Site { rate: spec.mean_rate(), streams, name });
        if let Some(policer) = spec.policer {
            queue = queue.behind_policer(policer, framing);
        }
        if changes {
            queue = queue.waiting();
        }
        let mut transmitter = Transmitter::new(&spec.transmitter, framing, streams, name);
        if let Some(shaper) = spec.shaper {
            transmitter = transmitter.shaped(shaper);
        }
        let host = match self.nodes[to.index()].1 {
            NodeKind::Host { jitter } if !jitter.is_zero() => Some(HostJitter {
                most: jitter,
                random: streams.stream(&format!("host behind {name}")),
                last_arrival: Instant::ZERO,
            }),
            _ => None,
        };
        let (delay, varying) = spec.delay.build(streams, name);
        let lateness = match (varying, host) {
            (Some(segments), host) => {
                Lateness::Delay(Box::new(ChangingDelay { segments, last_arrival: Instant::ZERO, host }))
            }
            (None, Some(host)) => Lateness::Host(host),
            (None, None) => Lateness::None,
        };
        // A link that can change always gets a [`Wire`], which keeps
        // the packets in order when the delay becomes shorter.
        let wire = (changes || !spec.impairments.is_perfect())
            .then(|| Box::new(Wire::new(spec.impairments, streams.stream(&format!("wire {name}")))));
        Channel::new(Parts {
            transmitter,
            delay,
            framing,
            mtu: small(spec.mtu),
            queue,
            to: to.0,
            to_host: self.is_host(to),
            lateness,
            wire,
        })
    }
}

/// The next automatic address pair of a network.
fn next_address(
    link: LinkId,
    net_id: u8,
    used: &mut BTreeMap<u8, u16>,
) -> Result<InterfaceAddress, ConfigError> {
    let number = used.entry(net_id).or_insert(0);
    if *number == u16::MAX - 1 {
        return Err(ConfigError::TooManyInterfaces(net_id));
    }
    *number += 1;
    let (ipv4, ipv6) = address::automatic(net_id, *number);
    Ok(InterfaceAddress { link, net_id, ipv4, ipv6 })
}
