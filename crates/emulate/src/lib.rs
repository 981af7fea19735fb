//! Emulation of a scenario in real time: packets of real programs cross the links, queues and impairments of
//! the scenario.
//!
//! [`Emulator`] is the engine. The caller passes to it the time and the [`Doors`] of the network, where
//! packets of real hosts enter and leave. [`InProcess`] has doors for the threads of a program. On Linux,
//! [`run`] has doors of UDP sockets and of TUN devices.
#![forbid(unsafe_code)]
#![allow(clippy::disallowed_types, reason = "emulation works in real time")]

mod drive;
mod engine;
mod error;
mod in_process;
mod lateness;
mod log;
mod outcome;
#[cfg(target_os = "linux")]
mod real;

pub use drive::Control;
pub use engine::{Doors, Emulator, Entry};
pub use error::EmulateError;
pub use in_process::{Door, DoorPacket, Ended, InProcess};
pub use lateness::{LATEST, Lateness, allowed};
pub use outcome::{LinkCounts, Outcome};
#[cfg(target_os = "linux")]
pub use real::run;
