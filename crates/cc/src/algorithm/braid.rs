//! Braid: a coupled control of ours. The paths of an association divide the aggressiveness of one flow among them, by
//! what each path would give to a flow of its own. It keeps CMT/RP's fairness without its price: no loss cuts more than
//! half of the window of its own path.
//!
//! Over a path with a loss after every L segments a lone flow has a mean window of about √(3/2 L) segments, hence the
//! rate y = √L/r but for a constant. From y come shares a that add up to one over the coupled paths, and a path grows so
//! that its mean window is the part a of a lone flow's:
//!
//! ```text
//! a_P = y_P^k/Σ y_i^k,   y = √L/r,   k = 10
//! slow start   c_P = c_P + a_P i                  i: what a lone window grows by now
//! avoidance    c_P = c_P + a_P² i (1 - w/(a_P L))/(1 - w/L),   w = c_P/M
//! loss         s_P = max(c_P - c_P/2, 2 M, 4 M a_P)
//! ```
//!
//! L and r are means over the loss intervals of the path, in which the newest has weight g = 1/8; the interval that is
//! not over counts once it is longer than L, so that a path without losses gets better with every byte.
//!
//! Why it is fair: a window that grows by φ segments a round and is halved after every L segments has a mean of √φ
//! times that of a lone flow. With φ = a² the windows of paths over one bottleneck, whose L and r are equal, add up to
//! Σ a = 1 lone window, whatever the shares are. The last factor is for the rounds in recovery, in which no window grows:
//! a lone flow, with its larger window, spends more of its time there.
//!
//! Why it moves: where others compete, losses are more frequent, y is smaller, and k makes a small difference a large
//! one. k = 0 divides equally, and is LIA's growth on equal paths. Perfect pooling, which uses the best path only, is
//! k = ∞, but then the noise of two estimates decides, and the flow jumps to and fro. In the set-up of paper 000 at
//! 100 Mbit/s (RED, 12 runs), a plain flow that has company on one of two paths gets 80.0, 80.6, 82.4 and 83.5 Mbit/s for
//! k = 6, 8, 10 and 12, each ± 1.4, and 80.7 ± 0.6 beside CMT/RP: k = 10 is the least that is surely no worse.
//!
//! Why it costs nothing: paths that nobody else uses are equally good as soon as they are equally full, and a window that
//! grows slowly still fills a queue in the end. The shares balance themselves: less share means fewer losses, hence a
//! larger y and more share. Alone on two disjoint paths it has 192.1 ± 0.2 Mbit/s, where uncoupled CMT has 192.3 and
//! CMT/RP 178.6; on one path shared with a plain flow it leaves that one 48.3 ± 0.6 % (CMT/RP 48.4, LIA 44.6).
//!
//! Where it fails: the shares know only losses. It needs some of them on every path before it knows anything, and is as
//! slow to find new room as a² says: on two equal paths four times slower than uncoupled CMT, so that queues shorter
//! than the bandwidth-delay product do cost throughput after a cut. A path that loses at random, not by congestion, is
//! left as if it were busy. On a shared bottleneck each path has some room beyond its window for its last packet, and
//! none keeps fewer than two segments: many paths with small windows take more than one flow does.
//!
//! A path that is alone is standard.

use units::ByteCount;

use crate::knobs::knobs;
use crate::{
    CongestionControl, Growth, LossBased, LossKind, PathAck, PathView, Phase, Setup, Snapshot, WindowPolicy,
};

knobs! {
    /// Options of [`Algorithm::Braid`](crate::Algorithm::Braid).
    "braid" BraidKnobs {
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

/// What is known of a path: means over loss intervals, and the interval that is not over.
#[derive(Clone, Copy, Debug, Default)]
struct Quality {
    mean: Option<Interval>,
    open: Interval,
}

/// What happened between two losses.
#[derive(Clone, Copy, Debug, Default)]
struct Interval {
    /// Segments acknowledged.
    segments: f64,
    /// The sum of the smoothed RTTs in seconds, one for each of them.
    waited: f64,
}

impl Interval {
    /// `self`, moved towards `newer`.
    fn mixed(self, newer: Interval, weight: f64) -> Interval {
        Interval {
            segments: self.segments + weight * (newer.segments - self.segments),
            waited: self.waited + weight * (newer.waited - self.waited),
        }
    }
}

impl Quality {
    fn interval(&self, weight: f64) -> Interval {
        match self.mean {
            Some(mean) if mean.segments >= self.open.segments => mean,
            Some(mean) => mean.mixed(self.open, weight),
            None => self.open,
        }
    }

    fn lost(&mut self, weight: f64) {
        let open = std::mem::take(&mut self.open);
        self.mean = Some(self.mean.map_or(open, |mean| mean.mixed(open, weight)));
    }
}

impl Braid {
    /// L, at least one segment.
    fn segments(&self, path: usize) -> f64 {
        self.paths[path].interval(self.knobs.weight).segments.max(1.0)
    }

    /// y.
    fn alone(&self, (index, path): (usize, &PathView)) -> f64 {
        let Interval { segments, waited } = self.paths[index].interval(self.knobs.weight);
        let rtt = if segments > 0.0 { waited / segments } else { path.rtt() };
        libm::sqrt(segments.max(1.0)) / rtt
    }

    /// a.
    fn share(&self, at: &Snapshot<'_>) -> f64 {
        let best = at.coupled_with_index().map(|entry| self.alone(entry)).fold(0.0, f64::max);
        let weight = |entry| libm::pow(self.alone(entry) / best, self.knobs.exponent);
        weight((at.index(), at.path())) / at.coupled_with_index().map(weight).sum::<f64>()
    }

    /// The growth in avoidance, in parts of a lone window's.
    fn pace(&self, at: &Snapshot<'_>) -> f64 {
        let a = self.share(at);
        let (w, l) = (at.cwnd().as_f64() / at.segment().as_f64(), self.segments(at.index()));
        let growing = |window: f64| (1.0 - window / l).max(0.5);
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
        self.paths[at.index()].lost(self.knobs.weight);
        if at.is_alone() {
            return at.halved();
        }
        let least = at.least_ssthresh().as_f64() * self.share(at);
        at.reduced_no_lower(0.5, ByteCount::ceil_f64(least).max(at.segment() * 2))
    }
}
