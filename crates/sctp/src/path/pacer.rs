//! Rate samples and pacing of a path, kept only for a congestion control that asks for them.

use super::Path;
use cc::{Pacer, RateEstimator, RateSample};
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
    /// Bytes lost since the last call, and the rate sample of the acknowledgement at hand.
    pub(crate) fn take_rates(&mut self) -> (ByteCount, Option<RateSample>) {
        match &mut self.rate {
            Some(rate) => (std::mem::take(&mut rate.lost), rate.estimator.take_sample()),
            None => Default::default(),
        }
    }
}
