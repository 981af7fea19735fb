//! An emulation between real programs on Linux.

mod namespace;
mod tun;
mod udp;

use crate::drive::{Control, drive, problem};
use crate::engine::Emulator;
use crate::error::EmulateError;
use crate::outcome::Outcome;
use lab::output::RunOutput;
use lab::scenario::{Attachment, Scenario};
use nix::errno::Errno;
use nix::poll::{PollFd, ppoll};
use nix::sys::time::TimeSpec;
use std::io;
use std::time::{Duration, Instant as Clock};
use tun::Devices;
use udp::Sockets;
use units::Span;

/// Emulates the network of a scenario until `control` ends the emulation. Once packets can pass, calls
/// `ready` with one line of text for each way into the network. Before the function returns, it removes the
/// devices and namespaces that it made.
///
/// # Errors
/// [`EmulateError`] if the emulation cannot begin or go on.
pub fn run(
    scenario: &Scenario,
    control: &Control,
    ready: impl FnOnce(&[String]),
) -> Result<(Outcome, RunOutput), EmulateError> {
    let emulator = Emulator::new(scenario, &control.run)?;
    let network = emulator.live().network();
    match &scenario.real[0] {
        lab::scenario::RealHost { attachment: Attachment::Udp { .. }, .. } => {
            let (sockets, ways) = Sockets::open(scenario, network)?;
            ready(&ways);
            drive(emulator, sockets, scenario, control, Clock::now())
        }
        lab::scenario::RealHost { attachment: Attachment::Tun { .. }, .. } => {
            let (devices, ways) = Devices::open(scenario, network)?;
            ready(&ways);
            drive(emulator, devices, scenario, control, Clock::now())
        }
        lab::scenario::RealHost { attachment: Attachment::InProcess, node } => {
            let message = "has `in_process`, so that a Rust program must emulate this network; expected `udp`, `tun` or `namespace`";
            Err(problem(scenario, *node, message.to_owned()))
        }
    }
}

/// Waits until a descriptor can be read, at most for `longest`.
fn wait(descriptors: &mut [PollFd<'_>], longest: Span) -> io::Result<()> {
    let timeout = TimeSpec::from(Duration::from_nanos(longest.as_nanos()));
    match ppoll(descriptors, Some(timeout), None) {
        Ok(_) | Err(Errno::EINTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
