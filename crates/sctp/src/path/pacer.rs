//! Rate samples and pacing of a path, kept only for a congestion control that asks for them.

use super::Path;
use cc::{Pacer, RateEstimator};
use units::ByteCount;

/// What a path keeps for a congestion control that models its rate. Bytes are counted as in the flight size.
#[derive(Debug)]
pub(crate) struct RateControl {
    pub(crate) estimator: RateEstimator,
    pub(crate) pacer: Pacer,
    /// Bytes put into the packet that is being written.
    pub(crate) written: ByteCount,
    /// Bytes that became lost since the congestion control was last told.
    pub(crate) lost: ByteCount,
}

impl RateControl {
    pub(crate) fn new(mtu: ByteCount) -> Self {
        RateControl {
            estimator: RateEstimator::default(),
            pacer: Pacer::new(mtu),
            written: ByteCount::ZERO,
            lost: ByteCount::ZERO,
        }
    }
}

impl Path {
    /// Bytes became lost since the congestion control was last told, if it wants to know.
    #[cold]
    pub(crate) fn has_losses_to_tell(&self) -> bool {
        self.rate.as_ref().is_some_and(|rate| !rate.lost.is_zero())
    }
}
