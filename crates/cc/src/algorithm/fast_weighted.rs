//! Multipath FAST, weighted: the paths of an association together keep α packets in queues, each path in proportion
//! to its rate. Over one bottleneck all paths then hold as many packets as one flow of FAST; disjoint paths fill their
//! links.
//!
//! Source: ours, a realisation of what paper 002, §3.2.3, asks for, with the weights of Vegas over several paths (Cao,
//! Xu, Fu, ICNP 2012). Everything else is [`fast`](super::fast), whose options hold here too:
//!
//! ```text
//! α_P = max(2, α x_P/X),   x = w/r
//! ```

use crate::{CongestionControl, Setup, Snapshot};

use super::fast::{Fast, with};
use crate::FastKnobs;

pub(super) fn build(setup: &Setup) -> Box<dyn CongestionControl> {
    with("fast-weighted", weighted, setup)
}

fn weighted(fast: &Fast, knobs: &FastKnobs, at: &Snapshot<'_>) -> f64 {
    if at.is_alone() {
        return knobs.alpha;
    }
    let rate = |index: usize, path: &crate::PathView| fast.rate(index, path.window.cwnd.as_f64());
    let total: f64 = at.coupled_with_index().map(|(index, path)| rate(index, path)).sum();
    (knobs.alpha * rate(at.index(), at.path()) / total).max(2.0)
}
