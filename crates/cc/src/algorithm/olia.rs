//! OLIA, opportunistic linked increases: LIA that shifts growth to the best paths with smaller windows.
//!
//! Source: Khalili, Gast, Popovic, Le Boudec, "MPTCP is not Pareto-Optimal: Performance Issues and a Possible
//! Solution", ToN 21(5), 2013, and draft-khalili-mptcp-congestion-control-05. P is the path, c a window, r
//! the smoothed RTT, M the segment. l₁ is the number of bytes acknowledged on a path between its last two
//! losses, l₂ since the last loss, and l the larger of both. Over the n coupled paths, before the update:
//!
//! ```text
//! W = paths with the largest window,   B = paths with the largest l²/r,   K = B without W
//! avoidance   c_P = c_P + a M ((c_P/r_P²)/(Σ c_i/r_i)² + e/c_P)     for a bytes
//!             e = 1/(n |K|)      if P is in K
//!                 -1/(n |W|)     if P is in W and K is not empty
//!                 0              else
//! loss        l₁ = l₂, l₂ = 0
//! ```
//!
//! In SCTP the window changes once per window of acknowledged bytes, by M ((c_P/r_P)²/(Σ c_i/r_i)² + e). This
//! may be negative, but the window stays at least M. Slow start and the decrease are standard.
//!
//! The Linux implementation ranks paths by l/r²; the option `best` selects the measure. INET never counts the
//! bytes and divides 1/n in integers, so that e is always 0.

use units::ByteCount;

use crate::{
    CongestionControl, Growth, LossBased, LossKind, PathAck, PathView, Phase, Setup, Snapshot, WindowPolicy,
};
use transport::{named, options};

named! {
    /// Measure by which OLIA selects the best paths.
    "measure of the best path" OliaBest {
        /// l²/r, as in the draft.
        SquaredBytes = "l2r",
        /// l/r², as in Linux.
        SquaredRtt = "lr2",
    }
}

options! {
    /// Options of [`Algorithm::Olia`](crate::Algorithm::Olia).
    #[derive(Copy)]
    pub struct OliaKnobs in "olia" {
        /// Measure of the best path: l²/r as in the draft, or l/r² as in Linux.
        best: OliaBest = OliaBest::SquaredBytes;
    }
}

pub(super) fn build(setup: &Setup, knobs: OliaKnobs) -> Box<dyn CongestionControl> {
    Box::new(LossBased::new(Olia { knobs, paths: Vec::new() }, setup))
}

#[derive(Debug)]
struct Olia {
    knobs: OliaKnobs,
    paths: Vec<Acked>,
}

/// Bytes acknowledged on a path, counted from loss to loss.
#[derive(Clone, Copy, Debug, Default)]
struct Acked {
    /// Bytes acknowledged between the last two losses, l₁.
    between_losses: f64,
    /// Bytes acknowledged since the last loss, l₂.
    since_loss: f64,
}

impl Olia {
    fn quality(&self, (index, path): (usize, &PathView)) -> f64 {
        let Acked { between_losses, since_loss } = self.paths[index];
        let (l, r) = (between_losses.max(since_loss), path.rtt());
        match self.knobs.best {
            OliaBest::SquaredBytes => l * l / r,
            OliaBest::SquaredRtt => l / (r * r),
        }
    }

    /// e: growth that is shifted to this path (positive) or away from it (negative).
    fn shift(&self, at: &Snapshot<'_>) -> f64 {
        let best = at.coupled_with_index().map(|entry| self.quality(entry)).fold(0.0, f64::max);
        let widest = at.coupled().map(|path| path.window.cwnd).max().unwrap_or_default();
        let (mut paths, mut wide, mut collected) = (0.0, 0.0, 0.0);
        for (index, path) in at.coupled_with_index() {
            paths += 1.0;
            if path.window.cwnd == widest {
                wide += 1.0;
            } else if self.quality((index, path)) == best {
                collected += 1.0;
            }
        }
        if collected == 0.0 {
            0.0
        } else if at.cwnd() == widest {
            -1.0 / (paths * wide)
        } else if self.quality((at.index(), at.path())) == best {
            1.0 / (paths * collected)
        } else {
            0.0
        }
    }
}

impl WindowPolicy for Olia {
    fn name(&self) -> &'static str {
        "olia"
    }

    fn initial(&mut self, at: &Snapshot<'_>) -> ByteCount {
        self.paths.push(Acked::default());
        at.initial_window()
    }

    fn on_ack(&mut self, ack: &PathAck, _at: &Snapshot<'_>) {
        self.paths[ack.path].since_loss += ack.acked.as_f64();
    }

    fn increase(&mut self, growth: Growth, at: &Snapshot<'_>) -> f64 {
        if growth.phase == Phase::SlowStart || at.is_alone() {
            return growth.standard;
        }
        let share = at.path().rate() / at.coupled().map(PathView::rate).sum::<f64>();
        growth.standard * (share * share + self.shift(at))
    }

    fn decrease(&mut self, _kind: LossKind, at: &Snapshot<'_>) -> ByteCount {
        let acked = &mut self.paths[at.index()];
        *acked = Acked { between_losses: acked.since_loss, since_loss: 0.0 };
        at.halved()
    }
}
