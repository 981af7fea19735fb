//! What the other paths lose while they wait for a chunk of one path.

use super::faded;
use units::{ByteCount, Instant, Span};

/// Compares the bytes that a path sends with its cost: the bytes that the other paths could not send while they waited for a chunk of it.
///
/// If the cost is larger, f grows. The path carries new data only if the window has room for f times its delay. BLEST corrects its estimate in the same
/// way by λ (`blest.rs`), but by one λ for all paths, and only by whether the window was full.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocking {
    /// Cost in bytes; earlier round trips fade.
    cost: f64,
    /// Cost of the present round trip in bytes.
    cost_of_round: f64,
    /// Bytes that the path sent; earlier round trips fade.
    sent: f64,
    /// All bytes that the path had sent when the present round trip began.
    sent_before: f64,
    /// When the present round trip began.
    round: Option<Instant>,
    /// f.
    factor: f64,
}

/// Cost and bytes sent fade to 1/e in so many seconds.
const LATELY: f64 = 1.0;

/// f grows by this factor after a round trip in which the path cost more than it sent.
const STEP: f64 = 1.25;

/// f grows no further.
const MOST: f64 = 4.0;

/// What f exceeds 1 by fades to 1/e in so many seconds.
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

    /// Takes all bytes that the path has sent so far. Once each round trip f changes.
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

    // By hand: the first round trip costs 3000 bytes and sends 1000, so f = 5/4. The second costs nothing: 1/4 fades to 0.25/1.01 in 0.1 s. The third
    // costs 1500, with the faded ones 3000/1.21 + 1500 = 3979. It sends 1000, with the faded ones 1000/1.21 + 1000/1.1 + 1000 = 2736. So f grows again.
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

    // By hand, with what fades: the second round trip has a cost of 1500 and 1000/1.1 + 1000 = 1909 bytes sent, the third 1500/1.1 + 1500 = 2864 and
    // 1000/1.21 + 1000/1.1 + 1000 = 2736.
    #[test]
    fn one_costly_round_trip_of_a_useful_path_is_forgiven() {
        let mut rig = Rig::new();
        rig.round(1000, 0.0);
        assert_eq!(rig.round(1000, 1500.0), 1.0);
        assert_eq!(rig.round(1000, 1500.0), 1.25);
    }

    #[test]
    fn within_a_round_trip_nothing_changes() {
        let mut rig = Rig::new();
        rig.blocking.add_cost(1e6);
        rig.blocking.update(rig.now + Span::from_millis(99), ByteCount::ZERO, ROUND);
        assert_eq!(rig.blocking.factor(), 1.0);
    }
}
