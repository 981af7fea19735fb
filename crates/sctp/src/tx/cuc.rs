//! Congestion window update for CMT (paper 001 §3.2): a cumulative TSN for each path.

use super::{Outstanding, PathDelta, TxChunk};
use crate::config::Cuc;
use crate::path::{CucState, Path, Paths};

impl CucState {
    /// Chunk `i` of the path is newly acknowledged: was it the one waited for?
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

/// Looks for the pseudo-cumulative TSN of each path that has none: its earliest chunk not acknowledged, among those
/// up to the last gap block. Version 2 tells chunks sent once from those sent again. The number of lost chunks that it looks at is
/// bounded: if more are lost, no window grows before some of them are retransmitted.
pub(super) fn find(cuc: Cuc, out: &Outstanding, last: Option<u64>, paths: &mut Paths) {
    let (Some(last), false) = (last, cuc == Cuc::Normal) else { return };
    let mut left = MOST_LOST;
    let mut earliest =
        |path: &Path, of: fn(&TxChunk) -> bool| earliest(path, out, &mut left, |i| of(&out[i]));
    for p in paths.ids() {
        let path = &paths[p];
        let sent_once = if cuc == Cuc::V1 { |_: &TxChunk| true } else { |chunk: &TxChunk| chunk.is_fresh() };
        let pc = if path.cuc.pc.is_none() { earliest(path, sent_once) } else { None };
        let wanted = cuc == Cuc::V2 && path.cuc.rpc.is_none();
        let rpc = if wanted { earliest(path, |chunk| !chunk.is_fresh()) } else { None };
        let found = &mut paths[p].cuc;
        found.pc = found.pc.or(pc.filter(|&i| i <= last));
        found.rpc = found.rpc.or(rpc.filter(|&i| i <= last));
    }
}

/// Lost chunks looked at for one SACK.
const MOST_LOST: usize = 1024;

/// The earliest chunk in flight or lost on a path of which `of` is true; whether it was sent once decides its list,
/// so that this looks at few. It looks at `left` lost chunks at most, which it takes off.
fn earliest(path: &Path, out: &Outstanding, left: &mut usize, of: impl Fn(u64) -> bool) -> Option<u64> {
    let flying = [path.fresh, path.resent].into_iter().filter_map(|list| list.first().filter(|&i| of(i)));
    let lost = [path.lost_fast, path.lost_timer].into_iter().filter_map(|list| {
        out.along(list).find(|&i| {
            *left = left.saturating_sub(1);
            crate::steps::count(1);
            *left == 0 || of(i)
        })
    });
    flying.chain(lost.filter(|&i| of(i))).min()
}
