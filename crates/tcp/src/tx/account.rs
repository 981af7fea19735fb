//! Accounts for the sender's time: what holds the sender back (a
//! `Limit`, such as cwnd or the application), and for how long.

use super::Sender;
use crate::sequence::ORIGIN;
use transport::Limit;
use units::Instant;

impl Sender {
    /// Records what holds the sender back, after the last segment that may be sent now.
    pub(super) fn account(&mut self, now: Instant) {
        if self.end == ORIGIN + 1 {
            return; // the connection never had data
        }
        let limit = self.limit(now);
        self.stats.limits.enter(now, Some(limit));
    }

    fn limit(&self, now: Instant) -> Limit {
        let lost = self.flight.next_lost().is_some();
        if self.timed_out == Some(self.flight.una()) && !self.flight.is_empty() {
            return Limit::Timeout;
        }
        if self.unsent() == 0 && !lost {
            return if self.blocked { Limit::SendBuffer } else { Limit::Application };
        }
        if self.is_held(now) {
            return Limit::Pacing;
        }
        let len = if lost { u64::from(self.smss) } else { self.next_len() };
        if !self.fits(len, 0) {
            return if self.recovery.is_some() { Limit::Recovery } else { Limit::Cwnd };
        }
        // Nagle's rule and silly window avoidance wait for more data or for a larger window.
        if self.peer.edge.saturating_sub(self.flight.nxt()) < len {
            Limit::PeerWindow
        } else {
            Limit::Application
        }
    }

    /// Counts the time since the start of the expired retransmission timer as a timeout.
    #[cold]
    pub(super) fn account_for_timeout(&mut self, now: Instant) {
        if self.stats.limits.present() == Some(Limit::Application) {
            return;
        }
        let waited = self.rto.current().as_nanos();
        let since = Instant::from_nanos(now.as_nanos().saturating_sub(waited));
        self.stats.limits.reassign(since, Limit::Timeout);
    }
}
