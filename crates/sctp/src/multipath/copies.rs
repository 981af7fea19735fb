//! Copies of chunks on paths other than their own: of late chunks only, or of all, for schedulers that send everything on every path.
//!
//! A chunk is *late* if its path does not answer, or if it is overdue or would arrive sooner as a copy while a full buffer stops all paths
//! ([`Scene::is_late`]). Then a copy leaves on the path on which it arrives first. Once the copy is
//! overdue itself ([`Path::overdue`]) another one follows, up to [`MOST_COPIES`]; then T3 of the path of the chunk is left.
//!
//! An acknowledgement does not tell which copy arrived. So a copy is no transmission of its chunk: the chunk stays with its path, whose window alone
//! grows by it. But if that path is silent, the copy arrived, which is an answer of the path that carried it, and grows its window: else it
//! would carry a few copies in each round trip while the other path is dead.
//!
//! A copy takes room in the window of its path until its chunk is acknowledged, but for a round-trip time at least: so a path carries copies at the
//! rate that its window allows, whatever the others do. No timer runs for it, but a path that
//! carries nothing else is silent once a copy is overdue.

use crate::chunks::{ChunkState, Mark, Outstanding};
use crate::path::{Path, PathId, Paths};
use std::collections::{BTreeMap, VecDeque};
use units::{ByteCount, Instant, Span};

/// Copies of a late chunk, on all paths together: in an outage of all paths they would never end.
const MOST_COPIES: u8 = 3;

/// What the choice of a copy depends on.
pub(crate) struct Scene<'a> {
    pub(crate) now: Instant,
    pub(crate) out: &'a Outstanding,
    pub(crate) paths: &'a Paths,
    /// All chunks are copied, not only late ones.
    pub(crate) everything: bool,
    /// A full buffer stops all paths.
    pub(crate) starved: bool,
    /// The peer sends NR-SACKs.
    pub(crate) nr_sacks: bool,
    /// Chunks of messages whose lifetime has passed: no copy of them leaves.
    pub(crate) is_stale: &'a dyn Fn(u64) -> bool,
}

impl Scene<'_> {
    /// Chunk `i` is in flight on another path than `p`, and `p` is to carry a copy.
    ///
    /// A full buffer stops every path until the earliest chunk arrives. Then a copy helps that would arrive sooner: opportunistic retransmission (Raiciu,
    /// Paasch, Barre, Ford, Honda, Duchene, Bonaventure, Handley, "How hard can it be? Designing and implementing a deployable multipath TCP",
    /// NSDI 2012, section 4.2). A whole unordered message blocks nothing if the peer sends NR-SACKs: its copy would free its own room and no more.
    fn is_late(&self, i: u64, p: PathId) -> bool {
        let chunk = &self.out[i];
        let holder = &self.paths[chunk.path];
        if holder.liveness.is_silent() || !self.starved {
            return holder.liveness.is_silent();
        }
        let age = self.now.since(chunk.sent_at);
        let (Some(its), Some(ours)) = (holder.rto.srtt(), self.paths[p].rto.srtt()) else { return false };
        let blocks = !(self.nr_sacks && chunk.stands_alone());
        (blocks && age + ours < its) || age > holder.overdue()
    }

    /// Chunk `i` is in flight, and a copy has a use.
    fn may_copy(&self, i: u64) -> bool {
        let chunk = &self.out[i];
        chunk.state == ChunkState::InFlight && !chunk.is(Mark::Abandoned) && !(self.is_stale)(i)
    }

    fn is_acked(&self, i: u64) -> bool {
        i < self.out.first_index() || self.out[i].is_acked()
    }
}

/// The copies of all paths.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    /// Empty before the first copy.
    paths: Vec<OnPath>,
    /// The last copy of each late chunk, until the chunk is acknowledged or the copy is overdue.
    last: BTreeMap<u64, LastCopy>,
    /// Chunks whose last copy is overdue, and how many there were. Those that are no longer in flight are removed when they are met.
    again: BTreeMap<u64, u8>,
}

#[derive(Debug, Default)]
struct OnPath {
    /// The first chunk it has not come to.
    next: u64,
    /// Copies in flight here, in the order of departure.
    flying: VecDeque<Copy>,
    /// Bytes of `flying`.
    flight: ByteCount,
    /// When the last copy left here that arrived, and the last that was overdue.
    arrived: Instant,
    doubtful: Instant,
}

#[derive(Clone, Copy, Debug)]
struct LastCopy {
    path: PathId,
    sent_at: Instant,
    /// Copies of its chunk so far.
    number: u8,
}

#[derive(Clone, Copy, Debug)]
struct Copy {
    chunk: u64,
    flight_size: ByteCount,
    sent_at: Instant,
}

impl Copies {
    /// Bytes of copies in flight on a path.
    pub(crate) fn flight(&self, p: PathId) -> ByteCount {
        self.paths.get(p.index()).map_or(ByteCount::ZERO, |path| path.flight)
    }

    /// True before the first copy.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// Path `p` was replaced by another one.
    pub(crate) fn forget(&mut self, p: PathId) {
        if let Some(path) = self.paths.get_mut(p.index()) {
            *path = OnPath::default();
        }
    }

    /// True if the copies leave room in the window of a path.
    #[inline]
    pub(crate) fn leave_room(&self, p: PathId, path: &Path) -> bool {
        self.paths.get(p.index()).is_none_or(|copies| copies.flight < path.space())
    }

    /// The next copy that a path has room for: the path and the chunk. The earliest chunk, for which all others wait, goes on the path on which
    /// it arrives first.
    #[inline(never)]
    pub(crate) fn plan(
        &mut self,
        at: &Scene<'_>,
        has_room: impl Fn(PathId) -> bool,
    ) -> Option<(PathId, u64)> {
        self.paths.resize_with(at.paths.len(), OnPath::default);
        let carries = |&p: &PathId| at.paths[p].is_usable() && !at.paths.is_spared(p);
        let mut order: Vec<PathId> = at.paths.ids().filter(carries).collect();
        if !at.everything {
            order.sort_by_key(|&p| at.paths[p].rto.srtt().unwrap_or(Span::MAX));
        }
        for p in order {
            self.let_go(at, p);
            let path = &at.paths[p];
            if path.liveness.is_unanswered() || !has_room(p) || !self.leave_room(p, path) {
                continue;
            }
            if let Some(i) = self.next(at, p) {
                return Some((p, i));
            }
        }
        None
    }

    /// The next chunk that path `p` is to copy.
    pub(crate) fn next(&mut self, at: &Scene<'_>, p: PathId) -> Option<u64> {
        self.paths.resize_with(at.paths.len(), OnPath::default);
        self.next_again(at, p).or_else(|| self.next_first(at, p))
    }

    /// The lowest chunk on another path whose last copy is overdue.
    fn next_again(&mut self, at: &Scene<'_>, p: PathId) -> Option<u64> {
        let in_flight = |i: u64| i >= at.out.first_index() && at.may_copy(i);
        while let Some((&i, _)) = self.again.first_key_value()
            && !in_flight(i)
        {
            self.again.pop_first();
        }
        self.again.keys().copied().find(|&i| at.out[i].path != p && in_flight(i))
    }

    /// The lowest chunk in flight on another path that path `p` has not come to yet, if it is to be copied. Every chunk is passed once.
    fn next_first(&mut self, at: &Scene<'_>, p: PathId) -> Option<u64> {
        let next = &mut self.paths[p.index()].next;
        for i in (*next).max(at.out.first_index())..at.out.next_index() {
            *next = i;
            let chunk = &at.out[i];
            if chunk.path != p && !chunk.is(Mark::Copied) && at.may_copy(i) {
                return (at.everything || at.is_late(i, p)).then_some(i);
            }
        }
        *next = at.out.next_index();
        None
    }

    /// A copy of chunk `i` left on path `p`.
    pub(crate) fn sent(&mut self, at: Instant, i: u64, p: PathId, flight_size: ByteCount, is_late: bool) {
        let path = &mut self.paths[p.index()];
        let before = self.again.remove(&i);
        path.next = if before.is_none() { i + 1 } else { path.next };
        path.flying.push_back(Copy { chunk: i, flight_size, sent_at: at });
        path.flight += flight_size;
        if is_late {
            self.last.insert(i, LastCopy { path: p, sent_at: at, number: before.unwrap_or(0) + 1 });
        }
    }

    /// Chunk `i` arrived while its own path did not answer: the path that carried its copy, and when that left.
    pub(crate) fn arrived(&mut self, i: u64) -> Option<(PathId, Instant)> {
        let LastCopy { path: p, sent_at, .. } = self.last.remove(&i)?;
        let path = &mut self.paths[p.index()];
        path.arrived = path.arrived.max(sent_at);
        Some((p, sent_at))
    }

    /// When the first copy of a late chunk is overdue, if there is one.
    pub(crate) fn deadline(&self, paths: &Paths) -> Option<Instant> {
        let first = |(path, copies): (&Path, &OnPath)| Some(copies.flying.front()?.sent_at + path.overdue());
        paths.iter().zip(&self.paths).filter_map(first).min()
    }

    /// Forgets copies that no longer count in the window: their chunks arrived, or they are overdue.
    pub(crate) fn let_go(&mut self, at: &Scene<'_>, p: PathId) {
        let path = &at.paths[p];
        let round = path.rto.srtt().unwrap_or_default();
        let patience = if at.everything { path.rto.current() } else { path.overdue() };
        while let Some(&Copy { chunk, flight_size, sent_at }) = self.paths[p.index()].flying.front() {
            let (acked, age) = (at.is_acked(chunk), at.now.since(sent_at));
            if age < if acked { round.min(patience) } else { patience } {
                break;
            }
            let copies = &mut self.paths[p.index()];
            copies.flying.pop_front();
            copies.flight -= flight_size;
            let last = self.last.remove(&chunk);
            if !acked && !at.everything {
                copies.doubtful = copies.doubtful.max(sent_at);
                if let Some(LastCopy { number: number @ ..MOST_COPIES, .. }) = last {
                    self.again.insert(chunk, number);
                }
            }
        }
    }

    /// A copy is overdue that left on path `p` after all that is known to have arrived there, and nothing else is in flight. No timer runs for
    /// copies, so a path that fails would carry all of them. True once for each copy.
    pub(crate) fn doubt(&mut self, p: PathId, path: &Path) -> bool {
        let copies = &mut self.paths[p.index()];
        let doubts = copies.doubtful > copies.arrived.max(path.liveness.proof())
            && path.flight.is_zero()
            && !path.liveness.is_silent();
        if doubts {
            copies.arrived = copies.doubtful;
        }
        doubts
    }

    /// Paths on which copies may be in flight.
    pub(crate) fn len(&self) -> usize {
        self.paths.len()
    }
}
