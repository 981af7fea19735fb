//! Chunk rescheduling (Dreibholz, Becke, Rathgeb, Tüxen, GLOBECOM 2010): when the earliest chunk blocks half of a buffer, it
//! is sent again on a path that could not send otherwise.

use super::send::{Plan, Source};
use super::{ChunkState, Mark, Sender};
use crate::config::BufferSide;
use crate::path::{PathId, Paths};
use cc::LossKind;
use units::Instant;
use wire::PacketWriter;

/// The blocked share of a buffer from which on a chunk is rescheduled.
const FULL_ENOUGH: f64 = 0.5;

impl Sender {
    /// Plans to reschedule the earliest chunk if it is in flight, was never rescheduled and a path has room for it.
    #[inline(never)]
    pub(super) fn plan_move(&mut self, paths: &mut Paths) -> Option<Plan> {
        if self.out.is_empty() {
            return None;
        }
        let i = self.out.first_index();
        let head = &self.out[i];
        if head.state != ChunkState::InFlight
            || head.is(Mark::Moved)
            || head.is(Mark::Abandoned)
            || self.is_spent(i)
        {
            return None;
        }
        let (on, age) = (head.path, self.now.since(head.sent_at));
        let first_chunk = self.chunk_len(head.len());
        let wants = |p: PathId| {
            let path = &paths[p];
            let stale = path.rto.srtt().is_some_and(|srtt| age > srtt * 2);
            (p != on || stale)
                && path.is_active()
                && path.recovery.is_none()
                && !paths.is_spared(p)
                && self.backlog(path, paths) >= FULL_ENOUGH
        };
        let path = paths.ids().find(|&p| wants(p) && self.has_room(p, paths))?;
        Some(Plan::new(path, Source::Moved, first_chunk))
    }

    /// Sends the earliest chunk on another path, or once more on its own.
    #[inline(never)]
    pub(super) fn write_moved(
        &mut self,
        now: Instant,
        p: PathId,
        paths: &mut Paths,
        w: &mut PacketWriter<'_>,
    ) -> usize {
        let i = self.out.first_index();
        let from = self.out[i].path;
        self.take_from_flight(i, paths);
        let chunk = &mut self.out[i];
        chunk.mark(Mark::Moved);
        chunk.ask_for_sack();
        if self.cmt.moved_penalty {
            // An acknowledgement may be for the copy on the old path, whose window has been cut for it.
            if !chunk.is(Mark::Credited) {
                self.limits.withdrew();
            }
            chunk.mark(Mark::Credited);
            self.penalise(now, i, from, paths);
        }
        paths[p].stats.rescheduled += 1;
        self.resend(now, i, p, paths, w);
        let old = &mut paths[from];
        if old.flight.is_zero() && !old.has_lost() {
            old.t3 = None;
        }
        1
    }

    /// Path `from` was too slow with chunk `i`: its window is cut as for a loss, or, in fast recovery, it sends nothing for an
    /// SRTT.
    fn penalise(&mut self, now: Instant, i: u64, from: PathId, paths: &mut Paths) {
        if paths[from].recovery.is_some() {
            let path = &mut paths[from];
            if path.blocked_until <= now {
                path.blocked_until = now + path.rto.srtt().unwrap_or(path.rto.current());
            }
            return;
        }
        self.control(now, paths, |control, views, windows| {
            control.on_loss(now, views, from.index(), LossKind::FastRetransmit, windows);
        });
        let path = &mut paths[from];
        let last = path.fresh.last().max(path.resent.last()).max(path.lost_fast.last());
        path.recovery = Some(last.map_or(i, |last| last.max(i)));
        path.stats.fast_recoveries += 1;
    }

    /// When the first path that rests, or is held back by its pacer, may send again, if there is one.
    pub(crate) fn rest_ends(&self, paths: &Paths) -> Option<Instant> {
        if self.never_used || (self.cmt.rescheduling == BufferSide::None && !self.paced) {
            return None;
        }
        self.first_rest_ends(paths)
    }

    #[inline(never)] // away from senders whose paths never rest
    fn first_rest_ends(&self, paths: &Paths) -> Option<Instant> {
        paths.ids().filter_map(|p| self.rests_until(p, paths)).min()
    }

    /// True if a path sends no data for now: it was too slow, or its pacer holds it back.
    #[inline]
    pub(super) fn rests(&self, p: PathId, paths: &Paths) -> bool {
        (self.cmt.rescheduling != BufferSide::None || self.paced) && self.rests_until(p, paths).is_some()
    }

    #[cold]
    fn rests_until(&self, p: PathId, paths: &Paths) -> Option<Instant> {
        let rests = self.cmt.rescheduling != BufferSide::None && paths[p].blocked_until > self.now;
        let blocked = rests.then_some(paths[p].blocked_until);
        if self.paced { blocked.max(self.paced_until(p, paths)) } else { blocked }
    }

    /// When the pacer of a path lets the next packet out, if that is to come and something waits or is in flight.
    fn paced_until(&self, p: PathId, paths: &Paths) -> Option<Instant> {
        let rate = paths[p].rate.as_ref().filter(|_| !self.is_drained())?;
        rate.pacer.ready_at().filter(|&at| at > self.now)
    }
}
