//! Checks before a run that each flow has a route and that its packets fit the links of the route.

use super::dial;
use super::endpoints::Bindings;
use super::topology::{self, Built};
use crate::host::Side;
use crate::scenario::{self, Flow, Misfit, NewTrial, Scenario, ScenarioError, Sweep};
use des::Streams;

/// A network that is built to check flows on it.
struct Trial<'s> {
    scenario: &'s Scenario,
    built: Built,
    bindings: Bindings,
}

/// Parses a scenario file and checks that its flows can work on its network. `file` is its name in messages.
///
/// # Errors
/// All faults, with their positions.
pub fn parse(text: &str, file: &str) -> Result<Sweep, ScenarioError> {
    const NEW: NewTrial = |scenario| {
        let built = topology::build(scenario, &Streams::new(0, 0)).map_err(|error| error.to_string())?;
        Ok(Box::new(Trial { scenario, built, bindings: Bindings::default() }))
    };
    Sweep::parse(text, file, NEW)
}

impl scenario::Trial for Trial<'_> {
    fn flow(&mut self, flow: &Flow) -> Result<(), Misfit> {
        self.add(flow, &[Side::Client, Side::Server])
    }

    fn transfers(&mut self, flow: &Flow) -> Result<(), Misfit> {
        self.add(flow, &[Side::Server])
    }
}

impl Trial<'_> {
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
