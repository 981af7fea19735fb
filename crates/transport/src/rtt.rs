//! The smoothed round-trip time, from which transports compute their retransmission timeout.

use units::Span;

/// Mean and variation of the round-trip time (`rfc6298#section-2`, `rfc9260#section-6.3.1`).
#[derive(Clone, Debug)]
pub struct SmoothedRtt {
    alpha: f64,
    beta: f64,
    least_variation: Span,
    mean: Option<Span>,
    variation: Span,
}

impl SmoothedRtt {
    /// An estimator without samples. A new sample has weight `alpha` in the mean and `beta` in the variation, which is never
    /// less than `least_variation`.
    pub fn new(alpha: f64, beta: f64, least_variation: Span) -> Self {
        SmoothedRtt { alpha, beta, least_variation, mean: None, variation: Span::ZERO }
    }

    /// Adds a sample. The caller applies Karn's rule: samples only of packets that were sent once.
    #[inline]
    pub fn sample(&mut self, rtt: Span) {
        let mean = match self.mean {
            None => {
                self.variation = rtt / 2;
                rtt
            }
            Some(mean) => {
                let deviation = Span::from_nanos(mean.as_nanos().abs_diff(rtt.as_nanos()));
                self.variation = self.variation.mul_f64(1.0 - self.beta) + deviation.mul_f64(self.beta);
                mean.mul_f64(1.0 - self.alpha) + rtt.mul_f64(self.alpha)
            }
        };
        self.variation = self.variation.max(self.least_variation);
        self.mean = Some(mean);
    }

    /// The mean (SRTT); none before the first sample.
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
