//! Earliest completion first (Lim, Nahum, Towsley, Gibbens, "ECF: An MPTCP path scheduler to manage
//! heterogeneous paths", CoNEXT 2017, algorithm 1). k bytes wait, cwnd of the fastest path f is full,
//! and s is the path with the lowest RTT that has room. A path has the cwnd c, the SRTT r and the RTT
//! variation σ. Data waits for f if
//!
//! ```text
//! (1 + k/c_f) r_f < (1 + β) (r_s + δ)  and  (k/c_s) r_s >= 2 r_f + δ,     δ = max(σ_f, σ_s)
//! ```
//!
//! β is 0.25 while data waits for f, else 0.

use super::{Opportunity, Scheduler, SchedulerTraits, by_rtt, fastest};
use crate::draws::Draws;
use crate::path::PathId;

#[derive(Debug)]
pub(super) struct Ecf {
    waiting: bool,
}

/// Hysteresis (section 4.2 of the paper on ECF): a sender that already waits for the fast path goes
/// on waiting even if that completes up to 25 % later.
const BETA: f64 = 0.25;

impl Ecf {
    pub(super) fn new() -> Self {
        Ecf { waiting: false }
    }
}

impl Scheduler for Ecf {
    fn order(&mut self, at: &Opportunity<'_>, _: &mut Draws, order: &mut [PathId]) {
        by_rtt(at.paths, order);
    }

    fn admits(&mut self, at: &Opportunity<'_>, p: PathId) -> bool {
        let slow = &at.paths[p];
        let (Some((f, fast, r_f)), Some(r_s)) = (fastest(at.paths), slow.rto.srtt()) else { return true };
        let r_s = r_s.as_secs_f64();
        if f == p || r_s <= r_f {
            return true;
        }
        let delta = fast.rto.variation().max(slow.rto.variation()).as_secs_f64();
        let in_windows = |path: &crate::path::Path| at.waiting.as_f64() / path.window.cwnd.as_f64();
        let patience = if self.waiting { 1.0 + BETA } else { 1.0 };
        let sooner = (1.0 + in_windows(fast)) * r_f < patience * (r_s + delta);
        if !sooner {
            self.waiting = false;
            return true;
        }
        let worth_it = in_windows(slow) * r_s >= 2.0 * r_f + delta;
        self.waiting |= worth_it;
        !worth_it
    }

    fn traits(&self) -> SchedulerTraits {
        SchedulerTraits { choosy: true, ..SchedulerTraits::default() }
    }
}
