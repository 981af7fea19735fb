//! Sends copies of chunks in flight on other paths. [`copies`](crate::multipath::copies) chooses chunks and
//! paths.

use super::send::{Plan, Source};
use super::{Mark, Sender};
use crate::multipath::copies::{Copies, Scene};
use crate::path::{PathId, Paths};
use units::{ByteCount, Instant};
use wire::PacketWriter;

impl Sender {
    /// Calls `ask` with the copies and with the state of the sender on which their choice depends.
    fn with_copies<T>(
        &mut self,
        paths: &Paths,
        ask: impl FnOnce(&mut Copies, &Scene<'_>, &Sender) -> T,
    ) -> T {
        let mut copies = std::mem::take(&mut self.copies);
        let scene = Scene {
            now: self.now,
            out: &self.out,
            paths,
            everything: self.choice.traits.copies,
            starved: self.starved,
            nr_sacks: self.peer.nr_sacks,
            is_stale: &|i| self.is_stale(i),
        };
        let answer = ask(&mut copies, &scene, self);
        self.copies = copies;
        answer
    }

    /// True if copies of late chunks are due; sets `starved` if a full send or receive buffer is the reason.
    #[inline]
    pub(super) fn reinjects(&mut self, paths: &Paths) -> bool {
        let reinjection = self.cmt.reinjection;
        self.starved = reinjection.blocked()
            && match self.queue.head_len() {
                Some(len) => !self.peer_can_take(self.fragment_of(len), paths),
                None => self.user.is_blocked(),
            };
        self.starved || (reinjection.silent() && paths.iter().any(|path| path.liveness.is_silent()))
    }

    /// Plans the next copy, on a path that has room for it.
    #[inline(never)]
    pub(super) fn plan_copy(&mut self, paths: &Paths) -> Option<Plan> {
        let (p, i) = self
            .with_copies(paths, |copies, scene, sender| copies.plan(scene, |p| sender.has_room(p, paths)))?;
        Some(Plan::new(p, Source::Copy, self.chunk_len(self.out[i].len())))
    }

    /// True if a path may send new data: no chunk is left to copy to it, and the copies in flight leave room.
    pub(super) fn leads(&mut self, p: PathId, paths: &Paths) -> bool {
        self.copies.leave_room(p, &paths[p]) && self.next_copy(p, paths).is_none()
    }

    fn next_copy(&mut self, p: PathId, paths: &Paths) -> Option<u64> {
        self.with_copies(paths, |copies, scene, _| copies.next(scene, p))
    }

    /// Earliest time at which a copy in flight becomes overdue; `None` if no copy is in flight.
    #[inline]
    pub(crate) fn copies_overdue(&self, paths: &Paths) -> Option<Instant> {
        if self.copies.is_empty() || self.choice.traits.copies { None } else { self.copies.deadline(paths) }
    }

    /// Removes copies that arrived or are overdue. Repeated calls at the same time are useful: a new RTT
    /// sample may make copies overdue.
    #[cold]
    pub(super) fn let_copies_go(&mut self, paths: &Paths) {
        for p in paths.ids().take(self.copies.len()) {
            self.with_copies(paths, |copies, scene, _| copies.let_go(scene, p));
        }
    }

    #[inline(never)]
    pub(super) fn write_copies(
        &mut self,
        now: Instant,
        p: PathId,
        paths: &mut Paths,
        w: &mut PacketWriter<'_>,
    ) -> usize {
        let (mut sent, mut last) = (0, 0);
        while let Some(i) = self.next_copy(p, paths) {
            let room = |sender: &Sender| sender.has_room(p, paths) && sender.copies.leave_room(p, &paths[p]);
            let more = sent == 0 || (self.config.bundling && room(self));
            let length = self.out[i].len();
            // rfc9260#section-6.10: TSNs ascend within a packet.
            if !more || i < last || self.header_len() + length > w.room() {
                break;
            }
            last = i;
            self.out.write(i, w);
            let flight_size = ByteCount::new(u64::from(self.flight_size_of(length, &paths[p])));
            self.copies.sent(now, i, p, flight_size);
            if !self.choice.traits.copies {
                self.out[i].mark(Mark::Copied);
                self.out[i].sent_at = now;
                self.forget_resent(i);
            }
            if let Some(rate) = &mut paths[p].rate {
                rate.written += flight_size;
            }
            paths[p].stats.user_bytes += ByteCount::from(length);
            paths[p].stats.copies += 1;
            sent += 1;
        }
        sent
    }
}
