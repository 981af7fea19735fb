//! Mechanism of all loss-based algorithms: when a window may grow, and how a loss changes it.
//!
//! Sources: `rfc4960#section-7.2` and `rfc9260#section-7.2` for SCTP, `rfc5681#section-3.1`,
//! `rfc5681#section-4.1` and `rfc3465#section-2` for TCP. The window before the SACK decides between slow
//! start and congestion avoidance. If cwnd equals ssthresh, TCP is in congestion avoidance, but SCTP is in
//! slow start unless [`WindowPolicy::avoids_at_ssthresh`] is true. So the first growth of SCTP after a fast
//! retransmission is by slow start.

use units::{ByteCount, Instant};

use crate::fraction::Fraction;
use crate::idle::IdleState;
use crate::{
    CongestionControl, CongestionWindow, Growth, GrowthRule, LossKind, PathAck, PathView, Phase, Rules,
    Setup, Snapshot, TcpRules, WindowPolicy, WindowRule,
};

/// A congestion control made of a [`WindowPolicy`].
#[derive(Debug)]
#[repr(C, align(64))] // `on_sack` reads `paths` and `policy` first
pub struct LossBased<P> {
    paths: Vec<Progress>,
    policy: P,
    setup: Setup,
}

/// State of window growth for one path.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    /// Bytes acknowledged towards the next step of congestion avoidance.
    partial_bytes_acked: ByteCount,
    /// The part of TCP's window below a whole byte.
    fraction: Fraction,
    idle: IdleState,
}

impl<P: WindowPolicy> LossBased<P> {
    /// A controller without paths.
    pub fn new(policy: P, setup: &Setup) -> Self {
        LossBased { setup: *setup, policy, paths: Vec::with_capacity(setup.paths) }
    }

    /// Grows the window of one path if the rules allow it.
    fn grow(&mut self, now: Instant, before: &[PathView], ack: &PathAck, window: &mut ByteCount) {
        if before[ack.path].in_recovery {
            return;
        }
        let at = Snapshot::new(&self.setup, now, before, ack.path);
        let progress = &mut self.paths[ack.path];
        match self.setup.rules {
            Rules::Sctp { growth, .. } => {
                let below = at.cwnd() < at.ssthresh()
                    || (at.cwnd() == at.ssthresh() && !self.policy.avoids_at_ssthresh());
                if let Some(growth) = progress.sctp(growth, below, ack, &at) {
                    let step = self.policy.increase(growth, &at).ceil();
                    *window = moved(*window, step, at.segment());
                }
            }
            Rules::Tcp(rules) => {
                if let Some(growth) = progress.tcp(rules, ack, &at) {
                    let step = self.policy.increase(growth, &at);
                    let whole = progress.fraction.add(step);
                    *window = moved(*window, whole, at.segment());
                }
            }
        }
    }
}

/// Returns a window after a step of whole bytes; a negative step leaves at least one segment.
fn moved(window: ByteCount, step: f64, segment: ByteCount) -> ByteCount {
    if step < 0.0 {
        (window - ByteCount::round_f64(-step)).max(segment).min(window)
    } else {
        window + ByteCount::round_f64(step)
    }
}

impl Progress {
    /// SCTP: only full windows grow; in congestion avoidance, once per window of acknowledged bytes.
    fn sctp(&mut self, rule: GrowthRule, below: bool, ack: &PathAck, at: &Snapshot<'_>) -> Option<Growth> {
        if !ack.advanced && rule != GrowthRule::Rfc9260 {
            return None;
        }
        let pba = &mut self.partial_bytes_acked;
        let (cwnd, segment) = (at.cwnd(), at.segment());
        let full = ack.flight_before >= cwnd;
        if below {
            *pba = ByteCount::ZERO;
            let standard = ack.acked.min(segment).as_f64();
            return full.then_some(Growth { phase: Phase::SlowStart, standard });
        }
        *pba += ack.acked;
        if full && *pba >= cwnd {
            *pba -= cwnd;
            return Some(Growth { phase: Phase::Avoidance, standard: segment.as_f64() });
        }
        if !full && rule == GrowthRule::Rfc9260 {
            *pba = (*pba).min(cwnd);
        }
        None
    }

    /// TCP: a window grows with each ACK; with byte counting, in avoidance once per window of bytes.
    fn tcp(&mut self, rules: TcpRules, ack: &PathAck, at: &Snapshot<'_>) -> Option<Growth> {
        let (cwnd, segment) = (at.cwnd(), at.segment());
        if rules.grow_full_only && ack.flight_before + segment <= cwnd {
            return None;
        }
        let pba = &mut self.partial_bytes_acked;
        if cwnd < at.ssthresh() {
            *pba = ByteCount::ZERO;
            let standard = rules.abc_limit.map_or(segment, |l| ack.acked.min(segment * u64::from(l)));
            return Some(Growth { phase: Phase::SlowStart, standard: standard.as_f64() });
        }
        let (m, c) = (segment.as_f64(), cwnd.as_f64());
        if rules.abc_limit.is_none() {
            return Some(Growth { phase: Phase::Avoidance, standard: m * m / c.max(m) });
        }
        *pba += ack.acked;
        if *pba < cwnd {
            return None;
        }
        *pba -= cwnd;
        Some(Growth { phase: Phase::Avoidance, standard: m })
    }

    fn forget(&mut self) {
        self.partial_bytes_acked = ByteCount::ZERO;
        self.fraction = Fraction::default();
    }
}

impl<P: WindowPolicy> CongestionControl for LossBased<P> {
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
            self.policy.on_ack(ack, &Snapshot::new(&self.setup, now, before, ack.path));
        }
        for ack in acked {
            self.grow(now, before, ack, &mut w[ack.path].cwnd);
            if self.policy.ends_slow_start(&Snapshot::new(&self.setup, now, before, ack.path)) {
                w[ack.path].ssthresh = Some(w[ack.path].cwnd);
            }
            let progress = &mut self.paths[ack.path];
            progress.idle.end();
            if ack.flight_after.is_zero() {
                progress.partial_bytes_acked = ByteCount::ZERO;
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
        let at = Snapshot::new(&self.setup, now, all, p);
        let ssthresh = self.policy.decrease(kind, &at);
        let cwnd = match kind {
            LossKind::FastRetransmit => ssthresh,
            // A mark never raises a window that is below the lower bound of ssthresh.
            LossKind::Mark => ssthresh.min(at.cwnd()),
            LossKind::Timeout => at.segment(),
        };
        w[p] = CongestionWindow { cwnd, ssthresh: Some(ssthresh) };
        self.paths[p].forget();
    }

    fn on_spurious_loss(
        &mut self,
        _all: &[PathView],
        p: usize,
        window: CongestionWindow,
        w: &mut [CongestionWindow],
    ) {
        self.policy.on_spurious_loss(p);
        w[p] = CongestionWindow { cwnd: w[p].cwnd.max(window.cwnd), ssthresh: window.ssthresh };
    }

    fn on_idle(&mut self, now: Instant, all: &[PathView], p: usize, w: &mut [CongestionWindow]) {
        self.policy.on_idle(&Snapshot::new(&self.setup, now, all, p));
        w[p] = self.paths[p].idle.decay(&self.setup, all[p].mtu, w[p]);
    }

    fn on_rule(&mut self, _all: &[PathView], p: usize, rule: WindowRule, w: &mut [CongestionWindow]) {
        w[p] = rule.apply(w[p]);
        if matches!(rule, WindowRule::Replace(_)) {
            self.paths[p].forget();
        }
    }

    fn partial_bytes_acked(&self, p: usize) -> ByteCount {
        self.paths[p].partial_bytes_acked
    }
}
