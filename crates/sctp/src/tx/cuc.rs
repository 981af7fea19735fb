//! Congestion window update for CMT (paper 001 §3.2): a pseudo-cumulative TSN for each path.

use super::{Outstanding, PathDelta, TxChunk};
use crate::config::Cuc;
use crate::path::{CucState, List, NIL, Path, Paths};

impl CucState {
    /// Records whether the newly acknowledged chunk `i` was the pseudo-cumulative TSN of the path.
    pub(super) fn test(&mut self, i: u64, delta: &mut PathDelta) {
        if self.pc == Some(i) {
            self.pc = None;
            delta.new_pc = true;
        }
        if self.rpc == Some(i) {
            self.rpc = None;
            delta.new_rpc = true;
        }
    }
}

/// Finds the pseudo-cumulative TSN of each path that has none: its earliest unacknowledged chunk up to
/// `last`, the end of the Gap Ack Blocks. CUC version 2 separates chunks sent once from retransmitted chunks.
/// The search visits at most [`MOST_LOST`] lost chunks. If more chunks are lost, no cwnd grows before some of
/// them are retransmitted.
pub(super) fn find(cuc: Cuc, out: &Outstanding, last: Option<u64>, paths: &mut Paths) {
    let (Some(last), false) = (last, cuc == Cuc::Normal) else { return };
    let mut left = MOST_LOST;
    let sent_once = if cuc == Cuc::V1 { Sent::Ever } else { Sent::Once };
    for path in paths.iter_mut() {
        if path.cuc.pc.is_none() {
            path.cuc.pc = earliest(path, out, last, sent_once, &mut left);
        }
        if cuc == Cuc::V2 && path.cuc.rpc.is_none() {
            path.cuc.rpc = earliest(path, out, last, Sent::Again, &mut left);
        }
    }
}

/// Maximum number of lost chunks that the search visits for one SACK.
const MOST_LOST: usize = 1024;

/// Chunks by the number of their transmissions.
#[derive(Clone, Copy)]
enum Sent {
    Ever,
    Once,
    Again,
}

impl Sent {
    #[inline(always)]
    fn is_of(self, chunk: &TxChunk) -> bool {
        match self {
            Sent::Ever => true,
            Sent::Once => chunk.is_fresh(),
            Sent::Again => !chunk.is_fresh(),
        }
    }
}

/// The earliest chunk up to `last` that is in flight or lost on a path and was sent as often as `sent` says.
/// The search visits at most `left` lost chunks, and reduces `left` by the number visited.
#[inline]
fn earliest(path: &Path, out: &Outstanding, last: u64, sent: Sent, left: &mut usize) -> Option<u64> {
    let mut first = match sent {
        Sent::Ever => path.earliest(),
        Sent::Once => path.fresh.head,
        Sent::Again => path.resent.head,
    };
    for list in [path.lost_fast, path.lost_timer] {
        if list.head != NIL {
            first = first.min(earliest_lost(list, out, sent, left));
        }
    }
    (first <= last).then_some(first)
}

#[cold]
fn earliest_lost(list: List, out: &Outstanding, sent: Sent, left: &mut usize) -> u64 {
    let found = out.along(list).find(|&i| {
        *left = left.saturating_sub(1);
        crate::steps::count(1);
        *left == 0 || sent.is_of(&out[i])
    });
    found.filter(|&i| sent.is_of(&out[i])).unwrap_or(NIL)
}
