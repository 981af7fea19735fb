//! Draws random values from the distributions of a scenario.

use crate::scenario::{Distribution, Hertz, LONGEST_TIME};
use des::Random;
use units::{ByteCount, Span};

/// Draws a time. The time is at most the longest that a scenario may contain, so that sums of a few times do
/// not overflow.
pub(crate) fn span(law: Distribution<Span>, random: &mut Random) -> Span {
    let drawn = match law {
        Distribution::Constant(value) => value,
        Distribution::Uniform(low, high) => {
            Span::from_secs_f64(random.uniform_in(low.as_secs_f64(), high.as_secs_f64()))
        }
        Distribution::Exponential(mean) => Span::from_secs_f64(random.exponential(mean.as_secs_f64())),
        Distribution::Pareto(mean, shape) => Span::from_secs_f64(random.pareto(mean.as_secs_f64(), shape)),
    };
    drawn.min(LONGEST_TIME)
}

/// Draws a size. Values of continuous distributions are rounded to bytes, and are at least one byte.
#[inline]
pub(crate) fn size(law: Distribution<ByteCount>, random: &mut Random) -> ByteCount {
    let drawn = match law {
        Distribution::Constant(value) => value,
        _ => random_size(law, random),
    };
    drawn.max(ByteCount::new(1))
}

#[inline(never)] // not inlined: nearly all frames have constant sizes
fn random_size(law: Distribution<ByteCount>, random: &mut Random) -> ByteCount {
    ByteCount::round_f64(match law {
        Distribution::Constant(value) => value.as_f64(),
        Distribution::Uniform(low, high) => random.uniform_in(low.as_f64(), high.as_f64()),
        Distribution::Exponential(mean) => random.exponential(mean.as_f64()),
        Distribution::Pareto(mean, shape) => random.pareto(mean.as_f64(), shape),
    })
}

/// Draws the wait from one frame to the next. `law` is the distribution of the frame rate. If `law` is
/// exponential or Pareto, the waits, and not the rates, have this distribution.
pub(crate) fn wait(law: Distribution<Hertz>, random: &mut Random) -> Span {
    let seconds = match law {
        Distribution::Constant(rate) => 1.0 / rate.as_f64(),
        Distribution::Uniform(low, high) => 1.0 / random.uniform_in(low.as_f64(), high.as_f64()),
        Distribution::Exponential(mean) => random.exponential(1.0 / mean.as_f64()),
        Distribution::Pareto(mean, shape) => random.pareto(1.0 / mean.as_f64(), shape),
    };
    Span::from_secs_f64(seconds)
}
