//! The interface between a transport and its congestion control.

use std::fmt::Debug;

use units::{BitRate, ByteCount, Instant};

use crate::{CongestionWindow, LossKind, PathAck, PathView, SavedPath, WindowRule};

/// The congestion control of one association: one controller sees all paths.
///
/// Only the controller changes windows. The transport derives all other limits of sending from its own state:
/// the window of a potentially failed path, the inflated window of a TCP recovery, `Max.Burst` and pacing.
///
/// Paths are numbered from 0 in the order in which they were added. Slices of [`PathView`] contain the state
/// of every path *before* the event. `w` contains the windows to change; they equal those of the slice unless
/// an earlier call for the same event changed them. Controllers compute totals over paths from the slice, so
/// that the order of the paths does not matter. A window is never zero, because its path would then send no
/// more data.
pub trait CongestionControl: Send + Debug {
    /// The name of the algorithm in scenarios and results.
    fn name(&self) -> &'static str;

    /// Adds path `p` after all earlier paths, and returns its initial window. `all` may hold paths that are
    /// added later; their windows and the window of `p` are not read.
    fn on_path_added(&mut self, all: &[PathView], p: usize) -> CongestionWindow;

    /// Processes a SACK. `acked` holds each path on which the SACK newly acknowledged bytes.
    ///
    /// Called once per SACK; in TCP once per ACK of new data outside recovery and without ECE. A controller
    /// that wants rate samples also gets paths on which a SACK only reported losses, and in TCP each ACK that
    /// newly acknowledges anything.
    fn on_sack(&mut self, now: Instant, before: &[PathView], acked: &[PathAck], w: &mut [CongestionWindow]);

    /// Processes a loss on path `p`. The transport reports a fast retransmission once per recovery.
    ///
    /// If one SACK reveals losses on several paths, the transport reports each loss
    /// with the same `all`, in which `flight` still includes the lost bytes. In TCP,
    /// repeated timeouts of a segment are reported once (`rfc5681#section-3.1`).
    fn on_loss(
        &mut self,
        now: Instant,
        all: &[PathView],
        p: usize,
        kind: LossKind,
        w: &mut [CongestionWindow],
    );

    /// Reports that the last loss on path `p` was spurious: the data was only late. A transport that detects
    /// spurious timeouts reports them, too.
    ///
    /// `window` is the window of the path before that loss (`rfc4015#section-3.2`).
    fn on_spurious_loss(
        &mut self,
        all: &[PathView],
        p: usize,
        window: CongestionWindow,
        w: &mut [CongestionWindow],
    ) {
        let _ = all;
        w[p] = CongestionWindow { cwnd: w[p].cwnd.max(window.cwnd), ssthresh: window.ssthresh };
    }

    /// Reports that path `p` carried no data for one more RTO. In TCP, called before data is sent again.
    fn on_idle(&mut self, now: Instant, all: &[PathView], p: usize, w: &mut [CongestionWindow]);

    /// Applies a window that the transport's specification prescribes for path `p`. The controller may also
    /// reset its state, for example what it derived from the old window.
    fn on_rule(&mut self, all: &[PathView], p: usize, rule: WindowRule, w: &mut [CongestionWindow]) {
        let _ = all;
        w[p] = rule.apply(w[p]);
    }

    /// Reports that path `p` answers again after it had failed. `w` holds the window that SCTP prescribes.
    fn on_return(&mut self, now: Instant, all: &[PathView], p: usize, w: &mut [CongestionWindow]) {
        let _ = (now, all, p, w);
    }

    /// Returns what path `p` delivered in a round trip and its least RTT, for a later path
    /// between the same addresses. `None` if the path may have been congested or carried
    /// too little to measure, or if the controller does not [resume](crate::resumed).
    fn saved(&self, p: usize) -> Option<SavedPath> {
        let _ = p;
        None
    }

    /// Lets the new path `p` begin near the rate of an earlier path between the same
    /// addresses, of which `saved` holds the measurements. If a removed path had the
    /// number `p`, the controller forgets its measurements of the removed path.
    fn resume(
        &mut self,
        now: Instant,
        all: &[PathView],
        p: usize,
        saved: Option<SavedPath>,
        w: &mut [CongestionWindow],
    ) {
        let _ = (now, all, p, saved, w);
    }

    /// True if the controller needs rate samples. Called once, before the first path is added.
    ///
    /// If false, the transport keeps no state for each transmission and does not call [`Self::on_sent`], and
    /// [`PathAck`] has neither a rate sample nor the bytes lost.
    fn wants_rate_samples(&self) -> bool {
        false
    }

    /// Reports a packet with `bytes` of data, as the window counts them, sent on path `p`: new data,
    /// retransmissions, or copies of chunks in flight on other paths. `app_limited` is true if the sender,
    /// not the path, limits the rate.
    fn on_sent(&mut self, now: Instant, all: &[PathView], p: usize, bytes: ByteCount, app_limited: bool) {
        let _ = (now, all, p, bytes, app_limited);
    }

    /// True if the transport calls [`Self::pacing_rate`]. Called once, before the first path is added.
    fn is_paced(&self) -> bool {
        self.wants_rate_samples()
    }

    /// The rate at which path `p` may send bytes, as the window counts them; `None` if the path is not paced.
    /// The transport calls this after each other call.
    fn pacing_rate(&self, p: usize) -> Option<BitRate> {
        let _ = p;
        None
    }

    /// True if [`paced()`](crate::paced()) is to pace the paths by their
    /// windows even if [`Setup::paced`](crate::Setup::paced) is false.
    fn wants_pacing(&self) -> bool {
        false
    }

    /// The window below which path `p` is in slow start, for pacing by the window; by default ssthresh.
    /// `None` stands for [`Setup::initial_ssthresh`](crate::Setup::initial_ssthresh).
    fn slow_start_threshold(&self, p: usize, window: CongestionWindow) -> Option<ByteCount> {
        let _ = p;
        window.ssthresh
    }

    /// `partial_bytes_acked` of path `p`, for logs; zero for controllers without this counter.
    fn partial_bytes_acked(&self, p: usize) -> ByteCount {
        let _ = p;
        ByteCount::ZERO
    }

    /// Calls `show` with the name and the value of each inner quantity of path `p`, for the time series
    /// that the laboratory records. Rates are in bit/s, sizes in bytes, times in seconds; a bound that
    /// is not set is infinite. `state` is the number of a [`ModelState`](crate::ModelState).
    fn inspect(&self, p: usize, show: &mut dyn FnMut(&'static str, f64)) {
        let _ = (p, show);
    }
}
