//! LEDBAT: a background flow that keeps the queue at a target delay and yields to other traffic, per path.
//!
//! Source: `rfc6817#section-2.4.2`. c is the window, M the segment, f the flight size, a the
//! newly acknowledged bytes, T the target. q is the queueing delay: the minimum of the latest
//! one-way delays minus the minimum of all one-way delays of the latest minutes (the base delay):
//!
//! ```text
//! c = c + GAIN (1 - q/T) a M/c
//! c = min(c, f + ALLOWED_INCREASE M)
//! c = max(c, 2 M)
//! loss      c = min(c, max(c/2, 2 M)), once a round trip
//! timeout   c = M
//! ```
//!
//! There is no slow start. If the peer does not report one-way delays, RTTs replace them; RTTs include queues
//! on the return path.

use units::ByteCount;

use crate::delay::{Gauge, QueueingDelay};
use crate::delay_based::{DelayBased, DelayPolicy, Exact};
use crate::{CongestionControl, CongestionWindow, LossKind, PathAck, Setup, Snapshot};
use transport::options;
use units::Span;

options! {
    /// Options of [`Algorithm::Ledbat`](crate::Algorithm::Ledbat) and
    /// [`Algorithm::LedbatMp`](crate::Algorithm::LedbatMp).
    #[derive(Copy)]
    pub struct LedbatKnobs in "ledbat" {
        /// Target queueing delay (TARGET).
        target: Span = Span::from_millis(100), "from 1 ms to 10 s"
            if |t| (Span::from_millis(1)..=Span::from_secs(10)).contains(&t);
        /// How fast the window follows the delay (GAIN); the RFC allows at most 1.
        gain: f64 = 1.0, "a number from 0.001 to 100" if |g| (0.001..=100.0).contains(&g);
        /// Number of segments by which the window may exceed the flight size (ALLOWED_INCREASE).
        allowed_increase: f64 = 1.0, "a number from 1 to 1000" if |a| (1.0..=1000.0).contains(&a);
        /// Minutes of the base delay history, the current one included (BASE_HISTORY).
        base_history: u32 = 10, "at least 1, at most 1000" if |n| (1..=1000).contains(&n);
        /// Number of the latest delay samples whose minimum is the current delay (CURRENT_FILTER).
        current_filter: u32 = 4, "at least 1, at most 100" if |n| (1..=100).contains(&n);
    }
}

pub(super) fn build(setup: &Setup, knobs: LedbatKnobs) -> Box<dyn CongestionControl> {
    with("ledbat", setup, knobs)
}

/// Builds LEDBAT under the name `name`, with the options `knobs`.
pub(super) fn with(name: &'static str, setup: &Setup, knobs: LedbatKnobs) -> Box<dyn CongestionControl> {
    Box::new(DelayBased::new(Ledbat { name, knobs, paths: Vec::new() }, setup))
}

#[derive(Debug)]
struct Ledbat {
    name: &'static str,
    knobs: LedbatKnobs,
    paths: Vec<Memory>,
}

#[derive(Debug)]
struct Memory {
    gauge: Gauge,
    delay: QueueingDelay,
}

impl DelayPolicy for Ledbat {
    fn name(&self) -> &'static str {
        self.name
    }

    fn initial(&mut self, at: &Snapshot<'_>) -> ByteCount {
        let delay = QueueingDelay::new(self.knobs.base_history, self.knobs.current_filter);
        self.paths.push(Memory { gauge: Gauge::default(), delay });
        at.initial_window()
    }

    fn measure(&mut self, ack: &PathAck, at: &Snapshot<'_>) {
        let Memory { gauge, delay } = &mut self.paths[ack.path];
        let Some((sample, first)) = gauge.read(ack) else { return };
        if first {
            delay.clear();
        }
        delay.sample(at.now(), sample);
    }

    fn steer(&mut self, ack: &PathAck, at: &Snapshot<'_>, window: &mut Exact) {
        let Some(queue) = self.paths[ack.path].delay.queue() else { return };
        let m = at.segment().as_f64();
        let off_target = 1.0 - queue / self.knobs.target.as_secs_f64();
        let grown = window.cwnd + self.knobs.gain * off_target * ack.acked.as_f64() * m / window.cwnd;
        let allowed = ack.flight_before.as_f64() + self.knobs.allowed_increase * m;
        window.cwnd = grown.min(allowed).max(2.0 * m);
    }

    fn after_loss(&mut self, kind: LossKind, at: &Snapshot<'_>) -> CongestionWindow {
        let (cwnd, m) = (at.cwnd(), at.segment());
        let half = ByteCount::new(cwnd.get() / 2).max(m * 2).min(cwnd);
        let cwnd = match kind {
            LossKind::FastRetransmit | LossKind::Mark => half,
            LossKind::Timeout => m,
        };
        CongestionWindow { cwnd, ssthresh: Some(half) }
    }
}
