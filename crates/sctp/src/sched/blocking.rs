//! What a path costs the others.

use super::faded;
use units::{ByteCount, Instant, Span};

/// Weighs what a path brings against what the others could not send while they waited for a chunk of it. If it costs more, the window must
/// have room for f times its delay before it carries new data: after the λ of BLEST (see there), but only of that path, and by what the waiting cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocking {
    /// Bytes that the others could not send lately, and in this round trip.
    cost: f64,
    cost_of_round: f64,
    /// Bytes that the path sent lately.
    sent: f64,
    /// Bytes that it had sent when this round trip began.
    sent_before: f64,
    round: Option<Instant>,
    /// f.
    factor: f64,
}

/// Costs and bytes sent fade to 1/e in so many seconds.
const LATELY: f64 = 1.0;

/// f grows by this factor in a round trip that cost more than it brought.
const STEP: f64 = 1.25;

const MOST: f64 = 4.0;

/// f falls back to 1 in so many seconds.
const RELIEF: f64 = 10.0;

impl Default for Blocking {
    fn default() -> Self {
        Blocking { cost: 0.0, cost_of_round: 0.0, sent: 0.0, sent_before: 0.0, round: None, factor: 1.0 }
    }
}

impl Blocking {
    /// The others sent so many bytes less because they waited for a chunk of this path.
    pub(super) fn add_cost(&mut self, bytes: f64) {
        self.cost_of_round += bytes;
    }

    /// Takes what a path has sent so far. Once each round trip it is weighed against the cost.
    pub(super) fn update(&mut self, now: Instant, sent: ByteCount, srtt: Span) {
        let passed = now.since(*self.round.get_or_insert(now));
        if passed < srtt {
            return;
        }
        let seconds = passed.as_secs_f64();
        let sent = sent.as_f64();
        let brought = sent - self.sent_before;
        let rest = faded(seconds, LATELY);
        self.cost = self.cost * rest + self.cost_of_round;
        self.sent = self.sent * rest + brought;
        if self.cost_of_round > brought && self.cost > self.sent {
            self.factor = (self.factor * STEP).min(MOST);
        } else {
            self.factor = 1.0 + (self.factor - 1.0) * faded(seconds, RELIEF);
        }
        (self.round, self.cost_of_round, self.sent_before) = (Some(now), 0.0, sent);
    }

    /// f, at least 1.
    pub(super) fn factor(&self) -> f64 {
        self.factor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUND: Span = Span::from_millis(100);

    /// A path that sends so many bytes each round trip.
    struct Rig {
        blocking: Blocking,
        now: Instant,
        sent: u64,
    }

    impl Rig {
        fn new() -> Rig {
            let (now, mut blocking) = (Instant::ZERO, Blocking::default());
            blocking.update(now, ByteCount::ZERO, ROUND);
            Rig { blocking, now, sent: 0 }
        }

        /// f after a round trip in which the path sends `sent` bytes, and the others `cost` bytes less.
        fn round(&mut self, sent: u64, cost: f64) -> f64 {
            self.blocking.add_cost(cost);
            self.now += ROUND;
            self.sent += sent;
            self.blocking.update(self.now, ByteCount::new(self.sent), ROUND);
            self.blocking.factor()
        }
    }

    // By hand: 5/4; then 1 + 0.25/1.01 after a tenth of a second; with lately 3000/1.1/1.1 + 1500 of (1000/1.1 + 1000)/1.1 + 1000 bytes 5/4 of that.
    #[test]
    fn a_path_that_costs_more_than_it_brings_needs_more_room() {
        let mut rig = Rig::new();
        assert_eq!(rig.round(1000, 3000.0), 1.25);
        let relieved = 1.0 + 0.25 * (1.0 / 1.01);
        assert_eq!(rig.round(1000, 0.0), relieved);
        assert_eq!(rig.round(1000, 1500.0), relieved * 1.25);
        let most = (0..10).map(|_| rig.round(1000, 1500.0)).last();
        assert_eq!(most, Some(4.0));
    }

    // By hand: lately 1500 of 1000 + 1000/1.1 bytes, and then 1500 + 1500/1.1 of 1000 + 1000/1.1 + 1000/1.21.
    #[test]
    fn one_costly_round_trip_of_a_useful_path_is_forgiven() {
        let mut rig = Rig::new();
        rig.round(1000, 0.0);
        assert_eq!(rig.round(1000, 1500.0), 1.0);
        assert_eq!(rig.round(1000, 1500.0), 1.25);
    }

    #[test]
    fn within_a_round_trip_nothing_is_weighed() {
        let mut rig = Rig::new();
        rig.blocking.add_cost(1e6);
        rig.blocking.update(rig.now + Span::from_millis(99), ByteCount::ZERO, ROUND);
        assert_eq!(rig.blocking.factor(), 1.0);
    }
}
