//! The end of an association: graceful shutdown or abort (`rfc9260#section-9`).

use super::Association;
use super::control::Pending;
use super::phase::{Farewell, Phase, Retry};
use crate::event::{AssocId, CloseReason, Event};
use crate::path::PathId;
use crate::tx::Failure;
use units::Instant;
use wire::{Cause, CauseList, Tsn};

/// Reason in the ABORT to a peer that does not complete the shutdown.
pub(super) const SHUTDOWN_GUARD: &[u8] = b"shutdown takes too long";

/// Duration of T5-shutdown-guard as a multiple of RTO.Max (`rfc9260#section-9.2`).
const GUARD_RTOS: u64 = 5;

impl Association {
    /// Begins a graceful shutdown on request of the user.
    pub(crate) fn shutdown(&mut self, now: Instant) {
        match &mut self.phase {
            Phase::CookieWait { begun, .. } | Phase::CookieEchoed { begun, .. } => begun.shutdown = true,
            Phase::Established => {
                self.phase = Phase::ShutdownPending;
                self.give_up_wishes();
                self.sender.shutdown_pending();
            }
            _ => return,
        }
        self.settle(now);
    }

    /// Continues the shutdown once all our data is acknowledged.
    #[inline(always)]
    pub(super) fn advance_shutdown(&mut self, now: Instant) {
        let waits = matches!(self.phase, Phase::ShutdownPending | Phase::ShutdownReceived { .. });
        if waits && self.sender.is_drained() {
            self.end_of_our_data(now);
        }
    }

    /// Continues the shutdown after a FORWARD TSN that makes the peer skip all outstanding chunks.
    pub(super) fn advance_shutdown_after_skip(&mut self, now: Instant) {
        self.sender.acknowledge_skipped(now, &mut self.paths);
        self.advance_shutdown(now);
    }

    #[cold]
    fn end_of_our_data(&mut self, now: Instant) {
        match self.phase {
            Phase::ShutdownPending => {
                let path = self.paths.default_path();
                self.control.push(path, Pending::Shutdown);
                let t2 = Retry::start(now, path, &self.paths);
                let t5 = now + self.config().rto_max * GUARD_RTOS;
                self.phase = Phase::ShutdownSent { t2, t5 };
            }
            Phase::ShutdownReceived { from } => {
                self.answer_shutdown(Retry::start(now, from, &self.paths));
            }
            _ => {}
        }
    }

    fn answer_shutdown(&mut self, t2: Retry) {
        self.control.push(t2.path, Pending::ShutdownAck);
        self.phase = Phase::ShutdownAckSent { t2 };
    }

    pub(super) fn on_shutdown(&mut self, now: Instant, from: PathId, cum: Tsn) {
        match self.phase {
            Phase::Established | Phase::ShutdownPending | Phase::ShutdownReceived { .. } => {
                // Until the peer answers a reset of the TSNs, no data is outstanding, so the SHUTDOWN
                // acknowledges nothing.
                if !self.re_config.as_ref().is_some_and(|config| config.awaits_new_tsns()) {
                    match self.sender.on_cumulative_ack(now, cum, &mut self.paths) {
                        Ok(outcome) => self.acknowledged(&outcome),
                        Err(what) => return self.violation(what),
                    }
                }
                if !matches!(self.phase, Phase::ShutdownReceived { .. }) {
                    self.give_up_wishes();
                    self.sender.shutdown_pending();
                    self.events.push(Event::ShutdownReceived);
                }
                self.phase = Phase::ShutdownReceived { from };
            }
            // Both ends shut down at the same time.
            Phase::ShutdownSent { .. } => self.answer_shutdown(Retry::start(now, from, &self.paths)),
            Phase::ShutdownAckSent { t2 } => self.control.push(t2.path, Pending::ShutdownAck),
            Phase::CookieWait { .. } | Phase::CookieEchoed { .. } | Phase::Closed { .. } => {}
        }
    }

    /// Answers DATA in SHUTDOWN-SENT with another SHUTDOWN and restarts T2.
    pub(super) fn on_data_in_shutdown_sent(&mut self, now: Instant, from: PathId) {
        if let Phase::ShutdownSent { t2, .. } = &mut self.phase {
            *t2 = Retry { deadline: now + self.paths[t2.path].rto.current(), ..*t2 };
            self.control.push(from, Pending::Shutdown);
            if let Some(receiver) = &mut self.receiver {
                receiver.sack_now();
            }
        }
    }

    pub(super) fn on_shutdown_ack(&mut self, from: PathId) {
        if matches!(self.phase, Phase::ShutdownSent { .. } | Phase::ShutdownAckSent { .. }) {
            self.close(CloseReason::Graceful, Some(Farewell::ShutdownComplete(from)));
        }
    }

    pub(super) fn on_shutdown_complete(&mut self) {
        if matches!(self.phase, Phase::ShutdownAckSent { .. }) {
            self.close(CloseReason::Graceful, None);
        }
    }

    /// Aborts the association on request of the user; received data that was not read is discarded.
    pub(crate) fn abort(&mut self, reason: &[u8]) {
        let mut causes = CauseList::new();
        causes.push(&Cause::UserInitiatedAbort(reason));
        self.abort_with(&causes, CloseReason::LocalAbort);
        self.receiver = None;
    }

    /// Aborts the association after a protocol violation of the peer.
    #[cold]
    #[inline(never)]
    pub(super) fn violation(&mut self, what: &'static str) {
        let mut causes = CauseList::new();
        causes.push(&Cause::ProtocolViolation(what.as_bytes()));
        self.abort_with(&causes, CloseReason::ProtocolViolation { what });
    }

    /// Ends the association with a peer that does not answer. An ABORT is sent, because the peer may still
    /// receive packets and would otherwise keep the association (`rfc9260#section-9.1`).
    pub(super) fn give_up(&mut self, why: &[u8], reason: CloseReason) {
        let mut causes = CauseList::new();
        causes.push(&Cause::ProtocolViolation(why));
        self.abort_with(&causes, reason);
    }

    /// Ends this association without an ABORT because another association with the same peer exists: an ABORT
    /// with the peer's tag could end the other association.
    pub(crate) fn end_as_duplicate(&mut self, of: AssocId) {
        self.close(CloseReason::Duplicate { of }, None);
    }

    /// Ends the association with an ABORT, if the peer's tag and an address of it are known.
    pub(super) fn abort_with(&mut self, causes: &CauseList, reason: CloseReason) {
        let path = self.paths.default_path();
        let abort = Farewell::Abort(path, causes.as_causes().as_bytes().to_vec());
        let reachable = self.peer_tag != 0 && self.paths.any_confirmed();
        self.close(reason, reachable.then_some(abort));
    }

    /// Reports to the user the abandoned messages, and then those that the peer did not acknowledge. The
    /// caller then reports the end or the restart of the association.
    pub(super) fn fail_messages(&mut self) {
        while let Some(failure) = self.sender.next_abandoned() {
            self.events.push(failed(failure));
        }
        self.sender.failed(|failure| self.events.push(failed(failure)));
    }

    /// Ends the association; only the last packet (ABORT or SHUTDOWN COMPLETE), if any, is still sent.
    pub(super) fn close(&mut self, reason: CloseReason, farewell: Option<Farewell>) {
        if self.phase.is_closed() {
            return;
        }
        self.phase = Phase::Closed { farewell };
        self.sender.save_all(&self.paths);
        self.control.clear();
        self.forget_wishes();
        self.tell_of_marks();
        self.fail_messages();
        if self.is_readable() {
            self.events.readable();
        }
        if let Some(observer) = &mut self.observer {
            observer.closed(&reason);
        }
        self.events.push(Event::Closed { reason });
    }
}

/// The event that reports a message that was not delivered.
pub(super) fn failed(failure: Failure) -> Event {
    let Failure { id, tsn, sent, abandoned, message } = failure;
    let (stream, length) = (message.stream, message.payload.len());
    Event::SendFailed { id, stream, tsn, length, sent, abandoned, message: Box::new(message) }
}
