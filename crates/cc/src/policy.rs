//! The part of a loss-based congestion control in which papers differ: two formulas.

use std::fmt::Debug;

use units::{ByteCount, Instant};

use crate::{LossKind, PathAck, PathView, Rules, Setup};

/// Two formulas, how a window grows and what a loss leaves of it, which [`LossBased`](crate::LossBased) turns into a
/// congestion control. Most papers' formulas have no memory; for those that have one, there are two more hooks.
pub trait WindowPolicy: Send + Debug {
    /// The name the algorithm goes by in scenarios and results.
    fn name(&self) -> &'static str;

    /// The initial window of a path, the last so far. Unless a policy says otherwise, that of the transport.
    fn initial(&mut self, at: &Snapshot<'_>) -> ByteCount {
        at.initial_window()
    }

    /// Bytes to add to the window now that growth is due; negative, if the window is to shrink. SCTP rounds up, TCP
    /// keeps the fraction for the next ACK.
    fn increase(&mut self, growth: Growth, at: &Snapshot<'_>) -> f64;

    /// The slow start threshold after a loss. The window becomes this after a fast retransmission, and one segment
    /// after a timeout.
    fn decrease(&mut self, kind: LossKind, at: &Snapshot<'_>) -> ByteCount;

    /// A path acknowledged bytes, whether its window may grow or not; told before any window grows.
    fn on_ack(&mut self, ack: &PathAck, at: &Snapshot<'_>) {
        let _ = (ack, at);
    }

    /// The path was idle for one more retransmission timeout.
    fn on_idle(&mut self, at: &Snapshot<'_>) {
        let _ = at;
    }
}

/// Growth is due.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    /// Why.
    pub phase: Phase,
    /// Bytes by which a window that is alone grows now under the transport's standard rules. In congestion avoidance
    /// SCTP grows by M for each window acknowledged, TCP by M²/c for each ACK.
    pub standard: f64,
}

/// Slow start or congestion avoidance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The window is below its threshold; in SCTP it may be at it.
    SlowStart,
    /// The window is above its threshold; in TCP it may be at it.
    Avoidance,
}

/// The paths as they were before the event, seen from the one that is to change.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot<'a> {
    setup: &'a Setup,
    now: Instant,
    all: &'a [PathView],
    path: usize,
}

impl<'a> Snapshot<'a> {
    /// All paths, seen from path number `path`.
    pub fn new(setup: &'a Setup, now: Instant, all: &'a [PathView], path: usize) -> Self {
        Snapshot { setup, now, all, path }
    }

    /// When the event happened.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// The number of the path that is to change.
    pub fn index(&self) -> usize {
        self.path
    }

    /// The path that is to change.
    pub fn path(&self) -> &'a PathView {
        &self.all[self.path]
    }

    /// What the controller was built with.
    pub fn setup(&self) -> &'a Setup {
        self.setup
    }

    /// Its window, c_P.
    pub fn cwnd(&self) -> ByteCount {
        self.path().window.cwnd
    }

    /// Its threshold, s_P, as it counts while nothing has set it.
    pub fn ssthresh(&self) -> ByteCount {
        self.path().window.ssthresh.unwrap_or(self.setup.initial_ssthresh)
    }

    /// Its unit of growth, M: see [`Setup::segment`].
    pub fn segment(&self) -> ByteCount {
        self.setup.segment(self.path().mtu)
    }

    /// The paths that share its fate with their numbers: itself, and every other active path of its group.
    pub fn coupled_with_index(&self) -> impl Iterator<Item = (usize, &'a PathView)> + use<'a> {
        let (this, group) = (self.path, self.path().group);
        let shares_fate =
            move |&(i, path): &(usize, &PathView)| i == this || path.active && path.group == group;
        self.all.iter().enumerate().filter(shares_fate)
    }

    /// The paths that share its fate.
    pub fn coupled(&self) -> impl Iterator<Item = &'a PathView> + use<'a> {
        self.coupled_with_index().map(|(_, path)| path)
    }

    /// True if no other path shares its fate.
    pub fn is_alone(&self) -> bool {
        self.coupled().nth(1).is_none()
    }

    /// The sum of the windows of the coupled paths, C.
    pub fn total_cwnd(&self) -> ByteCount {
        self.coupled().map(|path| path.window.cwnd).sum()
    }

    /// The initial window of the transport: see [`Setup::initial_window`].
    pub fn initial_window(&self) -> ByteCount {
        self.setup.initial_window(self.path().mtu)
    }

    /// The initial window of the transport divided by the number of paths in the group, at least M (paper 000, §IV).
    pub fn initial_share(&self) -> ByteCount {
        let group = self.all.iter().filter(|path| path.group == self.path().group).count();
        let paths = group.min(self.setup.paths).max(1) as f64;
        ByteCount::ceil_f64(self.initial_window().as_f64() / paths).max(self.segment())
    }

    /// True if there was less room in the window than a segment before the SACK: a window that is not used must not
    /// grow.
    pub fn was_used(&self, ack: &PathAck) -> bool {
        ack.flight_before + self.segment() > self.cwnd()
    }

    /// What a loss takes its part of: for SCTP the window, for TCP what was in flight (`rfc5681#section-3.1`).
    pub fn used(&self) -> ByteCount {
        match self.setup.rules {
            Rules::Sctp { .. } => self.cwnd(),
            Rules::Tcp(_) => self.path().flight,
        }
    }

    /// No loss makes a threshold smaller: see [`Setup::least_ssthresh`].
    pub fn least_ssthresh(&self) -> ByteCount {
        self.setup.least_ssthresh(self.path().mtu)
    }

    /// The threshold after a loss that takes `part` of what was used, no less than [`Self::least_ssthresh`]. The part
    /// is rounded to even.
    pub fn reduced_by(&self, part: f64) -> ByteCount {
        self.reduced_no_lower(part, self.least_ssthresh())
    }

    /// The threshold after a loss that takes `part` of what was used, no less than `least`.
    pub fn reduced_no_lower(&self, part: f64, least: ByteCount) -> ByteCount {
        let used = self.used().as_f64();
        ByteCount::round_f64(used - (used * part).round_ties_even()).max(least)
    }

    /// The threshold after a loss under the transport's standard rules: half of what was used.
    pub fn halved(&self) -> ByteCount {
        self.reduced_by(0.5)
    }
}
