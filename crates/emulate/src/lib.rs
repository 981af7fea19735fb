//! The network of a scenario on the wall clock, between real programs: their packets cross its links, queues
//! and impairments.
//!
//! [`Emulator`] is the engine, to which the caller gives the time and the [`Doors`] of the network.
//! [`InProcess`] has doors for the threads of a program; on Linux, [`run`] has doors of UDP sockets and of
//! TUN devices.
#![forbid(unsafe_code)]
#![allow(clippy::disallowed_types, reason = "emulation works in real time")]

mod drive;
mod engine;
mod error;
mod in_process;
mod lateness;
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
