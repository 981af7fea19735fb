use crate::config::Rto;
use transport::SmoothedRtt;
use units::{Instant, Span};

/// The retransmission timeout (`rfc6298`).
#[derive(Debug)]
pub(crate) struct RtoEstimate {
    bounds: Rto,
    smoothed: SmoothedRtt,
    /// RTO without back-off.
    base: Span,
    /// RTO with back-off.
    current: Span,
}

/// Weights of a sample (`rfc6298#section-2`).
const ALPHA: f64 = 1.0 / 8.0;
const BETA: f64 = 1.0 / 4.0;

impl RtoEstimate {
    pub(crate) fn new(bounds: Rto) -> Self {
        let smoothed = SmoothedRtt::new(ALPHA, BETA, Span::ZERO);
        let mut rto = RtoEstimate { bounds, smoothed, base: Span::ZERO, current: Span::ZERO };
        rto.set(bounds.initial);
        rto
    }

    /// Adds an RTT sample, of data that was sent once or whose acknowledgement identifies the transmission
    /// (`rfc6298#section-3`). Ends back-off.
    #[inline]
    pub(crate) fn sample(&mut self, rtt: Span) {
        self.smoothed.sample(rtt);
        let mean = self.smoothed.mean().unwrap_or(rtt);
        // rfc6298#section-2.3: K = 4, and G is the granularity.
        self.set(mean + (self.smoothed.variation() * 4).max(self.bounds.granularity));
    }

    fn set(&mut self, rto: Span) {
        let tick = self.bounds.granularity.as_nanos();
        let ticks = rto.as_nanos().div_ceil(tick);
        let whole = Span::from_nanos(ticks.saturating_mul(tick));
        self.base = whole.max(self.bounds.min).min(self.bounds.max);
        self.current = self.base;
    }

    /// Doubles the timeout after an expiry (`rfc6298#section-5`, 5.5).
    pub(crate) fn back_off(&mut self) {
        self.current = (self.current * 2).min(self.bounds.max);
    }

    /// Sets the RTO to at least three seconds, because a SYN was retransmitted (`rfc6298#section-5`, 5.7).
    pub(crate) fn after_lost_syn(&mut self) {
        if self.smoothed.mean().is_none() {
            self.set(self.bounds.initial.max(Span::from_secs(3)));
        }
    }

    #[inline]
    pub(crate) fn current(&self) -> Span {
        self.current
    }

    /// Expiry of a timer that starts at `now`.
    #[inline]
    pub(crate) fn deadline(&self, now: Instant) -> Instant {
        now + self.current
    }

    #[inline]
    pub(crate) fn srtt(&self) -> Option<Span> {
        self.smoothed.mean()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    fn fine() -> RtoEstimate {
        RtoEstimate::new(Rto {
            initial: Span::from_secs(1),
            min: Span::from_millis(1),
            max: Span::from_secs(60),
            granularity: Span::from_nanos(1),
        })
    }

    // rfc6298#section-2, 2.2 and 2.3, by hand
    #[test]
    fn the_first_sample_counts_in_full_and_the_next_an_eighth() {
        let mut rto = fine();
        assert_eq!(rto.current(), Span::from_secs(1));
        rto.sample(Span::from_millis(100));
        assert_eq!((rto.srtt(), rto.current()), (Some(Span::from_millis(100)), Span::from_millis(300)));
        // RTTVAR = 3/4 * 50 + 1/4 * |100 - 200| = 62.5, SRTT = 7/8 * 100 + 1/8 * 200 = 112.5
        rto.sample(Span::from_millis(200));
        assert_eq!(rto.srtt(), Some(Span::from_micros(112_500)));
        assert_eq!(rto.current(), Span::from_micros(112_500 + 4 * 62_500));
    }

    // rfc6298#section-2.3: SRTT + max(G, K * RTTVAR) with a variation of zero
    #[test]
    fn the_variation_counts_for_a_tick_at_least() {
        let mut rto = RtoEstimate::new(Rto { min: Span::from_millis(1), ..Config::qualnet().rto });
        for _ in 0..200 {
            rto.sample(Span::from_millis(700));
        }
        // SRTT + G = 700 + 500 ms, rounded up to whole ticks of 500 ms.
        assert_eq!(rto.current(), Span::from_millis(1500));
    }

    // rfc6298#section-2, 2.4 and 2.5; section 5, 5.5
    #[test]
    fn it_stays_within_its_bounds_and_a_sample_ends_backing_off() {
        let mut rto = RtoEstimate::new(Config::qualnet().rto);
        rto.sample(Span::from_millis(2));
        assert_eq!(rto.current(), Span::from_secs(1));
        rto.back_off();
        assert_eq!(rto.current(), Span::from_secs(2));
        for _ in 0..10 {
            rto.back_off();
        }
        assert_eq!(rto.current(), Span::from_secs(60));
        rto.sample(Span::from_millis(2));
        assert_eq!(rto.current(), Span::from_secs(1));
    }

    // rfc6298#section-5, 5.7
    #[test]
    fn a_lost_syn_makes_it_three_seconds() {
        let mut rto = fine();
        rto.after_lost_syn();
        assert_eq!(rto.current(), Span::from_secs(3));
    }
}
