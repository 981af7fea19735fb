//! Whether a path answers: one state, and all that changes it.
//!
//! ```text
//!               nothing for longer than expected
//!   Proven  ──────────────────────────────────────▶  Silent    while another path is usable
//!     ▲  ▲  ──────────────────────────────────────▶  Lonely    if it is the last usable one
//!     │  │                                             │
//!     │  └──── answer to a heartbeat, or to data ──────┤
//!     │                                                ▼
//!     └───────── answer to what left on trial ───────  Trial   what left before the silence is acknowledged
//! ```
//!
//! Time is measured elsewhere: the sender sets the deadline at which a path that has not answered falls silent.

use units::Instant;

/// What is known of a path that may carry data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Life {
    /// It answers, as far as known.
    #[default]
    Proven,
    /// It did not answer in time, and no other path could carry its chunks.
    Lonely {
        /// Packets with data sent since.
        sent: u8,
        /// Tail loss probes sent since.
        probes: u8,
    },
    /// It did not answer in time: its chunks are copied, a heartbeat asks for an answer, and new data goes to other paths.
    Silent,
    /// Something was acknowledged that left before it fell silent. It may send so many packets with data.
    Trial {
        /// Packets that may still leave.
        left: u8,
    },
}

/// Packets with data that the last path carries after its probe timeout, until something is acknowledged there.
const MOST_UNANSWERED: u8 = 3;

/// Packets with data that a path on trial may send: in an outage of all that it sends each of them has to be copied.
const MOST_ON_TRIAL: u8 = 10;

/// Whether a path answers, and until when that is to be seen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Liveness {
    life: Life,
    /// [`Instant::FAR`] if there is none.
    deadline: Instant,
    since: Instant,
    proof: Instant,
}

impl Default for Liveness {
    fn default() -> Self {
        Liveness { life: Life::Proven, deadline: Instant::FAR, since: Instant::ZERO, proof: Instant::ZERO }
    }
}

impl Liveness {
    /// The state.
    #[cfg(test)]
    pub(crate) fn life(&self) -> Life {
        self.life
    }

    /// Begins with this state.
    #[cfg(test)]
    pub(crate) fn set(&mut self, life: Life) {
        self.life = life;
    }

    /// When the path falls silent unless it answers, or when the next tail loss probe leaves. Of a silent path: when its heartbeat is repeated.
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Instant> {
        (self.deadline != Instant::FAR).then_some(self.deadline)
    }

    /// When the wait for an answer began: something was acknowledged, or data left with nothing in flight.
    #[inline]
    pub(crate) fn since(&self) -> Instant {
        self.since
    }

    /// When the newest chunk left that was sent once and is acknowledged.
    #[inline]
    pub(crate) fn proof(&self) -> Instant {
        self.proof
    }

    /// It gets no new data while other paths answer.
    #[inline]
    pub(crate) fn is_silent(&self) -> bool {
        self.life == Life::Silent
    }

    /// Silent or on trial: whether it works is not known.
    #[inline]
    pub(crate) fn is_in_doubt(&self) -> bool {
        matches!(self.life, Life::Silent | Life::Trial { .. })
    }

    /// It may carry data: it is not silent, and a trial is not over.
    #[inline]
    pub(crate) fn is_usable(&self) -> bool {
        !matches!(self.life, Life::Silent | Life::Trial { left: 0 })
    }

    /// As the last usable path it has sent [`MOST_UNANSWERED`] packets for which no answer came.
    pub(crate) fn is_unanswered(&self) -> bool {
        matches!(self.life, Life::Lonely { sent: MOST_UNANSWERED.., .. })
    }

    /// Tail loss probes sent since the last answer.
    #[inline]
    pub(crate) fn probes(&self) -> u8 {
        if let Life::Lonely { probes, .. } = self.life { probes } else { 0 }
    }

    /// An acknowledgement of a chunk that was sent here is an answer: but not of a silent path, or of one on trial, if that chunk left before
    /// the wait for an answer began. It may have arrived before the path failed, and its SACK came on another one.
    #[inline]
    pub(crate) fn has_answered(&self) -> bool {
        !self.is_in_doubt() || self.proof >= self.since
    }

    /// Whether a chunk that left then counts as late although its time has not come: the path does not answer, or did not when it left.
    pub(crate) fn doubts(&self, sent_at: Instant) -> bool {
        match self.life {
            Life::Silent => true,
            Life::Trial { .. } => sent_at < self.since,
            Life::Proven | Life::Lonely { .. } => false,
        }
    }

    /// A chunk that left then, and was sent once, is acknowledged.
    #[inline]
    pub(crate) fn proven(&mut self, sent_at: Instant) {
        self.proof = self.proof.max(sent_at);
    }

    /// A packet with data left.
    #[inline]
    pub(crate) fn sent(&mut self, is_copy: bool) {
        match &mut self.life {
            Life::Lonely { sent, .. } => *sent = sent.saturating_add(1),
            Life::Trial { left } if !is_copy => *left = left.saturating_sub(1),
            _ => {}
        }
    }

    /// An answer is due at this time. The first one that is due counts.
    #[inline]
    pub(crate) fn await_answer(&mut self, now: Instant, until: Instant) {
        if self.deadline == Instant::FAR {
            self.since = now;
        }
        self.deadline = self.deadline.min(until);
    }

    /// What is to happen at the deadline happens at this time.
    pub(crate) fn act_at(&mut self, at: Instant) {
        self.deadline = at;
    }

    /// Nothing is awaited.
    pub(crate) fn await_nothing(&mut self) {
        self.deadline = Instant::FAR;
    }

    /// The deadline has passed: the path is silent if another one is usable.
    pub(crate) fn overdue(&mut self, has_other: bool) {
        self.deadline = Instant::FAR;
        self.life = match self.life {
            _ if has_other => Life::Silent,
            lonely @ Life::Lonely { .. } => lonely,
            _ => Life::Lonely { sent: 0, probes: 0 },
        };
    }

    /// A tail loss probe leaves. Nothing happens before `until`.
    pub(crate) fn probed(&mut self, until: Instant) {
        if let Life::Lonely { probes, .. } = &mut self.life {
            *probes += 1;
        }
        self.deadline = until;
    }

    /// It answered.
    #[inline]
    pub(crate) fn answered(&mut self) {
        (self.life, self.deadline) = (Life::Proven, Instant::FAR);
    }

    /// A silent path delivered something before it fell silent. False if it is on trial already.
    pub(crate) fn begin_trial(&mut self, now: Instant) -> bool {
        let begins = !matches!(self.life, Life::Trial { .. });
        if begins {
            *self = Liveness {
                life: Life::Trial { left: MOST_ON_TRIAL },
                deadline: Instant::FAR,
                since: now,
                ..*self
            };
        }
        begins
    }

    /// It is the last usable path, and has not answered.
    pub(crate) fn is_lonely(&self) -> bool {
        matches!(self.life, Life::Lonely { .. })
    }

    /// Whether its peer lives there is not known: an address that did not answer an INIT.
    pub(crate) fn distrust(&mut self) {
        self.life = Life::Silent;
    }

    /// It is used whatever is known of it.
    pub(crate) fn trust(&mut self) {
        self.life = Life::Proven;
    }
}
