//! Rate samples and pacing, for congestion controls that need them.

use super::Sender;
use super::flight::Sent;
use cc::{Pacer, RateEstimator, SendRecord};
use units::{ByteCount, Instant};

/// State of a paced connection. Bytes are user bytes.
#[derive(Debug)]
pub(super) struct RateControl {
    /// The congestion control wants rate samples.
    samples: bool,
    pub(super) estimator: RateEstimator,
    pub(super) pacer: Pacer,
}

impl RateControl {
    pub(super) fn new(mtu: ByteCount, samples: bool) -> Self {
        RateControl { samples, estimator: RateEstimator::default(), pacer: Pacer::new(mtu) }
    }

    /// Processes the first acknowledgement of a segment.
    pub(super) fn on_delivered(&mut self, now: Instant, sent: &Sent, record: SendRecord) {
        let bytes = ByteCount::new(u64::from(sent.len));
        self.estimator.on_delivered(now, bytes, sent.sent_at, record, sent.retransmitted);
    }
}

impl Sender {
    /// True if the congestion control wants rate samples.
    #[inline]
    pub(super) fn models_rate(&self) -> bool {
        self.rate.as_ref().is_some_and(|rate| rate.samples)
    }

    /// Adds the bytes that were lost since the last call.
    pub(super) fn count_lost(&mut self) {
        let lost = self.flight.take_newly_lost();
        if let Some(rate) = &mut self.rate {
            rate.estimator.on_lost(ByteCount::new(lost));
        }
    }

    /// True if the congestion control was not yet informed of lost bytes.
    pub(super) fn has_losses_to_tell(&self) -> bool {
        self.flight.newly_lost() > 0 || self.rate.as_ref().is_some_and(|rate| rate.estimator.has_lost())
    }

    /// True if the pacer delays segments now.
    #[inline]
    pub(super) fn is_held(&self, now: Instant) -> bool {
        self.rate.as_ref().is_some_and(|rate| rate.pacer.ready_at().is_some_and(|at| at > now))
    }

    /// Records that no more segments can be sent now. Sets the pacing timer if the pacer is
    /// the reason. If cwnd has room, the rate samples are marked as application-limited,
    /// also if the peer's receive window or Nagle's rule holds the sender back.
    pub(super) fn note_limit(&mut self, now: Instant) {
        let held = self.is_held(now);
        let room = self.fits(u64::from(self.smss), 0);
        let again = self.recovery.is_some() || self.flight.next_lost().is_some();
        let waiting = again || self.unsent() > 0 || (self.closing && !self.fin_sent());
        let flight = ByteCount::new(self.flight.in_flight());
        let Some(rate) = &mut self.rate else { return };
        if held {
            self.timers.pacing = rate.pacer.ready_at().filter(|_| waiting);
        }
        // The pacer limits the sender only while it delays a segment that waits.
        if room && rate.samples && !(held && waiting) {
            rate.estimator.on_app_limited(flight);
        }
    }

    /// Counts the transmission of segment `i` with `bytes` user bytes; `flight` bytes were in flight before.
    pub(super) fn count_sent(&mut self, now: Instant, i: u64, bytes: u32, flight: u64) {
        let bytes = ByteCount::new(u64::from(bytes));
        if !self.models_rate() {
            if let Some(rate) = &mut self.rate {
                rate.pacer.on_sent(now, bytes);
            }
            return;
        }
        self.count_lost();
        let Some(rate) = &mut self.rate else { return };
        let limited = rate.estimator.is_app_limited();
        let record = rate.estimator.on_sent(now, ByteCount::new(flight));
        rate.pacer.on_sent(now, bytes);
        self.flight.set_record(i, record);
        let flight = self.flight.in_flight();
        self.ask(now, flight, |control, views, _| control.on_sent(now, views, 0, bytes, limited));
    }
}
