//! Copies of chunks on other paths: of late chunks, or of all chunks (redundant scheduler).
//!
//! A chunk is *late* if its path is silent, or if a full buffer stops all paths and the chunk is
//! overdue or would arrive sooner as a copy ([`Scene::is_late`]). The copy leaves on the path on which
//! it arrives first. If a copy is overdue ([`Path::overdue`]), another copy follows, up to [`MOST_COPIES`].
//! After these, only T3-rtx retransmits the chunk.
//!
//! A SACK does not say which copy arrived. So a copy is no transmission of its chunk: the chunk stays with
//! its path, and its acknowledgement changes only that path. No timer runs for a copy.
//!
//! A copy takes room in the cwnd of its path until its chunk is acknowledged or the copy is overdue,
//! but at least for an SRTT. So a path carries copies at the rate that its own cwnd permits.

use crate::chunks::{ChunkState, Mark, Outstanding};
use crate::path::{Path, PathId, Paths};
use std::collections::{BTreeMap, VecDeque};
use units::{ByteCount, Instant};

/// Maximum number of copies of a late chunk, over all paths: in an outage of all paths, copies must end.
const MOST_COPIES: u8 = 3;

/// The state of the sender from which it chooses the next chunk to copy to another path.
pub(crate) struct Scene<'a> {
    pub(crate) now: Instant,
    pub(crate) out: &'a Outstanding,
    pub(crate) paths: &'a Paths,
    /// All chunks are copied, not only late ones: the scheduler is `redundant`.
    pub(crate) everything: bool,
    /// A full buffer of either end stops all paths.
    pub(crate) starved: bool,
    pub(crate) nr_sacks: bool,
    /// True for a chunk whose message has outlived its lifetime: such a chunk is not copied.
    pub(crate) is_stale: &'a dyn Fn(u64) -> bool,
}

impl Scene<'_> {
    /// Returns true if path `p` should carry a copy of chunk `i`, which is in flight on another path.
    ///
    /// With a full buffer, a copy helps if it arrives before the chunk: opportunistic retransmission (Raiciu,
    /// Paasch, Barre, Ford, Honda, Duchene, Bonaventure, Handley, "How hard can it be? Designing and
    /// implementing a deployable multipath TCP", NSDI 2012, section 4.2). If the peer sends NR-SACKs, a whole
    /// unordered message blocks no other message: a copy would free only the room of that message.
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

    /// Returns true if chunk `i` is in flight and is neither abandoned nor past its lifetime.
    fn may_copy(&self, i: u64) -> bool {
        let chunk = &self.out[i];
        chunk.state == ChunkState::InFlight && !chunk.is(Mark::Abandoned) && !(self.is_stale)(i)
    }

    fn is_acked(&self, i: u64) -> bool {
        i < self.out.first_index() || self.out[i].is_acked()
    }
}

#[derive(Debug, Default)]
pub(crate) struct Copies {
    /// One entry for each path; no entries before the first copy.
    paths: Vec<OnPath>,
    /// Chunks whose newest copy is overdue, with their number of copies. An entry may stay for some
    /// time after its chunk left the flight.
    again: BTreeMap<u64, u8>,
}

#[derive(Debug, Default)]
struct OnPath {
    /// Index of the lowest chunk that was not yet considered for a copy on this path.
    next: u64,
    /// Copies in flight on this path, in the order of departure.
    flying: VecDeque<Copy>,
    /// Number of bytes in `flying`.
    flight: ByteCount,
}

#[derive(Clone, Copy, Debug)]
struct Copy {
    chunk: u64,
    /// Number of copies of the chunk so far, this one included.
    number: u8,
    flight_size: ByteCount,
    sent_at: Instant,
}

impl Copies {
    /// Returns true before the first copy.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// Forgets the copies on path `p`: a new path has taken its number.
    pub(crate) fn forget(&mut self, p: PathId) {
        if let Some(path) = self.paths.get_mut(p.index()) {
            *path = OnPath::default();
        }
    }

    /// Returns true if the copies on path `p` leave room in its cwnd.
    #[inline]
    pub(crate) fn leave_room(&self, p: PathId, path: &Path) -> bool {
        self.paths.get(p.index()).is_none_or(|copies| copies.flight < path.space())
    }

    /// Chooses the next copy: a path that has room, and the chunk. The fastest path copies the chunk
    /// with the lowest TSN, for which the peer holds back later chunks.
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
            let time = |p: PathId| {
                let path = &at.paths[p];
                path.time_for(path.mtu, path.window_rate()).unwrap_or(f64::INFINITY)
            };
            order.sort_by(|&a, &b| time(a).total_cmp(&time(b)));
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

    /// Returns the next chunk that path `p` should copy.
    pub(crate) fn next(&mut self, at: &Scene<'_>, p: PathId) -> Option<u64> {
        self.paths.resize_with(at.paths.len(), OnPath::default);
        self.next_again(at, p).or_else(|| self.next_first(at, p))
    }

    /// Returns the lowest chunk whose newest copy is overdue, among chunks in flight on paths other than `p`.
    fn next_again(&mut self, at: &Scene<'_>, p: PathId) -> Option<u64> {
        let in_flight = |i: u64| i >= at.out.first_index() && at.may_copy(i);
        while let Some((&i, _)) = self.again.first_key_value()
            && !in_flight(i)
        {
            self.again.pop_first();
        }
        self.again.keys().copied().find(|&i| at.out[i].path != p && in_flight(i))
    }

    /// Returns the lowest chunk of another path that was not yet considered for a copy on path `p`,
    /// if that chunk should be copied.
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

    pub(crate) fn sent(&mut self, sent_at: Instant, chunk: u64, p: PathId, flight_size: ByteCount) {
        let path = &mut self.paths[p.index()];
        let before = self.again.remove(&chunk);
        path.next = if before.is_none() { chunk + 1 } else { path.next };
        path.flying.push_back(Copy { chunk, number: before.unwrap_or(0) + 1, flight_size, sent_at });
        path.flight += flight_size;
    }

    /// Earliest time at which a copy in `flying` becomes overdue, over all paths; `None` if there is no copy.
    pub(crate) fn deadline(&self, paths: &Paths) -> Option<Instant> {
        let first = |(path, copies): (&Path, &OnPath)| Some(copies.flying.front()?.sent_at + path.overdue());
        paths.iter().zip(&self.paths).filter_map(first).min()
    }

    /// Removes copies that no longer take room in the cwnd of path `p`: overdue ones and acknowledged ones.
    pub(crate) fn let_go(&mut self, at: &Scene<'_>, p: PathId) {
        let path = &at.paths[p];
        let round = path.rto.srtt().unwrap_or_default();
        let patience = if at.everything { path.rto.current() } else { path.overdue() };
        while let Some(&Copy { chunk, number, flight_size, sent_at }) = self.paths[p.index()].flying.front() {
            let (acked, age) = (at.is_acked(chunk), at.now.since(sent_at));
            if age < if acked { round.min(patience) } else { patience } {
                break;
            }
            let copies = &mut self.paths[p.index()];
            copies.flying.pop_front();
            copies.flight -= flight_size;
            if !acked && !at.everything && number < MOST_COPIES {
                self.again.insert(chunk, number);
            }
        }
    }

    /// Number of paths on which copies may be in flight.
    pub(crate) fn len(&self) -> usize {
        self.paths.len()
    }
}
