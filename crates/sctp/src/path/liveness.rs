//! Whether a path answers: one state, and all that changes it.
//!
//! ```text
//!               nothing for longer than expected
//!   Proven  ──────────────────────────────────────▶  Silent    while another path is usable
//!     ▲     ──────────────────────────────────────▶  Lonely    if it is the last usable one
//!     │                                                │
//!     └───── answer to a heartbeat, or to data ────────┘
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
        /// A tail loss probe was sent since.
        probed: bool,
    },
    /// It did not answer in time: its chunks are copied, a heartbeat asks for an answer, and new data goes to other paths.
    Silent,
}

/// Packets with data that the last path carries after its probe timeout, until something is acknowledged there.
const MOST_UNANSWERED: u8 = 3;

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

    /// When the path falls silent unless it answers. Of a silent path: when its heartbeat is repeated.
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Instant> {
        (self.deadline != Instant::FAR).then_some(self.deadline)
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

    /// As the last usable path it has sent [`MOST_UNANSWERED`] packets for which no answer came.
    pub(crate) fn is_unanswered(&self) -> bool {
        matches!(self.life, Life::Lonely { sent: MOST_UNANSWERED.., .. })
    }

    /// A tail loss probe was sent since the last answer.
    #[inline]
    pub(crate) fn is_probed(&self) -> bool {
        matches!(self.life, Life::Lonely { probed: true, .. })
    }

    /// An acknowledgement of a chunk that was sent here is an answer: but not of a silent path if that chunk left before the wait for an
    /// answer began. It may have arrived before the path failed, and its SACK came on another one.
    #[inline]
    pub(crate) fn has_answered(&self) -> bool {
        !self.is_silent() || self.proof >= self.since
    }

    /// A chunk that left then, and was sent once, is acknowledged.
    #[inline]
    pub(crate) fn proven(&mut self, sent_at: Instant) {
        self.proof = self.proof.max(sent_at);
    }

    /// A packet with data left.
    #[inline]
    pub(crate) fn sent(&mut self) {
        if let Life::Lonely { sent, .. } = &mut self.life {
            *sent = sent.saturating_add(1);
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
            _ => Life::Lonely { sent: 0, probed: false },
        };
    }

    /// A tail loss probe leaves.
    pub(crate) fn probed(&mut self) {
        if let Life::Lonely { probed, .. } = &mut self.life {
            *probed = true;
        }
    }

    /// It answered.
    #[inline]
    pub(crate) fn answered(&mut self) {
        (self.life, self.deadline) = (Life::Proven, Instant::FAR);
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
