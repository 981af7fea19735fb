//! Propagation delays of links: constant, in steps, or random.

use crate::fault::SpecFault;
use crate::rates::{DelaySeries, Model, Segments};
use des::Streams;
use std::fmt;
use std::sync::Arc;
use units::Span;

/// The propagation delay of one direction of a link. If it becomes shorter, packets still keep their order.
#[derive(Clone, PartialEq)]
pub enum DelaySpec {
    /// The delay is constant.
    Constant(Span),
    /// The delay changes at given times.
    Series(Arc<DelaySeries>),
    /// The delay is random.
    Model(DelayModel),
}

/// A random delay.
pub type DelayModel = Model<Span>;

impl DelaySpec {
    /// No delay.
    pub const ZERO: DelaySpec = DelaySpec::Constant(Span::ZERO);

    /// The delay; if the delay varies, its long-term mean.
    pub fn mean(&self) -> Span {
        match self {
            DelaySpec::Constant(delay) => *delay,
            DelaySpec::Series(series) => series.mean(),
            DelaySpec::Model(model) => model.mean,
        }
    }

    /// The shortest possible delay.
    pub fn least(&self) -> Span {
        match self {
            DelaySpec::Constant(delay) => *delay,
            DelaySpec::Series(series) => series.least(),
            DelaySpec::Model(model) => model.least(),
        }
    }

    pub(crate) fn check(&self) -> Result<(), SpecFault> {
        match self {
            DelaySpec::Model(model) => model.check(),
            DelaySpec::Constant(_) | DelaySpec::Series(_) => Ok(()),
        }
    }

    /// The constant part and the varying part of the delay in the direction `name` of a link.
    pub(crate) fn build(&self, streams: &Streams, name: &str) -> (Span, Option<Segments<Span>>) {
        match self {
            DelaySpec::Constant(delay) => (*delay, None),
            DelaySpec::Series(series) => (Span::ZERO, Some(Segments::of_series(series.clone()))),
            DelaySpec::Model(model) => {
                let random = streams.stream(&format!("delay {name}"));
                (Span::ZERO, Some(Segments::of_model(model, random)))
            }
        }
    }
}

impl Default for DelaySpec {
    fn default() -> Self {
        Self::ZERO
    }
}

impl From<Span> for DelaySpec {
    fn from(delay: Span) -> Self {
        DelaySpec::Constant(delay)
    }
}

impl fmt::Debug for DelaySpec {
    /// Formats a constant delay as its time alone: the laboratory stores runs under a hash of this text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DelaySpec::Constant(delay) => delay.fmt(f),
            DelaySpec::Series(series) => series.fmt(f),
            DelaySpec::Model(model) => model.fmt(f),
        }
    }
}
