//! A transmitter whose rate changes with time.

use super::Uneven;
use crate::rates::Segments;
use units::{BitRate, Instant, Span};

/// Units of work that a byte needs: 8 bits times 10^9. A rate of 1 bit/s does one unit each nanosecond.
const UNITS_PER_BYTE: u128 = 8_000_000_000;

#[derive(Debug)]
pub(super) struct Varying {
    /// The rate at `busy_until` and after.
    segments: Segments<BitRate>,
    busy_until: Instant,
    /// Units of work of the last transmission that are not done at `busy_until`, which
    /// is rounded down to whole nanoseconds. The next transmission does this work first.
    carry: u128,
}

impl Varying {
    pub fn new(segments: Segments<BitRate>) -> Self {
        Varying { segments, busy_until: Instant::ZERO, carry: 0 }
    }
}

impl Uneven for Varying {
    fn start(&mut self, now: Instant) {
        if now > self.busy_until {
            (self.busy_until, self.carry) = (now, 0);
            self.segments.advance_to(now);
        }
    }

    fn next_start(&mut self) -> Instant {
        self.busy_until
    }

    fn send(&mut self, bytes: u64) -> Instant {
        let mut need = u128::from(bytes) * UNITS_PER_BYTE + self.carry;
        loop {
            let rate = u128::from(self.segments.value().as_bps());
            let lasts = self.segments.end().since(self.busy_until).as_nanos();
            let carries = rate * u128::from(lasts);
            // `need` is never 0 here, so the rate is not 0 if the branch is taken.
            if need <= carries {
                self.busy_until += Span::from_nanos((need / rate) as u64);
                self.carry = need % rate;
                return self.busy_until;
            }
            need -= carries;
            self.busy_until = self.segments.end();
            self.segments.advance();
            if self.busy_until == Instant::FAR {
                return self.busy_until;
            }
        }
    }

    fn reset(&mut self, now: Instant) {
        self.segments.reset(now);
        (self.busy_until, self.carry) = (now, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Transmitter, TransmitterSpec};
    use super::*;
    use crate::rates::{RateModel, RateModelKind, RateSeries};
    use des::Streams;
    use proptest::prelude::*;
    use std::sync::Arc;
    use units::ByteCount;

    fn us(n: u64) -> Instant {
        Instant::ZERO + Span::from_micros(n)
    }

    /// A transmitter whose `steps` are times in us, each with the rate in Mbit/s from then on.
    fn transmitter(steps: &[(u64, u64)], period: Option<u64>) -> Transmitter {
        let steps =
            steps.iter().map(|&(at, mbps)| (Span::from_micros(at), BitRate::from_mbps(mbps))).collect();
        let series = RateSeries::new(steps, period.map(Span::from_micros)).unwrap();
        let spec = TransmitterSpec::Series(Arc::new(series));
        Transmitter::new(&spec, 0, &Streams::new(1, 0), "a-b")
    }

    /// Start and end of the transmission of each packet in us. A packet is given by its arrival in us and its
    /// bytes.
    fn times(transmitter: &mut Transmitter, packets: &[(u64, u64)]) -> Vec<(u64, u64)> {
        let micros = |at: Instant| at.as_nanos() / 1000;
        let take = |&(at, bytes): &(u64, u64)| {
            let (start, end) = transmitter.take(us(at), ByteCount::new(bytes));
            (micros(start), micros(end))
        };
        packets.iter().map(take).collect()
    }

    #[test]
    fn a_transmission_goes_on_at_the_new_rate() {
        // 8 Mbit/s are 1 byte per microsecond: 1000 bytes until 1 ms, then 2 bytes per microsecond.
        let mut link = transmitter(&[(0, 8), (1000, 16)], None);
        assert_eq!(
            times(&mut link, &[(0, 600), (0, 1400), (5000, 1000)]),
            [(0, 600), (600, 1500), (5000, 5500)]
        );
    }

    #[test]
    fn while_the_rate_is_zero_a_transmission_rests() {
        // The series repeats every 3 ms: 1 ms of 8 Mbit/s and 2 ms of 0 Mbit/s.
        let mut link = transmitter(&[(0, 8), (1000, 0)], Some(3000));
        let packets = [(0, 1000), (0, 500), (0, 1500)];
        assert_eq!(times(&mut link, &packets), [(0, 1000), (1000, 3500), (3500, 7000)]);
        assert_eq!(times(&mut link, &[(8000, 100)]), [(8000, 9100)]);
    }

    #[test]
    fn a_failure_of_the_link_ends_the_transmissions_that_were_planned() {
        let mut link = transmitter(&[(0, 8), (1000, 16)], Some(2000));
        assert_eq!(times(&mut link, &[(0, 300), (0, 60_000)])[0], (0, 300));
        link.reset(us(1500));
        // After the failure at 1.5 ms packets leave at the rate that is valid at this
        // time, not at the rate that is valid at the end of the planned transmission.
        assert_eq!(times(&mut link, &[(1500, 1000), (1500, 1000)]), [(1500, 2000), (2000, 3000)]);
    }

    proptest! {
        /// Rounding errors do not add up: after any number of packets without a pause, the end of the last
        /// transmission is exact to within a nanosecond.
        #[test]
        fn packets_take_what_the_rates_carry(
            steps in prop::collection::vec((1u64..2_000_000, 0u64..40_000_000), 1..8),
            sizes in prop::collection::vec(1u64..3000, 1..60),
        ) {
            let (mut at, mut series) = (0, Vec::new());
            for &(lasts, bps) in &steps {
                series.push((Span::from_nanos(at), BitRate::from_bps(bps)));
                at += lasts;
            }
            series.push((Span::from_nanos(at), BitRate::from_mbps(1)));
            let spec = TransmitterSpec::Series(Arc::new(RateSeries::new(series.clone(), None).unwrap()));
            let mut link = Transmitter::new(&spec, 0, &Streams::new(1, 0), "a-b");
            let mut end = Instant::ZERO;
            for &size in &sizes {
                end = link.take(Instant::ZERO, ByteCount::new(size)).1;
            }
            let carried = |until: u64| {
                let ends = series[1..].iter().map(|(from, _)| from.as_nanos()).chain([u64::MAX]);
                series.iter().zip(ends).map(|((from, rate), end)| {
                    let lasts = end.min(until).saturating_sub(from.as_nanos());
                    u128::from(rate.as_bps()) * u128::from(lasts)
                }).sum::<u128>()
            };
            let needed = u128::from(sizes.iter().sum::<u64>()) * UNITS_PER_BYTE;
            prop_assert!(carried(end.as_nanos()) <= needed);
            prop_assert!(carried(end.as_nanos() + 1) > needed);
        }
    }

    #[test]
    fn a_model_carries_its_mean_rate() {
        let model = RateModel::new(RateModelKind::Wifi, BitRate::from_mbps(20));
        let mut link = Transmitter::new(&TransmitterSpec::Model(model), 0, &Streams::new(1, 0), "a-b");
        let packets = 250_000;
        let end = (0..packets).map(|_| link.take(Instant::ZERO, ByteCount::new(1500)).1).last();
        let mbps = 8.0 * 1500.0 * f64::from(packets) / end.map_or(0.0, Instant::as_secs_f64) / 1e6;
        assert!((19.0..21.0).contains(&mbps), "{mbps}");
    }
}
