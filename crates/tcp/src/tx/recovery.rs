//! Loss recovery: Tahoe, Reno, NewReno (`rfc6582`) and SACK (`rfc6675`).

use super::flight::DUP_THRESHOLD;
use super::prr::Prr;
use super::{Forced, Sender};
use crate::Variant;
use cc::LossKind;
use units::Instant;

/// State of a fast recovery. Tahoe has no fast recovery: it slow starts from the first hole.
#[derive(Debug)]
pub(super) struct Recovery {
    /// SND.NXT at the beginning of the recovery, which ends when all earlier bytes are acknowledged
    /// (RecoveryPoint).
    pub(super) point: u64,
    /// Send limit during the recovery.
    pub(super) cwnd: u64,
    /// A partial acknowledgement has arrived.
    partial: bool,
    pub(super) prr: Option<Prr>,
    /// NextSeg rule 3 looks for holes from this index on (`rfc6675#section-4`).
    pub(super) hole: u64,
    /// The value of [`Self::point`] once NextSeg rule 4 has retransmitted
    /// a segment in this recovery (RescueRxt); `None` before.
    pub(super) rescue: Option<u64>,
}

/// Changes by one acknowledgement that are relevant to loss recovery.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AckDelta {
    /// Bytes acknowledged cumulatively for the first time.
    pub(super) acked: u64,
    /// Bytes newly acknowledged, cumulatively or selectively.
    pub(super) delivered: u64,
    /// The segment is a duplicate acknowledgement (`rfc5681#section-2`; for SACK, `rfc6675#section-2`).
    pub(super) duplicate: bool,
    /// FlightSize before the acknowledgement.
    pub(super) flight_before: u64,
}

impl Sender {
    /// Begins, continues or ends a recovery. True if the acknowledgement belongs to a recovery.
    pub(super) fn recover(&mut self, now: Instant, delta: &AckDelta) -> bool {
        if delta.acked > 0 {
            self.dup_acks = 0;
        }
        if delta.duplicate {
            self.dup_acks += 1;
            self.stats.dup_acks += 1;
        }
        if self.recovery.is_some() {
            self.go_on(now, delta);
            return true;
        }
        let late = self.detect_by_time(now);
        if !self.may_recover() || !(late || self.loss_by_duplicates(delta)) {
            return false;
        }
        self.begin_recovery(now, delta);
        true
    }

    /// False while retransmissions may have caused duplicate acknowledgements (`rfc6582#section-3.2`, step 2;
    /// `rfc6675#section-5.1`).
    fn may_recover(&self) -> bool {
        let una = self.flight.una();
        !self.flight.is_empty()
            && match self.variant {
                Variant::Sack => una >= self.recover,
                _ => una > self.recover,
            }
    }

    fn loss_by_duplicates(&self, delta: &AckDelta) -> bool {
        if self.rack.is_some() || !delta.duplicate {
            return false;
        }
        let boundary = || self.flight.sack_boundary(u64::from(self.smss)) > self.flight.first_index();
        u64::from(self.dup_acks) >= DUP_THRESHOLD || self.variant == Variant::Sack && boundary()
    }

    fn begin_recovery(&mut self, now: Instant, delta: &AckDelta) {
        self.stats.recoveries += 1;
        self.note_undo();
        let point = self.flight.nxt();
        let smss = u64::from(self.smss);
        // Segments of limited transmit beyond the window are not counted (rfc5681#section-3.2, step 2).
        let most = if self.config.limited_transmit { self.window.cwnd.get() } else { u64::MAX };
        let flight = delta.flight_before.min(most);
        self.control_loss(now, flight, LossKind::FastRetransmit);
        self.timers.rto = Some(self.rto.deadline(now));
        self.timers.probe = None;
        self.ecn.answered = point;
        self.ecn.tell = self.ecn.enabled;
        self.forced = Some(Forced::Lost);
        if self.variant != Variant::Reno {
            self.recover = point;
        }
        let mut cwnd = self.window.cwnd.get();
        match self.variant {
            Variant::Tahoe => {
                self.dup_acks = 0;
                self.restart_window(now);
                self.flight.lose_all(false, |_| false);
                return;
            }
            // rfc5681#section-3.2, step 3: inflation by the segments that have left the network.
            Variant::Reno | Variant::NewReno => cwnd += DUP_THRESHOLD * smss,
            Variant::Sack => {}
        }
        let prr = (self.variant == Variant::Sack && self.config.prr).then(|| Prr::new(flight));
        let hole = self.flight.first_index();
        self.recovery = Some(Recovery { point, cwnd, partial: false, prr, hole, rescue: None });
        if self.rack.is_none() {
            self.flight.lose(self.flight.first_index());
        }
        self.repair_by_sack(now, delta);
    }

    fn go_on(&mut self, now: Instant, delta: &AckDelta) {
        let Some(recovery) = &mut self.recovery else { return };
        let smss = u64::from(self.smss);
        if delta.acked > 0 {
            let over = self.variant == Variant::Reno || self.flight.una() >= recovery.point;
            if over {
                self.end_recovery(now);
                return;
            }
            // rfc6582#section-3.2, step 3: only the first partial acknowledgement restarts the timer
            // ("impatient").
            if self.variant != Variant::NewReno || !recovery.partial {
                self.timers.rto = Some(self.rto.deadline(now));
            }
            recovery.partial = true;
        }
        if self.variant == Variant::Sack {
            self.repair_by_sack(now, delta);
        } else if delta.acked > 0 {
            // The partial window deflation of rfc6582#section-3.2, step 3.
            recovery.cwnd = recovery.cwnd.saturating_sub(delta.acked);
            if delta.acked >= smss {
                recovery.cwnd += smss;
            }
            self.flight.lose(self.flight.first_index());
            self.forced = Some(Forced::Lost);
        } else if delta.duplicate {
            recovery.cwnd += smss;
        }
    }

    /// Detects further losses, and sets the send limit of a recovery with SACK.
    fn repair_by_sack(&mut self, now: Instant, delta: &AckDelta) {
        if self.variant != Variant::Sack {
            return;
        }
        if self.rack.is_some() {
            self.detect_by_time(now);
        } else {
            let boundary = self.flight.sack_boundary(u64::from(self.smss));
            self.flight.lose_by_sack(boundary);
        }
        let ssthresh = self.window.cwnd.get();
        let (pipe, smss) = (self.flight.in_flight(), u64::from(self.smss));
        if let Some(recovery) = &mut self.recovery
            && let Some(prr) = &mut recovery.prr
        {
            recovery.cwnd = prr.on_ack(delta.delivered, pipe, ssthresh, smss);
        }
    }

    /// Ends recovery, so that the window is ssthresh (`rfc5681#section-3.2`, step 6).
    fn end_recovery(&mut self, now: Instant) {
        self.recovery = None;
        self.forced = None;
        self.dup_acks = 0;
        self.restart_rto(now);
        if let Some(rack) = &mut self.rack {
            rack.recovery_ended();
        }
        self.detect_by_time(now);
    }

    /// Detects losses at the expiry of the reordering timer (`rfc8985#section-6.2`).
    pub(super) fn on_reorder_timer(&mut self, now: Instant) {
        let delta = AckDelta { flight_before: self.flight.size(), ..AckDelta::default() };
        self.timers.reorder = None;
        self.recover(now, &delta);
    }
}
