//! Delivery rates of a path in its last round trips.

use units::{Instant, Span};

/// The delivery rates of the last `N` round trips that the caller [kept](Self::keep), in bytes/s.
#[derive(Clone, Copy, Debug)]
pub struct RoundRates<const N: usize> {
    /// Time and byte count at the beginning of the present round trip; `None` before the first one.
    began: Option<(Instant, u64)>,
    /// Rates, the latest first.
    rates: [f64; N],
}

impl<const N: usize> Default for RoundRates<N> {
    fn default() -> Self {
        RoundRates { began: None, rates: [0.0; N] }
    }
}

impl<const N: usize> RoundRates<N> {
    /// Returns the rate of the round trip that ends now; `None` if it goes on.
    ///
    /// The path has carried `bytes` in total, and a round trip takes `srtt`. The rate counts only after
    /// [`keep`](Self::keep). It is zero if `bytes` decreased, as when a loss turns out to be spurious.
    pub fn update(&mut self, now: Instant, bytes: u64, srtt: Span) -> Option<f64> {
        let Some((began, before)) = self.began else {
            self.began = Some((now, bytes));
            return None;
        };
        let time = now.since(began);
        if time < srtt || time.is_zero() {
            return None;
        }
        self.began = Some((now, bytes));
        Some(bytes.saturating_sub(before) as f64 / time.as_secs_f64())
    }

    /// Adds the rate of a round trip in place of the oldest of `N`.
    pub fn keep(&mut self, rate: f64) {
        self.rates.rotate_right(1);
        self.rates[0] = rate;
    }

    /// Discards the present round trip. Earlier rates stay.
    pub fn pause(&mut self) {
        self.began = None;
    }

    /// The highest rate; `None` before the first rate above zero.
    pub fn most(&self) -> Option<f64> {
        self.rates.into_iter().reduce(f64::max).filter(|&rate| rate > 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls `update` for each element of `told`, a time in ms and the bytes carried
    /// in total until then, and returns the results. Round trips last 100 ms.
    fn rates(rounds: &mut RoundRates<2>, told: &[(u64, u64)]) -> Vec<Option<f64>> {
        let at = |ms| Instant::ZERO + Span::from_millis(ms);
        told.iter().map(|&(ms, bytes)| rounds.update(at(ms), bytes, Span::from_millis(100))).collect()
    }

    // By hand: 40 kB in 100 ms are 400 kB/s, 60 kB in 120 ms are 500 kB/s.
    #[test]
    fn a_round_trip_lasts_as_long_as_the_smoothed_one() {
        let mut rounds = RoundRates::default();
        let told = [(0, 90_000), (50, 100_000), (100, 130_000), (199, 180_000), (220, 190_000)];
        assert_eq!(rates(&mut rounds, &told), [None, None, Some(400_000.0), None, Some(500_000.0)]);
    }

    #[test]
    fn a_pause_is_part_of_no_round_trip() {
        let mut rounds = RoundRates::default();
        assert_eq!(rates(&mut rounds, &[(0, 0), (100, 40_000)]), [None, Some(400_000.0)]);
        rounds.pause();
        assert_eq!(rates(&mut rounds, &[(900, 40_000), (1000, 70_000)]), [None, Some(300_000.0)]);
    }

    #[test]
    fn the_best_of_those_kept_counts() {
        let mut rounds = RoundRates::<2>::default();
        assert_eq!(rounds.most(), None);
        for (rate, most) in [(4.0, 4.0), (3.0, 4.0), (2.0, 3.0), (1.0, 2.0)] {
            rounds.keep(rate);
            assert_eq!(rounds.most(), Some(most));
        }
    }
}
