//! State of time-based loss detection on a path (`rfc8985`). The rules are in `tx/rack.rs`.

use super::Path;
use cc::CongestionWindow;
use units::{Instant, Span};

/// Recoveries after which the reordering window is a quarter of the least RTT again, unless it grows meanwhile.
const PERSISTENCE: u8 = 16;

/// State of loss detection on a path.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rack {
    /// When and as which chunk the last sent of those left that arrived.
    newest: (Instant, u64),
    /// Its round-trip time.
    rtt: Span,
    /// The highest chunk that arrived at its first transmission.
    highest: u64,
    /// The same before the SACK at hand.
    known: u64,
    /// Chunks overtook each other here.
    reordering: bool,
    /// Quarters of the least RTT beyond the first in the reordering window.
    more_quarters: u32,
    /// The window grows by chunks from here on: those that were sent since it last grew.
    round: u64,
    /// Recoveries left until the window shrinks again.
    persistence: u8,
    /// When the first chunk that is late counts as lost unless a SACK comes.
    deadline: Option<Instant>,
    /// Number of the recovery.
    episode: u32,
    /// Chunks marked as lost in it that may yet prove to have arrived.
    unproven: u32,
    /// Chunks were marked as lost, and the recovery is yet to begin.
    begins: bool,
    /// The window before the recovery; none if there is nothing to undo.
    before: Option<CongestionWindow>,
}

impl Rack {
    /// When the first chunk that is late counts as lost unless a SACK comes.
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// A chunk counts as lost.
    pub(crate) fn lost_one(&mut self, in_recovery: bool) {
        if !in_recovery && !self.begins {
            (self.begins, self.unproven) = (true, 0);
            self.episode = self.episode.wrapping_add(1);
        }
        self.unproven += 1;
    }

    /// Fast recovery begins; `before`: the window before it.
    pub(crate) fn begin(&mut self, before: CongestionWindow) {
        (self.begins, self.before) = (false, Some(before));
    }

    /// The window was reduced for another reason than a fast recovery, or the path is no more.
    pub(crate) fn forget_recovery(&mut self) {
        (self.begins, self.before) = (false, None);
    }

    /// Fast recovery ended.
    pub(crate) fn recovered(&mut self) {
        self.persistence = self.persistence.saturating_sub(1);
        if self.persistence == 0 {
            self.more_quarters = 0;
        }
    }

    /// A SACK is taken: chunks that it acknowledges in any order were not overtaken by each other.
    pub(crate) fn sack(&mut self) {
        self.known = self.highest;
    }

    /// Detection begins with chunk `next`.
    pub(crate) fn new(next: u64) -> Self {
        Rack { round: next, ..Rack::default() }
    }

    /// Quarters of the least RTT in the reordering window.
    #[cfg(test)]
    pub(crate) fn quarters(&self) -> u32 {
        self.more_quarters + 1
    }

    /// Number of the recovery.
    pub(crate) fn episode(&self) -> u32 {
        self.episode
    }

    /// When and as which chunk the last sent of those left that arrived, and the age from which chunks sent before it are late.
    pub(crate) fn latest(&self) -> ((Instant, u64), Span) {
        (self.newest, self.rtt)
    }

    /// When the first chunk that is late counts as lost unless a SACK comes.
    pub(crate) fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.deadline = deadline;
    }

    /// Three missing reports make a chunk lost here: no chunks have overtaken each other yet.
    #[inline]
    pub(crate) fn counts_reports(&self) -> bool {
        !self.reordering
    }

    /// Chunk `i` arrived, which was sent once, at that time. Of a chunk that was sent again either transmission may have arrived, so that
    /// it is no evidence of reordering.
    pub(crate) fn arrived(&mut self, now: Instant, i: u64, sent_at: Instant) {
        self.reordering |= i < self.known;
        self.highest = self.highest.max(i);
        self.arrived_again(now, i, sent_at);
    }

    /// A retransmission of chunk `i` arrived, or a copy, which was sent at that time.
    pub(crate) fn arrived_again(&mut self, now: Instant, i: u64, sent_at: Instant) {
        if (sent_at, i) > self.newest {
            (self.newest, self.rtt) = ((sent_at, i), now.since(sent_at));
        }
    }

    /// Chunk `i` was taken for lost too early: the reordering window grows, once for all chunks before `next`.
    fn widen(&mut self, i: u64, next: u64) {
        self.reordering = true;
        self.persistence = PERSISTENCE;
        if i >= self.round {
            self.round = next;
            self.more_quarters = self.more_quarters.saturating_add(1);
        }
    }

    /// Chunk `i`, taken for lost in the recovery of this number, had arrived; `next` is the next new chunk. Returns the window to
    /// restore if no chunk of the recovery was lost.
    pub(crate) fn needless(&mut self, i: u64, episode: u32, next: u64) -> Option<CongestionWindow> {
        self.widen(i, next);
        if self.episode != episode {
            return None;
        }
        self.unproven = self.unproven.saturating_sub(1);
        if self.unproven > 0 { None } else { self.before.take() }
    }
}

impl Path {
    /// The window begins anew, as after a timeout: recovery ends.
    pub(crate) fn restart(&mut self) {
        self.recovery = None;
        if let Some(rack) = &mut self.rack {
            rack.forget_recovery();
        }
    }

    /// How long chunks may be behind those sent after them (`rfc8985#section-6.2`, step 4).
    pub(crate) fn reordering_window(&self, rack: &Rack) -> Span {
        if !rack.reordering && self.recovery.is_some() {
            return Span::ZERO;
        }
        let (Some(base), Some(srtt)) = (self.rto.base(), self.rto.srtt()) else { return self.rto.current() };
        (base / 4 * (u64::from(rack.more_quarters) + 1)).min(srtt)
    }
}
