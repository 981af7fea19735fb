//! The interface through which the simulator checks that flows work on their network.

use crate::{Flow, Scenario};

/// The network of a scenario, built to check flows on it.
pub trait Trial {
    /// Checks a flow, and adds it to those against which later flows are checked.
    ///
    /// # Errors
    /// [`Misfit`] says why it cannot work.
    fn flow(&mut self, flow: &Flow) -> Result<(), Misfit>;

    /// Checks short transfers with the template `flow` and adds their server.
    ///
    /// # Errors
    /// [`Misfit`] says why they cannot work.
    fn transfers(&mut self, flow: &Flow) -> Result<(), Misfit>;
}

/// Builds the network of a scenario. The error says why that is impossible.
pub type NewTrial = for<'s> fn(&'s Scenario) -> Result<Box<dyn Trial + 's>, String>;

/// The reason why a flow cannot work on its network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// The key of the flow whose value is wrong.
    pub key: &'static str,
    /// What is wrong and what was expected.
    pub message: String,
}
