//! The timers of the sending half and their expiry.

use super::{Forced, Sender, flight::Sent, recovery::Recovery};
use crate::Variant;
use cc::LossKind;
use units::Instant;

/// Expiry of each running timer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Timers {
    /// Retransmission (`rfc6298#section-5`).
    pub(super) rto: Option<Instant>,
    /// Zero window probe (`rfc9293#section-3.8.6.1`), or end of silly window avoidance.
    pub(super) persist: Option<Instant>,
    /// Consecutive expiries of the persist timer.
    pub(super) persisted: u32,
    /// Tail loss probe (`rfc8985#section-7.2`).
    pub(super) probe: Option<Instant>,
    /// RACK reordering timer (`rfc8985#section-6.2`).
    pub(super) reorder: Option<Instant>,
    /// Time at which the pacer allows the next segment.
    pub(super) pacing: Option<Instant>,
}

impl Sender {
    /// Earliest expiry.
    #[inline]
    pub(crate) fn deadline(&self) -> Instant {
        let Timers { rto, persist, probe, reorder, pacing, .. } = self.timers;
        [rto, persist, probe, reorder, pacing].into_iter().flatten().fold(Instant::FAR, Instant::min)
    }

    /// Runs expired timers; false if the connection must be aborted.
    pub(crate) fn on_timeout(&mut self, now: Instant) -> bool {
        let due = |timer: Option<Instant>| timer.is_some_and(|at| at <= now);
        if due(self.timers.pacing) {
            self.timers.pacing = None; // the next segment is polled after every event
        }
        if due(self.timers.reorder) {
            self.on_reorder_timer(now);
        }
        if due(self.timers.probe) {
            self.on_probe_timer(now);
        }
        if due(self.timers.persist) {
            self.on_persist_timer(now);
        }
        if due(self.timers.rto) {
            self.on_rto(now);
        }
        self.expiries <= self.config.max_retransmissions
    }

    /// Retransmits after an expiry of the timer (`rfc6298#section-5`, 5.4 to 5.6; `rfc5681#section-3.1`).
    fn on_rto(&mut self, now: Instant) {
        self.stats.timeouts += 1;
        self.note_undo();
        self.expiries += 1;
        self.account_for_timeout(now);
        // A second timeout of the same segment does not reduce the window again (rfc5681#section-3.1).
        if self.timed_out != Some(self.flight.una()) {
            let flight = match self.recovery.take() {
                Some(recovery) => self.not_arrived(&recovery),
                None => self.flight.size(),
            };
            self.control_loss(now, flight, LossKind::Timeout);
        }
        self.timed_out = Some(self.flight.una());
        self.restart_window(now);
        self.recovery = None;
        self.probe = None;
        self.dup_acks = 0;
        self.recover = self.flight.nxt();
        self.ecn.answered = self.recover;
        self.ecn.tell = self.ecn.enabled;
        let (rack, srtt) = (self.rack, self.rto.srtt());
        let forget = rack.is_none() || self.flight.reneged();
        let recent = |sent: &Sent| rack.as_ref().is_some_and(|rack| !rack.is_late(srtt, now, sent));
        self.flight.lose_all(forget, recent);
        self.forced = Some(Forced::Lost);
        self.rto.back_off();
        self.timers.rto = Some(self.rto.deadline(now));
        self.timers.probe = None;
        self.timers.reorder = None;
    }

    /// Bytes in flight in a recovery that have not arrived. FlightSize also counts segments that arrived, and
    /// grows while the recovery repairs one hole per round trip (`rfc5681#section-3.2`, step 4). If ssthresh
    /// were half of FlightSize, the next slow start would end in another timeout.
    fn not_arrived(&self, recovery: &Recovery) -> u64 {
        let arrived = match self.variant {
            Variant::Sack => self.flight.sacked_segments() * u64::from(self.smss),
            _ => recovery.cwnd.saturating_sub(self.window.cwnd.get()),
        };
        (self.flight.nxt() - self.flight.una()).saturating_sub(arrived)
    }

    /// Restarts the retransmission timer, or stops it if nothing is in flight (`rfc6298#section-5`, 5.2 and
    /// 5.3).
    pub(super) fn restart_rto(&mut self, now: Instant) {
        if self.flight.is_empty() {
            self.timers.rto = None;
            self.timers.probe = None;
            self.timers.reorder = None;
        } else if self.timers.persist.is_none() {
            self.timers.rto = Some(self.rto.deadline(now));
        }
    }

    fn on_persist_timer(&mut self, now: Instant) {
        self.stats.window_probes += 1;
        self.forced = Some(Forced::WindowProbe);
        self.timers.persisted += 1;
        self.start_persist(now);
    }

    /// Starts the persist timer: the RTO, doubled for each earlier expiry, at most the largest RTO.
    pub(super) fn start_persist(&mut self, now: Instant) {
        let wait = self.rto.current() * (1 << self.timers.persisted.min(16));
        self.timers.persist = Some(now + wait.min(self.config.rto.max));
    }

    /// Ends probing after the window has opened: a probe in flight counts as a lost segment.
    pub(super) fn end_persist(&mut self) {
        self.timers.persist = None;
        self.timers.persisted = 0;
        if !self.flight.is_empty() {
            self.flight.lose(self.flight.first_index());
            self.forced = Some(Forced::Lost);
        }
    }
}
