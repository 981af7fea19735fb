//! Standard SCTP, each path for itself. Over several paths at once this is uncoupled CMT: each path is as greedy as
//! an association of its own.
//!
//! Sources: `rfc4960#section-7.2`, `rfc9260#section-7.2`; written as equations 1 to 4 by Dreibholz et al., "Applying
//! TCP-Friendly Congestion Control to Concurrent Multipath Transfer", AINA 2010, §III. M is the segment, a the newly
//! acknowledged bytes:
//!
//! ```text
//! fast retransmission   s = max(c - c/2, 4 M)   (1)    c = s   (2)
//! timeout               s = max(c - c/2, 4 M)   (3)    c = M   (4)
//! slow start            c = c + min(M, a)       for a bytes of a full window
//! avoidance             c = c + M               for each full window
//! ```

use units::ByteCount;

use crate::{CongestionControl, LossBased, Phase, Setup, Snapshot, WindowPolicy};

pub(super) fn build(setup: &Setup) -> Box<dyn CongestionControl> {
    Box::new(LossBased::new(Standard, setup))
}

#[derive(Debug)]
struct Standard;

impl WindowPolicy for Standard {
    fn name(&self) -> &'static str {
        "standard"
    }

    fn increase(&self, phase: Phase, at: &Snapshot<'_>) -> ByteCount {
        match phase {
            Phase::SlowStart { acked } => acked.min(at.segment()),
            Phase::Avoidance => at.segment(),
        }
    }

    fn decrease(&self, at: &Snapshot<'_>) -> ByteCount {
        let half = at.cwnd().as_f64() / 2.0;
        let rest = ByteCount::round_f64(at.cwnd().as_f64() - half.round_ties_even());
        rest.max(at.segment() * 4)
    }
}
