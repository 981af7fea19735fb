//! The two formulas in which loss-based congestion controls differ: increase and decrease of the window.

use std::fmt::Debug;

use units::{ByteCount, Instant};

use crate::{LossKind, PathAck, PathView, Rules, Setup};

/// Increase and decrease of a window, which [`LossBased`](crate::LossBased) turns into a congestion control.
///
/// Most policies keep no state. A policy with state updates it in `on_ack`, `on_spurious_loss` and `on_idle`,
/// which do nothing by default.
pub trait WindowPolicy: Send + Debug {
    /// The name of the algorithm in scenarios and results.
    fn name(&self) -> &'static str;

    /// Returns the initial window of the path that is being added; by default that of the transport.
    fn initial(&mut self, at: &Snapshot<'_>) -> ByteCount {
        at.initial_window()
    }

    /// Returns the bytes to add to the window, negative to reduce it.
    ///
    /// SCTP rounds the result up; TCP keeps the fraction of a byte for the next ACK.
    fn increase(&mut self, growth: Growth, at: &Snapshot<'_>) -> f64;

    /// Returns ssthresh after a loss. cwnd becomes ssthresh, or one segment after a timeout.
    fn decrease(&mut self, kind: LossKind, at: &Snapshot<'_>) -> ByteCount;

    /// Processes newly acknowledged bytes, also if the window may not grow. Called before any window grows.
    fn on_ack(&mut self, ack: &PathAck, at: &Snapshot<'_>) {
        let _ = (ack, at);
    }

    /// True if SCTP is in congestion avoidance when cwnd equals ssthresh, as TCP is. If false, SCTP is in
    /// slow start then (`rfc9260#section-7.2.1`).
    #[inline]
    fn avoids_at_ssthresh(&self) -> bool {
        false
    }

    /// True if slow start ends now: the caller then sets ssthresh to cwnd. Called after each acknowledgement.
    #[inline]
    fn ends_slow_start(&self, at: &Snapshot<'_>) -> bool {
        let _ = at;
        false
    }

    /// Restores the state from before the last loss on path `p`, which was spurious.
    fn on_spurious_loss(&mut self, p: usize) {
        let _ = p;
    }

    /// Reports that the path was idle for one more RTO.
    fn on_idle(&mut self, at: &Snapshot<'_>) {
        let _ = at;
    }
}

/// A step by which a window may grow under the transport's rules.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    /// Slow start or congestion avoidance.
    pub phase: Phase,
    /// Bytes by which the window grows under the transport's standard rules if the path is not coupled. In
    /// congestion avoidance SCTP adds a segment M for each window acknowledged, TCP M²/cwnd for each ACK.
    pub standard: f64,
}

/// Slow start or congestion avoidance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// cwnd is below ssthresh; in SCTP also if they are equal.
    SlowStart,
    /// cwnd is above ssthresh; in TCP also if they are equal.
    Avoidance,
}

/// All paths as they were before the event, and the number of the path whose window is to change.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot<'a> {
    setup: &'a Setup,
    now: Instant,
    all: &'a [PathView],
    path: usize,
}

impl<'a> Snapshot<'a> {
    /// A snapshot of all paths for a change of the window of path `path`.
    pub fn new(setup: &'a Setup, now: Instant, all: &'a [PathView], path: usize) -> Self {
        Snapshot { setup, now, all, path }
    }

    /// Time of the event.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Number of the path whose window is to change.
    pub fn index(&self) -> usize {
        self.path
    }

    /// The path whose window is to change.
    pub fn path(&self) -> &'a PathView {
        &self.all[self.path]
    }

    /// Setup that the controller was built with.
    pub fn setup(&self) -> &'a Setup {
        self.setup
    }

    /// cwnd of the path, c_P.
    pub fn cwnd(&self) -> ByteCount {
        self.path().window.cwnd
    }

    /// ssthresh of the path, s_P; while unset, [`Setup::initial_ssthresh`].
    pub fn ssthresh(&self) -> ByteCount {
        self.path().window.ssthresh.unwrap_or(self.setup.initial_ssthresh)
    }

    /// The segment of the path, M: see [`Setup::segment`].
    pub fn segment(&self) -> ByteCount {
        self.setup.segment(self.path().mtu)
    }

    /// The coupled paths with their numbers: the path itself, and every other active path that may share its
    /// bottleneck.
    pub fn coupled_with_index(&self) -> impl Iterator<Item = (usize, &'a PathView)> + Clone + use<'a> {
        let (this, own) = (self.path, self.path());
        let coupled =
            move |&(i, path): &(usize, &PathView)| i == this || path.active && own.may_share(i, path);
        self.all.iter().enumerate().filter(coupled)
    }

    /// The coupled paths: those of [`Self::coupled_with_index`].
    pub fn coupled(&self) -> impl Iterator<Item = &'a PathView> + use<'a> {
        self.coupled_with_index().map(|(_, path)| path)
    }

    /// True if the path is coupled to no other path.
    pub fn is_alone(&self) -> bool {
        self.coupled().nth(1).is_none()
    }

    /// Sum of the windows of the coupled paths, C.
    pub fn total_cwnd(&self) -> ByteCount {
        self.coupled().map(|path| path.window.cwnd).sum()
    }

    /// The initial window of the transport: see [`Setup::initial_window`].
    pub fn initial_window(&self) -> ByteCount {
        self.setup.initial_window(self.path().mtu)
    }

    /// The initial window divided by the number of paths that may share a
    /// bottleneck with this path, at least one segment (paper 000, §IV).
    pub fn initial_share(&self) -> ByteCount {
        let own = self.path();
        let group = self.all.iter().enumerate().filter(|&(i, path)| own.may_share(i, path)).count();
        let paths = group.min(self.setup.paths).max(1) as f64;
        ByteCount::ceil_f64(self.initial_window().as_f64() / paths).max(self.segment())
    }

    /// True if less than a segment of the window was unused before the SACK. If false, the window
    /// must not grow.
    pub fn was_used(&self, ack: &PathAck) -> bool {
        ack.flight_before + self.segment() > self.cwnd()
    }

    /// Bytes from which a loss removes a part: cwnd in SCTP, flight size in TCP (`rfc5681#section-3.1`).
    pub fn used(&self) -> ByteCount {
        match self.setup.rules {
            Rules::Sctp { .. } => self.cwnd(),
            Rules::Tcp(_) => self.path().flight,
        }
    }

    /// Lower bound of ssthresh after a loss: see [`Setup::least_ssthresh`].
    pub fn least_ssthresh(&self) -> ByteCount {
        self.setup.least_ssthresh(self.path().mtu)
    }

    /// ssthresh after a loss that removes `part` of [`Self::used`], at least [`Self::least_ssthresh`]. The
    /// removed bytes are rounded to the nearest whole number, ties to even.
    pub fn reduced_by(&self, part: f64) -> ByteCount {
        self.reduced_no_lower(part, self.least_ssthresh())
    }

    /// ssthresh after a loss that removes `part` of [`Self::used`], at least `least`.
    pub fn reduced_no_lower(&self, part: f64, least: ByteCount) -> ByteCount {
        let used = self.used().as_f64();
        ByteCount::round_f64(used - (used * part).round_ties_even()).max(least)
    }

    /// ssthresh after a loss under the transport's standard rules: half of [`Self::used`].
    pub fn halved(&self) -> ByteCount {
        self.reduced_by(0.5)
    }
}
