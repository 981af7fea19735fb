//! Delivery rates of a path in its last round trips.

use units::{Instant, Span};

/// Number of round trips over which the highest rate is taken.
const ROUNDS: usize = 4;

/// Time and byte count at the beginning of the present round trip; `None` before the first one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Round(Option<(Instant, u64)>);

impl Round {
    /// Returns the rate of the round trip that ends now, in bytes/s; `None` if it goes on.
    ///
    /// The path has carried `bytes` in total, and a round trip takes `srtt`. The rate is zero if `bytes`
    /// decreased, as when a loss turns out to be spurious.
    pub(super) fn update(&mut self, now: Instant, bytes: u64, srtt: Span) -> Option<f64> {
        let Some((began, before)) = self.0 else {
            self.0 = Some((now, bytes));
            return None;
        };
        let time = now.since(began);
        if time < srtt || time.is_zero() {
            return None;
        }
        self.0 = Some((now, bytes));
        Some(bytes.saturating_sub(before) as f64 / time.as_secs_f64())
    }

    /// Discards the present round trip.
    pub(super) fn pause(&mut self) {
        self.0 = None;
    }
}

/// The rates of the last round trips that count, in bytes/s, the latest first.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rates([f64; ROUNDS]);

impl Rates {
    /// Adds a rate in place of the oldest one.
    pub(super) fn keep(&mut self, rate: f64) {
        self.0.rotate_right(1);
        self.0[0] = rate;
    }

    /// The highest rate; `None` before the first rate above zero.
    pub(super) fn most(&self) -> Option<f64> {
        self.0.into_iter().reduce(f64::max).filter(|&rate| rate > 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rate after each pair of a time in ms and the total bytes by then. Round trips last 100 ms.
    fn rates(round: &mut Round, told: &[(u64, u64)]) -> Vec<Option<f64>> {
        let at = |ms| Instant::ZERO + Span::from_millis(ms);
        told.iter().map(|&(ms, bytes)| round.update(at(ms), bytes, Span::from_millis(100))).collect()
    }

    // By hand: 40 kB in 100 ms are 400 kB/s, 60 kB in 120 ms are 500 kB/s.
    #[test]
    fn a_round_trip_lasts_as_long_as_the_smoothed_one() {
        let mut round = Round::default();
        let told = [(0, 90_000), (50, 100_000), (100, 130_000), (199, 180_000), (220, 190_000)];
        assert_eq!(rates(&mut round, &told), [None, None, Some(400_000.0), None, Some(500_000.0)]);
    }

    #[test]
    fn a_pause_is_part_of_no_round_trip() {
        let mut round = Round::default();
        assert_eq!(rates(&mut round, &[(0, 0), (100, 40_000)]), [None, Some(400_000.0)]);
        round.pause();
        assert_eq!(rates(&mut round, &[(900, 40_000), (1000, 70_000)]), [None, Some(300_000.0)]);
    }

    #[test]
    fn the_best_of_those_kept_counts() {
        let mut rates = Rates::default();
        assert_eq!(rates.most(), None);
        for (rate, most) in [(5.0, 5.0), (4.0, 5.0), (3.0, 5.0), (2.0, 5.0), (1.0, 4.0)] {
            rates.keep(rate);
            assert_eq!(rates.most(), Some(most));
        }
    }
}
