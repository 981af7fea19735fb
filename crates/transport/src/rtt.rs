//! The smoothed round-trip time, from which transports compute the RTO, and the least round-trip time.

use units::{Instant, Span};

/// Mean and variation of the round-trip time (`rfc6298#section-2`, `rfc9260#section-6.3.1`).
#[derive(Clone, Debug)]
pub struct SmoothedRtt {
    alpha: Weight,
    beta: Weight,
    least_variation: Span,
    mean: Option<Span>,
    variation: Span,
}

impl SmoothedRtt {
    /// An estimator without samples. A new sample has weight `alpha` in the mean and `beta` in the variation,
    /// whose lower bound is `least_variation`.
    pub fn new(alpha: f64, beta: f64, least_variation: Span) -> Self {
        let (alpha, beta) = (Weight::new(alpha), Weight::new(beta));
        SmoothedRtt { alpha, beta, least_variation, mean: None, variation: Span::ZERO }
    }

    /// Adds a sample. The caller applies Karn's rule: no samples of retransmitted packets.
    #[inline]
    pub fn sample(&mut self, rtt: Span) {
        let mean = match self.mean {
            None => {
                self.variation = rtt / 2;
                rtt
            }
            Some(mean) => {
                let deviation = Span::from_nanos(mean.as_nanos().abs_diff(rtt.as_nanos()));
                self.variation = self.beta.mean(self.variation, deviation);
                self.alpha.mean(mean, rtt)
            }
        };
        self.variation = self.variation.max(self.least_variation);
        self.mean = Some(mean);
    }

    /// The mean (SRTT); `None` before the first sample.
    #[inline]
    pub fn mean(&self) -> Option<Span> {
        self.mean
    }

    /// The variation (RTTVAR).
    #[inline]
    pub fn variation(&self) -> Span {
        self.variation
    }
}

/// The least round-trip time of the last 15 to 30 s that had samples (`rfc8985#section-6.2`, step 1).
///
/// A minimum over all time would stay too low after the path became longer. The difference would look like a
/// queue.
#[derive(Clone, Copy, Debug)]
pub struct LeastRtt {
    /// Beginning of the current measuring period.
    began: Instant,
    /// The least round-trip time of the current and of the previous period; [`Span::MAX`] if there is none.
    least: [Span; 2],
}

/// Length of a measuring period. The least round-trip time of the current and of the previous period counts.
const PERIOD: Span = Span::from_secs(15);

impl Default for LeastRtt {
    fn default() -> Self {
        LeastRtt { began: Instant::ZERO, least: [Span::MAX; 2] }
    }
}

impl LeastRtt {
    /// Adds a sample.
    #[inline]
    pub fn sample(&mut self, now: Instant, rtt: Span) {
        if now.since(self.began) >= PERIOD {
            *self = LeastRtt { began: now, least: [Span::MAX, self.least[0]] };
        }
        self.least[0] = self.least[0].min(rtt);
    }

    /// The least round-trip time; `None` before the first sample.
    #[inline]
    pub fn get(&self) -> Option<Span> {
        let least = self.least[0].min(self.least[1]);
        (least != Span::MAX).then_some(least)
    }
}

/// Weight of a new sample. The usual weights, 1/8 and 1/4, use integer arithmetic with the same result.
#[derive(Clone, Copy, Debug)]
struct Weight {
    weight: f64,
    /// The weight in units of 1/[`WHOLE`], if it is a whole number of them.
    parts: Option<u32>,
}

const WHOLE: u64 = 1 << 16;

/// A span shorter than this, times [`WHOLE`], fits the mantissa of an `f64`,
/// so that integer and floating-point arithmetic give the same result.
const EXACT: Span = Span::from_nanos(1 << 36);

impl Weight {
    fn new(weight: f64) -> Self {
        let parts = weight * WHOLE as f64;
        let whole = (0.0..=WHOLE as f64).contains(&parts) && parts.fract() == 0.0;
        Weight { weight, parts: whole.then_some(parts as u32) }
    }

    /// Weighted mean of an old and a new value, both parts rounded to the nearest nanosecond.
    #[inline]
    fn mean(self, old: Span, new: Span) -> Span {
        match self.parts {
            Some(parts) if old < EXACT && new < EXACT => {
                let parts = u64::from(parts);
                let part = |span: Span, parts| (span.as_nanos() * parts + WHOLE / 2) / WHOLE;
                Span::from_nanos(part(old, WHOLE - parts) + part(new, parts))
            }
            _ => self.mean_of_any(old, new),
        }
    }

    #[cold]
    fn mean_of_any(self, old: Span, new: Span) -> Span {
        old.mul_f64(1.0 - self.weight) + new.mul_f64(self.weight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn integers_give_what_floating_point_gives(
            old in 0..1_u64 << 36,
            new in 0..1_u64 << 36,
            parts in 0..=WHOLE,
        ) {
            let weight = Weight::new(parts as f64 / WHOLE as f64);
            prop_assert_eq!(weight.parts, Some(parts as u32));
            let float = Weight { parts: None, ..weight };
            let (old, new) = (Span::from_nanos(old), Span::from_nanos(new));
            prop_assert_eq!(weight.mean(old, new), float.mean(old, new));
        }
    }

    #[test]
    fn the_least_time_is_forgotten_after_two_periods() {
        let mut least = LeastRtt::default();
        assert_eq!(least.get(), None);
        let ms = Span::from_millis;
        for (second, rtt, expected) in
            [(0, 20, 20), (14, 30, 20), (15, 60, 20), (29, 60, 20), (30, 60, 60), (31, 50, 50)]
        {
            least.sample(Instant::ZERO + Span::from_secs(second), ms(rtt));
            assert_eq!(least.get(), Some(ms(expected)), "after {second} s");
        }
    }

    #[test]
    fn other_weights_and_long_times_are_taken_as_they_are() {
        assert_eq!(Weight::new(0.3).parts, None);
        assert_eq!(Weight::new(f64::NAN).parts, None);
        let (hour, zero) = (Span::from_secs(3600), Span::ZERO);
        assert_eq!(Weight::new(0.25).mean(zero, hour), Span::from_secs(900));
        assert_eq!(Weight::new(0.3).mean(zero, Span::from_secs(10)), Span::from_secs(3));
    }
}
