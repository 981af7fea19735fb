//! CUBIC, on each path by itself: the window is a cubic function of the time since the last loss.
//!
//! The function is flat around the window at which that loss happened. Source: `rfc9438`. c is
//! the window, s ssthresh, W the window at the last loss, c₀ the window when congestion avoidance
//! began, t the time since then, r the smoothed RTT, a the newly acknowledged segments, and
//! "used" the cwnd in SCTP and the flight size in TCP. Windows are counted in segments:
//! ```text
//! w(t)     = C (t - K)³ + W                          C = 0.4       (1)
//! K        = cbrt((W - c₀)/C)                                      (2)
//! target   = w(t + r), no less than c, no more than 1.5 c          section 4.2
//! avoidance  c = c + (target - c)/c                  for each ACK  section 4.4
//! Reno       e = e + α a/c,  α = 3 (1 - β)/(1 + β), 1 once e has reached the window before the loss   (4)
//!            c = e while w(t) < e                                  section 4.3
//! loss       s = β used, no less than 2,             β = 0.7       section 4.6
//!            W = c, but c (1 + β)/2 if c < W (fast convergence)    section 4.7
//! timeout    K = 0, and W and e are c₀                             section 4.8
//! ```
//!
//! Slow start is that of the transport, or HyStart++, and ends at ssthresh. In two places SCTP follows
//! RFC 9438 and not RFC 9260: a window that equals ssthresh is in congestion avoidance, and the least
//! ssthresh is two segments, not four. In SCTP the window grows by `target - c` once per window of
//! acknowledged bytes.

use units::{ByteCount, Instant};

use crate::hystart::HyStart;
use crate::shares::{Carried, share};
use crate::{CongestionControl, Growth, LossBased, LossKind, PathAck, Phase, Setup, Snapshot, WindowPolicy};
use transport::options;

options! {
    /// Options of [`Algorithm::Cubic`](crate::Algorithm::Cubic).
    #[derive(Copy)]
    pub struct CubicKnobs in "cubic" {
        /// Factor by which a loss multiplies the window (β).
        beta: f64 = 0.7, "a number from 0.1 to 0.99" if |b| (0.1..=0.99).contains(&b);
        /// How fast the window leaves its plateau, in segments/s³ (C).
        scale: f64 = 0.4, "a number from 0.001 to 1000" if |c| (0.001..=1000.0).contains(&c);
        /// Fast convergence: if a loss comes below the plateau of the loss before, the
        /// new plateau is lower than the window, which leaves bandwidth to new flows.
        fast_convergence: bool = true;
        /// Ends the initial slow start when the RTT rises (HyStart++, `rfc9406`); a SACK lets the window grow
        /// by up to 8 MTU in slow start.
        hystart: bool = false;
    }
}

pub(super) fn build(setup: &Setup, knobs: CubicKnobs) -> Box<dyn CongestionControl> {
    build_as("cubic", false, setup, knobs)
}

/// Builds CUBIC under the name `name`; `coupled`: the paths are [coupled](super::coupled_cubic).
pub(super) fn build_as(
    name: &'static str,
    coupled: bool,
    setup: &Setup,
    knobs: CubicKnobs,
) -> Box<dyn CongestionControl> {
    Box::new(LossBased::new(Cubic { name, coupled, knobs, paths: Vec::new() }, setup))
}

#[derive(Debug)]
struct Cubic {
    name: &'static str,
    coupled: bool,
    knobs: CubicKnobs,
    paths: Vec<Undoable>,
}

/// State of CUBIC for one path; windows in segments.
#[derive(Clone, Copy, Debug, Default)]
struct Memory {
    /// The plateau W; zero before the first loss and after a timeout.
    plateau: f64,
    /// The window before the last loss.
    before_loss: f64,
    epoch: Option<Epoch>,
}

/// State of a path, and its state before the last loss, which is restored if that loss was spurious.
#[derive(Clone, Copy, Debug, Default)]
struct Undoable {
    now: Memory,
    before: Memory,
    hystart: HyStart,
    carried: Carried,
}

/// A period of congestion avoidance between two losses; windows in segments.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    began: Instant,
    plateau: f64,
    /// C times κ⁴, where κ is the share of the path.
    scale: f64,
    /// K: seconds from the beginning until the window reaches the plateau.
    climb: f64,
    /// The window that Reno would have (e).
    reno: f64,
}

impl Cubic {
    /// The window w(t) of equation 1 (file header), `t` seconds after the epoch began.
    fn at(&self, epoch: &Epoch, t: f64) -> f64 {
        let d = t - epoch.climb;
        epoch.scale * d * d * d + epoch.plateau
    }

    fn begin(&self, share: f64, cwnd: f64, at: &Snapshot<'_>) -> Epoch {
        let plateau = self.paths[at.index()].now.plateau;
        let scale = self.knobs.scale * (share * share) * (share * share);
        let climb = libm::cbrt((plateau - cwnd).max(0.0) / scale);
        Epoch { began: at.now(), plateau: plateau.max(cwnd), scale, climb, reno: cwnd }
    }

    /// κ: the share of one flow that the path takes.
    fn share(&self, at: &Snapshot<'_>) -> f64 {
        if !self.coupled || at.is_alone() {
            return 1.0;
        }
        share(at.index(), at.coupled_with_index().map(|(p, path)| (p, self.paths[p].carried.or(path.rate()))))
    }
}

impl WindowPolicy for Cubic {
    fn name(&self) -> &'static str {
        self.name
    }

    fn initial(&mut self, at: &Snapshot<'_>) -> ByteCount {
        self.paths.push(Undoable::default());
        at.initial_window()
    }

    fn increase(&mut self, growth: Growth, at: &Snapshot<'_>) -> f64 {
        if growth.phase == Phase::SlowStart {
            let hystart = &self.paths[at.index()].hystart;
            let step = match self.knobs.hystart {
                true => hystart.growth(at.segment(), at.setup().paced),
                false => growth.standard,
            };
            return step.min((at.ssthresh() - at.cwnd()).as_f64());
        }
        let share = self.share(at);
        if self.coupled {
            self.paths[at.index()].carried.round(at.path().rate() / share);
        }
        let segment = at.segment().as_f64();
        let cwnd = at.cwnd().as_f64() / segment;
        let memory = self.paths[at.index()].now;
        let mut epoch = memory.epoch.unwrap_or_else(|| self.begin(share, cwnd, at));
        let beta = self.knobs.beta;
        let alpha = if epoch.reno < memory.before_loss { 3.0 * (1.0 - beta) / (1.0 + beta) } else { 1.0 };
        epoch.reno += share * share * alpha * growth.standard / segment;
        self.paths[at.index()].now.epoch = Some(epoch);
        let t = at.now().since(epoch.began).as_secs_f64();
        if self.at(&epoch, t) < epoch.reno {
            return (epoch.reno - cwnd).max(0.0) * segment;
        }
        let rtt = at.path().srtt.map_or(0.0, |srtt| srtt.as_secs_f64());
        let target = self.at(&epoch, t + rtt).clamp(cwnd, 1.5 * cwnd);
        (target - cwnd) * growth.standard
    }

    fn decrease(&mut self, kind: LossKind, at: &Snapshot<'_>) -> ByteCount {
        let cwnd = at.cwnd().as_f64() / at.segment().as_f64();
        let path = &mut self.paths[at.index()];
        path.before = path.now;
        let memory = &mut path.now;
        memory.epoch = None;
        memory.before_loss = cwnd;
        memory.plateau = match kind {
            LossKind::Timeout => 0.0,
            LossKind::FastRetransmit | LossKind::Mark
                if self.knobs.fast_convergence && cwnd < memory.plateau =>
            {
                cwnd * (1.0 + self.knobs.beta) / 2.0
            }
            LossKind::FastRetransmit | LossKind::Mark => cwnd,
        };
        at.reduced_no_lower(1.0 - self.knobs.beta, at.segment() * 2)
    }

    fn on_ack(&mut self, ack: &PathAck, at: &Snapshot<'_>) {
        if self.coupled {
            self.paths[ack.path].carried.settle();
        }
        if self.knobs.hystart {
            self.paths[ack.path].hystart.on_ack(ack, at.path().window.ssthresh.is_none());
        }
    }

    fn avoids_at_ssthresh(&self) -> bool {
        true
    }

    fn ends_slow_start(&self, at: &Snapshot<'_>) -> bool {
        let path = &self.paths[at.index()];
        path.hystart.has_ended() && at.path().window.ssthresh.is_none()
    }

    /// Restores the state before the loss (`rfc9438#section-4.9`).
    fn on_spurious_loss(&mut self, p: usize) {
        self.paths[p].now = self.paths[p].before;
    }

    /// Restarts the time t of the cubic function after idle time (`rfc9438#section-5.8`).
    fn on_idle(&mut self, at: &Snapshot<'_>) {
        self.paths[at.index()].now.epoch = None;
    }
}
