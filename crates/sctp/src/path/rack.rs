//! State of time-based loss detection on a path (`rfc8985`). The rules are in `tx/rack.rs`.

use super::Path;
use cc::CongestionWindow;
use units::{Instant, Span};

/// Number of fast recoveries without growth of the reordering window after which this window shrinks
/// to a quarter of the least RTT.
const PERSISTENCE: u8 = 16;

#[derive(Clone, Debug, Default)]
pub(crate) struct Rack {
    /// Send time and index of the latest-sent chunk known to have arrived.
    newest: (Instant, u64),
    /// Round-trip time of `newest`.
    rtt: Span,
    /// Index of the highest chunk that was sent once and has arrived.
    highest: u64,
    /// `highest` before the SACK that is being processed.
    known: u64,
    /// Reordering was seen on this path.
    reordering: bool,
    /// The reordering window is (1 + this number) quarters of the least RTT.
    more_quarters: u32,
    /// Index of the first chunk sent after the reordering window last grew. Only this chunk and later ones
    /// make the window grow again.
    round: u64,
    /// Number of fast recoveries until the reordering window shrinks.
    persistence: u8,
    /// Time at which the first late chunk counts as lost unless a SACK arrives.
    deadline: Option<Instant>,
    /// Serial number of the latest fast recovery.
    episode: u32,
    /// Chunks marked as lost in this recovery that may still prove to have arrived.
    unproven: u32,
    /// Chunks were marked as lost, and fast recovery has not started yet.
    begins: bool,
    /// cwnd and ssthresh before the recovery; `None` if there is nothing to undo.
    before: Option<CongestionWindow>,
}

impl Rack {
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Records that a chunk is marked as lost.
    pub(crate) fn lost_one(&mut self, in_recovery: bool) {
        if !in_recovery && !self.begins {
            (self.begins, self.unproven) = (true, 0);
            self.episode = self.episode.wrapping_add(1);
        }
        self.unproven += 1;
    }

    /// Starts fast recovery; `before` holds cwnd and ssthresh before it.
    pub(crate) fn begin(&mut self, before: CongestionWindow) {
        (self.begins, self.before) = (false, Some(before));
    }

    /// Keeps the reduced cwnd for good: cwnd was reduced for another reason, or the path was removed.
    pub(crate) fn forget_recovery(&mut self) {
        (self.begins, self.before) = (false, None);
    }

    pub(crate) fn recovered(&mut self) {
        self.persistence = self.persistence.saturating_sub(1);
        if self.persistence == 0 {
            self.more_quarters = 0;
        }
    }

    /// Starts the processing of a SACK. The order of chunks within one SACK is no evidence of reordering.
    pub(crate) fn sack(&mut self) {
        self.known = self.highest;
    }

    /// Starts loss detection; `next` is the index of the next new chunk.
    pub(crate) fn new(next: u64) -> Self {
        Rack { round: next, ..Rack::default() }
    }

    /// Quarters of the least RTT in the reordering window.
    #[cfg(test)]
    pub(crate) fn quarters(&self) -> u32 {
        self.more_quarters + 1
    }

    pub(crate) fn episode(&self) -> u32 {
        self.episode
    }

    /// Send time and index of the latest-sent chunk known to have arrived, and its round-trip time.
    pub(crate) fn latest(&self) -> ((Instant, u64), Span) {
        (self.newest, self.rtt)
    }

    pub(crate) fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.deadline = deadline;
    }

    /// Returns true if three missing reports make a chunk lost: while no reordering was seen on the path.
    #[inline]
    pub(crate) fn counts_reports(&self) -> bool {
        !self.reordering
    }

    /// Records the arrival of chunk `i`, which was sent once, at `sent_at`. For a retransmitted chunk see
    /// [`Rack::arrived_again`]: each of its transmissions may have arrived, so it is no proof of reordering.
    pub(crate) fn arrived(&mut self, now: Instant, i: u64, sent_at: Instant) {
        self.reordering |= i < self.known;
        self.highest = self.highest.max(i);
        self.arrived_again(now, i, sent_at);
    }

    /// Records the arrival of a retransmission or a copy of chunk `i`, sent at `sent_at`.
    pub(crate) fn arrived_again(&mut self, now: Instant, i: u64, sent_at: Instant) {
        if (sent_at, i) > self.newest {
            (self.newest, self.rtt) = ((sent_at, i), now.since(sent_at));
        }
    }

    /// Widens the reordering window, since chunk `i` was marked lost too early. Further such chunks below
    /// `next` do not widen the window again.
    fn widen(&mut self, i: u64, next: u64) {
        self.reordering = true;
        self.persistence = PERSISTENCE;
        if i >= self.round {
            self.round = next;
            self.more_quarters = self.more_quarters.saturating_add(1);
        }
    }

    /// Records that chunk `i`, marked as lost in recovery `episode`, had arrived. `next` is the index
    /// of the next new chunk. If all chunks marked as lost in this recovery had arrived, returns cwnd
    /// and ssthresh to restore.
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
    /// Ends fast recovery and keeps the reduced cwnd, for example after a timeout.
    pub(crate) fn restart(&mut self) {
        self.recovery = None;
        if let Some(rack) = &mut self.rack {
            rack.forget_recovery();
        }
    }

    /// The reordering window: a chunk may arrive this much later than a chunk that was sent after it
    /// (`rfc8985#section-6.2`, step 4).
    pub(crate) fn reordering_window(&self, rack: &Rack) -> Span {
        if !rack.reordering && self.recovery.is_some() {
            return Span::ZERO;
        }
        let Some(srtt) = self.rto.srtt() else { return self.rto.current() };
        let base = self.rto.base().unwrap_or(srtt); // after a change of route there is no least RTT
        (base / 4 * (u64::from(rack.more_quarters) + 1)).min(srtt)
    }
}
