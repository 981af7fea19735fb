//! Rate samples and pacing of a path, kept only if packets are paced or the congestion control needs
//! rate samples.

use super::Path;
use cc::{Pacer, RateEstimator};
use units::ByteCount;

/// Pacer and rate estimator of a path. Only a congestion control that models the rate gets samples of
/// `estimator`.
#[derive(Debug)]
pub(crate) struct RateControl {
    pub(crate) estimator: RateEstimator,
    pub(crate) pacer: Pacer,
    /// Bytes in the packet that is being written.
    pub(crate) written: ByteCount,
}

impl RateControl {
    pub(crate) fn new(mtu: ByteCount) -> Self {
        RateControl { estimator: RateEstimator::default(), pacer: Pacer::new(mtu), written: ByteCount::ZERO }
    }
}

impl Path {
    /// Returns true if bytes were lost that were not yet reported to the congestion control.
    #[cold]
    pub(crate) fn has_losses_to_tell(&self) -> bool {
        self.rate.as_ref().is_some_and(|rate| rate.estimator.has_lost())
    }
}
