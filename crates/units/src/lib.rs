//! Types for time, bytes, rates and probabilities, used in place of bare numbers.
//!
//! Time is an integer number of nanoseconds, so that a simulation gives the same result on every machine.
#![forbid(unsafe_code)]

mod bytes;
mod probability;
mod rate;
mod time;

pub use bytes::ByteCount;
pub use probability::{NotAProbability, Probability};
pub use rate::{BitRate, Pace};
pub use time::{Instant, Span};
