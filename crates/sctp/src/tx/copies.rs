//! Copies of chunks on paths other than their own: of all chunks, for schedulers that send everything on every path, or of
//! late chunks only.
//!
//! An acknowledgement does not tell which copy arrived. So a copy is no transmission of its chunk: the chunk stays with its
//! path, whose window alone grows by it, and whose round-trip time is that of whichever came first. But if that path is
//! silent, it was the copy that arrived, and the window of its path grows: else it would carry a few copies in each round
//! trip while the other path is dead. A copy takes room in the window of its path until its chunk is acknowledged, but for
//! a round-trip time of that path at least: so a path carries copies at the rate its window allows and no faster, whatever
//! the others do. No timer runs for it, but a path that carries nothing else is silent once a copy is overdue.
//!
//! A late chunk is copied at most [`MOST_COPIES`] times, and two times more if it is retransmitted on a path that falls silent.
//! A copy is overdue after [`Path::overdue`](crate::path::Path), and each further copy of the same chunk after twice the
//! time of the one before; and a path with an overdue copy carries one packet of copies at a time until one is acknowledged.
//! The last path that falls silent waits for an answer after a few packets, too
//! ([`Path::is_unanswered`](crate::path::Path)). So when no path works, copies end soon, and T3 with its own backoff is
//! left.

use super::delta::SackDelta;
use super::partial::Cause;
use super::send::{Plan, Source, earliest_lost};
use super::{ChunkState, Mark, PerPath, Sender};
use crate::multipath::retransmission;
use crate::path::{LossCause, Path, PathId, Paths};
use std::array::from_fn;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use units::{ByteCount, Instant, Span};
use wire::PacketWriter;

/// Copies of a late chunk, on all paths together.
const MOST_COPIES: usize = 3;

/// Copies of a path among which one is searched: those that left first.
const MOST_SEARCHED: usize = 64;

/// The copies of one path.
#[derive(Debug, Default)]
pub(super) struct Copies {
    /// The first chunk it has not come to.
    next: u64,
    /// The first chunk that it passed over because it may have arrived.
    passed: Option<u64>,
    /// When it was last clear what of the chunks of this path, which was silent, did not arrive.
    told: Instant,
    /// In flight, by how often their chunk was copied before; each queue in the order of departure.
    flying: [VecDeque<Copy>; MOST_COPIES],
    /// Bytes of `flying`.
    flight: ByteCount,
    /// The last copy removed from `flying` was a copy of a late chunk, and was removed because it was overdue.
    overdue: bool,
    /// When the last copy of which it is known that it arrived left here, and the last that was overdue.
    arrived: Instant,
    doubtful: Instant,
    /// Chunks of which this path is the holder and the last copy is overdue, with the number of copies sent. Entries
    /// of chunks that left the path or arrived are removed when they are met.
    again: BTreeMap<u64, usize>,
    /// Chunks of which this path is the holder and the last of [`MOST_COPIES`] copies is overdue.
    spent: BTreeSet<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Copy {
    chunk: u64,
    flight_size: ByteCount,
    sent_at: Instant,
}

impl Copies {
    /// True if the path may have failed, too, and a packet of copies is in flight there.
    fn waits(&self) -> bool {
        self.overdue && !self.flight.is_zero()
    }

    /// Returns the lowest chunk of which this path is the holder and the last copy is overdue.
    fn lowest_overdue(&self) -> Option<u64> {
        let again = self.again.first_key_value().map(|(&i, _)| i);
        again.into_iter().chain(self.spent.first().copied()).min()
    }
}

impl Sender {
    /// Plans a copy of a chunk of a silent path that is below all lost chunks: the receiver can deliver none of those before it.
    #[inline(never)]
    pub(super) fn copy_before_lost(&mut self, paths: &Paths) -> Option<Plan> {
        let in_doubt = paths.iter().filter(|path| path.liveness.is_in_doubt());
        let first = in_doubt.map(Path::earliest).min()?;
        let (lost, ..) = earliest_lost(paths, None)?;
        if first < lost && self.reinjects(paths) { self.plan_copy(paths, lost) } else { None }
    }

    /// Plans the next copy that a path has room for, of a chunk below `limit`.
    #[inline(never)]
    pub(super) fn plan_copy(&mut self, paths: &Paths, limit: u64) -> Option<Plan> {
        self.copies.resize_with(paths.len(), Copies::default);
        let carries = |&p: &PathId| paths[p].is_usable() && !paths.is_spared(p);
        let mut order: PerPath<PathId> = paths.ids().filter(carries).collect();
        if !self.traits.copies {
            // The earliest chunk, for which all others wait, goes on the path on which it arrives first.
            order.sort_by_key(|&p| paths[p].rto.srtt().unwrap_or(Span::MAX));
        }
        let (all, mut soonest) = (bytes_in_doubt(paths), f64::INFINITY);
        for p in order {
            self.let_go(p, paths);
            let next = self.next_copy(p, paths);
            if self.copies[p.index()].waits() || paths[p].liveness.is_unanswered() {
                continue;
            }
            if !self.has_room(p, paths) || !self.has_room_beside_copies(p, paths) {
                soonest = soonest.min(retransmission::time_on(&paths[p], all));
                continue;
            }
            // A faster path that has room soon carries all of them before this one could carry the first.
            if self.lateness(p, paths) > soonest {
                continue;
            }
            if let Some((i, _)) = next {
                if i >= limit {
                    continue;
                }
                let first_chunk = self.chunk_len(self.out[i].len());
                return Some(Plan::new(p, Source::Copy, first_chunk));
            }
            let waiting = self.copies[p.index()].next;
            if self.starved && waiting < self.out.next_index() {
                self.await_overdue(waiting, p, paths);
            }
        }
        None
    }

    /// Seconds until a packet that leaves now is acknowledged; nothing for a scheduler that copies everything.
    fn lateness(&self, p: PathId, paths: &Paths) -> f64 {
        if self.traits.copies { 0.0 } else { paths[p].rto.srtt().map_or(0.0, |srtt| srtt.as_secs_f64()) }
    }

    /// True if a path may send new data: it has no chunk left to copy, and room beside its copies.
    pub(super) fn leads(&mut self, p: PathId, paths: &Paths) -> bool {
        self.next_copy(p, paths).is_none() && self.has_room_beside_copies(p, paths)
    }

    /// True if the copies leave room in the window.
    #[inline]
    pub(super) fn has_room_beside_copies(&self, p: PathId, paths: &Paths) -> bool {
        self.copies.get(p.index()).is_none_or(|copies| copies.flight < paths[p].space())
    }

    /// The lowest chunk that the path is to copy, and the number of copies it had before.
    fn next_copy(&mut self, p: PathId, paths: &Paths) -> Option<(u64, usize)> {
        self.next_again(p, paths).or_else(|| Some((self.next_first(p, paths)?, 0)))
    }

    /// The lowest chunk on another path whose last copy is overdue. If the last copy on `p` is overdue as well, `p` may have failed
    /// and leaves the chunk to a third path that may work: since nothing fills a dead path, it would always have room first and
    /// carry all copies in vain.
    fn next_again(&mut self, p: PathId, paths: &Paths) -> Option<(u64, usize)> {
        let mut lowest = None;
        for holder in (0..self.copies.len()).filter(|&holder| holder != p.index()) {
            let third = |q: PathId| ![holder, p.index()].contains(&q.index());
            let works = |q: PathId| {
                third(q) && paths[q].is_usable() && !paths.is_spared(q) && !self.copies[q.index()].overdue
            };
            if self.copies[p.index()].overdue && paths.ids().any(works) {
                continue;
            }
            while let Some((&i, &sent)) = self.copies[holder].again.first_key_value() {
                if self.is_held(i, holder) {
                    lowest = lowest.into_iter().chain([(i, sent)]).min();
                    break;
                }
                self.copies[holder].again.pop_first();
            }
        }
        lowest
    }

    /// The lowest chunk in flight on another path that the path has not come to yet, if it is to be copied. Every chunk
    /// is passed once, or twice if it may have arrived. When a path falls silent, its earliest chunk and all after that are passed once more.
    fn next_first(&mut self, p: PathId, paths: &Paths) -> Option<u64> {
        loop {
            let first = self.copies[p.index()].next.max(self.out.first_index());
            for i in first..self.out.next_index() {
                self.copies[p.index()].next = i;
                let chunk = &self.out[i];
                let copied = chunk.is(Mark::Copied) || chunk.is(Mark::Abandoned) || self.is_stale(i);
                if chunk.state != ChunkState::InFlight || chunk.path == p || copied {
                    continue;
                }
                if self.may_have_arrived(i, paths) {
                    self.copies[p.index()].passed.get_or_insert(i);
                    continue;
                }
                return (self.traits.copies || self.is_late(i, p, paths)).then_some(i);
            }
            self.copies[p.index()].next = self.out.next_index();
            self.copies[p.index()].passed?;
            for holder in 0..self.copies.len() {
                self.pass_none_over(holder);
            }
        }
    }

    /// The last SACK came on the path of chunk `i`, which is silent since, at a time when the chunk should have arrived there: perhaps only
    /// its SACK is lost. It is copied after those that left later, but for the lowest one, whose SACK will tell.
    fn may_have_arrived(&self, i: u64, paths: &Paths) -> bool {
        let chunk = &self.out[i];
        let holder = &paths[chunk.path];
        let told = || self.copies[chunk.path.index()].told >= holder.liveness.since();
        if !holder.liveness.is_silent()
            || self.sack_way != Some(chunk.path)
            || i == self.out.first_index()
            || told()
        {
            return false;
        }
        let (Some(srtt), Some(base)) = (holder.rto.srtt(), holder.rto.base()) else { return false };
        chunk.sent_at + (srtt - base / 2) <= holder.liveness.since()
    }

    /// From now on all chunks of a silent path are copied in order. There is nothing to remember of a path that was added since the last
    /// copy was planned.
    fn pass_none_over(&mut self, holder: usize) {
        if let Some(copies) = self.copies.get_mut(holder) {
            copies.told = self.now;
        }
        for copies in &mut self.copies {
            copies.next = copies.passed.take().unwrap_or(copies.next);
        }
    }

    /// Restarts the search of the other paths for chunks to copy at index `i`, the first chunk in flight on a path that fell silent.
    ///
    /// They may have passed this chunk before it was retransmitted on that path.
    pub(super) fn come_back_to(&mut self, i: u64) {
        for copies in &mut self.copies {
            copies.next = copies.next.min(i);
        }
    }

    /// Returns the chunks of which a copy is in flight and not overdue.
    pub(super) fn copied_in_flight(&self) -> BTreeSet<u64> {
        let flying = self.copies.iter().flat_map(|copies| copies.flying.iter().flatten());
        flying.map(|copy| copy.chunk).collect()
    }

    /// When the next copy of a late chunk is overdue itself, if there is one.
    pub(crate) fn copies_overdue(&self, paths: &Paths) -> Option<Instant> {
        if self.never_used || self.traits.copies || self.copies.is_empty() {
            return None;
        }
        self.first_overdue(paths)
    }

    #[inline(never)] // away from senders without copies
    fn first_overdue(&self, paths: &Paths) -> Option<Instant> {
        let of_path = |(path, copies): (&crate::path::Path, &Copies)| {
            let fronts: [_; MOST_COPIES] =
                from_fn(|n| Some(copies.flying[n].front()?.sent_at + path.overdue() * (1 << n)));
            fronts.into_iter().flatten().min()
        };
        paths.iter().zip(&self.copies).filter_map(of_path).min()
    }

    /// Time since a chunk was sent, or its last copy.
    pub(super) fn age(&self, i: u64) -> Span {
        self.now.since(self.out[i].sent_at)
    }

    /// As [`Self::let_go`] on all paths. Also at the same instant: a new RTT sample may have made copies overdue, and their timer
    /// is in the past.
    #[cold]
    pub(super) fn let_all_go(&mut self, paths: &mut Paths) {
        for p in paths.ids().take(self.copies.len()) {
            self.let_go(p, paths);
            self.doubt(p, paths);
        }
        for p in paths.ids().take(self.copies.len()) {
            if paths[p].timed_out {
                self.lose_spared(p, paths);
            }
        }
    }

    /// No timer runs for copies. So a path that carries nothing else would never fall silent if it fails, and all copies would go there. If a
    /// copy is overdue that left after all that is known to have arrived, the path is silent at once, and a heartbeat asks whether it works.
    fn doubt(&mut self, p: PathId, paths: &mut Paths) {
        let copies = &self.copies[p.index()];
        let path = &mut paths[p];
        if copies.doubtful > copies.arrived.max(path.liveness.proof())
            && path.flight.is_zero()
            && !path.liveness.is_silent()
        {
            self.copies[p.index()].arrived = self.copies[p.index()].doubtful; // one question for each copy
            path.liveness.act_at(self.now);
        }
    }

    /// T3 of a path spares a chunk that was copied a short time before. If that copy is overdue now, the chunk is lost as the others are, once
    /// it is below all of them: their retransmissions leave no room for a further copy, and the receiver waits for this one.
    fn lose_spared(&mut self, p: PathId, paths: &mut Paths) {
        let Some((lowest, ..)) = earliest_lost(paths, None) else { return };
        while let Some(i) = self.copies[p.index()].lowest_overdue()
            && i < lowest
        {
            let copies = &mut self.copies[p.index()];
            copies.again.remove(&i);
            copies.spent.remove(&i);
            if self.is_held(i, p.index()) {
                self.mark_lost(i, LossCause::Timeout, paths);
                return self.after_losses(self.now, Cause::Timeout, paths);
            }
        }
    }

    /// Chunk `i` is in flight on this path, and a further copy has a use.
    fn is_held(&self, i: u64, holder: usize) -> bool {
        self.out.first_index() <= i
            && self.out[i].state == ChunkState::InFlight
            && !self.out[i].is(Mark::Abandoned)
            && !self.is_stale(i)
            && self.out[i].path.index() == holder
    }

    /// Forgets copies that no longer count in the window. One that is overdue may be lost: its chunk is due for another copy.
    pub(super) fn let_go(&mut self, p: PathId, paths: &Paths) {
        let now = self.now;
        let (srtt, rto) = (paths[p].rto.srtt().unwrap_or_default(), paths[p].rto.current());
        for before in 0..MOST_COPIES {
            let patience = if self.traits.copies { rto } else { paths[p].overdue() * (1 << before) };
            while let Some(&Copy { chunk, flight_size, sent_at }) =
                self.copies[p.index()].flying[before].front()
            {
                let acked = chunk < self.out.first_index() || self.out[chunk].is_acked();
                let age = now.since(sent_at);
                if !(acked && age >= srtt) && age < patience {
                    break;
                }
                let copies = &mut self.copies[p.index()];
                copies.flying[before].pop_front();
                copies.flight -= flight_size;
                copies.overdue = !acked && !self.traits.copies;
                if copies.overdue {
                    copies.doubtful = copies.doubtful.max(sent_at);
                }
                if !acked && !self.traits.copies {
                    self.note_overdue(chunk, before + 1);
                }
            }
        }
    }

    /// Path `p` fell silent: notes which of its chunks need another copy.
    ///
    /// These are the chunks that were copied, later retransmitted on this path, and have no copy in flight.
    pub(super) fn copy_resent(&mut self, p: PathId, paths: &Paths) {
        let awaited = self.copied_in_flight();
        let Some(copies) = self.copies.get_mut(p.index()) else { return };
        for i in self.out.along(paths[p].resent) {
            if self.out[i].is(Mark::Copied) && !awaited.contains(&i) && !copies.spent.contains(&i) {
                copies.again.entry(i).or_insert(1);
            }
        }
    }

    /// The last of so many copies of chunk `i` is overdue.
    fn note_overdue(&mut self, i: u64, sent: usize) {
        let (holder, first) = (self.out[i].path.index(), self.out.first_index());
        let Some(copies) = self.copies.get_mut(holder) else { return };
        if sent < MOST_COPIES {
            copies.again.insert(i, sent);
        } else {
            copies.spent = copies.spent.split_off(&first);
            copies.spent.insert(i);
        }
    }

    /// Chunk `i` arrived while its own path was silent. If its only copy left just now, the original arrived, and its path is on trial. Else
    /// its last copy arrived, which shows that the path of the copy works, and whose window grows by it: chunks that left there earlier and
    /// have not arrived may be lost.
    #[cold]
    pub(super) fn copy_arrived(&mut self, now: Instant, i: u64, paths: &mut Paths, delta: &mut SackDelta) {
        let all = self.copies.iter().enumerate().flat_map(|(p, copies)| {
            let queues = copies.flying.iter().enumerate();
            queues.flat_map(move |(before, queue)| {
                let first = queue.iter().take(MOST_SEARCHED).filter(move |copy| copy.chunk == i);
                first.map(move |copy| (copy.sent_at, p, before))
            })
        });
        let Some((sent_at, p, before)) = all.max() else { return };
        self.pass_none_over(self.out[i].path.index());
        let carrier = PathId(p as u8);
        if paths[carrier].rto.base().is_some_and(|base| now.since(sent_at) < base / 2) {
            if before == 0 && self.out[i].transmissions == 1 {
                self.begin_trial(now, &mut paths[self.out[i].path]);
                self.end_loneliness(now, paths);
            }
            return;
        }
        if let Some(rack) = &mut paths[carrier].rack {
            rack.arrived_again(now, i, sent_at);
        }
        self.end_silence(now, &mut paths[carrier]);
        self.copies[p].arrived = self.copies[p].arrived.max(sent_at);
        delta[carrier].copied += ByteCount::new(u64::from(self.out[i].flight_size));
    }

    /// Bytes of copies in flight on a path.
    pub(super) fn copies_in_flight(&self, p: PathId) -> ByteCount {
        self.copies.get(p.index()).map_or(ByteCount::ZERO, |copies| copies.flight)
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
        while let Some((i, before)) = self.next_copy(p, paths) {
            let room = |sender: &Sender| sender.has_room(p, paths) && sender.has_room_beside_copies(p, paths);
            let more = sent == 0 || (self.config.bundling && room(self));
            let length = self.out[i].len();
            // rfc9260#section-6.10: TSNs ascend within a packet.
            if !more || i < last || self.header_len() + length > w.room() {
                break;
            }
            last = i;
            if self.config.lean_sacks && sent == 0 {
                self.out[i].ask_for_sack();
            }
            self.out.write(i, w);
            let flight_size = ByteCount::new(u64::from(self.flight_size_of(length, &paths[p])));
            if !self.traits.copies {
                self.out[i].mark(Mark::Copied);
                self.out[i].sent_at = now;
                self.forget_resent(i);
            }
            if before == 0 {
                self.copies[p.index()].next = i + 1;
            } else {
                let holder = self.out[i].path.index();
                self.copies[holder].again.remove(&i);
            }
            let copies = &mut self.copies[p.index()];
            copies.flying[before].push_back(Copy { chunk: i, flight_size, sent_at: now });
            copies.flight += flight_size;
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

/// Bytes in flight on paths of which it is not known whether they work.
fn bytes_in_doubt(paths: &Paths) -> ByteCount {
    let in_doubt = paths.iter().filter(|path| path.liveness.is_in_doubt());
    in_doubt.fold(ByteCount::ZERO, |sum, path| sum + path.flight)
}
