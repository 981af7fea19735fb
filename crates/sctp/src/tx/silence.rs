//! Paths that do not answer.
//!
//! A path that has not answered [in time](crate::multipath::lateness) is *silent*: all its chunks are copied, a heartbeat probes it, and until it
//! answers new data goes to other paths. An acknowledgement of what left before is no answer: the path may have failed since, and the SACK came
//! on another one. The window of a silent path is not cut: only T3 declares its chunks lost.
//! The last path that is left is never silent. It sends a [tail loss probe](super::probe), and after a few packets without an answer it waits for one, or
//! for T3.
//!
//! An acknowledgement of a chunk that was copied proves nothing about the path of the chunk: its window does not grow, no
//! timer starts again, no round-trip time is taken and no older chunk is reported missing. What it proves about the path of the copy is in
//! [`copies`](crate::multipath::copies).

use super::Sender;
use super::partial::Cause;
use crate::chunks::Mark;
use crate::multipath::lateness;
use crate::path::{LossCause, NIL, Path, PathId, Paths};
use units::Instant;

impl Sender {
    /// Data was sent on a path: it is silent if nothing is acknowledged there within a probe timeout from now.
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

    /// The probe timeout of a path may have passed. True if the path is silent from now on, which needs another one to carry
    /// its chunks.
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

    /// A SACK came. While none came, heartbeats to silent paths were not repeated.
    #[inline]
    pub(super) fn hear(&mut self, now: Instant, paths: &mut Paths) {
        self.heard_at = now;
        for path in paths.iter_mut().filter(|path| path.liveness.is_silent()) {
            if path.liveness.deadline().is_none() && path.heartbeat.is_awaited() {
                path.liveness.act_at(now);
            }
        }
    }

    /// A SACK came since then: it is not the peer that is silent.
    pub(crate) fn heard_since(&self, then: Instant) -> bool {
        self.heard_at > then
    }

    /// Something was acknowledged on a path: its probe timeout starts anew.
    #[inline]
    pub(crate) fn end_silence(&self, now: Instant, path: &mut Path) {
        path.liveness.answered();
        self.be_patient(now, path);
    }

    /// A heartbeat was answered that left after path `p` fell silent: sends the earliest chunk in flight there again.
    ///
    /// All of them left before the heartbeat, and should have arrived. The acknowledgement of the earliest shows which of the others are lost.
    #[cold]
    pub(crate) fn try_earliest(&mut self, now: Instant, p: PathId, paths: &mut Paths) {
        let i = paths[p].earliest();
        if i != NIL && !self.out[i].is(Mark::Abandoned) {
            self.mark_lost(i, LossCause::Timeout, paths);
            self.after_losses(now, Cause::Timeout, paths);
        }
    }
}

impl Path {
    /// A heartbeat left, for the first time at `first`. If the path is silent, it is repeated.
    pub(crate) fn await_answer(&mut self, now: Instant, first: Instant) {
        if self.liveness.is_silent() {
            self.liveness.act_at(lateness::repeat_due(now, self, first));
        }
    }
}
