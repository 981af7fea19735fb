//! The question whether flows can work on their network, which the simulator answers.

use crate::{Flow, Scenario};

/// The network of a scenario, built to find out whether flows fit it.
pub trait Trial {
    /// Adds a flow.
    ///
    /// # Errors
    /// [`Misfit`] says why it cannot work.
    fn flow(&mut self, flow: &Flow) -> Result<(), Misfit>;

    /// Adds the server of short transfers, each of which is like `flow`.
    ///
    /// # Errors
    /// [`Misfit`] says why they cannot work.
    fn transfers(&mut self, flow: &Flow) -> Result<(), Misfit>;
}

/// Builds the network of a scenario; the error says why that is impossible.
pub type NewTrial = for<'s> fn(&'s Scenario) -> Result<Box<dyn Trial + 's>, String>;

/// Why a flow cannot work on its network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// The key of the flow that does not fit.
    pub key: &'static str,
    /// What is wrong, and what was expected.
    pub message: String,
}
