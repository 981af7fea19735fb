//! Braid: a coupled control of ours. Together the paths of an association are as aggressive as one flow.
//!
//! Braid is as fair as CMT/RP (`rpv1.rs`, `rpv2.rs`), but a
//! loss removes at most half of the window of its own path.
//!
//! A *lone flow* is a single flow with the standard control that has the losses and the RTT r of the path. If
//! there is one loss per L segments, its mean window is about √(3/2 L) segments. So its rate is proportional
//! to y = √L/r. Braid gives each path P a share a_P, which grows with y; the shares of
//! the coupled paths add up to one. Path P grows so that its mean window is a_P times
//! the window of a lone flow. c is cwnd, s ssthresh and M the segment, all in bytes:
//!
//! ```text
//! a_P = q_P/Σ q_i,   q = (y/max y_i)^(k m),   y = √L/r,   k = 10
//! slow start   c_P = c_P + a_P i                  i: growth of a lone flow's window at this step
//! avoidance    c_P = c_P + a_P² i (1 - w/(a_P L))/(1 - w/L),   w = c_P/M
//! loss         s_P = max(c_P - c_P/2, 2 M, 4 M a_P)
//! first loss   L = max(segments so far, 3/8 (w/a_P)²),   m = 0
//! later losses m = m + g (1 - m)                  newest interval: weight g/m in L
//! ```
//!
//! An *interval* is the number of segments between two losses of a path. L is the mean interval, and r the
//! mean RTT over the intervals. The newest interval has the weight g = 1/8, or g/m while there are few
//! intervals. The current interval enters the means once it is longer than L.
//!
//! Braid gives a path without a loss so far the y of the best path, because the number of segments that it
//! carried depends more on its window than on its quality. It does the same when the current interval is 8/m
//! times as long as the mean. This is unlikely to be chance, so the mean is out of date. Until a loss the
//! window then grows by a_P c_P per round.
//!
//! The first interval of a path is mostly its slow start, about two windows long, and is no measurement. So
//! after the first loss L is at least 3/8 (w/a)². This is the interval of a path that always loses at a
//! window of w segments: the window grows from w/2 to w by a² per round, in w/(2 a²) rounds of 3/4 w
//! segments. `rfc5348#section-6.3.1` derives its first interval from the rate in the same way. If slow
//! start counted as an interval, L would be a hundred times too small on long paths. The mean would soon be
//! out of date, and the window would grow as in slow start and overflow a short queue.
//!
//! m is the part of the mean that is measured: 0 after the first loss, nearly 1 after many intervals. Without
//! m, a few random intervals would determine the shares for a long time.
//!
//! Fairness: a window that grows by φ segments per round and is halved after every L segments has a mean of
//! √φ times that of a lone flow. With φ = a² the windows of paths over one bottleneck, whose L and r are
//! equal, add up to the window of one lone flow for any shares, because Σ a = 1. The quotient in the equation
//! of avoidance corrects for the rounds in recovery, in which no window grows: a lone flow has a larger
//! window and spends more of its time in recovery.
//!
//! Shift of traffic: on paths with competing flows losses are more frequent and y is smaller. The exponent k
//! turns a small difference into a large one. k = 0 divides equally, as LIA does on equal paths. k = ∞ is
//! perfect pooling, which uses the best path only, but then the noise of two estimates decides, and the flow
//! switches between paths. In the set-up of paper 000 at 100 Mbit/s (RED, 8 to 12 runs), a plain flow that
//! shares one of two paths with the association gets 80.7 ± 0.6 Mbit/s beside CMT/RP and 82.4 ± 1.9 beside
//! Braid. With k = 6 and 8 the plain flow gets no more than beside CMT/RP.
//!
//! Throughput: paths without other traffic have equal shares once they are equally full, and a window that
//! grows slowly still fills a queue in the end. The shares balance themselves: a smaller share means fewer
//! losses, hence a larger y and a larger share. In the same set-up, alone on two disjoint paths, Braid gets
//! 192.2 ± 0.1 Mbit/s, uncoupled CMT 192.3 and CMT/RP 178.6. On one path shared with a plain flow, the plain
//! flow keeps 48.3 ± 1.1 % (48.4 with CMT/RP, 44.6 with LIA).
//!
//! Limits: Braid finds new capacity slowly, on two equal paths four times slower than uncoupled CMT. That
//! costs throughput while a path fills its queue after a slow start that ended too early, as with LIA. Braid
//! avoids a path with random losses as if other flows used it. On a shared bottleneck each path may exceed
//! its window by part of a packet, and no path keeps fewer than two segments, so that many paths with small
//! windows take more than one flow would. On a single path Braid equals the standard control.

use units::ByteCount;

use crate::{CongestionControl, Growth, LossBased, LossKind, PathAck, Phase, Setup, Snapshot, WindowPolicy};
use transport::options;

options! {
    /// Options of [`Algorithm::Braid`](crate::Algorithm::Braid).
    #[derive(Copy)]
    pub struct BraidKnobs in "braid" {
        /// How strongly the share of a path depends on its
        /// quality y (the exponent k); 0: all shares are equal.
        exponent: f64 = 10.0, "a number from 0 to 20" if |k| (0.0..=20.0).contains(&k);
        /// Weight of the newest loss interval in the mean (g).
        weight: f64 = 0.125, "a number above 0, at most 1" if |g| g > 0.0 && g <= 1.0;
    }
}

pub(super) fn build(setup: &Setup, knobs: BraidKnobs) -> Box<dyn CongestionControl> {
    Box::new(LossBased::new(Braid { knobs, paths: Vec::new() }, setup))
}

#[derive(Debug)]
struct Braid {
    knobs: BraidKnobs,
    paths: Vec<Quality>,
}

/// Mean over the loss intervals of a path, and the current interval.
#[derive(Clone, Copy, Debug, Default)]
struct Quality {
    mean: Option<Interval>,
    open: Interval,
}

/// Segments and RTTs between two losses.
#[derive(Clone, Copy, Debug, Default)]
struct Interval {
    /// Segments acknowledged.
    segments: f64,
    /// Sum of the smoothed RTTs in seconds, one for each segment.
    waited: f64,
    /// m: the measured part of the mean, from 0 after the first interval to nearly 1 after many.
    measured: f64,
}

impl Interval {
    /// The mean `self`, moved towards `newer`. A mean of only the first interval is replaced by `newer`.
    fn mixed(self, newer: Interval, weight: f64) -> Interval {
        let measured = self.measured + weight * (1.0 - self.measured);
        let part = weight / measured;
        Interval {
            segments: self.segments + part * (newer.segments - self.segments),
            waited: self.waited + part * (newer.waited - self.waited),
            measured,
        }
    }

    /// Scales the interval to at least `segments`, with the same mean RTT.
    fn at_least(self, segments: f64) -> Interval {
        if self.segments > 0.0 && self.segments < segments {
            Interval { segments, waited: self.waited * segments / self.segments, ..self }
        } else {
            self
        }
    }
}

/// Number of mean intervals without a loss after which the mean is out of date (for m = 1). If losses are
/// independent, one interval in 3000 is as long.
const SURPRISE: f64 = 8.0;

impl Quality {
    /// L and r; `None` before the first loss, and if the loss-free time shows that the mean is out of date.
    fn interval(&self, weight: f64) -> Option<Interval> {
        let mean = self.mean?;
        if self.open.segments * mean.measured > SURPRISE * mean.segments {
            None
        } else if self.open.segments > mean.segments {
            Some(mean.mixed(self.open, weight))
        } else {
            Some(mean)
        }
    }

    /// Ends the current interval at a loss. The first interval of a path counts as at least `usual` segments.
    fn lost(&mut self, usual: f64, weight: f64) {
        let open = std::mem::take(&mut self.open);
        self.mean = Some(match self.mean {
            Some(mean) => mean.mixed(open, weight),
            None => open.at_least(usual),
        });
    }
}

impl Braid {
    /// y (√L/r) and m (the measured part of the mean) of a path; `None` without a valid mean.
    fn alone(&self, path: usize) -> Option<(f64, f64)> {
        let Interval { segments, waited, measured } = self.paths[path].interval(self.knobs.weight)?;
        let rtt = waited / segments;
        (rtt > 0.0).then(|| (libm::sqrt(segments.max(1.0)) / rtt, measured))
    }

    /// The share a_P: the path's mean window becomes this fraction of a lone flow's window.
    fn share(&self, at: &Snapshot<'_>) -> f64 {
        let rates = at.coupled_with_index().filter_map(|(index, _)| self.alone(index));
        let best = rates.map(|(rate, _)| rate).fold(0.0, f64::max);
        let weight = |index| match self.alone(index) {
            Some((rate, measured)) => libm::pow(rate / best, self.knobs.exponent * measured),
            None => 1.0,
        };
        weight(at.index()) / at.coupled_with_index().map(|(index, _)| weight(index)).sum::<f64>()
    }

    /// The growth in congestion avoidance, relative to that of a lone flow's window.
    fn pace(&self, at: &Snapshot<'_>) -> f64 {
        let (a, w) = (self.share(at), at.cwnd().as_f64() / at.segment().as_f64());
        let Some(interval) = self.paths[at.index()].interval(self.knobs.weight) else { return a * w };
        let growing = |window: f64| (1.0 - window / interval.segments.max(1.0)).max(0.5);
        a * a * growing(w / a) / growing(w)
    }
}

impl WindowPolicy for Braid {
    fn name(&self) -> &'static str {
        "braid"
    }

    fn initial(&mut self, at: &Snapshot<'_>) -> ByteCount {
        self.paths.push(Quality::default());
        at.initial_share()
    }

    fn on_ack(&mut self, ack: &PathAck, at: &Snapshot<'_>) {
        let segments = ack.acked.as_f64() / at.segment().as_f64();
        let open = &mut self.paths[ack.path].open;
        open.segments += segments;
        open.waited += segments * at.path().rtt();
    }

    fn increase(&mut self, growth: Growth, at: &Snapshot<'_>) -> f64 {
        if at.is_alone() {
            return growth.standard;
        }
        match growth.phase {
            Phase::SlowStart => growth.standard * self.share(at),
            Phase::Avoidance => growth.standard * self.pace(at),
        }
    }

    fn decrease(&mut self, _kind: LossKind, at: &Snapshot<'_>) -> ByteCount {
        let lone = at.cwnd().as_f64() / at.segment().as_f64() / self.share(at);
        self.paths[at.index()].lost(0.375 * lone * lone, self.knobs.weight);
        if at.is_alone() {
            return at.halved();
        }
        let least = at.least_ssthresh().as_f64() * self.share(at);
        at.reduced_no_lower(0.5, ByteCount::ceil_f64(least).max(at.segment() * 2))
    }
}
