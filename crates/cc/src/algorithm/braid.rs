//! Braid: a coupled control of ours. Together the paths of an association are as aggressive as one flow. The share of a
//! path depends on the rate that a single flow would have on it. Braid is as fair as CMT/RP, but a loss never removes
//! more than half of the window of its own path.
//!
//! Over a path with a loss after every L segments a lone flow has a mean window of about √(3/2 L) segments, hence the
//! rate y = √L/r but for a constant. From y come shares a that add up to one over the coupled paths, and a path grows
//! so that its mean window is the part a of a lone flow's:
//!
//! ```text
//! a_P = q_P/Σ q_i,   q = (y/max y_i)^(k m),   y = √L/r,   k = 10
//! slow start   c_P = c_P + a_P i                  i: what a lone window grows by now
//! avoidance    c_P = c_P + a_P² i (1 - w/(a_P L))/(1 - w/L),   w = c_P/M
//! loss         s_P = max(c_P - c_P/2, 2 M, 4 M a_P)
//! first loss   L = max(segments so far, 3/8 (w/a_P)²),   m = 0
//! later losses m = m + g (1 - m)                  newest interval: weight g/m in L
//! ```
//!
//! L and r are means over the loss intervals of the path, in which the newest has weight g = 1/8, or more as long as there
//! are few: g/m. The current interval counts once it is longer than L. A path without a loss so far counts as equal to the
//! best: the bytes it carried depend more on its window than on the path. Once an interval is 8/m times as long as the
//! mean, which is unlikely to be chance, the mean is out of date: the path counts as equal to the best again, and its
//! window grows by a_P c_P a round, as in slow start, until it loses.
//!
//! The first interval of a path is mostly its slow start, about two windows long: it is no measurement. Until there is one,
//! L is 3/8 (w/a)², the interval of a path that always loses at a window of w segments: it grows from w/2 to w by a² a
//! round, in w/(2 a²) rounds of 3/4 w segments. `rfc5348#section-6.3.1` derives its first interval from the rate in the same
//! way. And m is the part of a mean of many intervals that the measured ones make up; without it, a few random intervals
//! would decide about the shares for long. If the slow start counts as an interval, then on long paths L is a hundred
//! times too small: the mean is soon out of date, the window grows as in slow start, overflows a short queue, and
//! retransmissions are lost, too.
//!
//! Why it is fair: a window that grows by φ segments a round and is halved after every L segments has a mean of √φ
//! times that of a lone flow. With φ = a² the windows of paths over one bottleneck, whose L and r are equal, add up to
//! Σ a = 1 lone window, whatever the shares are. The last factor is for the rounds in recovery, in which no window
//! grows: a lone flow, with its larger window, spends more of its time there.
//!
//! Why it moves: where others compete, losses are more frequent, y is smaller, and k makes a small difference a large
//! one. k = 0 divides equally, and is LIA's growth on equal paths. Perfect pooling, which uses the best path only, is k
//! = ∞, but then the noise of two estimates decides, and the flow switches between paths. In the set-up of paper 000 at
//! 100 Mbit/s (RED, 8 to 12 runs), a plain flow that shares one of two paths with it gets 80.7 ± 0.6 Mbit/s beside
//! CMT/RP and 82.4 ± 1.9 beside Braid; with k = 6 and 8 it is no more than with CMT/RP.
//!
//! Why it keeps throughput: paths without other traffic are equally good as soon as they are equally full, and a window
//! that grows slowly still fills a queue in the end. The shares balance themselves: less share means fewer losses,
//! hence a larger y and more share. In the same set-up, alone on two disjoint paths, it has 192.2 ± 0.1 Mbit/s, where
//! uncoupled CMT has 192.3 and CMT/RP 178.6; on one path shared with a plain flow it leaves that one 48.3 ± 1.1 %
//! (CMT/RP 48.4, LIA 44.6).
//!
//! Where it fails: it is as slow to find new room as a² says, on two equal paths four times slower than uncoupled CMT.
//! That costs throughput for as long as a path needs to fill its queue again after a slow start that ended too early:
//! as with LIA, which grows as slowly. A path that loses at random, not by congestion, is left as if it were busy. On a
//! shared bottleneck each path has some room beyond its window for its last packet, and none keeps fewer than two
//! segments: many paths with small windows take more than one flow does.
//!
//! A path that is alone is standard.

use units::ByteCount;

use crate::{CongestionControl, Growth, LossBased, LossKind, PathAck, Phase, Setup, Snapshot, WindowPolicy};
use transport::options;

options! {
    /// Options of [`Algorithm::Braid`](crate::Algorithm::Braid).
    #[derive(Copy)]
    pub struct BraidKnobs in "braid" {
        /// How strongly paths of unequal quality are told apart (k).
        exponent: f64 = 10.0, "a number from 0 to 20" if |k| (0.0..=20.0).contains(&k);
        /// Weight of the newest loss interval in the mean (g).
        weight: f64 = 0.125, "a number above 0, at most 1" if |g| g > 0.0 && g <= 1.0;
    }
}

pub(super) fn build(setup: &Setup) -> Box<dyn CongestionControl> {
    Box::new(LossBased::new(Braid { knobs: setup.knobs.braid, paths: Vec::new() }, setup))
}

#[derive(Debug)]
struct Braid {
    knobs: BraidKnobs,
    paths: Vec<Quality>,
}

/// Means over the loss intervals of a path, and the current interval.
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
    /// The sum of the smoothed RTTs in seconds, one for each of them.
    waited: f64,
    /// m: how far the mean is measured, from 0 after the first interval to 1 after many.
    measured: f64,
}

impl Interval {
    /// The mean `self`, moved towards `newer`: all of the way if it has the first interval only.
    fn mixed(self, newer: Interval, weight: f64) -> Interval {
        let measured = self.measured + weight * (1.0 - self.measured);
        let part = weight / measured;
        Interval {
            segments: self.segments + part * (newer.segments - self.segments),
            waited: self.waited + part * (newer.waited - self.waited),
            measured,
        }
    }

    /// `self` with at least so many segments, and the same mean RTT.
    fn at_least(self, segments: f64) -> Interval {
        if self.segments > 0.0 && self.segments < segments {
            Interval { segments, waited: self.waited * segments / self.segments, ..self }
        } else {
            self
        }
    }
}

/// Mean loss intervals without a loss after which the mean is out of date. With independent losses one interval in
/// 3000 is as long.
const SURPRISE: f64 = 8.0;

impl Quality {
    /// L and r; `None` before the first loss, and after so many segments without one that the mean is out of date.
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

    /// A loss ends the current interval. The first interval of a path counts as `usual` segments at least.
    fn lost(&mut self, usual: f64, weight: f64) {
        let open = std::mem::take(&mut self.open);
        self.mean = Some(match self.mean {
            Some(mean) => mean.mixed(open, weight),
            None => open.at_least(usual),
        });
    }
}

impl Braid {
    /// y and m, if they are known.
    fn alone(&self, path: usize) -> Option<(f64, f64)> {
        let Interval { segments, waited, measured } = self.paths[path].interval(self.knobs.weight)?;
        let rtt = waited / segments;
        (rtt > 0.0).then(|| (libm::sqrt(segments.max(1.0)) / rtt, measured))
    }

    /// a.
    fn share(&self, at: &Snapshot<'_>) -> f64 {
        let rates = at.coupled_with_index().filter_map(|(index, _)| self.alone(index));
        let best = rates.map(|(rate, _)| rate).fold(0.0, f64::max);
        let weight = |index| match self.alone(index) {
            Some((rate, measured)) => libm::pow(rate / best, self.knobs.exponent * measured),
            None => 1.0,
        };
        weight(at.index()) / at.coupled_with_index().map(|(index, _)| weight(index)).sum::<f64>()
    }

    /// The growth in avoidance, in parts of a lone window's.
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
