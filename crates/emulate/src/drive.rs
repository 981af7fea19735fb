//! Runs the engine on the wall clock until the caller ends it.

use crate::engine::{Doors, Emulator};
use crate::error::EmulateError;
use crate::outcome::Outcome;
use lab::output::{RunControl, RunOutput};
use lab::scenario::Scenario;
use std::time::{Duration, Instant as Clock, SystemTime};
use units::{Instant, Span};

/// Controls an emulation from outside.
#[derive(Clone, Debug, Default)]
pub struct Control {
    /// When it ends by itself; none: when [`RunControl::cancel`] is set.
    pub time: Option<Duration>,
    /// Poll without sleeping in the last microseconds before an event, for less lateness and more CPU time.
    pub spin: bool,
    /// The flag that ends it, and the folder of captures.
    pub run: RunControl,
}

/// Time before an event that is spent polling, with [`Control::spin`].
const SPIN: Span = Span::from_micros(60);

/// The time since the emulation began.
pub(crate) fn since(began: Clock) -> Instant {
    Instant::ZERO + Span::from_nanos(began.elapsed().as_nanos() as u64)
}

/// Emulates from `began` on until `control` ends it.
///
/// # Errors
/// [`EmulateError`] if it cannot go on, or a capture cannot be written.
pub(crate) fn drive(
    mut emulator: Emulator,
    mut doors: impl Doors,
    scenario: &Scenario,
    control: &Control,
    began: Clock,
) -> Result<(Outcome, RunOutput), EmulateError> {
    let begun = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let begun = begun.saturating_sub(began.elapsed());
    let clock = || since(began);
    let end =
        control.time.map_or(Instant::FAR, |time| Instant::ZERO + Span::from_nanos(time.as_nanos() as u64));
    while !control.run.is_cancelled() && clock() < end {
        let next = emulator.turn(&clock, &mut doors);
        let mut due = next.map_or(end, |next| next.min(end));
        if control.spin {
            due = Instant::ZERO + due.since(Instant::ZERO + SPIN);
        }
        emulator.wait(Some(due), &clock, &mut doors).map_err(EmulateError::Wait)?;
    }
    let outcome = Outcome { begun: Some(begun.as_micros() as u64), ..emulator.outcome(clock()) };
    Ok((outcome, emulator.finish(scenario, &control.run)?))
}

/// An error of a host, by its index in the scenario.
pub(crate) fn problem(scenario: &Scenario, node: usize, problem: String) -> EmulateError {
    EmulateError::Host { host: scenario.nodes[node].name.clone(), problem }
}

/// The node of a scenario in the network.
pub(crate) fn node_of(
    scenario: &Scenario,
    network: &net::Network,
    node: usize,
) -> Result<net::NodeId, EmulateError> {
    let found = network.node(&scenario.nodes[node].name);
    found.ok_or_else(|| problem(scenario, node, "is no node of the network".to_owned()))
}
