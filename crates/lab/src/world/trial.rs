//! Checks before a run that each flow has a route and that its packets fit the links of the route.

use super::dial::{self, Misfit};
use super::endpoints::Bindings;
use super::topology::{self, Built};
use crate::app::Side;
use crate::scenario::{Flow, Scenario};
use des::Streams;

/// A network that is built to look whether flows fit it.
pub(crate) struct Trial<'s> {
    scenario: &'s Scenario,
    built: Built,
    bindings: Bindings,
}

impl<'s> Trial<'s> {
    /// Builds the network of a scenario; the error says why that cannot be.
    pub(crate) fn new(scenario: &'s Scenario) -> Result<Self, String> {
        let built = topology::build(scenario, &Streams::new(0, 0)).map_err(|error| error.to_string())?;
        Ok(Trial { scenario, built, bindings: Bindings::default() })
    }

    /// Adds a flow; the error says why it cannot work here.
    pub(crate) fn flow(&mut self, flow: &Flow) -> Result<(), Misfit> {
        self.add(flow, &[Side::Client, Side::Server])
    }

    /// Adds what serves short transfers, whose clients come and go.
    pub(crate) fn transfers(&mut self, like: &Flow) -> Result<(), Misfit> {
        self.add(like, &[Side::Server])
    }

    fn add(&mut self, flow: &Flow, sides: &[Side]) -> Result<(), Misfit> {
        let Built { network, nodes, .. } = &self.built;
        let (dial, theirs) = dial::find(flow, self.scenario, network, nodes)?;
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
}
