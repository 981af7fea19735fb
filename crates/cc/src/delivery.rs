//! Measures the delivery rate of a path over its last round trips, from acknowledgements only.

use transport::RoundRates;
use units::{ByteCount, Instant, Span};

/// Number of delivery rates that are kept, one for each of
/// the latest round trips in which the path was fully used.
const ROUNDS: usize = 10;

/// The rate of a round trip is kept if its window was full, or if the rate is at least this fraction of the
/// highest rate kept. In other round trips the application sent less than the path can carry.
const FULL: f64 = 0.9;

/// Delivery rates of the last round trips in which the path was fully used.
#[derive(Clone, Debug, Default)]
pub(crate) struct Delivery {
    acked: ByteCount,
    rounds: RoundRates<ROUNDS>,
}

impl Delivery {
    /// Adds bytes that were acknowledged at `now`. `full`: the whole window was in flight before.
    pub(crate) fn acknowledged(&mut self, now: Instant, bytes: ByteCount, srtt: Span, full: bool) {
        self.acked += bytes;
        let Some(rate) = self.rounds.update(now, self.acked.get(), srtt) else { return };
        if full || self.most().is_none_or(|most| rate >= FULL * most) {
            self.rounds.keep(rate);
        }
    }

    /// The highest rate in bytes/s; `None` before the first round trip ends.
    pub(crate) fn most(&self) -> Option<f64> {
        self.rounds.most()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Acknowledges one element of `kilobytes` in each round trip of 100 ms, from round trip `from` on.
    fn rounds(delivery: &mut Delivery, from: u64, kilobytes: &[u64], full: bool) {
        for (n, &kb) in kilobytes.iter().enumerate() {
            let now = Instant::from_nanos((from + n as u64) * 100_000_000);
            delivery.acknowledged(now, ByteCount::new(kb * 1000), Span::from_millis(100), full);
        }
    }

    // By hand: 40 kB in 100 ms are 400 kB/s. The rate ignores bytes acknowledged before the first round trip.
    #[test]
    fn the_best_of_ten_full_round_trips_counts() {
        let mut delivery = Delivery::default();
        rounds(&mut delivery, 0, &[90], true);
        assert_eq!(delivery.most(), None);
        rounds(&mut delivery, 1, &[40, 30], true);
        assert_eq!(delivery.most(), Some(400_000.0));
        rounds(&mut delivery, 3, &[20; 9], true);
        assert_eq!(delivery.most(), Some(300_000.0));
        rounds(&mut delivery, 12, &[20], true);
        assert_eq!(delivery.most(), Some(200_000.0));
    }

    #[test]
    fn a_path_with_little_to_do_keeps_its_rate() {
        let mut delivery = Delivery::default();
        rounds(&mut delivery, 0, &[0, 40], true);
        rounds(&mut delivery, 2, &[10; 20], false);
        assert_eq!(delivery.most(), Some(400_000.0));
        rounds(&mut delivery, 22, &[37; 10], false);
        assert_eq!(delivery.most(), Some(370_000.0), "as good as full");
    }
}
