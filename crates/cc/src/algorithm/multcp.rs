//! mulTCP(N): one path behaves as N standard flows. A reference for N uncoupled paths on one bottleneck.
//!
//! Source: Crowcroft and Oechslin, "Differentiated end-to-end Internet services using a weighted proportional
//! fair sharing TCP", CCR 28(3), 1998, in the notation of paper 003 (Becke et al., ICC 2012), whose "b = 1/2
//! N" means b = 1/(2 N). c is the window, s ssthresh and M the segment. The window
//! is the sum of N virtual windows. All of them grow, and a loss halves one:
//!
//! ```text
//! avoidance   c = c + N M M/c     for each ACK of TCP; N M for each full window of SCTP
//! loss        s = c - c/(2 N)     at least the standard lower bound
//! ```
//!
//! In TCP the flight size replaces c in the equation of the loss. Slow start is standard, and N = 1 equals
//! the standard control.

use units::ByteCount;

use crate::{CongestionControl, Growth, LossBased, LossKind, Phase, Setup, Snapshot, WindowPolicy};
use transport::options;

options! {
    /// Options of [`Algorithm::MulTcp`](crate::Algorithm::MulTcp).
    #[derive(Copy)]
    pub struct MulTcpKnobs in "multcp" {
        /// Number of standard flows as which one path behaves (N).
        flows: f64 = 2.0, "a number of at least 1, at most 1000" if |n| (1.0..=1000.0).contains(&n);
    }
}

pub(super) fn build(setup: &Setup, knobs: MulTcpKnobs) -> Box<dyn CongestionControl> {
    Box::new(LossBased::new(MulTcp { flows: knobs.flows }, setup))
}

#[derive(Debug)]
struct MulTcp {
    flows: f64,
}

impl WindowPolicy for MulTcp {
    fn name(&self) -> &'static str {
        "multcp"
    }

    fn increase(&mut self, growth: Growth, _at: &Snapshot<'_>) -> f64 {
        match growth.phase {
            Phase::SlowStart => growth.standard,
            Phase::Avoidance => growth.standard * self.flows,
        }
    }

    fn decrease(&mut self, _kind: LossKind, at: &Snapshot<'_>) -> ByteCount {
        at.reduced_by(0.5 / self.flows)
    }
}
