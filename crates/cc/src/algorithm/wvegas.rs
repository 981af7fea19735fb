//! wVegas, weighted Vegas: delay-based and coupled.
//!
//! All paths together keep a fixed number of packets in queues. The share of a path is in proportion to its
//! rate.
//!
//! Source: Cao, Xu, Fu, "Delay-based Congestion Control for Multipath TCP", ICNP 2012, and
//! draft-xu-mptcp-congestion-control-05. The window is updated once per round trip. r̄ is the mean RTT of the
//! round, b the least RTT measured, w the window in packets, s ssthresh in packets, and q₀ the least queueing
//! delay above 0 since the last drain:
//!
//! ```text
//! d = w (r̄ - b)/r̄                                      packets in the queue
//! slow start   d > 1:   w = min(w, w b/r̄ + 1),  s = min(s, w - 1);    else that of the transport
//! avoidance    d >= α:  α = max(2, 10 y_P/Σ y),  y = w/r̄
//!              d > α:   w = w - 1;     d < α:   w = w + 1
//! drain        q = r̄ - b >= 2 q₀:  w = w b/(2 r̄), and q₀ is forgotten
//! ```
//!
//! w is at least 2, and α begins at 2. In a round of fewer than three samples the window grows by one packet,
//! as in Reno. A loss changes the window by the transport's standard rules. Linux also drains at q = 0.

use units::{ByteCount, Span};

use crate::delay::Round;
use crate::delay_based::{DelayBased, DelayPolicy, Exact};
use crate::{CongestionControl, PathAck, Setup, Snapshot};
use transport::options;

options! {
    /// Options of [`Algorithm::WVegas`](crate::Algorithm::WVegas).
    #[derive(Copy)]
    pub struct WVegasKnobs in "wvegas" {
        /// Number of packets that all paths together keep in queues.
        total_alpha: f64 = 10.0, "a number from 1 to 100000" if |a| (1.0..=100_000.0).contains(&a);
    }
}

pub(super) fn build(setup: &Setup, knobs: WVegasKnobs) -> Box<dyn CongestionControl> {
    Box::new(DelayBased::new(WVegas { knobs, paths: Vec::new() }, setup))
}

#[derive(Debug)]
struct WVegas {
    knobs: WVegasKnobs,
    paths: Vec<Memory>,
}

#[derive(Clone, Copy, Debug)]
struct Memory {
    round: Round,
    /// The current SACK ended a round.
    ended: bool,
    base: Option<f64>,
    /// Sum and number of the RTT samples of the round.
    sum: f64,
    samples: u32,
    /// Mean RTT of the last round with at least three samples.
    mean: Option<f64>,
    alpha: f64,
    /// q₀: the least queueing delay above 0 since the last drain, in seconds.
    least_queue: Option<f64>,
}

const LEAST_ALPHA: f64 = 2.0;
const LEAST_WINDOW: f64 = 2.0;

impl Memory {
    /// d: the number of the path's packets in the queue, for a window of `w` packets and the mean RTT `mean`.
    fn queued(&self, w: f64, mean: f64) -> f64 {
        w * (mean - self.base.unwrap_or(mean)) / mean
    }

    fn sample(&mut self, rtt: Span) {
        let rtt = rtt.max(Span::from_nanos(1)).as_secs_f64();
        self.base = Some(self.base.map_or(rtt, |base| base.min(rtt)));
        self.sum += rtt;
        self.samples += 1;
    }
}

impl WVegas {
    /// The path's part y_P/Σ y of the sum of rates, from the windows
    /// before the SACK; a path without a measurement has rate zero.
    fn share(&self, at: &Snapshot<'_>) -> f64 {
        let rate = |(index, path): (usize, &crate::PathView)| {
            self.paths[index].mean.map_or(0.0, |mean| path.window.cwnd.as_f64() / mean)
        };
        rate((at.index(), at.path())) / at.coupled_with_index().map(rate).sum::<f64>()
    }

    /// Returns the window after a round with the given mean RTT; windows are in packets.
    fn round(&mut self, mean: f64, at: &Snapshot<'_>, w: f64, slow_start: bool) -> f64 {
        let share = self.share(at);
        let total = self.knobs.total_alpha;
        let memory = &mut self.paths[at.index()];
        let base = memory.base.unwrap_or(mean);
        let queued = memory.queued(w, mean);
        let mut next = w;
        if slow_start {
            next = w.min(w * base / mean + 1.0);
        } else {
            if queued >= memory.alpha {
                memory.alpha = (total * share).max(LEAST_ALPHA);
            }
            if queued > memory.alpha {
                next -= 1.0;
            } else if queued < memory.alpha {
                next += 1.0;
            }
        }
        let queue = mean - base;
        if queue > 0.0 {
            let least = memory.least_queue.map_or(queue, |least| least.min(queue));
            memory.least_queue = Some(least);
            if queue >= 2.0 * least {
                memory.least_queue = None;
                next = w * base / (2.0 * mean);
            }
        }
        next
    }
}

impl DelayPolicy for WVegas {
    fn name(&self) -> &'static str {
        "wvegas"
    }

    fn initial(&mut self, at: &Snapshot<'_>) -> ByteCount {
        self.paths.push(Memory {
            round: Round::default(),
            ended: false,
            base: None,
            sum: 0.0,
            samples: 0,
            mean: None,
            alpha: LEAST_ALPHA,
            least_queue: None,
        });
        at.initial_window()
    }

    fn measure(&mut self, ack: &PathAck, _at: &Snapshot<'_>) {
        let memory = &mut self.paths[ack.path];
        if let Some(rtt) = ack.rtt {
            memory.sample(rtt);
        }
        memory.ended = memory.round.ends(ack);
        if memory.ended && memory.samples > 2 {
            memory.mean = Some(memory.sum / f64::from(memory.samples));
        }
    }

    fn steer(&mut self, ack: &PathAck, at: &Snapshot<'_>, window: &mut Exact) {
        let m = at.segment().as_f64();
        let memory = self.paths[ack.path];
        let slow_start = window.cwnd < at.ssthresh().as_f64();
        let used = at.was_used(ack);
        if memory.ended {
            (self.paths[ack.path].sum, self.paths[ack.path].samples) = (0.0, 0);
            let w = window.cwnd / m;
            let mean = memory.mean.filter(|_| memory.samples > 2);
            let next = match mean {
                Some(mean) if !slow_start || memory.queued(w, mean) > 1.0 => {
                    self.round(mean, at, w, slow_start).max(LEAST_WINDOW)
                }
                None if !slow_start => w + 1.0,
                _ => w,
            };
            if slow_start && next != w {
                let below = ByteCount::round_f64((next - 1.0) * m);
                window.ssthresh = Some(window.ssthresh.map_or(below, |s| s.min(below)));
            }
            if next < w || used {
                window.cwnd = next * m;
            }
            if next != w {
                return;
            }
        }
        if slow_start && used {
            window.cwnd += ack.acked.as_f64().min(m);
        }
    }
}
