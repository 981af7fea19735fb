//! FAST: computes the window at which α packets of the flow wait in queues, on each path by itself.
//!
//! Source: equation 1 of paper 002 (Arshad, Mian, JAS 5(1), 2009), from Jin, Wei, Low, "FAST TCP: Motivation,
//! Architecture, Algorithms, Performance", INFOCOM 2004; the timing is that of the authors' module for ns-2.
//! Windows are in packets, b is the propagation RTT, r the RTT averaged with weight min(3/w, 1/4), and w₀ the
//! window when the packet that is acknowledged now was sent:
//!
//! ```text
//! w = min(2 w, (1 - γ) w + γ (b/r w₀ + α))                               (1)
//! ```
//!
//! The window is updated in every other round trip, at most every 10 ms; growth is spread over the
//! acknowledgements until the next update. While there is no queue (r - b < `mi_threshold`), w grows by one
//! for each packet acknowledged in every other round trip. This growth replaces slow start:
//! in paper 002 α is proportional to w while there is no queue. A path that has carried only retransmissions
//! has no RTT yet and grows in the same way. A loss halves w, but not below 2; a timeout sets w = 2.
//!
//! Without a queue the window doubles in every other round trip. If the buffer is smaller than the
//! bandwidth-delay product, a window above half of their sum overruns the buffer when it doubles. The loss
//! halves it to a window without a queue, so that it doubles and overruns the buffer again. With `mi_once` a
//! path doubles only until its first queue or loss. After that α is constant, as in Jin et al.
//!
//! Paper 002 prints α outside γ(...), the option `alpha_inside = false`: a flow would keep α/γ packets in
//! queues. b is the least RTT measured: a flow that begins later takes the queue of the other flows for
//! propagation delay and keeps more than α packets. The option `base_rtt` sets b.

use units::{ByteCount, Instant, Span};

use crate::delay::Round;
use crate::delay_based::{DelayBased, DelayPolicy, Exact};
use crate::{CongestionControl, CongestionWindow, LossKind, PathAck, Setup, Snapshot};
use transport::options;

options! {
    /// Options of [`Algorithm::Fast`](crate::Algorithm::Fast) and
    /// [`Algorithm::FastWeighted`](crate::Algorithm::FastWeighted).
    #[derive(Copy)]
    pub struct FastKnobs in "fast" {
        /// Number of packets kept in queues (α): by each path, or by all paths of `fast-weighted` together.
        alpha: f64 = 200.0, "a number from 1 to 1000000" if |a| (1.0..=1e6).contains(&a);
        /// Weight of the new window (γ).
        gamma: f64 = 0.5, "a number above 0, at most 1" if |g| g > 0.0 && g <= 1.0;
        /// True: α is within γ(...) in equation 1, as in Jin et
        /// al. False: α is outside, as printed in paper 002.
        alpha_inside: bool = true;
        /// The propagation RTT of every path, if it is known; none: the least RTT measured.
        base_rtt: Option<Span> = None, "a time above zero, or none" if |b| b != Some(Span::ZERO);
        /// Queueing delays below this count as zero.
        mi_threshold: Span = Span::from_micros(750), "at most 1 s" if |t| t <= Span::from_secs(1);
        /// A path that has seen a queue or a loss never doubles its window again.
        mi_once: bool = false;
        /// Least time between two updates of the window.
        period: Span = Span::from_millis(10), "at most 10 s" if |t| t <= Span::from_secs(10);
    }
}

pub(super) fn build(setup: &Setup, knobs: FastKnobs) -> Box<dyn CongestionControl> {
    with("fast", |_, knobs, _| knobs.alpha, setup, knobs)
}

/// Builds FAST under the name `name`; `alpha` computes the α of a path.
pub(super) fn with(
    name: &'static str,
    alpha: AlphaRule,
    setup: &Setup,
    knobs: FastKnobs,
) -> Box<dyn CongestionControl> {
    Box::new(DelayBased::new(Fast { name, alpha, knobs, paths: Vec::new() }, setup))
}

pub(super) type AlphaRule = fn(&Fast, &FastKnobs, &Snapshot<'_>) -> f64;

#[derive(Debug)]
pub(super) struct Fast {
    name: &'static str,
    alpha: AlphaRule,
    knobs: FastKnobs,
    paths: Vec<Memory>,
}

/// State of FAST for one path; times in seconds, windows in packets.
#[derive(Clone, Copy, Debug, Default)]
struct Memory {
    base: Option<f64>,
    average: f64,
    round: Round,
    /// The path has had a queue or a loss.
    found_end: bool,
    /// True in every second round. The window is updated in these rounds only.
    may_update: bool,
    updated: Instant,
    /// Packets acknowledged in this round and in the previous round.
    acked: f64,
    acked_last: f64,
    /// Window at the start of this round, with which the data that is acknowledged now was sent.
    sent_window: f64,
    /// Growth in packets that is not applied yet, and the growth for each packet acknowledged.
    pending: f64,
    pace: f64,
}

const LEAST: f64 = 2.0;

impl Memory {
    /// Adds an RTT sample, weighted by the number of packets acknowledged.
    fn sample(&mut self, rtt: Span, packets: f64, window: f64) {
        let rtt = rtt.max(Span::from_nanos(1)).as_secs_f64();
        match self.base {
            None => (self.base, self.average) = (Some(rtt), rtt),
            Some(base) => {
                self.base = Some(base.min(rtt));
                let weight = (3.0 / window.max(1.0)).min(0.25) * packets.max(1.0);
                self.average += weight.min(1.0) * (rtt - self.average);
            }
        }
    }
}

impl Fast {
    /// The rate of a path with the window `cwnd` at the averaged RTT; 0 before the first sample.
    pub(super) fn rate(&self, path: usize, cwnd: f64) -> f64 {
        let memory = &self.paths[path];
        if memory.base.is_some() { cwnd / memory.average } else { 0.0 }
    }

    /// The new window by equation 1 (file header), in packets.
    /// `w`: the current window; `sent`: w₀; `ratio`: b/r.
    fn target(&self, w: f64, sent: f64, ratio: f64, alpha: f64) -> f64 {
        let FastKnobs { gamma, alpha_inside, .. } = self.knobs;
        let aimed = if alpha_inside { gamma * (ratio * sent + alpha) } else { gamma * ratio * sent + alpha };
        ((1.0 - gamma) * w + aimed).clamp(LEAST, (2.0 * w).max(LEAST))
    }
}

impl DelayPolicy for Fast {
    fn name(&self) -> &'static str {
        self.name
    }

    fn initial(&mut self, at: &Snapshot<'_>) -> ByteCount {
        let window = at.initial_window();
        let sent_window = window.as_f64() / at.segment().as_f64();
        self.paths.push(Memory { sent_window, ..Memory::default() });
        window
    }

    fn measure(&mut self, ack: &PathAck, at: &Snapshot<'_>) {
        let m = at.segment().as_f64();
        let window = at.cwnd().as_f64() / m;
        let memory = &mut self.paths[ack.path];
        if let Some(rtt) = ack.rtt {
            memory.sample(rtt, ack.acked.as_f64() / m, window);
        }
        memory.acked += ack.acked.as_f64() / m;
        if memory.round.ends(ack) {
            memory.may_update = !memory.may_update;
            memory.acked_last = std::mem::take(&mut memory.acked);
            memory.sent_window = window;
        }
    }

    fn steer(&mut self, ack: &PathAck, at: &Snapshot<'_>, window: &mut Exact) {
        let memory = self.paths[ack.path];
        let m = at.segment().as_f64();
        let acked = ack.acked.as_f64() / m;
        let w = window.cwnd / m;
        let used = at.was_used(ack);
        let base = self.knobs.base_rtt.map(Span::as_secs_f64).or(memory.base).unwrap_or(memory.average);
        let no_queue = memory.average - base < self.knobs.mi_threshold.as_secs_f64();
        self.paths[ack.path].found_end |= !no_queue;
        if no_queue && !(self.knobs.mi_once && memory.found_end) {
            self.paths[ack.path].pending = 0.0;
            if used && memory.may_update {
                window.cwnd += ack.acked.as_f64();
            }
            return;
        }
        let due = memory.may_update && at.now() >= memory.updated + self.knobs.period;
        if due {
            let alpha = (self.alpha)(self, &self.knobs, at);
            let next = self.target(w, memory.sent_window, base / memory.average, alpha);
            let memory = &mut self.paths[ack.path];
            memory.updated = at.now();
            memory.pending = (next - w).max(0.0);
            let packets = memory.acked_last * self.knobs.period.as_secs_f64() / memory.average;
            memory.pace = memory.pending / packets.max(1.0);
            if next <= w {
                window.cwnd = next * m;
            }
        }
        let memory = &mut self.paths[ack.path];
        let step = (memory.pace * acked).min(memory.pending);
        if used && step > 0.0 {
            memory.pending -= step;
            window.cwnd += step * m;
        }
    }

    fn after_loss(&mut self, kind: LossKind, at: &Snapshot<'_>) -> CongestionWindow {
        let memory = &mut self.paths[at.index()];
        (memory.pending, memory.found_end) = (0.0, true);
        let ssthresh = at.reduced_no_lower(0.5, at.segment() * 2);
        let cwnd = match kind {
            LossKind::FastRetransmit | LossKind::Mark => ssthresh,
            LossKind::Timeout => at.segment() * 2,
        };
        CongestionWindow { cwnd, ssthresh: Some(ssthresh) }
    }
}
