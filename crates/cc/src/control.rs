//! The interface between a transport and its congestion control.

use std::fmt::Debug;

use units::{BitRate, ByteCount, Instant};

use crate::{CongestionWindow, LossKind, PathAck, PathView, WindowRule};

/// The congestion control of one association: one controller sees all paths.
///
/// Nobody else writes a window. What else limits sending (the window of a path that potentially failed, the inflated
/// window of a TCP recovery, `Max.Burst`, pacing) is a limit that the transport derives from its own state.
///
/// Paths are numbered from 0 in the order they were added. Slices of [`PathView`] hold every path and are the
/// snapshot from *before* the event; `w` holds the windows to change, equal to those of the snapshot except where a
/// call for the same event has changed them already. Totals over paths come from the snapshot, so that they do not
/// depend on the order in which the paths are treated. A window is never zero: its path would send no more data.
pub trait CongestionControl: Send + Debug {
    /// The name the algorithm goes by in scenarios and results.
    fn name(&self) -> &'static str;

    /// Adds path `p`, the last so far, and returns its initial window. `all` may hold paths yet to come; their windows
    /// and that of `p` are not read.
    fn on_path_added(&mut self, all: &[PathView], p: usize) -> CongestionWindow;

    /// Takes a SACK: called once for each SACK, with every path in `acked` on which it newly acknowledged bytes. In
    /// TCP, once for each ACK of new data that arrives outside recovery. A controller that wants rate samples is also
    /// told of paths on which a SACK only found losses, and in TCP of each ACK that newly acknowledges anything.
    fn on_sack(&mut self, now: Instant, before: &[PathView], acked: &[PathAck], w: &mut [CongestionWindow]);

    /// Takes a loss on path `p`. The transport reports a fast retransmission once per recovery; if one SACK finds
    /// losses on several paths, it reports each with the same snapshot. `flight` in `all` counts what was lost. In TCP,
    /// a timer that expires again for the same segment is not reported (`rfc5681#section-3.1`).
    fn on_loss(
        &mut self,
        now: Instant,
        all: &[PathView],
        p: usize,
        kind: LossKind,
        w: &mut [CongestionWindow],
    );

    /// The chunks or segments whose loss [`Self::on_loss`] last reported on path `p` as [`LossKind::FastRetransmit`] had arrived:
    /// they were only late. `window` is the window of the path before (`rfc4015#section-3.2`).
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

    /// Path `p` carried no data for one more RTO. In TCP, called before data is sent again.
    fn on_idle(&mut self, now: Instant, all: &[PathView], p: usize, w: &mut [CongestionWindow]);

    /// The transport's specification prescribes the window of path `p`. The controller may do more, such as reset what
    /// it derived from the old window.
    fn on_rule(&mut self, all: &[PathView], p: usize, rule: WindowRule, w: &mut [CongestionWindow]) {
        let _ = all;
        w[p] = rule.apply(w[p]);
    }

    /// Whether the controller models the rate of the paths. Asked once, before the first path. If false, the transport
    /// keeps no state for each transmission, does not call [`Self::on_sent`], and [`PathAck`] has neither a rate sample
    /// nor the bytes lost.
    fn wants_rate_samples(&self) -> bool {
        false
    }

    /// A packet with `bytes` of data, as the window counts them, was sent on path `p`: new data, retransmissions or
    /// copies of chunks that are in flight elsewhere. `app_limited`: the sender, not the path, limits the rate.
    fn on_sent(&mut self, now: Instant, all: &[PathView], p: usize, bytes: ByteCount, app_limited: bool) {
        let _ = (now, all, p, bytes, app_limited);
    }

    /// Whether the transport asks for [`Self::pacing_rate`]. Asked once, before the first path.
    fn is_paced(&self) -> bool {
        self.wants_rate_samples()
    }

    /// The rate at which path `p` may send data, as the window counts bytes; `None`: not paced. Asked after each other
    /// call.
    fn pacing_rate(&self, p: usize) -> Option<BitRate> {
        let _ = p;
        None
    }

    /// True if its paths are to be paced by their windows whatever [`Setup::paced`](crate::Setup::paced) says ([`paced`](crate::paced())).
    fn wants_pacing(&self) -> bool {
        false
    }

    /// The window up to which path `p` is in slow start, for pacing by the window; `None` counts as
    /// [`Setup::initial_ssthresh`](crate::Setup::initial_ssthresh). By default ssthresh.
    fn slow_start_threshold(&self, p: usize, window: CongestionWindow) -> Option<ByteCount> {
        let _ = p;
        window.ssthresh
    }

    /// `partial_bytes_acked` of path `p`, for traces; zero for controllers that have no such thing.
    fn partial_bytes_acked(&self, p: usize) -> ByteCount {
        let _ = p;
        ByteCount::ZERO
    }
}
