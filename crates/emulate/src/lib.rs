//! The network of a scenario on the wall clock, between real programs: their packets cross its links, queues and impairments.
//!
//! [`Emulator`] is the engine, to which the caller gives the time and the [`Doors`] of the network. On Linux, [`run`] has doors
//! of UDP sockets and of TUN devices.
#![forbid(unsafe_code)]
#![allow(clippy::disallowed_types, reason = "emulation works in real time")]

mod engine;
mod error;
mod lateness;
mod outcome;
#[cfg(target_os = "linux")]
mod real;

pub use engine::{Doors, Emulator, Entry};
pub use error::EmulateError;
pub use lateness::{LATEST, Lateness, allowed};
pub use outcome::{LinkCounts, Outcome};
#[cfg(target_os = "linux")]
pub use real::{Control, run};
