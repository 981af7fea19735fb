//! Rates and delays of a link that change with time: read from a file, given in steps, or random.

mod model;
mod segments;
mod series;
mod trace;

pub use model::{Model, RateModel, RateModelKind};
pub(crate) use segments::Segments;
pub use series::{DelaySeries, RateSeries, Series, SeriesFault};
pub(crate) use trace::Opportunity;
pub use trace::{Trace, TraceFault};

use std::fmt::Debug;
use units::{BitRate, Span};

/// A quantity of a link that can change with time: its rate, or its delay.
pub trait Varying: Copy + Eq + Debug + Send + Sync + 'static {
    /// Key of the quantity in scenario files, which is also its name in messages.
    const KEY: &'static str;
    /// Unit of the quantity in a file.
    const UNIT: &'static str;
    /// Number of smallest units (bit/s or ns) in one [`Self::UNIT`].
    const FILE_UNIT: f64;
    /// Message text for a mean of zero: the value that was expected.
    const ABOVE_ZERO: &'static str;
    /// True if no packet passes the link while the quantity is zero.
    const ZERO_IS_A_PAUSE: bool;
    /// Returns the value in its smallest unit: bit/s or nanoseconds.
    fn to_smallest(self) -> u64;
    /// Returns the value of `smallest` bit/s or nanoseconds.
    fn from_smallest(smallest: u64) -> Self;
}

impl Varying for BitRate {
    const KEY: &'static str = "rate";
    const UNIT: &'static str = "Mbit/s";
    const ABOVE_ZERO: &'static str = "a rate above zero";
    const FILE_UNIT: f64 = 1e6;
    const ZERO_IS_A_PAUSE: bool = true;

    fn to_smallest(self) -> u64 {
        self.as_bps()
    }

    fn from_smallest(smallest: u64) -> Self {
        BitRate::from_bps(smallest)
    }
}

impl Varying for Span {
    const KEY: &'static str = "delay";
    const UNIT: &'static str = "ms";
    const ABOVE_ZERO: &'static str = "a time above zero";
    const FILE_UNIT: f64 = 1e6;
    const ZERO_IS_A_PAUSE: bool = false;

    fn to_smallest(self) -> u64 {
        self.as_nanos()
    }

    fn from_smallest(smallest: u64) -> Self {
        Span::from_nanos(smallest)
    }
}
