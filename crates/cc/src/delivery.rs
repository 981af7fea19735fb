//! What a path delivered in its last round trips, by acknowledgements alone.

use transport::RoundRates;
use units::{ByteCount, Instant, Span};

/// So many round trips are remembered.
const ROUNDS: usize = 10;

/// A round trip that delivered this share of the most tells what the path can carry, as does one with a full window. In any other the path had less
/// to do than it could.
const FULL: f64 = 0.9;

/// The rates of the last round trips of a path that had enough to do.
#[derive(Clone, Debug, Default)]
pub(crate) struct Delivery {
    acked: ByteCount,
    rounds: RoundRates<ROUNDS>,
}

impl Delivery {
    /// So many bytes were acknowledged. `full`: whether the whole window was in flight.
    pub(crate) fn acknowledged(&mut self, now: Instant, bytes: ByteCount, srtt: Span, full: bool) {
        self.acked += bytes;
        let Some(rate) = self.rounds.update(now, self.acked.get(), srtt) else { return };
        if full || self.most().is_none_or(|most| rate >= FULL * most) {
            self.rounds.keep(rate);
        }
    }

    /// The highest rate in bytes a second; none before the first round trip.
    pub(crate) fn most(&self) -> Option<f64> {
        self.rounds.most()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Acknowledges so many kB in each of the round trips of 100 ms.
    fn rounds(delivery: &mut Delivery, from: u64, kilobytes: &[u64], full: bool) {
        for (n, &kb) in kilobytes.iter().enumerate() {
            let now = Instant::from_nanos((from + n as u64) * 100_000_000);
            delivery.acknowledged(now, ByteCount::new(kb * 1000), Span::from_millis(100), full);
        }
    }

    // By hand: 40 kB in 100 ms are 400 kB a second. What came before the first round trip began does not count.
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
