use std::time::Duration;
use units::{Instant, Span};

/// The stack's clock: monotonic time since the driver began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    began: std::time::Instant,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Clock { began: std::time::Instant::now() }
    }

    pub(crate) fn now(&self) -> Instant {
        Instant::ZERO + Span::from(self.began.elapsed())
    }

    /// Time left until `at`; zero if it has passed.
    pub(crate) fn until(&self, at: Instant) -> Duration {
        let at = Duration::from_nanos(at.as_nanos());
        at.saturating_sub(self.began.elapsed())
    }
}
