//! Rates that change with time: from files, and random ones.

mod model;
mod segments;
mod series;
mod trace;

pub use model::{RateModel, RateModelKind};
pub(crate) use segments::Segments;
pub use series::{RateSeries, SeriesFault};
pub(crate) use trace::Opportunity;
pub use trace::{Trace, TraceFault};
