//! The endpoints of a scenario: one for each port in use at a host, shared by all flows at this port.

use crate::host::{Endpoint, EndpointId, Hosts, encapsulation, udp};
use crate::output::RunError;
use des::Streams;
use net::{Network, NodeId, Protocol};
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::Arc;
use transport::Checksum;

/// The endpoints that the ends of flows have asked for by [`Self::claim`].
#[derive(Default)]
pub(super) struct Bindings {
    list: Vec<Binding>,
    by_port: BTreeMap<(NodeId, u8, u16), usize>,
    /// The hosts that receive SCTP in UDP.
    encapsulating: BTreeSet<NodeId>,
    /// For each call of [`Self::claim`], the index of its endpoint in `list`.
    claims: Vec<usize>,
}

struct Binding {
    flow: String,
    node: NodeId,
    port: u16,
    addresses: Vec<IpAddr>,
    options: Options,
    connections: usize,
}

/// The requirements of one end of a flow for its endpoint.
pub(super) struct Claim<'a> {
    pub(super) flow: &'a str,
    pub(super) node: NodeId,
    pub(super) port: u16,
    pub(super) addresses: Vec<IpAddr>,
    pub(super) options: Options,
    /// Number of simultaneous connections.
    pub(super) connections: usize,
}

/// The protocol and the options of an endpoint.
pub(super) enum Options {
    Sctp {
        config: Box<sctp::Config>,
        /// Largest number of queued messages at this end; `None` if it does not send.
        queue: Option<u32>,
        /// True if packets are encapsulated in UDP.
        encapsulated: bool,
    },
    Tcp(Box<tcp::Config>),
    Udp,
}

impl Options {
    fn protocol(&self) -> Protocol {
        match self {
            Options::Sctp { .. } => Protocol::Sctp,
            Options::Tcp(_) => Protocol::Tcp,
            Options::Udp => Protocol::Udp,
        }
    }

    /// Adds the requirements of another flow at the same endpoint.
    ///
    /// # Errors
    /// If the options differ.
    fn join(&mut self, other: &Options) -> Result<(), &'static str> {
        match (self, other) {
            (
                Options::Sctp { config, queue, encapsulated },
                Options::Sctp { config: config2, queue: queue2, encapsulated: encapsulated2 },
            ) => {
                if config != config2 {
                    return Err("SCTP options");
                }
                if encapsulated != encapsulated2 {
                    return Err("udp_encapsulation");
                }
                if queue.is_some() && queue2.is_some() && queue != queue2 {
                    return Err("queue sizes");
                }
                *queue = queue.or(*queue2);
            }
            (Options::Tcp(config), Options::Tcp(other)) if config != other => return Err("TCP options"),
            _ => {}
        }
        Ok(())
    }
}

impl Bindings {
    /// Registers the endpoint that one end of a flow needs at a port. Several flows may share it if their
    /// options are equal.
    pub(super) fn claim(&mut self, claim: Claim<'_>) -> Result<(), RunError> {
        let Claim { flow, node, port, addresses, options, connections } = claim;
        self.keep_udp_port(flow, node, &options, port)?;
        let next = self.list.len();
        let place = *self.by_port.entry((node, options.protocol() as u8, port)).or_insert(next);
        self.claims.push(place);
        let Some(binding) = self.list.get_mut(place) else {
            let flow = flow.to_owned();
            self.list.push(Binding { flow, node, port, addresses, options, connections });
            return Ok(());
        };
        let joined =
            if binding.addresses == addresses { binding.options.join(&options) } else { Err("addresses") };
        binding.connections += connections;
        joined.map_err(|differs| {
            RunError::Failed(format!(
                "flows `{}` and `{flow}` share port {port} of a host with different {differs}: \
                 give one another port",
                binding.flow
            ))
        })
    }

    /// Checks that a UDP flow does not use the port at which its host receives SCTP in UDP.
    fn keep_udp_port(
        &mut self,
        flow: &str,
        node: NodeId,
        options: &Options,
        port: u16,
    ) -> Result<(), RunError> {
        let udp = (node, Protocol::Udp as u8, encapsulation::PORT);
        let taken = match options {
            Options::Sctp { encapsulated: true, .. } => {
                self.encapsulating.insert(node);
                self.by_port.contains_key(&udp)
            }
            Options::Udp => port == encapsulation::PORT && self.encapsulating.contains(&node),
            _ => false,
        };
        if taken {
            return Err(RunError::Failed(format!(
                "flow `{flow}`: UDP port {} of a host is that of SCTP in UDP: give flows of UDP another port",
                encapsulation::PORT
            )));
        }
        Ok(())
    }

    /// Creates the endpoints. Returns, for each call of [`Self::claim`] in order, the endpoint that it asked
    /// for.
    pub(super) fn create(
        self,
        streams: &Streams,
        checksum: Checksum,
        network: &Network,
        hosts: &mut Hosts,
    ) -> Result<Vec<EndpointId>, RunError> {
        let mut ids = Vec::with_capacity(self.list.len());
        let mut configs = Vec::new();
        for binding in self.list {
            let (node, port) = (binding.node, binding.port);
            let endpoint = binding.endpoint(streams, checksum, network, &mut configs)?;
            ids.push(hosts.add(node, port, endpoint));
        }
        Ok(self.claims.into_iter().map(|place| ids[place]).collect())
    }
}

impl Claim<'_> {
    /// Creates an endpoint that no other flow shares.
    pub(super) fn create(
        self,
        streams: &Streams,
        checksum: Checksum,
        network: &Network,
    ) -> Result<Endpoint, RunError> {
        let Claim { flow, node, port, addresses, options, connections } = self;
        let flow = flow.to_owned();
        Binding { flow, node, port, addresses, options, connections }.endpoint(
            streams,
            checksum,
            network,
            &mut Vec::new(),
        )
    }
}

/// Returns an equal configuration of another endpoint, if there is one, so that both share its memory.
fn shared(config: sctp::Config, configs: &mut Vec<Arc<sctp::Config>>) -> Arc<sctp::Config> {
    if let Some(same) = configs.iter().find(|other| ***other == config) {
        return same.clone();
    }
    let config = Arc::new(config);
    configs.push(config.clone());
    config
}

impl Binding {
    /// Creates the endpoint, with an equal configuration of `configs` if there is one.
    fn endpoint(
        self,
        streams: &Streams,
        checksum: Checksum,
        network: &Network,
        configs: &mut Vec<Arc<sctp::Config>>,
    ) -> Result<Endpoint, RunError> {
        let Binding { flow, node, port, addresses, options, connections } = self;
        let stream = |protocol: &str| {
            streams.stream(&format!("{protocol}endpoint {} {port}", network.name(node))).word()
        };
        let wrong = |error: &dyn std::fmt::Display| RunError::Failed(format!("flow `{flow}`: {error}"));
        match options {
            Options::Sctp { mut config, queue, encapsulated } => {
                config.send_queue = match (config.send_queue, queue) {
                    (Some(a), Some(b)) => Some(a.min(b)),
                    (a, b) => a.or(b),
                };
                let endpoint = sctp::Endpoint::new(sctp::EndpointConfig {
                    port,
                    addresses,
                    seed: sctp::Seed::for_simulation(stream("")),
                    checksum,
                    max_associations: connections,
                    encapsulation: encapsulated.then(sctp::Encapsulation::default),
                    config: shared(*config, configs),
                });
                endpoint.map(Endpoint::Sctp).map_err(|error| wrong(&error))
            }
            Options::Tcp(config) => {
                let endpoint = tcp::Endpoint::new(tcp::EndpointConfig {
                    port,
                    addresses,
                    seed: stream("TCP "),
                    checksum,
                    max_connections: connections,
                    config: *config,
                });
                endpoint.map(Endpoint::Tcp).map_err(|error| wrong(&error))
            }
            Options::Udp => Ok(Endpoint::Udp(udp::Endpoint::new(port, addresses, checksum))),
        }
    }
}
