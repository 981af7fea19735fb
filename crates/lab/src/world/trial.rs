//! Checks before a run that each flow has a route and that its packets fit the links of the route.

use super::dial;
use super::endpoints::Bindings;
use super::topology::{self, Built};
use crate::app::Dial;
use crate::host::Side;
use crate::scenario::{self, Flow, Misfit, NewTrial, ProbeQuantity, Scenario, ScenarioError, Sweep};
use des::Streams;
use std::collections::BTreeSet;
use std::net::IpAddr;

/// A network to check flows on.
struct Trial<'s> {
    scenario: &'s Scenario,
    built: Built,
    bindings: Bindings,
    /// The server and port of each flow through a NAT, and its client's address and port as the server sees
    /// them.
    translated: BTreeSet<(usize, u16, IpAddr, u16)>,
}

/// Parses a scenario file and checks that its flows can work on its network. `file`: its path, for messages
/// and as the base of relative paths of traces.
///
/// # Errors
/// All errors, with their positions.
pub fn parse(text: &str, file: &str) -> Result<Sweep, ScenarioError> {
    const NEW: NewTrial = |scenario| {
        let built = topology::build(scenario, &Streams::new(0, 0)).map_err(|error| error.to_string())?;
        Ok(Box::new(Trial { scenario, built, bindings: Bindings::default(), translated: BTreeSet::new() }))
    };
    Sweep::parse(text, file, NEW)
}

impl scenario::Trial for Trial<'_> {
    fn flow(&mut self, flow: &Flow) -> Result<(), Misfit> {
        self.add(flow, &[Side::Client, Side::Server])
    }

    fn transfers(&mut self, flow: &Flow) -> Result<(), Misfit> {
        self.add(flow, &[Side::Server]).map_err(|misfit| match misfit.key {
            "udp_encapsulation" => {
                let message =
                    "short transfers cannot pass a NAT; expected a [[flow]] with udp_encapsulation = true";
                Misfit { message: message.to_owned(), ..misfit }
            }
            _ => misfit,
        })
    }
}

impl Trial<'_> {
    fn add(&mut self, flow: &Flow, sides: &[Side]) -> Result<(), Misfit> {
        let Built { network, nodes, .. } = &self.built;
        let (dial, theirs) = dial::find(flow, self.scenario, network, nodes)?;
        self.can_be_told_apart(flow, &dial)?;
        for &side in sides {
            let (key, port, addresses) = match side {
                Side::Client => ("local_port", dial.local_port, dial.locals.clone()),
                Side::Server => ("remote_port", dial.port, theirs.clone()),
            };
            let claimed = self.bindings.claim(dial::claim(flow, side, &dial, port, addresses, 1));
            claimed.map_err(|error| Misfit { key, message: error.to_string() })?;
        }
        Ok(())
    }

    /// Checks that the server can identify the flow by the address and SCTP port of its client, which flows
    /// behind NATs may share. Also checks that no probe counts bursts of a flow in UDP: probes read the ports
    /// at the start of a packet, and these are UDP ports.
    fn can_be_told_apart(&mut self, flow: &Flow, dial: &Dial) -> Result<(), Misfit> {
        let bursts = || self.scenario.probes.iter().any(|probe| probe.quantity == ProbeQuantity::Bursts);
        if flow.udp_encapsulation && bursts() {
            let message = "bursts are counted by SCTP ports, which stand behind those of UDP; expected no probe of bursts";
            return Err(Misfit { key: "udp_encapsulation", message: message.to_owned() });
        }
        if dial.callers == dial.locals {
            return Ok(());
        }
        for &caller in &dial.callers {
            if !self.translated.insert((flow.server, dial.port, caller, dial.local_port)) {
                let message = format!(
                    "another flow comes to the server from {caller} and SCTP port {}, too, as both pass a NAT; \
                     expected another `local_port`",
                    dial.local_port
                );
                return Err(Misfit { key: "local_port", message });
            }
        }
        Ok(())
    }
}
