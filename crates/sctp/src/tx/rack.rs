//! Time-based loss detection for each path, and recoveries that are undone: RACK (`rfc8985`).
//!
//! A chunk is lost if a chunk sent later on its path has arrived, and the time since it was sent exceeds the
//! RTT of that later chunk plus the reordering window of the path. A retransmission does not count as the
//! later chunk if it is acknowledged before the least RTT has passed (`rfc8985#section-6.2`, step 2). Until
//! the sender sees reordering on a path, three missing reports suffice, too, and in fast recovery the
//! reordering window is zero. Otherwise the reordering window is a quarter of the least RTT. After each round
//! trip in which a retransmission proves to be needless, it grows by another quarter of the least RTT, up to
//! an SRTT.
//!
//! A retransmission was needless if the chunk is acknowledged before the retransmission is sent, or within
//! the least RTT after it, or if the peer reports a duplicate. Once all retransmissions of a recovery have
//! proved needless, cwnd and ssthresh are restored (`rfc8985#section-6.2`, `rfc4015#section-3.2`).

use super::{ChunkState, Mark, SackDelta, Sender};
use crate::path::{LossCause, LossTrigger, NIL, Path, PathId, Paths, Rack};
use crate::tx::partial::Cause;
use std::collections::BTreeMap;
use units::Instant;
use wire::Tsn;

/// Maximum number of retransmissions that are remembered because the peer may report duplicates of them.
const MOST_REMEMBERED: usize = 1024;

/// Maximum number of chunks, sent out of TSN order, that a search for late chunks steps over.
const MOST_PASSED: u32 = 16;

/// The state of loss detection that is common to all paths.
#[derive(Debug, Default)]
pub(super) struct Remembered {
    /// Fast retransmitted chunks, by index: the path that lost the chunk, and the number of that path's
    /// recovery.
    resent: BTreeMap<u64, (PathId, u32)>,
}

impl Sender {
    #[inline]
    pub(super) fn detects_by_time(&self) -> bool {
        self.remembered.is_some()
    }

    /// Processes the arrival of chunk `i`, which was not copied and was in `state` before.
    #[cold]
    pub(super) fn note_arrival(&mut self, now: Instant, i: u64, state: ChunkState, paths: &mut Paths) {
        let chunk = &self.out[i];
        let (p, sent_at, again) = (chunk.path, chunk.sent_at, chunk.transmissions > 1);
        let path = &mut paths[p];
        let base = path.rto.base();
        let Some(rack) = &mut path.rack else { return };
        let resent = self.remembered.as_ref().and_then(|it| it.resent.get(&i)).copied();
        if state == ChunkState::Lost(LossCause::FastRetransmit) && !again {
            let episode = rack.episode();
            return self.note_needless(now, i, p, episode, paths);
        }
        let too_soon = base.is_some_and(|base| now.since(sent_at) < base);
        if state == ChunkState::InFlight {
            if !again {
                rack.arrived(now, i, sent_at);
            } else if !too_soon {
                rack.arrived_again(now, i, sent_at);
            }
        }
        if let Some((on, episode)) = resent
            && too_soon
        {
            self.forget_resent(i);
            self.note_needless(now, i, on, episode, paths);
        }
    }

    pub(super) fn note_sack(&mut self, paths: &mut Paths) {
        for rack in paths.iter_mut().filter_map(|path| path.rack.as_mut()) {
            rack.sack();
        }
    }

    /// Remembers the retransmission of chunk `i`, which path `on` lost.
    #[cold]
    pub(super) fn remember_resent(&mut self, i: u64, on: PathId, paths: &Paths) {
        let (Some(remembered), Some(rack)) = (&mut self.remembered, &paths[on].rack) else { return };
        remembered.resent.insert(i, (on, rack.episode()));
        if remembered.resent.len() > MOST_REMEMBERED {
            remembered.resent.pop_first();
        }
    }

    /// Forgets copied or timed-out chunk `i`: a duplicate of it proves nothing from now on.
    pub(super) fn forget_resent(&mut self, i: u64) {
        if let Some(remembered) = &mut self.remembered {
            remembered.resent.remove(&i);
        }
    }

    /// Processes reports of duplicates: the first transmission of a retransmitted chunk was not lost.
    #[inline]
    pub(super) fn note_duplicates(
        &mut self,
        now: Instant,
        duplicates: impl Iterator<Item = Tsn>,
        paths: &mut Paths,
    ) {
        if self.detects_by_time() {
            self.note_each_duplicate(now, duplicates, paths);
        }
    }

    #[inline(never)]
    fn note_each_duplicate(
        &mut self,
        now: Instant,
        duplicates: impl Iterator<Item = Tsn>,
        paths: &mut Paths,
    ) {
        for tsn in duplicates {
            let i = self.out.index_of(tsn);
            let resent = self.remembered.as_mut().and_then(|it| it.resent.remove(&i));
            if let Some((on, episode)) = resent {
                self.note_needless(now, i, on, episode, paths);
            }
        }
    }

    /// Notes that chunk `i`, which was marked as lost on path `on` in recovery `episode`, had not been lost.
    #[cold]
    fn note_needless(&mut self, now: Instant, i: u64, on: PathId, episode: u32, paths: &mut Paths) {
        let next = self.out.next_index();
        let path = &mut paths[on];
        let Some(rack) = &mut path.rack else { return };
        path.stats.needless_retransmissions += 1;
        if let Some(before) = rack.needless(i, episode, next) {
            (path.recovery, path.may_resend) = (None, false);
            path.stats.undone_recoveries += 1;
            self.control(now, paths, |control, views, windows| {
                control.on_spurious_loss(views, on.index(), before, windows);
            });
        }
    }

    /// Step C of SACK processing, by time: marks the late chunks of each path as lost.
    pub(super) fn find_late(&mut self, now: Instant, paths: &mut Paths, delta: &mut SackDelta) {
        if self.detects_by_time() {
            self.lose_all_late(now, paths, delta);
        }
    }

    #[inline(never)]
    fn lose_all_late(&mut self, now: Instant, paths: &mut Paths, delta: &mut SackDelta) {
        for p in paths.ids() {
            delta[p].hit |= self.lose_late(now, p, paths);
        }
    }

    /// Marks chunks of path `p` as lost for which the reordering window has passed, and sets the timer for
    /// the next such chunk. Returns true if a chunk was marked.
    fn lose_late(&mut self, now: Instant, p: PathId, paths: &mut Paths) -> bool {
        let path = &paths[p];
        let Some(rack) = &path.rack else { return false };
        let (newest, rtt) = rack.latest();
        let allowed = rtt + path.reordering_window(rack);
        let (mut found, mut passed, mut deadline) = (false, 0, None::<Instant>);
        // Retransmitted chunks are checked in the order of their TSNs until one is not late.
        for (mut i, most_passed) in [(path.fresh.head, MOST_PASSED), (path.resent.head, 0)] {
            while i != NIL {
                let next = self.out.following(i);
                let sent_at = self.out[i].sent_at;
                let behind = (sent_at, i) < newest;
                if behind && sent_at + allowed <= now {
                    if !self.mark_lost_in_steps(i, LossTrigger::TimeThreshold, paths) {
                        break;
                    }
                    found = true;
                } else {
                    if behind {
                        let due = sent_at + allowed;
                        deadline = Some(deadline.map_or(due, |first| first.min(due)));
                    }
                    // Chunks are sent in TSN order, except copied chunks and reneged ones.
                    let unordered = self.out[i].is(Mark::Copied) || self.out[i].is(Mark::Credited);
                    if !unordered || passed == most_passed {
                        break;
                    }
                    passed += 1;
                }
                i = next;
            }
        }
        if let Some(rack) = &mut paths[p].rack {
            rack.set_deadline(deadline.map(|due| due.max(now)));
        }
        found
    }

    /// Handles the expiry of the reordering timer of a path. An obsolete timer has no effect.
    pub(crate) fn on_reordering_timeout(&mut self, now: Instant, p: PathId, paths: &mut Paths) {
        let late =
            |path: &Path| path.rack.as_ref().and_then(|rack| rack.deadline()).is_some_and(|at| at <= now);
        if !late(&paths[p]) {
            return;
        }
        self.limits.next_sack();
        let mut delta = SackDelta::default();
        delta.begin(paths);
        delta[p].hit = self.lose_late(now, p, paths);
        self.enter_recovery(now, paths, &delta);
        self.after_losses(now, Cause::Sack, paths);
    }

    /// Begins time-based loss detection on a path, if it is enabled.
    pub(super) fn begin_rack(&mut self, path: &mut Path) {
        if self.detects_by_time() {
            path.rack = Some(Box::new(Rack::new(self.out.next_index())));
        }
    }
}
