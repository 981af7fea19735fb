//! Filters: largest delivery rates, least round-trip times, and aggregation of acknowledgements.

use units::{ByteCount, Instant, Span};

/// Largest delivery rates of the current and the previous probing cycle, in bytes/s.
#[derive(Debug, Default)]
pub(super) struct MaxRate {
    this: f64,
    last: f64,
}

impl MaxRate {
    pub(super) fn get(&self) -> f64 {
        self.this.max(self.last)
    }

    pub(super) fn take(&mut self, rate: f64) {
        self.this = self.this.max(rate);
    }

    /// Ends the current probing cycle, unless the cycle has no sample.
    pub(super) fn advance(&mut self) {
        if self.this > 0.0 {
            *self = MaxRate { this: 0.0, last: self.this };
        }
    }
}

/// Time for which the least RTT is valid.
const MIN_RTT_LIFE: Span = Span::from_secs(10);

/// Least round-trip time of the last 10 s, and whether it has to be measured again.
#[derive(Debug, Default)]
pub(super) struct MinRtt {
    least: Option<(Span, Instant)>,
    /// The least RTT since the last ProbeRTT.
    recent: Option<(Span, Instant)>,
    /// No lower RTT was measured for `probe_rtt_interval`.
    pub(super) expired: bool,
}

impl MinRtt {
    pub(super) fn get(&self) -> Option<Span> {
        self.least.map(|(rtt, _)| rtt)
    }

    pub(super) fn recent(&self) -> Option<Span> {
        self.recent.map(|(rtt, _)| rtt)
    }

    /// Adds the RTT of an acknowledgement, if there is one.
    pub(super) fn take(&mut self, now: Instant, rtt: Option<Span>, interval: Span) {
        self.expired = self.recent.is_some_and(|(_, at)| now > at + interval);
        if let Some(rtt) = rtt
            && (self.expired || self.recent.is_none_or(|(least, _)| rtt < least))
        {
            self.recent = Some((rtt, now));
        }
        let old = self.least.is_none_or(|(_, at)| now > at + MIN_RTT_LIFE);
        if let Some(recent) = self.recent
            && (old || self.least.is_some_and(|(least, _)| recent.0 < least))
        {
            self.least = Some(recent);
        }
    }

    /// Records that ProbeRTT ended.
    pub(super) fn probed(&mut self, now: Instant) {
        if let Some((_, at)) = &mut self.recent {
            *at = now;
        }
    }
}

/// Number of round trips of which the largest excess is kept.
const AGGREGATION_ROUNDS: usize = 10;

/// Bytes acknowledged in excess of the bandwidth. The cause is a link or a receiver that delays
/// acknowledgements.
#[derive(Debug, Default)]
pub(super) struct Aggregation {
    began: Instant,
    delivered: f64,
    /// For each of the last round trips: its number, and by how many
    /// bytes at most the acknowledged bytes exceeded the expected ones.
    most: [(u64, f64); AGGREGATION_ROUNDS],
}

impl Aggregation {
    /// Adds `acked` bytes, and records by how much all bytes acknowledged since
    /// `began` exceed those expected at `rate`, the bandwidth in bytes/s. The
    /// excess counts at most as `window`; `round` is the number of the round trip.
    pub(super) fn take(&mut self, now: Instant, acked: ByteCount, rate: f64, window: ByteCount, round: u64) {
        let mut expected = rate * now.since(self.began).as_secs_f64();
        if self.delivered <= expected {
            (self.delivered, self.began, expected) = (0.0, now, 0.0);
        }
        self.delivered += acked.as_f64();
        let extra = (self.delivered - expected).min(window.as_f64());
        let slot = &mut self.most[round as usize % AGGREGATION_ROUNDS];
        if slot.0 != round {
            *slot = (round, 0.0);
        }
        slot.1 = slot.1.max(extra);
    }

    /// The largest excess of the last `rounds` round trips.
    pub(super) fn get(&self, round: u64, rounds: u64) -> f64 {
        let recent = |&&(number, _): &&(u64, f64)| number <= round && number + rounds > round;
        self.most.iter().filter(recent).fold(0.0, |most, &(_, extra)| most.max(extra))
    }

    /// Restarts the measurement of the excess after an idle time.
    pub(super) fn restart(&mut self, now: Instant) {
        self.began = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn largest_rate_is_remembered_for_two_cycles_with_samples() {
        let mut rates = MaxRate::default();
        rates.take(5.0);
        rates.advance();
        rates.advance();
        rates.take(3.0);
        assert_eq!(rates.get(), 5.0);
        rates.advance();
        assert_eq!(rates.get(), 3.0);
    }

    #[test]
    fn least_rtt_lives_ten_seconds_and_has_to_be_probed_after_the_interval() {
        let mut rtts = MinRtt::default();
        let interval = Span::from_secs(5);
        let ms = Span::from_millis;
        rtts.take(at(0), Some(ms(40)), interval);
        rtts.take(at(4000), Some(ms(50)), interval);
        assert_eq!((rtts.get(), rtts.expired), (Some(ms(40)), false));
        rtts.take(at(5001), Some(ms(50)), interval);
        assert_eq!((rtts.get(), rtts.expired), (Some(ms(40)), true));
        rtts.take(at(6000), Some(ms(45)), interval);
        assert_eq!((rtts.get(), rtts.expired), (Some(ms(40)), false), "a higher one does not replace it yet");
        rtts.take(at(10_001), None, interval);
        assert_eq!(rtts.get(), Some(ms(45)));
    }

    // The bandwidth is 1000 bytes/s; 300 bytes are acknowledged together every 100 ms.
    #[test]
    fn aggregation_is_what_arrives_beyond_the_rate() {
        let mut extra = Aggregation::default();
        let window = ByteCount::new(10_000);
        extra.take(at(100), ByteCount::new(300), 1000.0, window, 1);
        assert_eq!(extra.get(1, 10), 300.0);
        extra.take(at(200), ByteCount::new(300), 1000.0, window, 2);
        assert_eq!(extra.get(2, 10), 500.0, "600 in the 100 ms since the first");
        assert_eq!((extra.get(3, 1), extra.get(11, 10), extra.get(12, 10)), (0.0, 500.0, 0.0));
    }
}
