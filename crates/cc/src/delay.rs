//! One-way delays between clocks that do not agree.

use units::Span;

/// A one-way delay as the two ends' clocks show it: off by an unknown constant, so that only differences mean
/// something. It may be negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OneWayDelay(i64);

impl OneWayDelay {
    /// `ns` nanoseconds.
    pub const fn from_nanos(ns: i64) -> Self {
        OneWayDelay(ns)
    }

    /// The delay in nanoseconds.
    pub const fn as_nanos(self) -> i64 {
        self.0
    }

    /// How much longer it is than `base`, or zero if it is not.
    pub const fn beyond(self, base: OneWayDelay) -> Span {
        let longer = self.0 as i128 - base.0 as i128;
        Span::from_nanos(if longer > 0 { longer as u64 } else { 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_differences_count() {
        let (a, b) = (OneWayDelay::from_nanos(-5), OneWayDelay::from_nanos(7));
        assert_eq!((b.beyond(a), a.beyond(b)), (Span::from_nanos(12), Span::ZERO));
        let (least, most) = (OneWayDelay::from_nanos(i64::MIN), OneWayDelay::from_nanos(i64::MAX));
        assert_eq!(most.beyond(least), Span::MAX);
    }
}
