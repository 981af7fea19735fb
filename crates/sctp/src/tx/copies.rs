//! Copies of chunks on paths other than their own, for schedulers that send everything everywhere.
//!
//! An acknowledgement does not tell which copy arrived. So a copy is no transmission of its chunk: the chunk stays with its
//! path, whose window alone grows by it, and whose round-trip time is that of whichever came first. A copy takes room in
//! the window of its path until its chunk is acknowledged, but for a round-trip time of that path at least: so a path
//! carries copies at the rate its window allows and no faster, whatever the others do. No timer runs for it.

use super::send::{Plan, Source, chunk_len};
use super::{ChunkState, Outstanding, Sender};
use crate::path::{PathId, Paths};
use std::collections::VecDeque;
use units::{ByteCount, Instant};
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
        for p in paths.ids().filter(|&p| paths[p].is_active()) {
            self.let_go(p, paths);
            if let Some(i) = self.next_copy(p)
                && self.has_room_for_copies(p, paths)
            {
                let first_chunk = chunk_len(self.out[i].payload.len());
                return Some(Plan { path: p, first_chunk, source: Source::Copy });
            }
        }
        None
    }

    /// A path sends nothing new before it has come to the end of what there is, and has room beside its copies.
    pub(super) fn leads(&mut self, p: PathId, paths: &Paths) -> bool {
        self.next_copy(p).is_none() && self.has_room_for_copies(p, paths)
    }

    fn has_room_for_copies(&self, p: PathId, paths: &Paths) -> bool {
        self.has_room(p, paths) && self.copies[p.index()].flight < paths[p].space()
    }

    /// The lowest chunk in flight elsewhere that the path has not come to yet.
    fn next_copy(&mut self, p: PathId) -> Option<u64> {
        let copies = &mut self.copies[p.index()];
        copies.next = copies.next.max(self.out.first_index());
        while copies.next < self.out.next_index() {
            let chunk = &self.out[copies.next];
            if chunk.state == ChunkState::InFlight && chunk.path != p {
                return Some(copies.next);
            }
            copies.next += 1;
        }
        None
    }

    /// Forgets copies whose time is over.
    fn let_go(&mut self, p: PathId, paths: &Paths) {
        let now = self.opportunity;
        let (srtt, rto) = (paths[p].rto.srtt().unwrap_or_default(), paths[p].rto.current());
        let copies = &mut self.copies[p.index()];
        while let Some(&Copy { chunk, booked, sent_at }) = copies.flying.front() {
            let acked = chunk < self.out.first_index() || self.out[chunk].is_acked();
            let age = now.since(sent_at);
            if !(acked && age >= srtt) && age < rto {
                break;
            }
            copies.flying.pop_front();
            copies.flight -= booked;
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
        while let Some(i) = self.next_copy(p) {
            let more = sent == 0 || (self.config.bundling && self.has_room_for_copies(p, paths));
            let chunk = &self.out[i];
            let length = chunk.payload.len();
            if !more || Data::HEADER_LEN + length > w.room() {
                break;
            }
            w.data(&chunk.data(Outstanding::tsn(i)));
            let booked = ByteCount::new(u64::from(self.booked(length, &paths[p])));
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
