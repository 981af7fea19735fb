//! Coupled CUBIC: ours. All paths together take as much as one flow of CUBIC.
//!
//! Path P behaves as the fraction κ_P of a flow of CUBIC, its share. Let y_1 ≤ … ≤ y_n
//! be the rates that a whole flow would have on each of the coupled paths, measured as
//! the mean of c/(κ r) over the last 32 round trips of the path, with cwnd c and
//! smoothed RTT r. All other rules and symbols are those of [CUBIC](super::cubic):
//!
//! ```text
//! ρ_k = y_k/(y_1 + … + y_k)
//! κ_i = min(ρ_i, …, ρ_n)                               for i < n
//! κ_n = 1 - (κ_1 y_1 + … + κ_{n-1} y_{n-1})/y_n
//! C_P = κ_P⁴ C                                         in equations 1 and 2
//! α_P = κ_P² α                                         in equation 4
//! loss       s_P = max(β c_P, 2 M)
//! ```
//!
//! [`shares`](crate::shares) shows that paths with these shares do no harm on any set of shared bottlenecks.
//!
//! Derivation. With the loss probability p, a flow of CUBIC has a mean window of ((3 + β)C/(4(1 - β)))^(1/4)
//! (r/p)^(3/4) segments (`rfc9438#section-5.1`), and a flow of Reno a window proportional to √(α/p). So C κ⁴
//! and α κ² make the mean window and the rate κ times as large. The decrease stays that of one flow.
//!
//! Slow start is that of CUBIC: if each window doubles in a round trip, so does their sum, and the initial
//! windows of three paths do not exceed the ten packets of `rfc6928`. A single path equals CUBIC.

use crate::{CongestionControl, CubicKnobs, Setup};

pub(super) fn build(setup: &Setup, knobs: CubicKnobs) -> Box<dyn CongestionControl> {
    super::cubic::build_as("coupled-cubic", true, setup, knobs)
}
