//! Round trips counted by packets, and the detection that the delivery rate stops growing.

use units::ByteCount;

/// Counts round trips. A round trip ends when a packet that was sent after its beginning is acknowledged.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    pub(super) count: u64,
    /// Bytes delivered at the beginning of the current round trip.
    began: ByteCount,
    /// The current acknowledgement ended a round trip, and the next one started.
    pub(super) started: bool,
}

impl Rounds {
    /// Processes an acknowledgement. `prior`: bytes delivered when the
    /// acknowledged packet was sent; `delivered`: bytes delivered now.
    pub(super) fn take(&mut self, prior: ByteCount, delivered: ByteCount) {
        self.started = prior >= self.began;
        if self.started {
            self.count += 1;
            self.restart(delivered);
        }
    }

    /// Begins a new round trip now.
    pub(super) fn restart(&mut self, delivered: ByteCount) {
        self.began = delivered;
    }
}

/// Number of round trips without growth after which the path counts as full.
const FULL_ROUNDS: u32 = 3;

/// Factor by which the delivery rate must rise in a round trip to count as growing.
const GROWTH: f64 = 1.25;

/// Detects that the delivery rate no longer grows.
#[derive(Debug, Default)]
pub(super) struct FullPipe {
    /// The rate from which growth is measured.
    rate: f64,
    pub(super) rounds: u32,
    /// The rate has stopped growing since the last reset.
    pub(super) now: bool,
    /// The rate has stopped growing at some time, perhaps before the last reset, or losses ended Startup.
    pub(super) reached: bool,
}

impl FullPipe {
    /// Restarts the detection: growth is measured from `rate`.
    pub(super) fn reset(&mut self, rate: f64) {
        *self = FullPipe { rate, rounds: 0, now: false, ..*self };
    }

    /// Adds the delivery rate of a round trip.
    pub(super) fn check(&mut self, rate: f64) {
        if self.now {
            return;
        }
        if rate >= self.rate * GROWTH {
            return self.reset(rate);
        }
        self.rounds += 1;
        self.now = self.rounds >= FULL_ROUNDS;
        self.reached |= self.now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(n: u64) -> ByteCount {
        ByteCount::new(n)
    }

    #[test]
    fn round_trip_ends_with_a_packet_sent_after_its_beginning() {
        let mut rounds = Rounds::default();
        rounds.take(bytes(0), bytes(10));
        assert!(rounds.started);
        for (prior, delivered) in [(0, 20), (9, 30)] {
            rounds.take(bytes(prior), bytes(delivered));
            assert!(!rounds.started);
        }
        rounds.take(bytes(10), bytes(40));
        assert!(rounds.started && rounds.count == 2);
        rounds.restart(bytes(60));
        rounds.take(bytes(50), bytes(70));
        assert!(!rounds.started);
    }

    #[test]
    fn pipe_is_full_after_three_round_trips_that_grow_by_less_than_a_quarter() {
        let mut full = FullPipe::default();
        for rate in [100.0, 125.0, 150.0, 150.0, 156.25] {
            full.check(rate);
            assert!(!full.now);
        }
        for (rate, now) in [(190.0, false), (180.0, false), (195.0, true)] {
            full.check(rate);
            assert_eq!((full.now, full.reached), (now, now), "{rate}");
        }
        full.reset(200.0);
        assert!(!full.now && full.reached);
    }
}
