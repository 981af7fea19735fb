use crate::DelayedAck;
use units::Instant;

/// Delayed acknowledgements (`rfc5681#section-4.2`, `rfc9293#section-3.8.6.3`).
#[derive(Debug)]
pub(crate) struct Acks {
    rule: DelayedAck,
    /// Number of data segments that are not acknowledged yet.
    waiting: u32,
    deadline: Option<Instant>,
    due: bool,
}

impl Acks {
    pub(crate) fn new(rule: DelayedAck) -> Self {
        Acks { rule, waiting: 0, deadline: None, due: false }
    }

    /// Records a data segment that arrived in order.
    #[inline]
    pub(crate) fn on_data(&mut self, now: Instant) {
        self.waiting += 1;
        if self.waiting >= self.rule.every {
            self.due = true;
        } else {
            self.deadline.get_or_insert(now + self.rule.timeout);
        }
    }

    /// Makes an acknowledgement due now.
    #[inline]
    pub(crate) fn at_once(&mut self) {
        self.due = true;
    }

    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        self.due
    }

    /// Records that an acknowledgement is sent.
    #[inline]
    pub(crate) fn sent(&mut self) {
        self.waiting = 0;
        self.deadline = None;
        self.due = false;
    }

    /// Time at which an acknowledgement becomes due.
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    pub(crate) fn on_timeout(&mut self, now: Instant) {
        self.due |= self.deadline.is_some_and(|at| at <= now);
    }
}
