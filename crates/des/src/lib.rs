//! Discrete-event simulation: event kernel, alarms, named random streams and digests.
//!
//! A [`Kernel`] runs events in order, an [`Alarm`] is the single wake-up of a component, [`Streams`]
//! give each component its own random numbers, and equal [`Digest`]s show that two runs are equal. The
//! crate reads no clock, global or property of the machine: the same seed gives the same run everywhere.
#![forbid(unsafe_code)]

mod alarm;
mod digest;
mod heap;
mod kernel;
mod near;
mod random;
mod streams;

pub use alarm::{Alarm, Wake};
pub use digest::Digest;
pub use kernel::Kernel;
pub use random::Random;
pub use streams::Streams;
