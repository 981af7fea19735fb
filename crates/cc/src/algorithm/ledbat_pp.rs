//! LEDBAT++: LEDBAT that is fair to other LEDBAT++ flows, on each path by itself.
//!
//! Source: draft-irtf-iccrg-ledbat-plus-plus. q is the queueing delay computed from RTTs, b the base RTT, T
//! the target, w the window in packets, s ssthresh in packets:
//!
//! ```text
//! G = 1/min(16, ceil(2 T/b))
//! avoidance   w = w + G/w                               for each packet acknowledged, q < T
//!             w = w + max(G - w (q/T - 1), -w/2)/w      for each packet acknowledged, q >= T
//! slow start  w = w + G                                 for each packet acknowledged
//! ```
//!
//! The first slow start ends once q > 3/4 T. Two round trips later the first slowdown begins: s = w, two
//! round trips with w = 2, then slow start up to s. The next slowdown begins after nine times the duration of
//! this one. In a slowdown the queue empties, so that the base delay can be measured again. A loss halves the
//! window, but not below two packets; a timeout sets it to one packet. If the delay reduces the window below
//! s, s becomes the window.

use units::{ByteCount, Instant, Span};

use crate::OneWayDelay;
use crate::delay::QueueingDelay;
use crate::delay_based::{DelayBased, DelayPolicy, Exact};
use crate::{CongestionControl, CongestionWindow, LossKind, PathAck, Setup, Snapshot};
use transport::options;

options! {
    /// Options of [`Algorithm::LedbatPp`](crate::Algorithm::LedbatPp).
    #[derive(Copy)]
    pub struct LedbatPpKnobs in "ledbat_pp" {
        /// Target queueing delay.
        target: Span = Span::from_millis(60), "from 1 ms to 10 s"
            if |t| (Span::from_millis(1)..=Span::from_secs(10)).contains(&t);
        /// Minutes of the base delay history, the current one included.
        base_history: u32 = 10, "at least 1, at most 1000" if |n| (1..=1000).contains(&n);
        /// Number of the latest delay samples whose minimum is the current delay.
        current_filter: u32 = 4, "at least 1, at most 100" if |n| (1..=100).contains(&n);
        /// Time between two slowdowns, as a multiple of the duration of the first of them.
        slowdown_spacing: f64 = 9.0, "a number from 1 to 1000" if |n| (1.0..=1000.0).contains(&n);
    }
}

pub(super) fn build(setup: &Setup, knobs: LedbatPpKnobs) -> Box<dyn CongestionControl> {
    Box::new(DelayBased::new(LedbatPp { knobs, paths: Vec::new() }, setup))
}

/// The gain G for the target and the base RTT, both in seconds.
pub(super) fn gain(target: f64, base: f64) -> f64 {
    1.0 / libm::ceil(2.0 * target / base).clamp(1.0, 16.0)
}

/// Change of the window, in packets, for each packet acknowledged in congestion avoidance. `w` is the window
/// in packets, `off` the queueing delay over its target.
pub(super) fn step(w: f64, off: f64, gain: f64) -> f64 {
    if off < 1.0 { gain / w } else { (gain - w * (off - 1.0)).max(-w / 2.0) / w }
}

/// Fraction of the target queueing delay at which the first slow start ends.
pub(super) const ENOUGH: f64 = 0.75;

/// The window after a loss: half, but at least two segments; one segment after a timeout.
pub(super) fn after_loss(kind: LossKind, at: &Snapshot<'_>) -> CongestionWindow {
    let half = at.reduced_no_lower(0.5, at.segment() * 2);
    let cwnd = match kind {
        LossKind::FastRetransmit | LossKind::Mark => half.min(at.cwnd().max(at.segment() * 2)),
        LossKind::Timeout => at.segment(),
    };
    CongestionWindow { cwnd, ssthresh: Some(half) }
}

#[derive(Debug)]
struct LedbatPp {
    knobs: LedbatPpKnobs,
    paths: Vec<Memory>,
}

#[derive(Debug)]
struct Memory {
    delay: QueueingDelay,
    stage: Stage,
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    /// The first slow start.
    First,
    /// Congestion avoidance until the next slowdown, which begins at this time.
    Until(Instant),
    /// A slowdown with two packets in flight: its beginning, and the end of this stage.
    Low(Instant, Instant),
    /// Slow start after the slowdown that began at this time.
    Back(Instant),
}

impl LedbatPp {
    /// Enters the next stage if it is due, and sets cwnd and ssthresh for that stage.
    fn advance(&mut self, at: &Snapshot<'_>, off: f64, window: &mut Exact) {
        let (now, m) = (at.now(), at.segment().as_f64());
        let two_rounds = Span::from_secs_f64(2.0 * at.path().rtt());
        let slow_start = window.ssthresh.is_none_or(|s| window.cwnd < s.as_f64());
        let stage = &mut self.paths[at.index()].stage;
        *stage = match *stage {
            Stage::First if off > ENOUGH || !slow_start => {
                window.ssthresh = Some(ByteCount::round_f64(window.cwnd));
                Stage::Until(now + two_rounds)
            }
            Stage::Until(then) if now >= then => {
                window.ssthresh = Some(ByteCount::round_f64(window.cwnd));
                window.cwnd = 2.0 * m;
                Stage::Low(now, now + two_rounds)
            }
            Stage::Low(began, then) if now >= then => Stage::Back(began),
            Stage::Back(began) if !slow_start => {
                Stage::Until(now + now.since(began).mul_f64(self.knobs.slowdown_spacing))
            }
            stage => stage,
        };
    }
}

impl DelayPolicy for LedbatPp {
    fn name(&self) -> &'static str {
        "ledbat-pp"
    }

    fn initial(&mut self, at: &Snapshot<'_>) -> ByteCount {
        let delay = QueueingDelay::new(self.knobs.base_history, self.knobs.current_filter);
        self.paths.push(Memory { delay, stage: Stage::First });
        at.initial_window()
    }

    fn measure(&mut self, ack: &PathAck, at: &Snapshot<'_>) {
        if let Some(rtt) = ack.rtt {
            self.paths[ack.path].delay.sample(at.now(), OneWayDelay::from(rtt));
        }
    }

    fn steer(&mut self, ack: &PathAck, at: &Snapshot<'_>, window: &mut Exact) {
        let delay = &self.paths[ack.path].delay;
        let (Some(queue), Some(base)) = (delay.queue(), delay.base()) else { return };
        let target = self.knobs.target.as_secs_f64();
        self.advance(at, queue / target, window);
        if matches!(self.paths[ack.path].stage, Stage::Low(..)) {
            return;
        }
        let m = at.segment().as_f64();
        let gain = gain(target, base.as_nanos() as f64 / 1e9);
        let slow_start = window.ssthresh.is_none_or(|s| window.cwnd < s.as_f64());
        let each = if slow_start { gain } else { step(window.cwnd / m, queue / target, gain) };
        if each < 0.0 || at.was_used(ack) {
            window.cwnd = (window.cwnd + each * ack.acked.as_f64()).max(2.0 * m);
        }
        if each < 0.0 {
            // With a window below ssthresh, slow start would raise the window again.
            let below = ByteCount::new(window.cwnd as u64);
            window.ssthresh = window.ssthresh.map(|s| s.min(below));
        }
    }

    fn after_loss(&mut self, kind: LossKind, at: &Snapshot<'_>) -> CongestionWindow {
        after_loss(kind, at)
    }
}
