//! The mechanism all loss-based algorithms share: when a window may grow, and what happens at a loss.
//!
//! Sources: `rfc4960#section-7.2` and `rfc9260#section-7.2`. The phases are told apart by the window before the SACK:
//! c <= s is slow start, so a window that a fast retransmission has just set to s grows by slow start once more.

use units::{ByteCount, Instant};

use crate::{
    CongestionControl, GrowthRule, LossKind, PathAck, PathView, Phase, Setup, Snapshot, Window, WindowPolicy,
};

/// A congestion control made of a [`WindowPolicy`].
#[derive(Debug)]
pub struct LossBased<P> {
    setup: Setup,
    policy: P,
    paths: Vec<Progress>,
}

/// What the mechanism remembers of a path.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    /// Bytes acknowledged towards the next step of congestion avoidance.
    partial_bytes_acked: ByteCount,
    /// True from the first idle timeout until data is acknowledged again.
    idle: bool,
}

impl<P: WindowPolicy> LossBased<P> {
    /// A controller without paths.
    pub fn new(policy: P, setup: &Setup) -> Self {
        LossBased { setup: *setup, policy, paths: Vec::with_capacity(setup.paths) }
    }

    /// The bytes one path's window grows by.
    fn growth(&mut self, before: &[PathView], ack: &PathAck) -> ByteCount {
        let path = &before[ack.path];
        let advanced = ack.advanced || self.setup.growth == GrowthRule::Rfc9260;
        if path.in_recovery || !advanced {
            return ByteCount::ZERO;
        }
        let pba = &mut self.paths[ack.path].partial_bytes_acked;
        let cwnd = path.window.cwnd;
        let full = ack.flight_before >= cwnd;
        let at = Snapshot::new(&self.setup, before, ack.path);
        if cwnd <= path.window.ssthresh.unwrap_or(self.setup.peer_rwnd) {
            *pba = ByteCount::ZERO;
            return if full {
                self.policy.increase(Phase::SlowStart { acked: ack.acked }, &at)
            } else {
                ByteCount::ZERO
            };
        }
        *pba += ack.acked;
        if full && *pba >= cwnd {
            *pba -= cwnd;
            return self.policy.increase(Phase::Avoidance, &at);
        }
        if !full && self.setup.growth == GrowthRule::Rfc9260 {
            *pba = (*pba).min(cwnd);
        }
        ByteCount::ZERO
    }
}

impl<P: WindowPolicy> CongestionControl for LossBased<P> {
    fn name(&self) -> &'static str {
        self.policy.name()
    }

    fn on_path_added(&mut self, all: &[PathView], p: usize) -> Window {
        assert_eq!(p, self.paths.len(), "paths are numbered in the order they are added");
        self.paths.push(Progress::default());
        Window { cwnd: self.policy.initial(&Snapshot::new(&self.setup, all, p)), ssthresh: None }
    }

    fn on_sack(&mut self, _now: Instant, before: &[PathView], acked: &[PathAck], w: &mut [Window]) {
        for ack in acked {
            w[ack.path].cwnd += self.growth(before, ack);
            let progress = &mut self.paths[ack.path];
            progress.idle = false;
            if ack.flight_after.is_zero() {
                progress.partial_bytes_acked = ByteCount::ZERO;
            }
        }
    }

    fn on_loss(&mut self, _now: Instant, all: &[PathView], p: usize, kind: LossKind, w: &mut [Window]) {
        let at = Snapshot::new(&self.setup, all, p);
        let ssthresh = self.policy.decrease(&at);
        let cwnd = match kind {
            LossKind::FastRetransmit => ssthresh,
            LossKind::Timeout => at.segment(),
        };
        w[p] = Window { cwnd, ssthresh: Some(ssthresh) };
        self.paths[p].partial_bytes_acked = ByteCount::ZERO;
    }

    /// max(c/2, 4 M) for each idle timeout, under every policy; `rfc9260#section-7.2.1` first remembers the window in
    /// the threshold.
    fn on_idle(&mut self, _now: Instant, all: &[PathView], p: usize, w: &mut [Window]) {
        let window = &mut w[p];
        let first = !std::mem::replace(&mut self.paths[p].idle, true);
        if first && self.setup.growth == GrowthRule::Rfc9260 {
            window.ssthresh = Some(window.cwnd);
        }
        let half = ByteCount::new(window.cwnd.get() / 2);
        window.cwnd = half.max(self.setup.segment(all[p].mtu) * 4);
    }

    fn partial_bytes_acked(&self, p: usize) -> ByteCount {
        self.paths[p].partial_bytes_acked
    }
}
