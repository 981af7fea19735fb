//! The machinery of a discrete-event simulation: an event [`Kernel`], an [`Alarm`] for components that need one
//! wake-up at a time, named random [`Streams`] and the [`Digest`] that proves two runs equal.
//!
//! It knows no packet, and nothing here reads a clock, a global or the machine it runs on: the same seed gives the
//! same run everywhere.
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
