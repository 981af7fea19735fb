use units::Span;

/// A one-way delay between two clocks with an unknown offset: only differences are meaningful.
///
/// The delay may be negative.
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

    /// The difference to `base`; zero if `base` is larger.
    pub const fn beyond(self, base: OneWayDelay) -> Span {
        let longer = self.0 as i128 - base.0 as i128;
        Span::from_nanos(if longer > 0 { longer as u64 } else { 0 })
    }
}

/// Uses an RTT in place of a one-way delay: a queue on the way to the peer adds the same time to both.
impl From<Span> for OneWayDelay {
    fn from(rtt: Span) -> Self {
        OneWayDelay(i64::try_from(rtt.as_nanos()).unwrap_or(i64::MAX))
    }
}
