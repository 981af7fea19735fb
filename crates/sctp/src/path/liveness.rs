//! The state that tells whether a path answers, and all its transitions.
//!
//! ```text
//!               nothing for longer than expected
//!   Proven  ──────────────────────────────────────▶  Silent    while another path is usable
//!     ▲     ──────────────────────────────────────▶  Lonely    if it is the last usable one
//!     │                                                │
//!     └───── answer to a heartbeat, or to data ────────┘
//! ```
//!
//! A lonely path becomes silent, too, if another path is usable when its next answer is late. A path
//! whose INIT was not answered begins silent. `multipath/lateness.rs` defines when an answer is late.

use units::Instant;

/// Whether a path that may carry data answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Life {
    /// No answer of the path is overdue.
    #[default]
    Proven,
    /// The path did not answer in time, and no other path could carry its chunks.
    Lonely {
        /// Packets with data sent in this state.
        sent: u8,
        /// A tail loss probe was sent in this state.
        probed: bool,
    },
    /// The path did not answer in time: its chunks are copied, heartbeats probe it, and new data avoids it.
    Silent,
}

/// Maximum number of packets with data that a path in state `Lonely` may send before an answer arrives.
const MOST_UNANSWERED: u8 = 3;

/// Liveness of a path, and the deadline of its next transition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Liveness {
    life: Life,
    /// [`Instant::FAR`] if no transition is due.
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
    #[cfg(test)]
    pub(crate) fn set(&mut self, life: Life) {
        self.life = life;
    }

    /// Time at which the path falls silent unless it answers. For a silent path: time of its next heartbeat.
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Instant> {
        (self.deadline != Instant::FAR).then_some(self.deadline)
    }

    /// Send time of the newest chunk that was sent once and is acknowledged.
    #[inline]
    pub(crate) fn proof(&self) -> Instant {
        self.proof
    }

    /// Returns true if the path is silent: it did not answer in time, and new data avoids it.
    #[inline]
    pub(crate) fn is_silent(&self) -> bool {
        self.life == Life::Silent
    }

    /// Returns true if the path, the last usable one, did not answer in time and has sent
    /// [`MOST_UNANSWERED`] packets with data since then.
    pub(crate) fn is_unanswered(&self) -> bool {
        matches!(self.life, Life::Lonely { sent: MOST_UNANSWERED.., .. })
    }

    /// Returns true if a tail loss probe was sent since the last answer.
    #[inline]
    pub(crate) fn is_probed(&self) -> bool {
        matches!(self.life, Life::Lonely { probed: true, .. })
    }

    /// Returns true if an acknowledgement of a chunk sent on this path proves that the path works. On a
    /// silent path, the chunk must have been sent after the wait for an answer began: an older chunk may have
    /// arrived before the failure.
    #[inline]
    pub(crate) fn has_answered(&self) -> bool {
        !self.is_silent() || self.proof >= self.since
    }

    /// Records the acknowledgement of a chunk that was sent once, at `sent_at`.
    #[inline]
    pub(crate) fn proven(&mut self, sent_at: Instant) {
        self.proof = self.proof.max(sent_at);
    }

    /// Counts a packet with data that was sent on the path.
    #[inline]
    pub(crate) fn sent(&mut self) {
        if let Life::Lonely { sent, .. } = &mut self.life {
            *sent = sent.saturating_add(1);
        }
    }

    /// Sets the time at which an answer is due, unless one is due earlier.
    #[inline]
    pub(crate) fn await_answer(&mut self, now: Instant, until: Instant) {
        if self.deadline == Instant::FAR {
            self.since = now;
        }
        self.deadline = self.deadline.min(until);
    }

    pub(crate) fn act_at(&mut self, at: Instant) {
        self.deadline = at;
    }

    pub(crate) fn await_nothing(&mut self) {
        self.deadline = Instant::FAR;
    }

    /// Handles an answer that did not come in time: the path becomes silent if another path is
    /// usable, else lonely (it still carries a few packets).
    pub(crate) fn overdue(&mut self, has_other: bool) {
        self.deadline = Instant::FAR;
        self.life = match self.life {
            _ if has_other => Life::Silent,
            lonely @ Life::Lonely { .. } => lonely,
            _ => Life::Lonely { sent: 0, probed: false },
        };
    }

    pub(crate) fn probed(&mut self) {
        if let Life::Lonely { probed, .. } = &mut self.life {
            *probed = true;
        }
    }

    #[inline]
    pub(crate) fn answered(&mut self) {
        (self.life, self.deadline) = (Life::Proven, Instant::FAR);
    }

    /// Makes the path silent, because an INIT to its address was not answered.
    pub(crate) fn distrust(&mut self) {
        self.life = Life::Silent;
    }

    /// Treats the path as proven, without an answer.
    pub(crate) fn trust(&mut self) {
        self.life = Life::Proven;
    }
}
