use super::Connection;
use super::phase::Phase;
use crate::event::CloseReason;
use units::Instant;

impl Connection {
    /// Earliest expiry of a timer of the connection.
    #[inline]
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        let acks = self.receiver.as_ref().and_then(|receiver| receiver.acks.deadline());
        let next = match self.phase {
            Phase::SynSent { retry } | Phase::SynReceived { retry, .. } => retry.deadline,
            Phase::TimeWait { until } => until,
            Phase::Closed { .. } => return None,
            _ => self.sender.deadline().min(acks.unwrap_or(Instant::FAR)),
        };
        (next != Instant::FAR).then_some(next)
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        match &mut self.phase {
            Phase::SynSent { retry } | Phase::SynReceived { retry, .. } if retry.deadline <= now => {
                self.sender.rto.back_off();
                retry.again(self.sender.rto.deadline(now));
                if retry.count > self.local.config.max_syn_retransmissions {
                    self.end(CloseReason::ConnectTimeout, false);
                } else {
                    self.syn_due = true;
                }
            }
            Phase::TimeWait { until } if *until <= now => self.end(CloseReason::Graceful, false),
            phase if phase.is_open() => {
                if !self.sender.on_timeout(now) {
                    self.end(CloseReason::TimedOut, true);
                } else if let Some(receiver) = &mut self.receiver {
                    receiver.acks.on_timeout(now);
                }
            }
            _ => {}
        }
        self.settle(now);
    }
}
