//! The seam between a transport and its congestion control.

use std::fmt::Debug;

use units::{ByteCount, Instant};

use crate::{LossKind, PathAck, PathView, Window};

/// The congestion control of one association: one controller sees all paths.
///
/// Paths are numbered from 0 in the order they were added. Slices of [`PathView`] hold every path and are the
/// snapshot from *before* the event; `w` holds the windows to change, equal to those of the snapshot except where a
/// call for the same event has changed them already. Totals over paths come from the snapshot, so that they do not
/// depend on the order in which the paths are treated.
pub trait CongestionControl: Send + Debug {
    /// The name the algorithm goes by in scenarios and results.
    fn name(&self) -> &'static str;

    /// Path `p` is new, the last so far: answers its initial window. `all` may hold paths yet to come; their windows and
    /// that of `p` are not read.
    fn on_path_added(&mut self, all: &[PathView], p: usize) -> Window;

    /// A SACK arrived: called once for each SACK, with every path in `acked` on which it newly acknowledged bytes. In
    /// TCP, once for each ACK of new data that arrives outside recovery.
    fn on_sack(&mut self, now: Instant, before: &[PathView], acked: &[PathAck], w: &mut [Window]);

    /// A loss was found on path `p`. A fast retransmission is told once per recovery, and if one SACK finds losses on
    /// several paths, each is told with the same snapshot. `flight` in `all` counts what was lost. In TCP, a timer that
    /// expires again for the same segment is not told (`rfc5681#section-3.1`).
    fn on_loss(&mut self, now: Instant, all: &[PathView], p: usize, kind: LossKind, w: &mut [Window]);

    /// Path `p` carried no data for one more retransmission timeout. In TCP, told before data is sent again.
    fn on_idle(&mut self, now: Instant, all: &[PathView], p: usize, w: &mut [Window]);

    /// `partial_bytes_acked` of path `p`, for traces; zero for controllers that have no such thing.
    fn partial_bytes_acked(&self, p: usize) -> ByteCount {
        let _ = p;
        ByteCount::ZERO
    }
}
