use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};
use std::time::Duration;

/// A point in time: nanoseconds since the caller's epoch (in the simulator, the start of the run).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

/// A length of time in nanoseconds, never negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(u64);

impl Instant {
    /// The epoch.
    pub const ZERO: Instant = Instant(0);
    /// The latest representable time, later than any event.
    pub const FAR: Instant = Instant(u64::MAX);

    /// The instant `ns` nanoseconds after the epoch.
    pub const fn from_nanos(ns: u64) -> Self {
        Instant(ns)
    }

    /// Nanoseconds since the epoch.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the epoch, for output.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Time passed since `earlier`, or zero if `earlier` is later.
    pub const fn since(self, earlier: Instant) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// The empty span.
    pub const ZERO: Span = Span(0);
    /// The longest representable span.
    pub const MAX: Span = Span(u64::MAX);

    /// `ns` nanoseconds.
    pub const fn from_nanos(ns: u64) -> Self {
        Span(ns)
    }

    /// `us` microseconds.
    pub const fn from_micros(us: u64) -> Self {
        Span(us * 1_000)
    }

    /// `ms` milliseconds.
    pub const fn from_millis(ms: u64) -> Self {
        Span(ms * 1_000_000)
    }

    /// `s` seconds.
    pub const fn from_secs(s: u64) -> Self {
        Span(s * 1_000_000_000)
    }

    /// `s` seconds, rounded to the nearest nanosecond. Negative numbers and NaN become zero; a number that is
    /// too large becomes the longest span.
    pub fn from_secs_f64(s: f64) -> Self {
        Span(nearest(s * 1e9))
    }

    /// The span in nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The span in seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// This span times a factor, rounded to the nearest nanosecond.
    pub fn mul_f64(self, factor: f64) -> Self {
        Span(nearest(self.0 as f64 * factor))
    }

    /// The difference of the spans, or zero if `other` is longer.
    pub const fn saturating_sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }

    /// True for the empty span.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

/// Rounds to the nearest integer. Negative numbers and NaN become zero.
///
/// Faster than `f64::round`, which is a library call on processors without such an instruction. This function
/// is called for each packet.
fn nearest(x: f64) -> u64 {
    (x + 0.5) as u64
}

impl Add<Span> for Instant {
    type Output = Instant;
    fn add(self, span: Span) -> Instant {
        Instant(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Span> for Instant {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Sub for Instant {
    type Output = Span;
    /// Time passed since `earlier`, or zero if `earlier` is later.
    fn sub(self, earlier: Instant) -> Span {
        self.since(earlier)
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Span) {
        *self = *self + other;
    }
}

impl Sub for Span {
    type Output = Span;
    fn sub(self, other: Span) -> Span {
        self.saturating_sub(other)
    }
}

impl SubAssign for Span {
    fn sub_assign(&mut self, other: Span) {
        *self = *self - other;
    }
}

impl Mul<u64> for Span {
    type Output = Span;
    fn mul(self, factor: u64) -> Span {
        Span(self.0.saturating_mul(factor))
    }
}

impl Div<u64> for Span {
    type Output = Span;
    fn div(self, divisor: u64) -> Span {
        Span(self.0 / divisor)
    }
}

/// Converts a duration. A duration longer than a span can hold (584 years) becomes [`Span::MAX`].
impl From<Duration> for Span {
    fn from(duration: Duration) -> Self {
        Span(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl From<Span> for Duration {
    fn from(span: Span) -> Self {
        Duration::from_nanos(span.0)
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.9} s", self.as_secs_f64())
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ns if ns >= 1_000_000_000 => write!(f, "{} s", ns as f64 / 1e9),
            ns if ns >= 1_000_000 => write!(f, "{} ms", ns as f64 / 1e6),
            ns if ns >= 1_000 => write!(f, "{} us", ns as f64 / 1e3),
            ns => write!(f, "{ns} ns"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_saturates_instead_of_wrapping() {
        assert_eq!(Instant::FAR + Span::from_secs(1), Instant::FAR);
        assert_eq!(Instant::ZERO.since(Instant::from_nanos(5)), Span::ZERO);
        assert_eq!(Span::from_secs_f64(-1.0), Span::ZERO);
        assert_eq!(Span::from_secs_f64(f64::NAN), Span::ZERO);
        assert_eq!(Span::from_secs_f64(f64::INFINITY), Span::MAX);
    }

    #[test]
    fn a_span_becomes_a_duration_and_back() {
        let span = Span::from_nanos(1_500_000_001);
        assert_eq!(Duration::from(span), Duration::new(1, 500_000_001));
        assert_eq!(Span::from(Duration::from(span)), span);
        assert_eq!(Span::from(Duration::MAX), Span::MAX);
    }

    #[test]
    fn a_span_prints_in_the_largest_unit_that_it_reaches() {
        assert_eq!(Span::from_millis(200).to_string(), "200 ms");
        assert_eq!(Span::from_micros(1500).to_string(), "1.5 ms");
        assert_eq!(Span::from_secs(3).to_string(), "3 s");
        assert_eq!(Span::from_nanos(17).to_string(), "17 ns");
    }
}
