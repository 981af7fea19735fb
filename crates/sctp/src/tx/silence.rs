//! Silent paths: paths that do not answer in time.
//!
//! A path that has not answered [in time](crate::multipath::lateness) is *silent*: all its chunks are copied,
//! a heartbeat probes it, and new data goes to other paths until it answers. An acknowledgement of earlier
//! data is no answer: the path may have failed since, while the SACK came on another path. The cwnd of a
//! silent path is not reduced: only T3-rtx marks its chunks as lost. The last usable path is never silent. It
//! sends a [tail loss probe](super::probe), and after a few packets it waits for an answer or for T3-rtx.
//!
//! The acknowledgement of a copied chunk proves nothing about the path of the chunk or of its copy: it starts
//! no timer, increases no cwnd, and gives no RTT sample or missing report.

use super::Sender;
use crate::multipath::lateness;
use crate::path::{Path, PathId, Paths};
use units::Instant;

impl Sender {
    /// Starts the probe timeout of a path after data was sent: the path becomes silent unless an answer comes
    /// in time.
    #[inline]
    pub(super) fn be_patient(&self, now: Instant, path: &mut Path) {
        if self.cmt.reinjection.silent()
            && !path.liveness.is_silent()
            && !path.flight.is_zero()
            && !path.liveness.is_probed()
        {
            let until = lateness::answer_due(now, path, &self.out, self.config.sack_delay);
            path.liveness.await_answer(now, until);
        }
    }

    /// Handles a probe timeout that may have passed, with a tail loss probe if no other path is usable.
    /// Returns true if the path is silent from now on.
    pub(crate) fn fall_silent(&mut self, now: Instant, p: PathId, paths: &mut Paths) -> bool {
        if paths[p].liveness.deadline().is_none_or(|at| at > now) {
            return false;
        }
        let has_other = paths.ids().any(|q| q != p && paths[q].is_usable());
        paths[p].liveness.overdue(has_other);
        if !has_other {
            self.probe_tail(now, p, paths);
        }
        has_other
    }

    /// Notes an acknowledgement, and resumes the repetition of heartbeats to silent paths.
    #[inline]
    pub(super) fn hear(&mut self, now: Instant, paths: &mut Paths) {
        self.heard_at = now;
        for path in paths.iter_mut().filter(|path| path.liveness.is_silent()) {
            if path.liveness.deadline().is_none() && path.heartbeat.is_awaited() {
                path.liveness.act_at(now);
            }
        }
    }

    /// True if an acknowledgement arrived after `then`, so that the peer itself is not silent.
    pub(crate) fn heard_since(&self, then: Instant) -> bool {
        self.heard_at > then
    }

    /// Restarts the probe timeout of a path that has answered.
    #[inline]
    pub(crate) fn end_silence(&self, now: Instant, path: &mut Path) {
        path.liveness.answered();
        self.be_patient(now, path);
    }
}

impl Path {
    /// Schedules the repetition of a heartbeat, first sent at `first`, if the path is silent.
    pub(crate) fn await_answer(&mut self, now: Instant, first: Instant) {
        if self.liveness.is_silent() {
            self.liveness.act_at(lateness::repeat_due(now, self, first));
        }
    }
}
