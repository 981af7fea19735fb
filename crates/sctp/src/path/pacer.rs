//! Rate samples and pacing of a path, kept only if the congestion control asks for them.

use super::Path;
use cc::{Pacer, RateEstimator};
use units::ByteCount;

/// What a path keeps if it is paced. Only a congestion control that models the rate has samples. Bytes are counted as in the flight size.
#[derive(Debug)]
pub(crate) struct RateControl {
    pub(crate) estimator: RateEstimator,
    pub(crate) pacer: Pacer,
    /// Bytes put into the packet that is being written.
    pub(crate) written: ByteCount,
}

impl RateControl {
    pub(crate) fn new(mtu: ByteCount) -> Self {
        RateControl { estimator: RateEstimator::default(), pacer: Pacer::new(mtu), written: ByteCount::ZERO }
    }
}

impl Path {
    /// Bytes became lost since the congestion control was last told, if it wants to know.
    #[cold]
    pub(crate) fn has_losses_to_tell(&self) -> bool {
        self.rate.as_ref().is_some_and(|rate| rate.estimator.has_lost())
    }
}
