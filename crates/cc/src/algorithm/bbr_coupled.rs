//! Coupled BBR: ours. The paths of a group together take what one flow of BBR would take.
//!
//! It equals BBR (draft-ietf-ccwg-bbr-06) except for the window gain k in Drain and ProbeBW. B is the
//! bandwidth of a path, k the gain in BBR, srtt the smoothed and r the least RTT:
//!
//! ```text
//! a_P    = B_P²/Σ B_i²                      over the coupled paths
//! k_P    = 1/(1 - a_P (1 - 1/k))            if srtt > 1.25 r, otherwise k_P = k
//! ```
//!
//! Derivation. Beside flows that keep a queue of q seconds at a bottleneck, the window limits BBR, and the
//! least RTT that BBR measures includes the queue of the other flows. With the propagation delay t, a flow
//! with the part p of the link and of the queue has the least RTT r = t + (1 - p) q. Its rate is stable if
//! k r = t + q:
//!
//! ```text
//! p = (1 - 1/k) (t + q)/q
//! ```
//!
//! So without coupling, each of n paths over one bottleneck would take the part p of it, which for k = 2 is
//! at least a half. With the gain k_P, path P takes a_P p instead, and all paths together take Σ a_P p = p.
//! Without a queue of other flows there is nothing to divide: k_P = k lets a path find and use idle capacity.
//! The square prefers the paths with more bandwidth, so that the flow as a whole gets no less than a flow on
//! the best path alone. A single path equals BBR.
//!
//! `bbr/coupling.rs` computes a_P and k_P.

use super::bbr::Coupling;
use crate::{BbrKnobs, CongestionControl, Setup};

pub(super) fn build(setup: &Setup, knobs: BbrKnobs) -> Box<dyn CongestionControl> {
    super::bbr::build_as("bbr-coupled", Some(Coupling), setup, knobs)
}
