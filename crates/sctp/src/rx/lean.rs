//! SACKs for narrow return links: which Gap Ack Blocks they report, and how long a SACK waits.
//!
//! Several paths of unequal delay always cause hundreds of gaps, of which few are new. Non-renegable blocks
//! are final (draft-natarajan-tsvwg-sctp-nrsack): a sender frees the chunks at once, and later SACKs need not
//! repeat the blocks. So where all blocks are non-renegable, a SACK is lean: it reports the blocks that are
//! new since the last two SACKs on its path, since SACKs may be lost, and a few of the older blocks in turn.
//!
//! A SACK waits until the data that it acknowledges is [`SHARE`] times as long as the SACK, but at most for
//! the time [`patience`].
//!
//! A sender stores a limited number of blocks. So a SACK reports only the lowest [`MOST_RUNS`] runs of
//! TSNs, and later SACKs report the runs above them after gaps below have closed.

use super::gaps::{Run, TsnTracker};
use crate::path::PathId;
use std::collections::VecDeque;
use units::{ByteCount, Instant, Span};
use wire::GapBlock;

/// Number of bytes of data for which the receiver may send one byte of SACKs.
const SHARE: u64 = 100;

/// Bytes of IP header and common header of a SACK.
const AROUND: usize = 32;

/// Time that a SACK waits for one more packet if at least [`FIRST_PACKETS`] arrived since the last SACK.
const PATIENCE: Span = Span::from_millis(10);
/// Time that a SACK waits for one more packet if fewer than [`FIRST_PACKETS`] arrived.
const FIRST_PATIENCE: Span = Span::from_millis(25);
const FIRST_PACKETS: u32 = 4;

/// A SACK stops waiting when the packets since the last SACK fill 1/24 of the receive buffer.
///
/// If the receive buffer limits the sender, each time that a SACK waits delays the next packets.
const BUFFER_SHARE: u64 = 24;
/// A SACK also stops waiting when this number of packets has arrived since the last SACK.
const MOST_PACKETS: u32 = 8;

/// Bytes of data in a packet.
const PACKET: u64 = 1400;

/// Number of SACKs on each path that report the same arrived TSNs.
const REPORTS: usize = 2;

/// Maximum number of arrivals (runs of TSNs) that the receiver remembers. Arrivals that it has forgotten are
/// reported later, with older blocks.
const MOST_RECENT: usize = 256;

/// Number of older blocks that each SACK repeats. Successive SACKs repeat one block after the other.
const BY_TURNS: usize = 2;

/// Maximum number of runs of TSNs that SACKs report. Higher runs are left out: the peer may be unable to
/// store more.
const MOST_RUNS: usize = 1400;

/// State of the SACKs on one path: which arrivals (runs of TSNs) they reported, and how many bytes further
/// SACKs may take.
#[derive(Clone, Copy, Debug, Default)]
struct SackRoute {
    /// For each of the last SACKs on the path, the oldest first: number of arrivals (runs of TSNs) recorded
    /// before the SACK was sent.
    told: [u64; REPORTS],
    /// Bytes of data that arrived on the path, minus the [`Lean::cost`] of the SACKs sent on it.
    credit: i64,
}

/// Largest absolute value of the credit of a path (bytes that SACKs may still take).
const MOST_CREDIT: i64 = 100_000;

/// When the bytes of data in [`Lean::total`] exceed this number, both of its counts are halved.
const MEMORY: u64 = 1 << 20;

/// State of a receiver that sends lean SACKs.
///
/// SACKs on paths of different delay overtake each other. So the SACKs on each path report every run of TSNs
/// that arrived: a sender that misses a chunk in them can conclude that the chunk has not arrived.
#[derive(Debug)]
pub(super) struct Lean {
    /// The last arrivals, the oldest first. An arrival is the first and the last TSN of a run of TSNs that
    /// arrived in order.
    recent: VecDeque<(u64, u64)>,
    /// Number of forgotten arrivals (runs of TSNs): all are older than those in `recent`.
    forgotten: u64,
    /// True if a SACK has reported the last arrival (run of TSNs): the next TSN then starts a new one.
    closed: bool,
    /// A SACK stops waiting when this number of packets has arrived since the last SACK.
    most_packets: u32,
    /// State by path, up to the highest path with data or SACKs.
    paths: Vec<SackRoute>,
    /// A bit for each path on which data arrived since the last SACK.
    sources: u32,
    /// Older blocks are repeated one after the other. This is the last TSN of the block that was repeated
    /// most recently.
    turn: u64,
    /// For each of the last SACKs, the TSN from which on the SACK left out all runs, since there were too
    /// many; [`u64::MAX`] if the SACK left out none.
    ends: [u64; REPORTS],
    /// The entry of `ends` for the SACK that is being written.
    end: u64,
    /// Bytes of data since the last SACK.
    bytes: u64,
    /// Bytes of data that arrived, and bytes of SACKs that were sent. Both are halved at times, so that older
    /// bytes count less.
    total: (u64, u64),
    /// Time at which the last SACK was written.
    since: Instant,
    /// True if no data has arrived for a while: the next SACK then reports all blocks that fit.
    full: bool,
    runs: Vec<Run>,
    blocks: Vec<GapBlock>,
}

impl Lean {
    /// Creates the state for a receive buffer of this size.
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

    /// Records a chunk that arrived, for the first time or again: the next SACKs report its block.
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

    fn way(&mut self, path: PathId) -> &mut SackRoute {
        if self.paths.len() <= path.index() {
            self.paths.resize(path.index() + 1, SackRoute::default());
        }
        &mut self.paths[path.index()]
    }

    /// The path of the next SACK (`rfc9260#section-6.4`): of the paths with data since the last SACK, the one
    /// with the highest credit (bytes that SACKs may still take).
    pub(super) fn path(&self) -> Option<PathId> {
        let ways = self.paths.iter().enumerate().filter(|&(p, _)| self.sources & 1 << p != 0);
        ways.max_by_key(|(_, way)| way.credit).map(|(p, _)| PathId(p as u8))
    }

    /// Number of arrivals (runs of TSNs) that fewer than [`REPORTS`] SACKs on this path have reported.
    fn news(&self, path: PathId) -> usize {
        let told = self.paths.get(path.index()).map_or(0, |way| way.told[0]);
        self.recent.len() - told.saturating_sub(self.forgotten) as usize
    }

    /// Returns true if a SACK that is due by the number of packets should wait: it is long for the data that
    /// it acknowledges, and more data is expected soon. `fixed` is the length of a SACK without blocks.
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

    /// Time until which a SACK waits for one more packet if `packets` arrived since the last SACK.
    pub(super) fn deadline(now: Instant, packets: u32) -> Instant {
        now + patience(packets)
    }

    /// Records that a SACK has waited until its deadline: it then reports all blocks that fit.
    pub(super) fn expired(&mut self) {
        self.full = true;
    }

    /// Returns the blocks for a SACK on a path, at most `room` blocks.
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

    /// Adds the runs of TSNs to which chunks were added since the last [`REPORTS`] SACKs on this path.
    fn add_news(&mut self, tsns: &TsnTracker, path: PathId) {
        for &(first, _) in self.recent.iter().rev().take(self.news(path)) {
            let run = tsns.run_at(first).filter(|run| run.first < self.end && self.runs.last() != Some(run));
            self.runs.extend(run);
        }
    }

    /// Adds runs that the last SACKs left out because there were too many runs, if they may be reported now.
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

    /// Adds [`BY_TURNS`] further runs of TSNs. Each SACK continues above the runs that the last SACK added
    /// here.
    fn add_by_turns(&mut self, tsns: &TsnTracker) {
        for _ in 0..BY_TURNS {
            let next = tsns.run_after(self.turn).filter(|run| run.first < self.end);
            let Some(run) = next.or_else(|| tsns.run_after(tsns.cumulative())) else { break };
            self.turn = run.last;
            self.runs.push(run);
        }
    }

    /// Returns the number of bytes by which a SACK of `sent` bytes reduces the credit of its path (the bytes
    /// that SACKs may still take).
    ///
    /// The number is `sent` times the recent ratio of data bytes to SACK bytes, at most [`SHARE`]: so each
    /// path carries SACKs in proportion to its data.
    fn cost(&mut self, sent: u64) -> u64 {
        let (data, sacks) = self.total;
        let shift = u32::from(data > MEMORY);
        self.total = ((data + self.bytes) >> shift, (sacks + sent) >> shift);
        sent * (self.total.0 / self.total.1.max(1)).min(SHARE)
    }

    /// Records that a SACK with the blocks in `self.blocks` was written for a path. `fixed` is the length of
    /// the SACK without blocks.
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

/// Time that a SACK waits for one more packet if `packets` arrived since the last SACK.
fn patience(packets: u32) -> Span {
    if packets < FIRST_PACKETS { FIRST_PATIENCE } else { PATIENCE }
}
