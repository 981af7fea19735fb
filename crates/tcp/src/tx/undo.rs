//! Recoveries and timeouts that were spurious: the Eifel detection algorithm (`rfc3522`).

use super::Sender;
use super::ack::Ack;
use cc::CongestionWindow;
use units::{ByteCount, Instant};

/// A recovery or timeout that may prove spurious.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    /// The window before the recovery or timeout.
    window: CongestionWindow,
    /// SND.UNA at the beginning of the recovery or timeout.
    una: u64,
    /// Bytes declared lost before the recovery or timeout, for rate samples.
    lost: ByteCount,
    /// Time of the first retransmission of the recovery or timeout.
    resent: Option<Instant>,
}

impl Sender {
    /// Notes the state before a recovery or a timeout. Keeps an earlier state with the same SND.UNA if a
    /// segment was retransmitted since.
    pub(super) fn note_undo(&mut self) {
        let una = self.flight.una();
        if self.config.undo && self.undo.is_none_or(|undo| undo.resent.is_none() || undo.una != una) {
            let lost = self.rate.as_ref().map_or(ByteCount::ZERO, |rate| rate.estimator.lost());
            self.undo = Some(Undo { window: self.window, una, lost, resent: None });
        }
    }

    pub(super) fn note_resent(&mut self, now: Instant) {
        if let Some(undo) = &mut self.undo {
            undo.resent.get_or_insert(now);
        }
    }

    /// Undoes the recovery or timeout if the next acknowledgement of new data echoes a time
    /// before the first retransmission: the original segment has arrived (`rfc3522#section-3.2`).
    pub(super) fn check_undo(&mut self, now: Instant, ack: &Ack) {
        let Some(Undo { window, una, lost, resent: Some(resent) }) = self.undo else { return };
        if ack.to <= una {
            return;
        }
        self.undo = None;
        if ack.answers(resent) != Some(false) {
            return;
        }
        self.stats.undone_reductions += 1;
        self.recovery = None;
        self.forced = None;
        self.timed_out = None;
        self.dup_acks = 0;
        self.flight.find_lost();
        self.flight.take_newly_lost();
        if let Some(rate) = &mut self.rate {
            rate.estimator.undo_lost(lost);
        }
        let flight = self.flight.in_flight();
        self.ask(now, flight, |control, views, windows| {
            control.on_spurious_loss(views, 0, window, windows);
        });
    }
}
