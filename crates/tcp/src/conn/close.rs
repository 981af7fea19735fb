//! The end of a connection (`rfc9293#section-3.6`).

use super::Connection;
use super::phase::Phase;
use crate::event::{CloseReason, Event};
use units::Instant;

impl Connection {
    /// Closes the sending side.
    pub(crate) fn shutdown(&mut self, now: Instant) {
        self.closing = true;
        self.begin_close();
        self.settle(now);
    }

    /// Queues our FIN behind the unsent data.
    pub(super) fn begin_close(&mut self) {
        self.phase = match self.phase {
            Phase::Established => Phase::FinWait1,
            Phase::CloseWait => Phase::LastAck,
            _ => return,
        };
        self.sender.close();
    }

    /// Changes the state once all our data and our FIN are acknowledged.
    pub(super) fn on_our_end(&mut self, now: Instant) {
        match self.phase {
            Phase::FinWait1 => self.phase = Phase::FinWait2,
            Phase::Closing => self.wait(now),
            Phase::LastAck => self.end(CloseReason::Graceful, false),
            _ => {}
        }
    }

    /// Changes the state once all of the peer's data and its FIN have arrived.
    pub(super) fn on_their_end(&mut self, now: Instant) {
        self.events.push(Event::PeerClosed);
        match self.phase {
            Phase::Established => self.phase = Phase::CloseWait,
            Phase::FinWait1 if !self.sender.is_finished() => self.phase = Phase::Closing,
            Phase::FinWait1 | Phase::FinWait2 => self.wait(now),
            _ => {}
        }
    }

    /// Enters TIME-WAIT and reports the connection as closed.
    fn wait(&mut self, now: Instant) {
        self.events.push(Event::Closed { reason: CloseReason::Graceful });
        self.phase = Phase::TimeWait { until: now + self.config().time_wait };
        self.sender.clear();
    }

    /// Aborts the connection (`rfc9293#section-3.10.5`).
    pub(crate) fn abort(&mut self) {
        let reset = self.phase.is_open() || matches!(self.phase, Phase::SynReceived { .. });
        if let Some(receiver) = &mut self.receiver {
            receiver.discard();
        }
        if !self.is_closed() {
            self.end(CloseReason::LocalAbort, reset);
        }
    }
}
