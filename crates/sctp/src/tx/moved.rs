//! Moves the earliest outstanding chunk to another path before it counts as lost: see [`rescheduling`].

use super::send::{Plan, Source};
use super::{ChunkState, Mark, Sender};
use crate::multipath::rescheduling;
use crate::path::{PathId, Paths};
use cc::LossKind;
use units::Instant;
use wire::PacketWriter;

impl Sender {
    /// Plans to move the earliest outstanding chunk if it is in flight, was never moved, and a path has room
    /// for it.
    #[inline(never)]
    pub(super) fn plan_move(&self, paths: &Paths) -> Option<Plan> {
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
        let place = (head.path, self.now.since(head.sent_at));
        let has_room = |p| self.has_room(p, paths);
        let path = rescheduling::target(&self.cmt, self.buffers(), place, paths, has_room)?;
        Some(Plan::new(path, Source::Moved, self.chunk_len(head.len())))
    }

    /// Sends the earliest outstanding chunk on another path, or again on the same path.
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
        // The acknowledgement of this chunk increases no cwnd, because it may be for the transmission on the
        // old path.
        if !chunk.is(Mark::Credited) {
            self.limits.withdrew();
        }
        chunk.mark(Mark::Credited);
        self.penalise(now, i, from, paths);
        paths[p].stats.rescheduled += 1;
        self.resend(now, i, p, paths, w);
        let old = &mut paths[from];
        if old.flight.is_zero() && !old.has_lost() {
            old.t3 = None;
        }
        1
    }

    /// Slows down path `from`, on which chunk `i` took too long: its cwnd is reduced as after a loss. If the
    /// path is in fast recovery, it sends no data for an SRTT instead.
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
}
