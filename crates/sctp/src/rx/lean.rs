//! SACKs that fit a narrow return link: which gap ack blocks are worth sending, and when a SACK is worth its bytes.
//!
//! With several paths of unequal delay there are hundreds of gaps at any time. A SACK would repeat all of them, although
//! only few are new. Non-renegable blocks are final (draft-natarajan-tsvwg-sctp-nrsack): a sender frees the chunks that they
//! name and keeps no account of whether a later SACK names them again. So where all blocks are non-renegable, a SACK may leave out
//! those that earlier SACKs told of. It names each new block, those of the SACK before again, since SACKs may be
//! lost, and further ones by turns.
//!
//! The receiver delays a SACK until the data that it acknowledges is [`SHARE`] times as long as the SACK, but no longer than [`patience`] allows.
//!
//! A sender stores a limited number of blocks. So a SACK names only the lowest [`MOST_RUNS`] runs of TSNs. Later SACKs name the runs above them, after gaps
//! below have closed.

use super::gaps::{Run, TsnTracker};
use crate::path::PathId;
use std::collections::VecDeque;
use units::{ByteCount, Instant, Span};
use wire::GapBlock;

/// Bytes of data for each byte of acknowledgements.
const SHARE: u64 = 100;

/// Bytes of IP and common header around a SACK.
const AROUND: usize = 32;

/// How long a SACK waits for one more packet if at least [`FIRST_PACKETS`] have arrived since the last SACK.
const PATIENCE: Span = Span::from_millis(10);
/// How long a SACK waits for one more packet if fewer than [`FIRST_PACKETS`] have arrived.
const FIRST_PATIENCE: Span = Span::from_millis(25);
const FIRST_PACKETS: u32 = 4;

/// A SACK stops waiting when the packets since the last SACK fill 1/24 of the receive buffer.
///
/// If the receive buffer limits the sender, each wait delays the next packets.
const BUFFER_SHARE: u64 = 24;
/// A SACK also stops waiting when so many packets have arrived since the last SACK.
const MOST_PACKETS: u32 = 8;

/// Bytes of data in a packet.
const PACKET: u64 = 1400;

/// SACKs on each path that tell of an arrival.
const REPORTS: usize = 2;

/// Arrivals remembered. What is forgotten has its turn later.
const MOST_RECENT: usize = 256;

/// Blocks that each SACK tells of by turns.
const BY_TURNS: usize = 2;

/// With more runs than this a SACK tells of the lowest: a sender need not keep more of what it hears only once.
const MOST_RUNS: usize = 1400;

/// A path back to the sender.
#[derive(Clone, Copy, Debug, Default)]
struct Return {
    /// The number of arrivals before each of the last SACKs there, the oldest first.
    told: [u64; REPORTS],
    /// Bytes of data that arrived on the path, minus the [`Lean::cost`] of the SACKs sent on it.
    credit: i64,
}

/// The most bytes of credit, of either sign, that a path keeps.
const MOST_CREDIT: i64 = 100_000;

/// When the count of data exceeds this number of bytes, both counts of [`Lean::total`] are halved.
const MEMORY: u64 = 1 << 20;

/// What a receiver keeps that sends lean SACKs.
///
/// SACKs on paths of different delays overtake each other. So those on each path by themselves tell of every arrival: what a
/// sender finds missing by them has not arrived.
#[derive(Debug)]
pub(super) struct Lean {
    /// TSNs that arrived one after the other, the first and the last, in the order of arrival.
    recent: VecDeque<(u64, u64)>,
    /// Arrivals forgotten, which are those before `recent`.
    forgotten: u64,
    /// A SACK told of the last arrival, which grows no more.
    closed: bool,
    /// A SACK stops waiting when so many packets have arrived since the last SACK.
    most_packets: u32,
    /// By path, as far as data came or SACKs left there.
    paths: Vec<Return>,
    /// A bit for each path on which data came since the last SACK.
    sources: u32,
    /// The last TSN of the block that had its turn last.
    turn: u64,
    /// For each of the last SACKs, a limit: the SACK left out all runs that begin at this TSN or above it, since there were too many runs.
    /// [`u64::MAX`] if it left out none.
    ends: [u64; REPORTS],
    /// The TSN that `ends` gets when the SACK with the present blocks has been written.
    end: u64,
    /// Bytes of data since the last SACK.
    bytes: u64,
    /// Bytes of data that arrived, and bytes of SACKs sent; older bytes count less.
    total: (u64, u64),
    /// When the last SACK was written.
    since: Instant,
    /// The next SACK tells of everything that fits: no data has arrived for a while.
    full: bool,
    runs: Vec<Run>,
    blocks: Vec<GapBlock>,
}

impl Lean {
    /// Returns the state of a new receiver with a receive buffer of this size.
    pub(super) fn new(buffer: ByteCount) -> Self {
        let packets = buffer.get() / (BUFFER_SHARE * PACKET);
        Lean {
            most_packets: packets.min(MOST_PACKETS.into()) as u32,
            recent: VecDeque::new(),
            forgotten: 0,
            closed: false,
            paths: Vec::new(),
            sources: 0,
            turn: 0,
            ends: [u64::MAX; REPORTS],
            end: u64::MAX,
            bytes: 0,
            total: (0, 0),
            since: Instant::ZERO,
            full: false,
            runs: Vec::new(),
            blocks: Vec::new(),
        }
    }

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
        let soon = elapsed.saturating_mul(missing) <= patience(packets).as_nanos().saturating_mul(self.bytes);
        missing > 0 && packets < self.most_packets && soon
    }

    /// Returns until when a SACK waits for one more packet if `packets` have arrived since the last SACK.
    pub(super) fn deadline(now: Instant, packets: u32) -> Instant {
        now + patience(packets)
    }

    /// A SACK has waited as long as it may.
    pub(super) fn expired(&mut self) {
        self.full = true;
    }

    /// The blocks of a SACK on a path, `room` at most.
    pub(super) fn blocks(&mut self, tsns: &TsnTracker, path: PathId, room: usize) -> &[GapBlock] {
        self.blocks.clear();
        let told_to = self.ends.into_iter().min().unwrap_or(u64::MAX);
        if self.full {
            self.end = told_to;
            self.blocks.extend(tsns.gap_blocks().take(room));
            return &self.blocks;
        }
        self.end = tsns.start_of(MOST_RUNS).unwrap_or(u64::MAX);
        self.runs.clear();
        self.add_news(tsns, path);
        self.add_left_out(tsns, told_to, room);
        self.add_by_turns(tsns);
        self.runs.sort_unstable_by_key(|run| run.first);
        self.runs.dedup();
        if let Some(next) = self.runs.get(room) {
            self.end = self.end.min(next.first.max(told_to));
        }
        self.blocks.extend(self.runs.iter().filter_map(|&run| tsns.block(run)).take(room));
        &self.blocks
    }

    /// Adds the runs in which TSNs have arrived since the last [`REPORTS`] SACKs on this path.
    fn add_news(&mut self, tsns: &TsnTracker, path: PathId) {
        for &(first, _) in self.recent.iter().rev().take(self.news(path)) {
            let run = tsns.run_at(first).filter(|run| run.first < self.end && self.runs.last() != Some(run));
            self.runs.extend(run);
        }
    }

    /// Adds the runs that the last SACKs left out because there were too many, as far as they are among the lowest now.
    fn add_left_out(&mut self, tsns: &TsnTracker, told_to: u64, room: usize) {
        let mut next = told_to;
        while next < self.end
            && let Some(run) = tsns.run_after(next - 1).filter(|run| run.first < self.end)
        {
            if self.runs.len() > 2 * room {
                self.end = next;
                return;
            }
            next = run.last + 1;
            self.runs.push(run);
        }
    }

    /// Adds [`BY_TURNS`] further runs. Each SACK continues where the one before stopped.
    fn add_by_turns(&mut self, tsns: &TsnTracker) {
        for _ in 0..BY_TURNS {
            let next = tsns.run_after(self.turn).filter(|run| run.first < self.end);
            let Some(run) = next.or_else(|| tsns.run_after(tsns.cumulative())) else { break };
            self.turn = run.last;
            self.runs.push(run);
        }
    }

    /// Returns by how many bytes a SACK of `sent` bytes reduces the credit of its path.
    ///
    /// It is `sent` times the bytes of data for each byte of SACKs lately, at most [`SHARE`]. So each path carries SACKs in proportion to its data.
    fn cost(&mut self, sent: u64) -> u64 {
        let (data, sacks) = self.total;
        let shift = u32::from(data > MEMORY);
        self.total = ((data + self.bytes) >> shift, (sacks + sent) >> shift);
        sent * (self.total.0 / self.total.1.max(1)).min(SHARE)
    }

    /// A SACK with the blocks last asked for, whose fixed parts have so many bytes, was written for a path.
    #[cold]
    pub(super) fn written(&mut self, now: Instant, path: PathId, fixed: usize) {
        let sent = AROUND + fixed + GapBlock::LEN * self.blocks.len();
        let arrivals = self.forgotten + self.recent.len() as u64;
        let cost = self.cost(sent as u64);
        (self.bytes, self.since, self.full, self.closed, self.sources) = (0, now, false, true, 0);
        let way = self.way(path);
        way.credit = (way.credit - cost as i64).max(-MOST_CREDIT);
        way.told.rotate_left(1);
        way.told[REPORTS - 1] = arrivals;
        self.ends.rotate_left(1);
        self.ends[REPORTS - 1] = self.end;
    }
}

/// Returns how long a SACK waits for one more packet if `packets` have arrived since the last SACK.
fn patience(packets: u32) -> Span {
    if packets < FIRST_PACKETS { FIRST_PATIENCE } else { PATIENCE }
}
