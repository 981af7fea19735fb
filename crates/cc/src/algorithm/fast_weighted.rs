//! Multipath FAST, weighted: the paths of an association together keep α packets in queues.
//!
//! Each path keeps a part of the α packets in proportion to its rate. Over one bottleneck all paths together
//! then keep as many packets in the queue as one flow of FAST; disjoint paths fill their links. Source: our
//! implementation of the proposal in paper 002, §3.2.3, with the weights of weighted Vegas (Cao, Xu, Fu, ICNP
//! 2012). All other rules and the options are those of [`fast`](super::fast):
//!
//! ```text
//! α_P = max(2, α x_P/X),   x = w/r
//! ```

use crate::{CongestionControl, Setup, Snapshot};

use super::fast::{Fast, with};
use crate::FastKnobs;

pub(super) fn build(setup: &Setup, knobs: FastKnobs) -> Box<dyn CongestionControl> {
    with("fast-weighted", weighted, setup, knobs)
}

fn weighted(fast: &Fast, knobs: &FastKnobs, at: &Snapshot<'_>) -> f64 {
    if at.is_alone() {
        return knobs.alpha;
    }
    let rate = |index: usize, path: &crate::PathView| fast.rate(index, path.window.cwnd.as_f64());
    let total: f64 = at.coupled_with_index().map(|(index, path)| rate(index, path)).sum();
    (knobs.alpha * rate(at.index(), at.path()) / total).max(2.0)
}
