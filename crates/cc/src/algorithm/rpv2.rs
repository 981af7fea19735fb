//! CMT/RP, version 2: pools resources by rates, not windows, so that paths of unequal RTT are comparable.
//!
//! Source: Dreibholz, Becke, Adhari, Rathgeb, "On the Impact of Congestion Control for Concurrent Multipath
//! Transfer on the Transport Layer", ConTEL 2011. P is the path, c a window, C the sum of the windows,
//! s an ssthresh, r the smoothed RTT and M the segment. x = c/r is the rate of a path and X the sum of
//! x over the coupled paths, both before the update; a is the number of newly acknowledged bytes:
//!
//! ```text
//! loss         d = max(1/2, (X/2)/x_P),   s_P = max(c_P - d c_P, m M),   m = 1
//! slow start   c_P = c_P + ceil(min(M, a) x_P/X)     for a bytes of a full window
//! avoidance    c_P = c_P + ceil(M x_P/X)             for each full window
//! ```
//!
//! After a fast retransmission c_P = s_P, after a timeout c_P = M. The initial window is that of version 1.
//! On a single path d = 1/2 and x_P/X = 1: the control is standard, including the lower bound.
//!
//! usrsctp bounds s by max(4 M x_P/X, c - C/2, M) and uses C - X r/2 after a timeout. The paper does not.

use units::ByteCount;

use crate::{CongestionControl, Growth, LossBased, LossKind, PathView, Setup, Snapshot, WindowPolicy};
use transport::options;

options! {
    /// Options of [`Algorithm::CmtRpV2`](crate::Algorithm::CmtRpV2).
    #[derive(Copy)]
    pub struct RpV2Knobs in "rpv2" {
        /// Lower bound of ssthresh after a loss in segments (m).
        min: u32 = 1, "at least 1, at most 1000" if |m| (1..=1000).contains(&m);
    }
}

pub(super) fn build(setup: &Setup, knobs: RpV2Knobs) -> Box<dyn CongestionControl> {
    Box::new(LossBased::new(CmtRpV2 { knobs }, setup))
}

#[derive(Debug)]
struct CmtRpV2 {
    knobs: RpV2Knobs,
}

/// X: the sum of the rates of the coupled paths.
fn total_rate(at: &Snapshot<'_>) -> f64 {
    at.coupled().map(PathView::rate).sum()
}

impl WindowPolicy for CmtRpV2 {
    fn name(&self) -> &'static str {
        "rpv2"
    }

    fn initial(&mut self, at: &Snapshot<'_>) -> ByteCount {
        at.initial_share()
    }

    fn increase(&mut self, growth: Growth, at: &Snapshot<'_>) -> f64 {
        if at.is_alone() { growth.standard } else { growth.standard * at.path().rate() / total_rate(at) }
    }

    fn decrease(&mut self, _kind: LossKind, at: &Snapshot<'_>) -> ByteCount {
        if at.is_alone() {
            return at.halved();
        }
        let part = (total_rate(at) / 2.0 / at.path().rate()).max(0.5);
        at.reduced_no_lower(part, at.segment() * u64::from(self.knobs.min))
    }
}
