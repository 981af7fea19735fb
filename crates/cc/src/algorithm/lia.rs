//! LIA, linked increases: the first coupled control of MPTCP.
//!
//! A loss halves the window of its own path; all paths together grow no faster than one flow on the best
//! path.
//!
//! Source: `rfc6356#section-3`. P is the path, c a window, C the sum of the windows c_i
//! of the coupled paths, r the smoothed RTT and M the segment, all before the update:
//!
//! ```text
//! A = C max(c_i/r_i²) / (Σ c_i/r_i)²                                    (2)
//! avoidance   c_P = c_P + min(A a M/C, a M/c_P)     for a bytes         (1)
//! ```
//!
//! In SCTP the window grows once per window of acknowledged bytes, by min(A c_P M/C, M). Slow start and
//! losses are standard.
//!
//! The simulator of paper 004 (INET) and usrsctp also scale slow start: `coupled_slow_start` enables that.

use units::ByteCount;

use crate::{CongestionControl, Growth, LossBased, LossKind, PathView, Phase, Setup, Snapshot, WindowPolicy};
use transport::options;

options! {
    /// Options of [`Algorithm::Lia`](crate::Algorithm::Lia).
    #[derive(Copy)]
    pub struct LiaKnobs in "lia" {
        /// Slow start is coupled in the same way as congestion
        /// avoidance, as in the simulator of paper 004 (INET).
        coupled_slow_start: bool = false;
    }
}

pub(super) fn build(setup: &Setup, knobs: LiaKnobs) -> Box<dyn CongestionControl> {
    Box::new(LossBased::new(Lia { knobs }, setup))
}

#[derive(Debug)]
struct Lia {
    knobs: LiaKnobs,
}

/// A c_P/C with the A of equation 2, at most 1: the factor by which coupling reduces the growth of the path.
fn part(at: &Snapshot<'_>) -> f64 {
    let best = at.coupled().map(|path| path.rate() / path.rtt()).fold(0.0, f64::max);
    let total: f64 = at.coupled().map(PathView::rate).sum();
    (at.cwnd().as_f64() * best / (total * total)).min(1.0)
}

impl WindowPolicy for Lia {
    fn name(&self) -> &'static str {
        "lia"
    }

    fn increase(&mut self, growth: Growth, at: &Snapshot<'_>) -> f64 {
        let linked = growth.phase == Phase::Avoidance || self.knobs.coupled_slow_start;
        if linked && !at.is_alone() { growth.standard * part(at) } else { growth.standard }
    }

    fn decrease(&mut self, _kind: LossKind, at: &Snapshot<'_>) -> ByteCount {
        at.halved()
    }
}
