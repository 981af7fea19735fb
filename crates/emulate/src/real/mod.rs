//! An emulation between real programs on Linux.

mod namespace;
mod tun;
mod udp;

use crate::engine::{Doors, Emulator, Entry};
use crate::error::EmulateError;
use crate::outcome::Outcome;
use lab::output::{RunControl, RunOutput};
use lab::scenario::{Attachment, Scenario};
use net::{NodeId, Packet};
use nix::errno::Errno;
use nix::poll::{PollFd, ppoll};
use nix::sys::time::TimeSpec;
use std::io;
use std::time::{Duration, Instant as Clock, SystemTime};
use tun::Devices;
use udp::Sockets;
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

/// Emulates the network of a scenario until `control` ends it. Once packets can pass, `ready` gets a line for each way into the
/// network. Whatever was made for real hosts is removed when it returns.
///
/// # Errors
/// [`EmulateError`] if it cannot begin or go on.
pub fn run(
    scenario: &Scenario,
    control: &Control,
    ready: impl FnOnce(&[String]),
) -> Result<(Outcome, RunOutput), EmulateError> {
    let emulator = Emulator::new(scenario, &control.run)?;
    let uses_udp = |host: &lab::scenario::RealHost| matches!(host.attachment, Attachment::Udp { .. });
    if scenario.real.iter().any(uses_udp) {
        let (sockets, ways) = Sockets::open(scenario, emulator.live().network())?;
        ready(&ways);
        drive(emulator, sockets, scenario, control)
    } else {
        let (devices, ways) = Devices::open(scenario, emulator.live().network())?;
        ready(&ways);
        drive(emulator, devices, scenario, control)
    }
}

fn drive(
    mut emulator: Emulator,
    mut doors: impl Doors,
    scenario: &Scenario,
    control: &Control,
) -> Result<(Outcome, RunOutput), EmulateError> {
    let began = Clock::now();
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let clock = || Instant::ZERO + Span::from_nanos(began.elapsed().as_nanos() as u64);
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
    let outcome = Outcome { begun: Some(since.as_micros() as u64), ..emulator.outcome(clock()) };
    Ok((outcome, emulator.finish(scenario, &control.run)?))
}

/// Waits until one of the descriptors can be read, for so long at most.
fn wait(descriptors: &mut [PollFd<'_>], longest: Span) -> io::Result<()> {
    let timeout = TimeSpec::from(Duration::from_nanos(longest.as_nanos()));
    match ppoll(descriptors, Some(timeout), None) {
        Ok(_) | Err(Errno::EINTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// An error of a host, by its index in the scenario.
fn problem(scenario: &Scenario, node: usize, problem: String) -> EmulateError {
    EmulateError::Host { host: scenario.nodes[node].name.clone(), problem }
}

/// The node of a scenario in the network.
fn node_of(scenario: &Scenario, network: &net::Network, node: usize) -> Result<NodeId, EmulateError> {
    let found = network.node(&scenario.nodes[node].name);
    found.ok_or_else(|| problem(scenario, node, "is no node of the network".to_owned()))
}
