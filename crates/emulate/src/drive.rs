//! Runs the engine on the wall clock until the caller ends it.

use crate::engine::{Doors, Emulator};
use crate::error::EmulateError;
use crate::log::Log;
use crate::outcome::Outcome;
use lab::output::{RunControl, RunOutput};
use lab::scenario::Scenario;
use std::time::{Duration, Instant as Clock, SystemTime};
use units::{Instant, Span};

/// Limits and options of an emulation.
#[derive(Clone, Debug, Default)]
pub struct Control {
    /// Duration of the emulation; `None`: it runs until [`RunControl::cancel`] is set.
    pub time: Option<Duration>,
    /// Polls in the last microseconds before an event instead of sleeping: less lateness, more CPU time.
    pub spin: bool,
    /// The flag that ends the emulation, and the folder of captures.
    pub run: RunControl,
}

/// Time before an event that is spent polling, with [`Control::spin`].
const SPIN: Span = Span::from_micros(60);

/// The time since the emulation began.
pub(crate) fn since(began: Clock) -> Instant {
    Instant::ZERO + Span::from_nanos(began.elapsed().as_nanos() as u64)
}

/// Emulates until `control` ends the emulation. `began` is its start time.
///
/// # Errors
/// [`EmulateError`] if the emulation cannot go on, or a capture cannot be written.
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
    let mut log = Log::default();
    while !control.run.is_cancelled() && clock() < end {
        let next = emulator.turn(&clock, &mut doors);
        log.look(clock(), || emulator.counts());
        let mut due = next.map_or(end, |next| next.min(end));
        if control.spin {
            due = Instant::ZERO + due.since(Instant::ZERO + SPIN);
        }
        emulator.wait(Some(due), &clock, &mut doors).map_err(EmulateError::Wait)?;
    }
    let outcome = Outcome { begun: Some(begun.as_micros() as u64), ..emulator.outcome(clock()) };
    Ok((outcome, emulator.finish(scenario, &control.run)?))
}

/// An error of a host; `node` is the index of the host in the scenario.
pub(crate) fn problem(scenario: &Scenario, node: usize, problem: String) -> EmulateError {
    EmulateError::Host { host: scenario.nodes[node].name.clone(), problem }
}

/// Number by which the network knows a node of the scenario.
pub(crate) fn node_of(
    scenario: &Scenario,
    network: &net::Network,
    node: usize,
) -> Result<net::NodeId, EmulateError> {
    let found = network.node(&scenario.nodes[node].name);
    found.ok_or_else(|| problem(scenario, node, "is no node of the network".to_owned()))
}
