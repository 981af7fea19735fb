//! What all delay-based algorithms share: windows with fractions
//! of a byte, and the reactions to losses and to idle time.
//!
//! A [`DelayPolicy`] computes the window from the delays.

use std::fmt::Debug;

use units::{ByteCount, Instant};

use crate::fraction::Fraction;
use crate::idle::IdleState;
use crate::{CongestionControl, CongestionWindow, LossKind, PathAck, PathView, Setup, Snapshot, WindowRule};

/// Formula that computes windows from delays. [`DelayBased`] makes a congestion control of it.
pub trait DelayPolicy: Send + Debug {
    /// The name of the algorithm in scenarios and results.
    fn name(&self) -> &'static str;

    /// Returns the initial window of the path that is being added.
    fn initial(&mut self, at: &Snapshot<'_>) -> ByteCount;

    /// Updates the measurements of a path from a SACK, also in recovery.
    ///
    /// Called for all paths of a SACK before [`Self::steer`] is called for any of them.
    fn measure(&mut self, ack: &PathAck, at: &Snapshot<'_>);

    /// Changes the window of a path that is not in recovery. Called after [`Self::measure`].
    fn steer(&mut self, ack: &PathAck, at: &Snapshot<'_>, window: &mut Exact);

    /// See [`CongestionControl::wants_pacing`].
    fn wants_pacing(&self) -> bool {
        false
    }

    /// The threshold of slow start for pacing: see [`CongestionControl::slow_start_threshold`].
    fn slow_start_threshold(&self, p: usize, window: CongestionWindow) -> Option<ByteCount> {
        let _ = p;
        window.ssthresh
    }

    /// Returns cwnd and ssthresh after a loss; by default those of the transport's standard rules.
    fn after_loss(&mut self, kind: LossKind, at: &Snapshot<'_>) -> CongestionWindow {
        let ssthresh = at.halved();
        let cwnd = match kind {
            LossKind::FastRetransmit => ssthresh,
            // A mark never raises a window that is below the lower bound of ssthresh.
            LossKind::Mark => ssthresh.min(at.cwnd()),
            LossKind::Timeout => at.segment(),
        };
        CongestionWindow { cwnd, ssthresh: Some(ssthresh) }
    }
}

/// A congestion window with fractions of a byte.
#[derive(Clone, Copy, Debug)]
pub struct Exact {
    /// Bytes that may be in flight.
    pub cwnd: f64,
    /// Slow start threshold.
    pub ssthresh: Option<ByteCount>,
}

/// A congestion control made of a [`DelayPolicy`].
#[derive(Debug)]
pub struct DelayBased<P> {
    setup: Setup,
    policy: P,
    paths: Vec<Progress>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    /// The part of the window below a whole byte.
    fraction: Fraction,
    idle: IdleState,
}

/// Upper bound of a window in bytes.
const LARGEST_WINDOW: f64 = (1u64 << 40) as f64;

impl<P: DelayPolicy> DelayBased<P> {
    /// A controller without paths.
    pub fn new(policy: P, setup: &Setup) -> Self {
        DelayBased { setup: *setup, policy, paths: Vec::with_capacity(setup.paths) }
    }
}

impl<P: DelayPolicy> CongestionControl for DelayBased<P> {
    fn name(&self) -> &'static str {
        self.policy.name()
    }

    fn on_path_added(&mut self, all: &[PathView], p: usize) -> CongestionWindow {
        assert_eq!(p, self.paths.len(), "paths are numbered in the order they are added");
        self.paths.push(Progress::default());
        let at = Snapshot::new(&self.setup, Instant::ZERO, all, p);
        CongestionWindow { cwnd: self.policy.initial(&at), ssthresh: None }
    }

    fn on_sack(&mut self, now: Instant, before: &[PathView], acked: &[PathAck], w: &mut [CongestionWindow]) {
        for ack in acked {
            self.policy.measure(ack, &Snapshot::new(&self.setup, now, before, ack.path));
        }
        for ack in acked {
            let at = Snapshot::new(&self.setup, now, before, ack.path);
            let progress = &mut self.paths[ack.path];
            progress.idle.end();
            if at.path().in_recovery {
                continue;
            }
            let window = &mut w[ack.path];
            let cwnd = window.cwnd.as_f64() + progress.fraction.get();
            let mut exact = Exact { cwnd, ssthresh: window.ssthresh };
            self.policy.steer(ack, &at, &mut exact);
            window.ssthresh = exact.ssthresh;
            if exact.cwnd.is_finite() {
                let (cwnd, fraction) = Fraction::split(exact.cwnd.min(LARGEST_WINDOW));
                window.cwnd = cwnd.max(at.segment());
                progress.fraction = fraction;
            }
        }
    }

    fn on_loss(
        &mut self,
        now: Instant,
        all: &[PathView],
        p: usize,
        kind: LossKind,
        w: &mut [CongestionWindow],
    ) {
        w[p] = self.policy.after_loss(kind, &Snapshot::new(&self.setup, now, all, p));
        self.paths[p].fraction = Fraction::default();
    }

    fn on_rule(&mut self, _all: &[PathView], p: usize, rule: WindowRule, w: &mut [CongestionWindow]) {
        w[p] = rule.apply(w[p]);
        if matches!(rule, WindowRule::Replace(_)) {
            self.paths[p].fraction = Fraction::default();
        }
    }

    /// Decays the window as a loss-based control does, but never raises it.
    fn on_idle(&mut self, _now: Instant, all: &[PathView], p: usize, w: &mut [CongestionWindow]) {
        let progress = &mut self.paths[p];
        progress.fraction = Fraction::default();
        let decayed = progress.idle.decay(&self.setup, all[p].mtu, w[p]);
        w[p] = CongestionWindow { cwnd: w[p].cwnd.min(decayed.cwnd), ..decayed };
    }

    fn wants_pacing(&self) -> bool {
        self.policy.wants_pacing()
    }

    fn slow_start_threshold(&self, p: usize, window: CongestionWindow) -> Option<ByteCount> {
        self.policy.slow_start_threshold(p, window)
    }
}
