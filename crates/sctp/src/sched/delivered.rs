//! What a path delivers.

use crate::path::Path;
use units::{Instant, Span};

/// The best of the last so many round trips counts.
const ROUNDS: usize = 4;

/// Measures in each round trip how fast bytes leave a path, acknowledged or lost. The bytes in flight over the smoothed round-trip
/// time would be more than that while a queue grows that no acknowledgement has told of.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Delivered {
    /// When the round trip began, and the bytes that had left the path until then; none before the first one.
    began: Option<(Instant, u64)>,
    /// Rates of the last round trips in which something left the path, in bytes a second.
    rates: [f64; ROUNDS],
}

impl Delivered {
    /// Takes what a path has in flight now.
    pub(super) fn update(&mut self, now: Instant, path: &Path, srtt: Span) {
        let gone = (path.stats.user_bytes - path.flight).get();
        let Some((began, before)) = self.began else {
            self.began = Some((now, gone));
            return;
        };
        let time = now.since(began);
        if time < srtt || time.is_zero() {
            return;
        }
        self.began = Some((now, gone));
        if gone > before {
            self.rates.rotate_right(1);
            self.rates[0] = (gone - before) as f64 / time.as_secs_f64();
        }
    }

    /// The path does not answer. What it carried is remembered.
    pub(super) fn paused(self) -> Self {
        Delivered { began: None, ..self }
    }

    /// The highest rate of the last round trips in bytes a second; none before the first one.
    pub(super) fn most(&self) -> Option<f64> {
        self.rates.into_iter().reduce(f64::max).filter(|&rate| rate > 0.0)
    }
}
