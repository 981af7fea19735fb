//! The quantities everything else is measured in: no bare integer stands for time, bytes or rate.
//!
//! Time is integer nanoseconds, so that a simulation gives the same result on every machine.
#![forbid(unsafe_code)]

mod bytes;
mod probability;
mod rate;
mod time;

pub use bytes::ByteCount;
pub use probability::{NotAProbability, Probability};
pub use rate::{BitRate, Pace};
pub use time::{Instant, Span};
