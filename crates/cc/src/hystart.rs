//! HyStart++: slow start ends before the queue of the bottleneck overflows (`rfc9406`).
//!
//! A round of a path ends when all bytes that were in flight at its beginning are acknowledged. If the
//! least RTT of a round exceeds that of the round before by at least a threshold η, conservative slow start
//! (CSS) begins, in which the window grows at a quarter of the rate. If the RTT falls below that of the
//! round in which CSS began, the rise was jitter and slow start resumes. After five rounds of CSS, ssthresh
//! is set to cwnd.
//!
//! ```text
//! η = r/8, no less than 4 ms, no more than 16 ms      r least RTT of the round before
//! growth for each SACK = min(acknowledged, L), in CSS a quarter of it
//! ```
//!
//! L is 8 segments. With pacing a SACK releases no burst, so there is no limit (`rfc9406#section-4.2`).

use units::{ByteCount, Span};

use crate::PathAck;

const LEAST_THRESHOLD: Span = Span::from_millis(4);
const MOST_THRESHOLD: Span = Span::from_millis(16);
/// Divisor of the least RTT r in the threshold η (MIN_RTT_DIVISOR).
const DIVISOR: u64 = 8;
/// Number of RTT samples that a round needs before its least RTT is compared (N_RTT_SAMPLE).
const SAMPLES: u32 = 8;
/// Divisor of the growth in conservative slow start (CSS_GROWTH_DIVISOR).
const SLOWER: f64 = 4.0;
/// Number of rounds of CSS before congestion avoidance begins (CSS_ROUNDS).
const ROUNDS: u32 = 5;
/// Segments by which one SACK may grow the window at most (L without pacing).
const MOST_SEGMENTS: u64 = 8;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HyStart {
    /// Bytes that the last SACK acknowledged.
    acked: ByteCount,
    /// Bytes that were in flight when the round began and are not acknowledged yet.
    left: ByteCount,
    /// Least RTT of the previous round, and of the current round.
    last: Option<Span>,
    least: Option<Span>,
    samples: u32,
    conservative: Option<Conservative>,
    ended: bool,
}

/// Conservative slow start.
#[derive(Clone, Copy, Debug)]
struct Conservative {
    /// Least RTT of the round in which CSS began.
    baseline: Span,
    /// Number of rounds that began since CSS began.
    rounds: u32,
}

impl HyStart {
    /// Processes an acknowledgement. `initial` is true until ssthresh is set; later slow starts end at
    /// ssthresh, not by HyStart++.
    pub(crate) fn on_ack(&mut self, ack: &PathAck, initial: bool) {
        self.acked = ack.acked;
        if !initial {
            self.conservative = None; // a loss ended CSS
            return;
        }
        if self.ended {
            return;
        }
        if self.left <= ack.acked {
            self.begin_round(ack.flight_after);
        } else {
            self.left -= ack.acked;
        }
        if let Some(rtt) = ack.rtt {
            self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
            self.samples += 1;
        }
        let (Some(least), true) = (self.least, self.samples >= SAMPLES) else { return };
        match (self.conservative, self.last) {
            (Some(Conservative { baseline, .. }), _) if least < baseline => self.conservative = None,
            (None, Some(last)) if least >= last + threshold(last) => {
                self.conservative = Some(Conservative { baseline: least, rounds: 0 });
            }
            _ => {}
        }
    }

    fn begin_round(&mut self, flight: ByteCount) {
        self.left = flight;
        (self.last, self.least, self.samples) = (self.least.or(self.last), None, 0);
        if let Some(conservative) = &mut self.conservative {
            conservative.rounds += 1;
            self.ended = conservative.rounds >= ROUNDS;
        }
    }

    /// Bytes by which the last acknowledgement grows the window in slow start.
    pub(crate) fn growth(&self, segment: ByteCount, paced: bool) -> f64 {
        let most = if paced { ByteCount::MAX } else { segment * MOST_SEGMENTS };
        let growth = self.acked.min(most).as_f64();
        if self.conservative.is_some() && !self.ended { growth / SLOWER } else { growth }
    }

    /// True once CSS is over: the caller then sets ssthresh to cwnd.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended
    }
}

/// The threshold η after a round with the least RTT `last`.
fn threshold(last: Span) -> Span {
    (last / DIVISOR).min(MOST_THRESHOLD).max(LEAST_THRESHOLD)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MTU: ByteCount = ByteCount::new(1500);

    fn ms(n: u64) -> Span {
        Span::from_millis(n)
    }

    /// An acknowledgement of one MTU with the RTT `rtt`, while `flight` MTUs are in flight.
    fn ack(flight: u64, rtt: Span) -> PathAck {
        PathAck {
            path: 0,
            acked: MTU,
            advanced: true,
            flight_before: MTU * flight,
            flight_after: MTU * flight,
            rtt: Some(rtt),
            owd: None,
            lost: ByteCount::ZERO,
            rate: None,
        }
    }

    /// A round of `samples` acknowledgements of one MTU each, with `samples` MTUs in flight.
    fn round(path: &mut HyStart, samples: u64, rtt: Span) {
        for _ in 0..samples {
            path.on_ack(&ack(samples, rtt), true);
        }
    }

    // rfc9406#section-4.2
    #[test]
    fn the_threshold_is_an_eighth_of_the_rtt_within_bounds() {
        assert_eq!([16, 40, 200].map(|rtt| threshold(ms(rtt))), [ms(4), ms(5), ms(16)]);
    }

    // rfc9406#section-4.2
    #[test]
    fn a_round_whose_least_rtt_rises_by_the_threshold_begins_conservative_slow_start() {
        for (rtt, conservative) in [(44, false), (45, true)] {
            let mut path = HyStart::default();
            round(&mut path, 10, ms(40));
            round(&mut path, 10, ms(rtt));
            assert_eq!(path.conservative.is_some(), conservative, "{rtt} ms after 40 ms");
        }
    }

    // rfc9406#section-4.2: N_RTT_SAMPLE is 8
    #[test]
    fn fewer_than_eight_samples_prove_nothing() {
        let mut path = HyStart::default();
        round(&mut path, 10, ms(40));
        round(&mut path, 7, ms(400));
        assert!(path.conservative.is_none());
    }

    // rfc9406#section-4.2
    #[test]
    fn slow_start_resumes_if_the_rise_was_jitter() {
        let mut path = HyStart::default();
        round(&mut path, 10, ms(40));
        round(&mut path, 10, ms(60));
        assert!(path.conservative.is_some());
        round(&mut path, 10, ms(59));
        assert!(path.conservative.is_none() && !path.has_ended());
    }

    // rfc9406#section-4.2: CSS_ROUNDS
    #[test]
    fn slow_start_ends_after_five_conservative_rounds() {
        let mut path = HyStart::default();
        round(&mut path, 10, ms(40));
        round(&mut path, 10, ms(60));
        for n in 0..5 {
            assert!(!path.has_ended(), "after {n} rounds");
            round(&mut path, 10, ms(60));
        }
        round(&mut path, 1, ms(60));
        assert!(path.has_ended());
    }

    // rfc9406#section-4.2: a loss in CSS ends HyStart++
    #[test]
    fn slow_start_after_a_loss_is_not_conservative() {
        let mut path = HyStart::default();
        round(&mut path, 10, ms(40));
        round(&mut path, 10, ms(60));
        assert_eq!(path.growth(MTU, false), MTU.as_f64() / SLOWER);
        path.on_ack(&ack(10, ms(60)), false);
        assert_eq!(path.growth(MTU, false), MTU.as_f64());
    }

    // rfc9406#section-4.2: L and CSS_GROWTH_DIVISOR
    #[test]
    fn a_sack_grows_the_window_by_eight_segments_at_most_and_by_a_quarter_in_conservative_slow_start() {
        let mut path = HyStart { acked: MTU * 20, ..HyStart::default() };
        assert_eq!(path.growth(MTU, false), 12_000.0);
        path.acked = ByteCount::new(1000);
        assert_eq!(path.growth(MTU, false), 1000.0);
        path.conservative = Some(Conservative { baseline: ms(1), rounds: 0 });
        assert_eq!(path.growth(MTU, false), 250.0);
    }

    // rfc9406#section-4.2: L with pacing
    #[test]
    fn with_pacing_a_sack_grows_the_window_by_all_that_it_acknowledges() {
        let mut path = HyStart { acked: MTU * 20, ..HyStart::default() };
        assert_eq!(path.growth(MTU, true), 30_000.0);
        path.conservative = Some(Conservative { baseline: ms(1), rounds: 0 });
        assert_eq!(path.growth(MTU, true), 7_500.0);
    }
}
