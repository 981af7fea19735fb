//! The part of a loss-based congestion control in which papers differ: two formulas.

use std::fmt::Debug;

use units::ByteCount;

use crate::{PathView, Setup};

/// Two pure formulas, how a window grows and what a loss leaves of it, which [`LossBased`](crate::LossBased) turns
/// into a congestion control.
pub trait WindowPolicy: Send + Debug {
    /// The name the algorithm goes by in scenarios and results.
    fn name(&self) -> &'static str;

    /// The initial window of a path. Unless a policy says otherwise, that of standard SCTP.
    fn initial(&self, at: &Snapshot<'_>) -> ByteCount {
        at.standard_initial_window()
    }

    /// Bytes to add to the window now that growth is due.
    fn increase(&self, phase: Phase, at: &Snapshot<'_>) -> ByteCount;

    /// The slow start threshold after a loss. The window becomes this after a fast retransmission, and one segment
    /// after a timeout.
    fn decrease(&self, at: &Snapshot<'_>) -> ByteCount;
}

/// Why growth is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Slow start: `acked` bytes of a full window were acknowledged.
    SlowStart {
        /// The newly acknowledged bytes.
        acked: ByteCount,
    },
    /// Congestion avoidance: a whole window was acknowledged.
    Avoidance,
}

/// The paths as they were before the event, seen from the one that is to change.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot<'a> {
    setup: &'a Setup,
    all: &'a [PathView],
    path: usize,
}

impl<'a> Snapshot<'a> {
    /// All paths, seen from path number `path`.
    pub fn new(setup: &'a Setup, all: &'a [PathView], path: usize) -> Self {
        Snapshot { setup, all, path }
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

    /// Its unit of growth, M: see [`Setup::segment`].
    pub fn segment(&self) -> ByteCount {
        self.setup.segment(self.path().mtu)
    }

    /// The paths that share its fate: itself, and every other active path of its group.
    pub fn coupled(&self) -> impl Iterator<Item = &'a PathView> + use<'a> {
        let (this, group) = (self.path, self.path().group);
        let shares_fate =
            move |&(i, path): &(usize, &PathView)| i == this || path.active && path.group == group;
        self.all.iter().enumerate().filter(shares_fate).map(|(_, path)| path)
    }

    /// The sum of the windows of the coupled paths, C.
    pub fn total_cwnd(&self) -> ByteCount {
        self.coupled().map(|path| path.window.cwnd).sum()
    }

    /// The initial window of standard SCTP: see [`Setup::initial_window`].
    pub fn standard_initial_window(&self) -> ByteCount {
        self.setup.initial_window(self.path().mtu)
    }
}
