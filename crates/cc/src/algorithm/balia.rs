//! BALIA, balanced linked adaptation: a coupled control that balances friendliness, responsiveness and
//! oscillation.
//!
//! Source: Peng, Walid, Hwang, Low, "Multipath TCP: Analysis, Design, and Implementation", ToN 24(1),
//! 2016, and draft-walid-mptcp-congestion-control-04. P is the path, c a window, s an ssthresh, r the
//! smoothed RTT, M the segment, x = c/r the rate of a path, X the sum of x over the coupled paths,
//! and a = max x_i/x_P. Windows are in packets; all values are those before the update:
//!
//! ```text
//! avoidance   c_P = c_P + x_P/(r_P X²) (1 + a)/2 (4 + a)/5     for each packet acknowledged
//! loss        s_P = c_P - c_P/2 min(a, 1.5)
//! ```
//!
//! In SCTP the window grows once per window of acknowledged bytes, by M (x_P/X)² (1 + a)/2 (4 + a)/5. Slow
//! start is standard. The lower bound after a loss is 2 M. The draft has 1 M, with which no fast
//! retransmission is possible. On a single path a = 1, and the control is standard, including the lower
//! bound. Linux truncates a to an integer.

use units::ByteCount;

use crate::{CongestionControl, Growth, LossBased, LossKind, PathView, Phase, Setup, Snapshot, WindowPolicy};

pub(super) fn build(setup: &Setup) -> Box<dyn CongestionControl> {
    Box::new(LossBased::new(Balia, setup))
}

#[derive(Debug)]
struct Balia;

/// a: the rate of the fastest path divided by the rate of this path.
fn advantage(at: &Snapshot<'_>) -> f64 {
    at.coupled().map(PathView::rate).fold(0.0, f64::max) / at.path().rate()
}

impl WindowPolicy for Balia {
    fn name(&self) -> &'static str {
        "balia"
    }

    fn increase(&mut self, growth: Growth, at: &Snapshot<'_>) -> f64 {
        if growth.phase == Phase::SlowStart || at.is_alone() {
            return growth.standard;
        }
        let share = at.path().rate() / at.coupled().map(PathView::rate).sum::<f64>();
        let a = advantage(at);
        growth.standard * share * share * (1.0 + a) / 2.0 * (4.0 + a) / 5.0
    }

    fn decrease(&mut self, _kind: LossKind, at: &Snapshot<'_>) -> ByteCount {
        if at.is_alone() {
            return at.halved();
        }
        at.reduced_no_lower(advantage(at).min(1.5) / 2.0, at.segment() * 2)
    }
}
