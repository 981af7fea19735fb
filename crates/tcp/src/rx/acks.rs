use crate::DelayedAck;
use units::Instant;

/// Delayed acknowledgements (`rfc5681#section-4.2`, `rfc9293#section-3.8.6.3`).
#[derive(Debug)]
pub(crate) struct Acks {
    rule: DelayedAck,
    /// Segments with data that are not acknowledged.
    waiting: u32,
    deadline: Option<Instant>,
    due: bool,
}

impl Acks {
    pub(crate) fn new(rule: DelayedAck) -> Self {
        Acks { rule, waiting: 0, deadline: None, due: false }
    }

    /// A data segment arrived in order.
    #[inline]
    pub(crate) fn on_data(&mut self, now: Instant) {
        self.waiting += 1;
        if self.waiting >= self.rule.every {
            self.due = true;
        } else {
            self.deadline.get_or_insert(now + self.rule.timeout);
        }
    }

    /// An acknowledgement is due now.
    #[inline]
    pub(crate) fn at_once(&mut self) {
        self.due = true;
    }

    /// True if an acknowledgement is due.
    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        self.due
    }

    /// An acknowledgement is sent.
    #[inline]
    pub(crate) fn sent(&mut self) {
        self.waiting = 0;
        self.deadline = None;
        self.due = false;
    }

    /// When an acknowledgement becomes due.
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    pub(crate) fn on_timeout(&mut self, now: Instant) {
        self.due |= self.deadline.is_some_and(|at| at <= now);
    }
}
