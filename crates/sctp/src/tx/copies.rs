//! Copies of chunks on paths other than their own: of everything, for schedulers that send everything everywhere, or of
//! what is late.
//!
//! An acknowledgement does not tell which copy arrived. So a copy is no transmission of its chunk: the chunk stays with its
//! path, whose window alone grows by it, and whose round-trip time is that of whichever came first. A copy takes room in
//! the window of its path until its chunk is acknowledged, but for a round-trip time of that path at least: so a path
//! carries copies at the rate its window allows and no faster, whatever the others do. No timer runs for it.

use super::send::{Plan, Source, chunk_len};
use super::{ChunkState, Mark, Sender};
use crate::path::{PathId, Paths};
use std::collections::VecDeque;
use units::{ByteCount, Instant, Span};
use wire::{Data, PacketWriter};

/// The copies of one path.
#[derive(Debug, Default)]
pub(super) struct Copies {
    /// The first chunk it has not come to.
    next: u64,
    flying: VecDeque<Copy>,
    flight: ByteCount,
}

#[derive(Clone, Copy, Debug)]
struct Copy {
    chunk: u64,
    booked: ByteCount,
    sent_at: Instant,
}

impl Sender {
    /// The next copy that a path has room for.
    pub(super) fn plan_copy(&mut self, paths: &Paths) -> Option<Plan> {
        self.copies.resize_with(paths.len(), Copies::default);
        for p in paths.ids().filter(|&p| paths[p].is_usable()) {
            self.let_go(p, paths);
            if let Some(i) = self.next_copy(p, paths)
                && self.has_room(p, paths)
                && self.has_room_beside_copies(p, paths)
            {
                let first_chunk = chunk_len(self.out[i].len());
                return Some(Plan { path: p, first_chunk, source: Source::Copy });
            }
        }
        None
    }

    /// A path sends nothing new before it has come to the end of what there is, and has room beside its copies.
    pub(super) fn leads(&mut self, p: PathId, paths: &Paths) -> bool {
        self.next_copy(p, paths).is_none() && self.has_room_beside_copies(p, paths)
    }

    /// The copies leave room in the window.
    #[inline]
    pub(super) fn has_room_beside_copies(&self, p: PathId, paths: &Paths) -> bool {
        self.copies.get(p.index()).is_none_or(|copies| copies.flight < paths[p].space())
    }

    /// The lowest chunk in flight elsewhere that the path has not come to yet, if it is to be copied.
    fn next_copy(&mut self, p: PathId, paths: &Paths) -> Option<u64> {
        let first = self.copies[p.index()].next.max(self.out.first_index());
        for i in first..self.out.next_index() {
            self.copies[p.index()].next = i;
            let chunk = &self.out[i];
            let elsewhere = chunk.state == ChunkState::InFlight && chunk.path != p;
            if elsewhere && !(chunk.is(Mark::Copied) && self.age(i) < paths[p].overdue()) {
                return (self.habits.copies || chunk.is(Mark::Copied) || self.is_late(i, p, paths))
                    .then_some(i);
            }
        }
        self.copies[p.index()].next = self.out.next_index();
        None
    }

    /// When a late chunk's copy is overdue itself, if there is one.
    pub(crate) fn copies_overdue(&self, paths: &Paths) -> Option<Instant> {
        if self.silent || self.habits.copies {
            return None;
        }
        let flying = paths.iter().zip(&self.copies);
        flying.filter_map(|(path, copies)| Some(copies.flying.front()?.sent_at + path.overdue())).min()
    }

    /// How long ago a chunk left, or its last copy.
    pub(super) fn age(&self, i: u64) -> Span {
        self.opportunity.since(self.out[i].sent_at)
    }

    /// Forgets copies whose time is over. One that is overdue may have been lost: its chunk is due again.
    pub(super) fn let_go(&mut self, p: PathId, paths: &Paths) {
        let now = self.opportunity;
        let (srtt, rto) = (paths[p].rto.srtt().unwrap_or_default(), paths[p].rto.current());
        let patience = if self.habits.copies { rto } else { paths[p].overdue() };
        let copies = &mut self.copies[p.index()];
        while let Some(&Copy { chunk, booked, sent_at }) = copies.flying.front() {
            let acked = chunk < self.out.first_index() || self.out[chunk].is_acked();
            let age = now.since(sent_at);
            if !(acked && age >= srtt) && age < patience {
                break;
            }
            copies.flying.pop_front();
            copies.flight -= booked;
            if !acked && !self.habits.copies {
                copies.next = copies.next.min(chunk);
            }
        }
    }

    pub(super) fn write_copies(
        &mut self,
        now: Instant,
        p: PathId,
        paths: &mut Paths,
        w: &mut PacketWriter<'_>,
    ) -> usize {
        let mut sent = 0;
        while let Some(i) = self.next_copy(p, paths) {
            let room = |sender: &Sender| sender.has_room(p, paths) && sender.has_room_beside_copies(p, paths);
            let more = sent == 0 || (self.config.bundling && room(self));
            let length = self.out[i].len();
            if !more || Data::HEADER_LEN + length > w.room() {
                break;
            }
            w.data(&self.out.data(i));
            let booked = ByteCount::new(u64::from(self.booked(length, &paths[p])));
            if !self.habits.copies {
                self.out[i].mark(Mark::Copied);
                self.out[i].sent_at = now;
            }
            let copies = &mut self.copies[p.index()];
            copies.flying.push_back(Copy { chunk: i, booked, sent_at: now });
            copies.flight += booked;
            copies.next = i + 1;
            paths[p].stats.user_bytes += ByteCount::from(length);
            paths[p].stats.copies += 1;
            sent += 1;
        }
        sent
    }
}
