//! Lines of the log for the operator.

use std::sync::Arc;
use std::time::{Duration, Instant};

/// Receives one line for each event.
pub(super) type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// Shortest interval between two equal lines.
const MINUTE: Duration = Duration::from_secs(60);

/// Logs a condition that may last: the same line at most once a minute, and another line at once.
#[derive(Debug, Default)]
pub(super) struct Repeated(Option<(String, Instant)>);

impl Repeated {
    pub(super) fn say(&mut self, log: &Log, line: &str) {
        if self.is_due(line, Instant::now()) {
            log(line);
        }
    }

    /// True if a line of this kind may be logged now.
    pub(super) fn is_due(&mut self, kind: &str, now: Instant) -> bool {
        let due = self.0.as_ref().is_none_or(|(last, at)| last != kind || now.duration_since(*at) >= MINUTE);
        if due {
            self.0 = Some((kind.to_owned(), now));
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_line_is_logged_once_a_minute_and_another_one_at_once() {
        let (mut repeated, begin) = (Repeated::default(), Instant::now());
        let mut is_due = |line, seconds| repeated.is_due(line, begin + Duration::from_secs(seconds));
        assert!(is_due("down", 0));
        assert!(!is_due("down", 59));
        assert!(is_due("refused", 59));
        assert!(is_due("down", 60));
        assert!(!is_due("down", 119));
        assert!(is_due("down", 120));
    }
}
