#![allow(
    clippy::disallowed_types,
    reason = "how long a run takes on this machine is reported, never simulated"
)]

use std::time::Instant;
use units::Span;

/// Measures wall time since its start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stopwatch(Instant);

impl Stopwatch {
    pub fn start() -> Self {
        Stopwatch(Instant::now())
    }

    pub fn elapsed(&self) -> Span {
        Span::from_secs_f64(self.0.elapsed().as_secs_f64())
    }
}
