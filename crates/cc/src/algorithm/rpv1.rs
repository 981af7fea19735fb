//! CMT/RP, version 1: the paths of an association share resources as if all of them crossed one bottleneck.
//!
//! Source: Dreibholz, Becke, Pulinthanath, Rathgeb, "Applying TCP-Friendly Congestion Control to Concurrent
//! Multipath Transfer", AINA 2010, §IV. C is the sum of the windows c_i and S the sum of the thresholds s_i
//! of the coupled paths, both before the update; M is the segment, a the newly acknowledged bytes:
//!
//! ```text
//! fast retransmission   s_P = max(c_P - C/2, 4 M s_P/S, M)    (5)    c_P = s_P   (6)
//! timeout               s_P = max(c_P - C/2, 4 M s_P/S, M)    (7)    c_P = M     (8)
//! slow start            c_P = c_P + ceil(min(M, a) s_P/S)     (9)    for a bytes of a full window
//! avoidance             c_P = c_P + ceil(M s_P/S)            (10)    for each full window
//! ```
//!
//! Equations 5 and 7 halve the *total* by reducing the lossy path alone: c_P - C/2 may be negative. The
//! initial window is the standard one divided by the number of paths, at least M. A single path has C = c_P
//! and s_P/S = 1, and is standard.

use units::ByteCount;

use crate::{CongestionControl, Growth, LossBased, LossKind, Setup, Snapshot, WindowPolicy};

pub(super) fn build(setup: &Setup) -> Box<dyn CongestionControl> {
    Box::new(LossBased::new(CmtRpV1, setup))
}

#[derive(Debug)]
struct CmtRpV1;

impl WindowPolicy for CmtRpV1 {
    fn name(&self) -> &'static str {
        "rpv1"
    }

    fn initial(&mut self, at: &Snapshot<'_>) -> ByteCount {
        at.initial_share()
    }

    fn increase(&mut self, growth: Growth, at: &Snapshot<'_>) -> f64 {
        Share::of(at).scale(growth.standard)
    }

    fn decrease(&mut self, _kind: LossKind, at: &Snapshot<'_>) -> ByteCount {
        if at.is_alone() {
            return at.halved();
        }
        let half = (at.total_cwnd().as_f64() / 2.0).round_ties_even();
        let rest = ByteCount::round_f64(at.cwnd().as_f64() - half);
        let least = at.segment().as_f64() * at.setup().rp_min as f64;
        let floor = ByteCount::ceil_f64(Share::of(at).scale(least));
        rest.max(floor).max(at.segment())
    }
}

/// s_P/S as a fraction. [`Share::scale`] multiplies before it divides, so that `ceil` does not round up a
/// result that is an integer.
struct Share {
    part: f64,
    whole: f64,
}

impl Share {
    fn of(at: &Snapshot<'_>) -> Share {
        // An unset ssthresh is replaced by the initial ssthresh, in SCTP by default the peer's a_rwnd, as in
        // the authors' simulator. So the first path with a loss hardly grows until the other paths have a
        // loss, too.
        let unset = at.setup().initial_ssthresh;
        let threshold = |path: &crate::PathView| path.window.ssthresh.unwrap_or(unset).as_f64();
        let whole: f64 = at.coupled().map(threshold).sum();
        if whole > 0.0 {
            Share { part: threshold(at.path()), whole }
        } else {
            Share { part: 1.0, whole: at.coupled().count() as f64 }
        }
    }

    fn scale(&self, bytes: f64) -> f64 {
        bytes * self.part / self.whole
    }
}
