//! Events of an emulation for a subscriber of `tracing`.

use tracing::{debug, info};
use units::{Instant, Span};

/// Packets since the emulation began.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) entered: u64,
    pub(crate) left: u64,
    pub(crate) refused: u64,
    pub(crate) overflowed: u64,
    pub(crate) unroutable: u64,
    /// The largest lateness of a packet.
    pub(crate) latest: Span,
}

/// Logs the packet counts of each second.
#[derive(Debug, Default)]
pub(crate) struct Log {
    next: Instant,
    before: Counts,
}

const EVERY: Span = Span::from_secs(1);

impl Log {
    /// Logs what happened since the last log event, if that is at least a second ago.
    pub(crate) fn look(&mut self, now: Instant, counts: impl FnOnce() -> Counts) {
        if now < self.next {
            return;
        }
        self.next = now + EVERY;
        let (after, before) = (counts(), self.before);
        let [refused, overflowed, unroutable] = [
            after.refused - before.refused,
            after.overflowed - before.overflowed,
            after.unroutable - before.unroutable,
        ];
        if refused + overflowed + unroutable > 0 {
            info!(refused, overflowed, unroutable, "packets lost outside the links");
        }
        if after.latest > before.latest {
            debug!(latest = %after.latest, "a packet left later than all before");
        }
        let (entered, left) = (after.entered - before.entered, after.left - before.left);
        if entered + left > 0 {
            debug!(entered, left, "packets");
        }
        self.before = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().expect("no test panicked").write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn packets_of_each_second_are_recorded_once() {
        let written = Written::default();
        let writer = written.clone();
        let log =
            tracing_subscriber::fmt().with_max_level(tracing::Level::DEBUG).with_ansi(false).without_time();
        tracing::subscriber::with_default(log.with_writer(move || writer.clone()).finish(), || {
            let mut log = Log::default();
            let at = |millis| Instant::ZERO + Span::from_millis(millis);
            let counts = |entered, refused| Counts { entered, refused, ..Counts::default() };
            log.look(at(0), || counts(0, 0));
            log.look(at(500), || counts(5, 1));
            log.look(at(1000), || counts(8, 2));
            log.look(at(2000), || counts(9, 2));
            log.look(at(3000), || counts(9, 2));
        });
        let text = String::from_utf8(written.0.lock().expect("no test panicked").clone()).expect("UTF-8");
        let lines: Vec<_> =
            text.lines().map(|line| line.split_once(": ").map_or(line, |(_, rest)| rest)).collect();
        assert_eq!(
            lines,
            [
                "packets lost outside the links refused=2 overflowed=0 unroutable=0",
                "packets entered=8 left=0",
                "packets entered=1 left=0",
            ]
        );
    }
}
