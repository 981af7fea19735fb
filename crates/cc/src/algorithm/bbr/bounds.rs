//! Upper bounds of the rate and of the bytes in flight, which losses reduce.

use units::ByteCount;

/// Least factor by which a round trip with losses reduces a bound.
const BETA: f64 = 0.7;

/// The bounds of one path; initially unlimited.
#[derive(Debug)]
pub(super) struct Bounds {
    /// Upper bound of the bytes in flight from probes (`inflight_hi`, `inflight_longterm`).
    pub(super) long_term: ByteCount,
    /// Upper bound of the bytes in flight from losses outside probes (`inflight_lo`, `inflight_shortterm`).
    pub(super) short_term: ByteCount,
    /// Upper bound of the rate in bytes/s from losses outside probes (`bw_lo`, `bw_shortterm`).
    pub(super) rate: f64,
    latest: Latest,
    /// The current round trip had a loss.
    lossy: bool,
    /// Number of acknowledgements in the current round trip that reported losses.
    pub(super) loss_events: u32,
    /// Bytes delivered at the beginning of the current round trip.
    began: ByteCount,
    /// The current acknowledgement ended the round trip.
    pub(super) round_ended: bool,
    /// The three bounds before the current recovery.
    saved: (ByteCount, ByteCount, f64),
}

/// Largest samples of the current round trip.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Latest {
    pub(super) rate: f64,
    pub(super) delivered: ByteCount,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds {
            long_term: ByteCount::MAX,
            short_term: ByteCount::MAX,
            rate: f64::INFINITY,
            latest: Latest::default(),
            lossy: false,
            loss_events: 0,
            began: ByteCount::ZERO,
            round_ended: false,
            saved: (ByteCount::MAX, ByteCount::MAX, f64::INFINITY),
        }
    }
}

impl Bounds {
    /// Saves the bounds, in case the losses that follow are spurious.
    pub(super) fn save(&mut self) {
        self.saved = (self.long_term, self.short_term, self.rate);
    }

    /// Raises each bound to at least its saved value, because the losses were spurious.
    pub(super) fn restore(&mut self) {
        let (long_term, short_term, rate) = self.saved;
        self.long_term = self.long_term.max(long_term);
        self.short_term = self.short_term.max(short_term);
        self.rate = self.rate.max(rate);
        self.lossy = false;
    }

    /// Records losses, at a time when `delivered` bytes had been delivered.
    pub(super) fn note_loss(&mut self, delivered: ByteCount) {
        if !self.lossy {
            self.began = delivered;
        }
        self.lossy = true;
        self.loss_events += 1;
    }

    /// Adds a sample. `prior`: bytes delivered when the acknowledged
    /// packet was sent; `delivered`: bytes delivered now.
    pub(super) fn take(&mut self, sample: Latest, prior: ByteCount, delivered: ByteCount) {
        self.latest.rate = self.latest.rate.max(sample.rate);
        self.latest.delivered = self.latest.delivered.max(sample.delivered);
        self.round_ended = prior >= self.began;
        if self.round_ended {
            self.began = delivered;
        }
    }

    /// Reduces the short-term bounds after a round trip with losses. `probing`: a probe caused the losses.
    pub(super) fn adapt(&mut self, probing: bool, max_rate: f64, window: ByteCount) {
        if !self.round_ended {
            return;
        }
        if self.lossy && !probing {
            let rate = if self.rate.is_finite() { self.rate } else { max_rate };
            let most = if self.short_term == ByteCount::MAX { window } else { self.short_term };
            self.rate = self.latest.rate.max(BETA * rate);
            self.short_term = self.latest.delivered.max(reduced(most));
        }
        self.lossy = false;
    }

    /// Called after an acknowledgement. If the acknowledgement ended the round trip, `sample` is the first
    /// sample of the next round trip.
    pub(super) fn advance(&mut self, sample: Latest) {
        if self.round_ended {
            self.latest = sample;
            self.loss_events = 0;
            self.round_ended = false;
        }
    }

    /// The largest number of delivered bytes in a sample of the current round trip.
    pub(super) fn latest_delivered(&self) -> ByteCount {
        self.latest.delivered
    }

    /// Resets the samples and losses of the current round trip.
    pub(super) fn reset_signals(&mut self) {
        self.lossy = false;
        self.latest = Latest::default();
    }

    pub(super) fn reset_short_term(&mut self) {
        (self.short_term, self.rate) = (ByteCount::MAX, f64::INFINITY);
    }

    /// Sets the long-term bound after a probe that lost too much: to the `in_flight`
    /// bytes of the probe, but at least to 0.7 of `target`, the desired bytes in flight.
    pub(super) fn limit(&mut self, in_flight: ByteCount, target: ByteCount) {
        self.long_term = in_flight.max(reduced(target));
    }

    /// The long-term bound minus the fraction `headroom` of it, or minus one segment if that is more.
    pub(super) fn with_headroom(&self, headroom: f64, segment: ByteCount) -> ByteCount {
        if self.long_term == ByteCount::MAX {
            return ByteCount::MAX;
        }
        self.long_term - ByteCount::round_f64(self.long_term.as_f64() * headroom).max(segment)
    }
}

fn reduced(bytes: ByteCount) -> ByteCount {
    ByteCount::round_f64(bytes.as_f64() * BETA)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(n: u64) -> ByteCount {
        ByteCount::new(n)
    }

    fn sample(rate: f64, delivered: u64) -> Latest {
        Latest { rate, delivered: bytes(delivered) }
    }

    #[test]
    fn round_trip_with_losses_reduces_the_short_term_bounds_to_what_was_delivered_but_by_30_percent_at_most()
    {
        let mut bounds = Bounds::default();
        bounds.note_loss(bytes(100));
        bounds.take(sample(90.0, 900), bytes(99), bytes(200));
        bounds.adapt(false, 100.0, bytes(2000));
        assert_eq!(bounds.short_term, ByteCount::MAX, "the round trip is not over");
        bounds.advance(sample(90.0, 900));
        bounds.take(sample(80.0, 800), bytes(100), bytes(300));
        bounds.adapt(false, 100.0, bytes(2000));
        assert_eq!((bounds.rate, bounds.short_term), (90.0, bytes(1400)));
        bounds.advance(sample(80.0, 800));
        bounds.note_loss(bytes(300));
        bounds.take(sample(10.0, 10), bytes(300), bytes(400));
        bounds.adapt(false, 100.0, bytes(2000));
        assert_eq!((bounds.rate, bounds.short_term), (80.0, bytes(980)));
        bounds.reset_short_term();
        assert_eq!((bounds.rate, bounds.short_term), (f64::INFINITY, ByteCount::MAX));
    }

    #[test]
    fn losses_of_a_probe_do_not_change_the_short_term_bounds() {
        let mut bounds = Bounds::default();
        bounds.note_loss(bytes(100));
        bounds.take(sample(90.0, 900), bytes(100), bytes(200));
        bounds.adapt(true, 100.0, bytes(2000));
        assert_eq!(bounds.short_term, ByteCount::MAX);
    }

    // draft-ietf-ccwg-bbr, "Handling a Spurious Loss Recovery"
    #[test]
    fn after_spurious_losses_the_bounds_are_those_before() {
        let mut bounds = Bounds::default();
        bounds.limit(bytes(20_000), bytes(10_000));
        bounds.save();
        bounds.note_loss(bytes(100));
        bounds.take(sample(90.0, 900), bytes(100), bytes(200));
        bounds.adapt(false, 100.0, bytes(2000));
        bounds.limit(bytes(5000), bytes(5000));
        bounds.restore();
        assert_eq!(
            (bounds.long_term, bounds.short_term, bounds.rate),
            (bytes(20_000), ByteCount::MAX, f64::INFINITY)
        );
    }

    #[test]
    fn headroom_is_a_part_of_the_long_term_bound_or_a_segment() {
        let mut bounds = Bounds::default();
        assert_eq!(bounds.with_headroom(0.15, bytes(1000)), ByteCount::MAX);
        bounds.limit(bytes(20_000), bytes(10_000));
        assert_eq!(bounds.with_headroom(0.15, bytes(1000)), bytes(17_000));
        bounds.limit(bytes(2000), bytes(5000));
        assert_eq!((bounds.long_term, bounds.with_headroom(0.15, bytes(1000))), (bytes(3500), bytes(2500)));
    }
}
