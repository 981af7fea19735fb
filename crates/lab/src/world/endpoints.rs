//! Which endpoints a scenario needs: one for each port in use at a host, shared by all flows there.

use crate::host::{EndpointId, Hosts};
use crate::output::RunError;
use des::Streams;
use net::{Network, NodeId};
use sctp::{Config, Endpoint, EndpointConfig};
use std::collections::BTreeMap;
use std::net::IpAddr;
use wire::Checksum;

/// The endpoints claimed so far.
#[derive(Default)]
pub(super) struct Bindings {
    list: Vec<Binding>,
    by_port: BTreeMap<(NodeId, u16), usize>,
    /// For each claim the place of its endpoint.
    claims: Vec<usize>,
}

struct Binding {
    flow: String,
    node: NodeId,
    port: u16,
    addresses: Vec<IpAddr>,
    config: Config,
    /// Messages that a sender there may keep waiting.
    queue: Option<u32>,
    associations: usize,
}

/// What one end of a flow needs.
pub(super) struct Claim<'a> {
    pub(super) flow: &'a str,
    pub(super) node: NodeId,
    pub(super) port: u16,
    pub(super) addresses: Vec<IpAddr>,
    pub(super) config: &'a Config,
    /// Messages the sender there may keep waiting; none if this end does not send.
    pub(super) queue: Option<u32>,
}

impl Bindings {
    /// Takes part in the endpoint of a port, which must suit all who do.
    pub(super) fn claim(&mut self, claim: Claim<'_>) -> Result<(), RunError> {
        let Claim { flow, node, port, addresses, config, queue } = claim;
        let next = self.list.len();
        let place = *self.by_port.entry((node, port)).or_insert(next);
        self.claims.push(place);
        let Some(binding) = self.list.get_mut(place) else {
            let (flow, config) = (flow.to_owned(), config.clone());
            self.list.push(Binding { flow, node, port, addresses, config, queue, associations: 1 });
            return Ok(());
        };
        let differs = if binding.addresses != addresses {
            "addresses"
        } else if binding.config != *config {
            "SCTP options"
        } else if binding.queue.is_some() && queue.is_some() && binding.queue != queue {
            "queue sizes"
        } else {
            binding.queue = binding.queue.or(queue);
            binding.associations += 1;
            return Ok(());
        };
        Err(RunError::Failed(format!(
            "flows `{}` and `{flow}` share port {port} of a host with different {differs}: give one another port",
            binding.flow
        )))
    }

    /// Makes the endpoints. Returns the one of each claim, in the order of the claims.
    pub(super) fn create(
        self,
        streams: &Streams,
        checksum: Checksum,
        network: &Network,
        hosts: &mut Hosts,
    ) -> Result<Vec<EndpointId>, RunError> {
        let mut ids = Vec::with_capacity(self.list.len());
        for binding in self.list {
            let name = format!("endpoint {} {}", network.name(binding.node), binding.port);
            let mut config = binding.config;
            config.send_queue = match (config.send_queue, binding.queue) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
            let endpoint = Endpoint::new(EndpointConfig {
                port: binding.port,
                addresses: binding.addresses,
                seed: streams.stream(&name).word().into(),
                checksum,
                max_associations: binding.associations,
                config,
            });
            let endpoint =
                endpoint.map_err(|error| RunError::Failed(format!("flow `{}`: {error}", binding.flow)))?;
            ids.push(hosts.add(binding.node, binding.port, endpoint));
        }
        Ok(self.claims.into_iter().map(|place| ids[place]).collect())
    }
}
