//! Congestion window update for CMT (paper 001 §3.2): a cumulative TSN for each path.

use crate::config::Cuc;
use crate::path::{CucState, Path, Paths};
use crate::tx::{Outstanding, SackNews};

/// Looks for the pseudo-cumulative TSN of each path that has none: its earliest chunk not acknowledged, among those
/// up to the last gap block. Version 2 tells chunks sent once from those sent again.
pub(crate) fn find(cuc: Cuc, out: &Outstanding, last: Option<u64>, paths: &mut Paths) {
    let (Some(last), false) = (last, cuc == Cuc::Normal) else { return };
    for p in paths.ids() {
        let path = &paths[p];
        let sent_once = path.cuc.pc.is_none().then(|| earliest(path, out, |i| out[i].transmissions == 1));
        let sent_again = path.cuc.rpc.is_none().then(|| earliest(path, out, |i| out[i].transmissions > 1));
        let (mut pc, mut rpc) = (sent_once.flatten(), sent_again.flatten());
        if cuc == Cuc::V1 {
            if path.cuc.pc.is_none() {
                pc = earliest(path, out, |_| true);
            }
            rpc = None;
        }
        let found = &mut paths[p].cuc;
        found.pc = found.pc.or(pc.filter(|&i| i <= last));
        found.rpc = found.rpc.or(rpc.filter(|&i| i <= last));
    }
}

/// The earliest chunk in flight or lost on a path of which `of` is true; whether it was sent once decides its list,
/// so that this looks at few.
fn earliest(path: &Path, out: &Outstanding, of: impl Fn(u64) -> bool) -> Option<u64> {
    let flying = [path.fresh, path.resent].into_iter().filter_map(|list| list.first().filter(|&i| of(i)));
    let lost =
        [path.lost_fast, path.lost_timer].into_iter().filter_map(|list| out.along(list).find(|&i| of(i)));
    flying.chain(lost).min()
}

/// Chunk `i` of the path is newly acknowledged: was it the one waited for?
pub(crate) fn test(i: u64, cuc: &mut CucState, news: &mut SackNews) {
    if cuc.pc == Some(i) {
        cuc.pc = None;
        news.new_pc = true;
    }
    if cuc.rpc == Some(i) {
        cuc.rpc = None;
        news.new_rpc = true;
    }
}
