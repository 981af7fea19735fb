use crate::config::Config;
use transport::{LeastRtt, SmoothedRtt};
use units::{Instant, Span};

/// Retransmission timeout of a path (`rfc9260#section-6.3.1`).
#[derive(Clone, Debug)]
pub(crate) struct Rto {
    smoothed: SmoothedRtt,
    rto: Span,
    least: LeastRtt,
}

/// Weights of a new sample in SRTT and in RTTVAR (`RTO.Alpha`, `RTO.Beta`; `rfc9260#section-16`).
const ALPHA: f64 = 0.125;
const BETA: f64 = 0.25;

/// Clock granularity: the lower bound of RTTVAR (`rfc9260#section-6.3.1`, rule G1).
const GRANULARITY: Span = Span::from_nanos(1);

impl Rto {
    pub(crate) fn new(config: &Config) -> Self {
        let smoothed = SmoothedRtt::new(ALPHA, BETA, GRANULARITY);
        Rto { smoothed, rto: config.rto_initial, least: LeastRtt::default() }
    }

    /// Adds an RTT sample. The caller applies Karn's rule: only chunks that were sent once give samples.
    pub(crate) fn sample(&mut self, now: Instant, rtt: Span, config: &Config) {
        self.smoothed.sample(rtt);
        self.least.sample(now, rtt);
        self.rto = self.estimate(config);
    }

    /// SRTT + 4 RTTVAR within the bounds, or RTO.Initial before the first sample.
    fn estimate(&self, config: &Config) -> Span {
        let Some(mean) = self.smoothed.mean() else { return config.rto_initial };
        (mean + self.smoothed.variation() * 4).max(config.rto_min).min(config.rto_max)
    }

    /// Applies changed parameters. A timeout that is backed off stays backed off, within the new bounds.
    pub(crate) fn rebound(&mut self, old: &Config, new: &Config) {
        let backed_off = self.rto > self.estimate(old);
        let estimate = self.estimate(new);
        self.rto = if backed_off { self.rto.max(estimate).min(new.rto_max) } else { estimate };
    }

    /// Doubles the timeout after an expiry (`rfc9260#section-6.3.3`, rule E2).
    pub(crate) fn back_off(&mut self, config: &Config) {
        self.rto = (self.rto * 2).min(config.rto_max);
    }

    #[inline]
    pub(crate) fn current(&self) -> Span {
        self.rto
    }

    pub(crate) fn variation(&self) -> Span {
        self.smoothed.variation()
    }

    /// The least RTT of the last 15 to 30 s; `None` before the first sample, and after a change of route
    /// before the first sample of the new route.
    #[inline]
    pub(crate) fn base(&self) -> Option<Span> {
        self.least.get()
    }

    /// Forgets the least RTT, since the route has changed.
    pub(crate) fn forget_least(&mut self) {
        self.least = LeastRtt::default();
    }

    #[inline]
    pub(crate) fn srtt(&self) -> Option<Span> {
        self.smoothed.mean()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // rfc9260#section-6.3.1 C2, C3
    #[test]
    fn first_sample_sets_srtt_and_half_of_it_as_variation() {
        let config = Config { rto_min: Span::from_millis(1), ..Config::default() };
        let mut r = Rto::new(&config);
        assert_eq!(r.current(), Span::from_secs(1));
        r.sample(Instant::ZERO, Span::from_millis(100), &config);
        assert_eq!((r.srtt(), r.current()), (Some(Span::from_millis(100)), Span::from_millis(300)));
        // rttvar = 3/4 * 50 + 1/4 * 100 = 62.5, srtt = 7/8 * 100 + 1/8 * 200 = 112.5
        r.sample(Instant::ZERO, Span::from_millis(200), &config);
        assert_eq!((r.srtt(), r.current()), (Some(Span::from_micros(112_500)), Span::from_micros(362_500)));
    }

    // rfc9260#section-6.3.1 C6, C7
    #[test]
    fn timeout_stays_within_its_bounds() {
        let config = Config::default();
        let mut r = Rto::new(&config);
        r.sample(Instant::ZERO, Span::from_millis(2), &config);
        assert_eq!(r.current(), Span::from_secs(1));
        for _ in 0..10 {
            r.back_off(&config);
        }
        assert_eq!(r.current(), Span::from_secs(60));
        r.sample(Instant::ZERO, Span::from_millis(2), &config);
        assert_eq!(r.current(), Span::from_secs(1));
    }
}
