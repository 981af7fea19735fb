//! SACKs that fit a narrow return link: which gap ack blocks are worth sending, and when a SACK is worth its bytes.
//!
//! With several paths of unequal delay there are hundreds of gaps at any time. A SACK would repeat all of them, although
//! only few are new. Non-renegable blocks are final (draft-natarajan-tsvwg-sctp-nrsack): a sender frees the chunks that they
//! name and keeps no account of whether a later SACK names them again. So where all blocks are non-renegable, a SACK may leave out
//! those that earlier SACKs told of. It names each new block, those of the SACK before again, since SACKs may be
//! lost, and further ones by turns.
//!
//! A SACK waits until the data that it acknowledges is [`SHARE`] times as long as itself, but no longer than [`PATIENCE`].

use super::gaps::{Run, TsnTracker};
use crate::path::PathId;
use std::collections::VecDeque;
use units::{Instant, Span};
use wire::GapBlock;

/// Bytes of data for each byte of acknowledgements.
const SHARE: u64 = 100;

/// Bytes of IP and common header around a SACK.
const AROUND: usize = 32;

/// How long a SACK that is due by the number of packets may wait for more of them.
const PATIENCE: Span = Span::from_millis(10);

/// Packets after which a SACK waits no more.
const MOST_PACKETS: u32 = 4;

/// SACKs on each path that tell of an arrival.
const REPORTS: usize = 2;

/// Arrivals remembered. What is forgotten has its turn later.
const MOST_RECENT: usize = 256;

/// Blocks that each SACK tells of by turns at least.
const BY_TURNS: usize = 2;

/// With more runs than this a SACK tells of the lowest: a sender need not keep more of what it hears only once.
const MOST_RUNS: usize = 1400;

/// A path back to the sender.
#[derive(Clone, Copy, Debug, Default)]
struct Return {
    /// The number of arrivals before each of the last SACKs there, the oldest first.
    told: [u64; REPORTS],
    /// Bytes of data that came there, less [`SHARE`] times the bytes of SACKs that left there.
    credit: i64,
}

/// The most bytes of credit, of either sign, that a path keeps.
const MOST_CREDIT: i64 = 100_000;

/// What a receiver keeps that sends lean SACKs.
///
/// SACKs on paths of different delays overtake each other. So those on each path by themselves tell of every arrival: what a
/// sender finds missing by them has not arrived.
#[derive(Debug, Default)]
pub(super) struct Lean {
    /// TSNs that arrived one after the other, the first and the last, in the order of arrival.
    recent: VecDeque<(u64, u64)>,
    /// Arrivals forgotten, which are those before `recent`.
    forgotten: u64,
    /// A SACK told of the last arrival, which grows no more.
    closed: bool,
    /// By path, as far as data came or SACKs left there.
    paths: Vec<Return>,
    /// A bit for each path on which data came since the last SACK.
    sources: u32,
    /// The last TSN of the block that had its turn last.
    turn: u64,
    /// Bytes of data since the last SACK.
    bytes: u64,
    /// When the last SACK was written.
    since: Instant,
    /// The next SACK tells of everything that fits: no data has arrived for a while.
    full: bool,
    runs: Vec<Run>,
    blocks: Vec<GapBlock>,
}

impl Lean {
    /// A chunk with so many user bytes arrived; the block that it is in is told of, also if it had arrived before.
    #[inline]
    pub(super) fn arrived(&mut self, index: u64, bytes: usize, path: PathId) {
        self.bytes += bytes as u64;
        self.sources |= 1 << path.0;
        let way = self.way(path);
        way.credit = (way.credit + bytes as i64).min(MOST_CREDIT);
        match self.recent.back_mut() {
            Some((_, last)) if !self.closed && *last + 1 == index => *last = index,
            _ => {
                if self.recent.len() == MOST_RECENT {
                    self.recent.pop_front();
                    self.forgotten += 1;
                }
                self.recent.push_back((index, index));
                self.closed = false;
            }
        }
    }

    fn way(&mut self, path: PathId) -> &mut Return {
        if self.paths.len() <= path.index() {
            self.paths.resize(path.index() + 1, Return::default());
        }
        &mut self.paths[path.index()]
    }

    /// The path of the next SACK, of those on which data came since the last (`rfc9260#section-6.4`): the one whose SACKs were shortest
    /// for its data.
    pub(super) fn path(&self) -> Option<PathId> {
        let ways = self.paths.iter().enumerate().filter(|&(p, _)| self.sources & 1 << p != 0);
        ways.max_by_key(|(_, way)| way.credit).map(|(p, _)| PathId(p as u8))
    }

    /// Arrivals that fewer than [`REPORTS`] SACKs on a path told of.
    fn news(&self, path: PathId) -> usize {
        let told = self.paths.get(path.index()).map_or(0, |way| way.told[0]);
        self.recent.len() - told.saturating_sub(self.forgotten) as usize
    }

    /// True if a SACK that is due by the number of packets, and whose fixed parts have so many bytes, is to wait: it would be
    /// long for what it acknowledges, and at the present rate more arrives soon.
    #[cold]
    pub(super) fn waits(&self, now: Instant, packets: u32, fixed: usize) -> bool {
        let last = self.paths.iter().map(|way| way.told[REPORTS - 1]).max().unwrap_or(0);
        let news = self.recent.len() - last.saturating_sub(self.forgotten) as usize;
        let blocks = BY_TURNS + REPORTS * news;
        let wanted = (AROUND + fixed + GapBlock::LEN * blocks) as u64 * SHARE;
        let missing = wanted.saturating_sub(self.bytes);
        let elapsed = now.since(self.since).as_nanos();
        let soon = elapsed.saturating_mul(missing) <= PATIENCE.as_nanos().saturating_mul(self.bytes);
        missing > 0 && packets < MOST_PACKETS && soon
    }

    /// Until when a SACK waits that is due by the number of packets.
    pub(super) fn deadline(now: Instant) -> Instant {
        now + PATIENCE
    }

    /// A SACK has waited as long as it may.
    pub(super) fn expired(&mut self) {
        self.full = true;
    }

    /// The blocks of a SACK on a path, `room` at most; its fixed parts have so many bytes.
    pub(super) fn blocks(
        &mut self,
        tsns: &TsnTracker,
        path: PathId,
        fixed: usize,
        room: usize,
    ) -> &[GapBlock] {
        self.blocks.clear();
        if self.full || tsns.is_crowded(MOST_RUNS) {
            self.blocks.extend(tsns.gap_blocks().take(room));
            return &self.blocks;
        }
        let affordable = ((self.bytes / SHARE) as usize).saturating_sub(AROUND + fixed) / GapBlock::LEN;
        self.runs.clear();
        for &(first, _) in self.recent.iter().rev().take(self.news(path)) {
            let run = tsns.run_at(first).filter(|run| self.runs.last() != Some(run));
            self.runs.extend(run);
        }
        for _ in 0..affordable.saturating_sub(self.runs.len()).max(BY_TURNS) {
            let next = tsns.run_after(self.turn).or_else(|| tsns.run_after(tsns.cumulative()));
            let Some(run) = next else { break };
            self.turn = run.last;
            self.runs.push(run);
        }
        self.runs.sort_unstable_by_key(|run| run.first);
        self.runs.dedup();
        self.blocks.extend(self.runs.iter().filter_map(|&run| tsns.block(run)).take(room));
        &self.blocks
    }

    /// A SACK with the blocks last asked for, whose fixed parts have so many bytes, was written for a path.
    #[cold]
    pub(super) fn written(&mut self, now: Instant, path: PathId, fixed: usize) {
        let sent = AROUND + fixed + GapBlock::LEN * self.blocks.len();
        let arrivals = self.forgotten + self.recent.len() as u64;
        (self.bytes, self.since, self.full, self.closed, self.sources) = (0, now, false, true, 0);
        let way = self.way(path);
        way.credit = (way.credit - (sent as u64 * SHARE) as i64).max(-MOST_CREDIT);
        way.told.rotate_left(1);
        way.told[REPORTS - 1] = arrivals;
    }
}
