//! What a path delivers.

use crate::path::Path;
use transport::RoundRates;
use units::{Instant, Span};

/// The best of the last so many round trips counts.
const ROUNDS: usize = 4;

/// Measures in each round trip how fast bytes leave a path, acknowledged or lost. The bytes in flight over
/// the smoothed round-trip time would be more than that while a queue grows that no acknowledgement has
/// told of. Round trips in which nothing left the path do not count.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Delivered(RoundRates<ROUNDS>);

impl Delivered {
    /// Takes what a path has in flight now.
    pub(super) fn update(&mut self, now: Instant, path: &Path, srtt: Span) {
        let gone = (path.stats.user_bytes - path.flight).get();
        let rate = self.0.update(now, gone, srtt).filter(|&rate| rate > 0.0);
        rate.into_iter().for_each(|rate| self.0.keep(rate));
    }

    /// The path does not answer. What it carried is remembered.
    pub(super) fn paused(mut self) -> Self {
        self.0.pause();
        self
    }

    /// The highest rate of the last round trips in bytes a second; none before the first one.
    pub(super) fn most(&self) -> Option<f64> {
        self.0.most()
    }
}
