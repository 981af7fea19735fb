//! The rate at which a path delivers bytes.

use crate::path::Path;
use transport::RoundRates;
use units::{Instant, Span};

/// Number of round trips over which the highest rate is taken.
const ROUNDS: usize = 4;

/// Measures in each round trip the rate at which bytes leave a path: they are acknowledged or lost. The
/// flight size divided by SRTT would be too high while a queue grows, since SACKs show the queue later. Round
/// trips in which no bytes left the path do not count.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Delivered(RoundRates<ROUNDS>);

impl Delivered {
    /// Measures the path at `now`, from its bytes sent and its flight size.
    pub(super) fn update(&mut self, now: Instant, path: &Path, srtt: Span) {
        let gone = (path.stats.user_bytes - path.flight).get();
        let rate = self.0.update(now, gone, srtt).filter(|&rate| rate > 0.0);
        rate.into_iter().for_each(|rate| self.0.keep(rate));
    }

    /// Stops measuring while the path does not answer. The rates measured before are kept.
    pub(super) fn paused(mut self) -> Self {
        self.0.pause();
        self
    }

    /// The highest rate of the last round trips in bytes per second; `None` before the first round trip.
    pub(super) fn most(&self) -> Option<f64> {
        self.0.most()
    }
}
