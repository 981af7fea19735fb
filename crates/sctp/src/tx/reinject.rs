//! Reinjection: copies of chunks that are late on their path, sent where there is room.
//!
//! A full buffer stops every path until the earliest chunk arrives. A path that could send nothing then sends copies of
//! chunks of other paths, if the copy would arrive sooner or the chunk is overdue: opportunistic retransmission (Raiciu, Paasch,
//! Barre, Ford, Honda, Duchene, Bonaventure, Handley, "How hard can it be? Designing and implementing a deployable
//! multipath TCP", NSDI 2012, section 4.2). A whole unordered message blocks nothing if the peer sends NR-SACKs: a copy would
//! free its own room and no more, so that only an overdue one is copied.
//!
//! A path on which nothing is acknowledged for a probe timeout (`rfc8985#section-7.2`), or for the [`least_silence`] while its earliest
//! chunk is overdue, is *silent*: all its chunks are copied, a heartbeat probes it, and until it answers new data goes to
//! other paths. An acknowledgement of what left before is no answer: the path may have failed since, and the SACK came on
//! another one. It puts the path on trial, with a few packets of data.
//! The window of a silent path is not cut: only T3 declares its chunks lost. The last path that is left is
//! never silent. It sends [tail loss probes](super::probe), and after a few packets without an answer it waits for one, or for T3.
//!
//! An acknowledgement of a chunk that was copied proves nothing about the path of the chunk: its window does not grow, no
//! timer starts again, no round-trip time is taken and no older chunk is reported missing. What it proves about the path of the copy is in
//! [`super::copies`].

use super::Sender;
use super::partial::Cause;
use crate::chunks::{Mark, TxChunk};
use crate::path::{LEAST_PROBE_TIMEOUT, LossCause, NIL, Path, PathId, Paths};
use units::{Instant, Span};

/// A silent path gets its next heartbeat after the time since the first one, divided by this. So a path that works again is found when its outage was a
/// quarter longer at most.
const PROBES: u64 = 4;

/// A path may have failed if so many packets are not acknowledged in the time that they take.
///
/// Without this limit, paths of 1 to 3 Mbit/s seem to fail while the receiver waits for four packets before it sends a SACK.
const SILENT_PACKETS: f64 = 16.0;

impl Sender {
    /// True if copies of late chunks are due; also notes whether a full buffer is the reason.
    #[inline]
    pub(super) fn reinjects(&mut self, paths: &Paths) -> bool {
        self.late_at = None;
        let reinjection = self.cmt.reinjection;
        self.starved = reinjection.blocked()
            && match self.queue.head_len() {
                Some(len) => !self.peer_can_take(self.fragment_of(len), paths),
                None => self.blocked,
            };
        self.starved || (reinjection.silent() && paths.iter().any(|path| path.liveness.is_in_doubt()))
    }

    /// Chunk `i` is in flight on another path than `p`, and `p` is to carry a copy.
    pub(super) fn is_late(&self, i: u64, p: PathId, paths: &Paths) -> bool {
        let chunk = &self.out[i];
        let holder = &paths[chunk.path];
        let doubtful = holder.liveness.doubts(chunk.sent_at);
        if doubtful || !self.starved {
            return doubtful;
        }
        let (Some(its), Some(ours)) = (holder.rto.srtt(), paths[p].rto.srtt()) else { return false };
        let blocks = !(self.nr_sacks && chunk.stands_alone());
        (blocks && self.age(i) + ours < its) || self.age(i) > holder.overdue()
    }

    /// Path `p` may carry a copy of chunk `i`, which is not late yet: notes when it is overdue, since nothing else may happen until
    /// then. Only if `p` is not slower: else the path of the chunk repairs a loss sooner. Once this time has passed, a SACK has to
    /// come before there is another: in an outage of all paths nothing answers.
    pub(super) fn await_overdue(&mut self, i: u64, p: PathId, paths: &Paths) {
        let chunk = &self.out[i];
        let holder = &paths[chunk.path];
        let at = chunk.sent_at + holder.overdue() + Span::from_nanos(1);
        if at > self.now && !self.waited && paths[p].rto.srtt() <= holder.rto.srtt() {
            self.late_at = Some(self.late_at.map_or(at, |before| before.min(at)));
        }
    }

    /// When a chunk that blocks a full buffer is overdue and can be copied; none if that is not waited for.
    #[inline]
    pub(crate) fn late_at(&self) -> Option<Instant> {
        self.late_at
    }

    /// Data was sent on a path: it is silent if nothing is acknowledged there within a probe timeout from now.
    #[inline]
    pub(super) fn be_patient(&self, now: Instant, path: &mut Path) {
        let awaits_probe = path.liveness.probes() > 0 && path.liveness.deadline().is_some();
        if self.cmt.reinjection.silent()
            && !path.liveness.is_silent()
            && !path.flight.is_zero()
            && !awaits_probe
        {
            let until = self.patience_ends(now, path);
            path.liveness.await_answer(now, until);
        }
    }

    /// When a path is silent: after the probe timeout, or once the chunk that left first is overdue.
    ///
    /// An overdue chunk counts only if nothing was acknowledged for the [`least_silence`] before. It does not count if a chunk that left later
    /// has arrived, or if it is overdue already: then loss detection finds it.
    fn patience_ends(&self, now: Instant, path: &Path) -> Instant {
        let latest = now + self.patience(path);
        let (Some(srtt), Some(first)) = (path.rto.srtt(), self.first_sent(path)) else {
            return latest;
        };
        if first.is(Mark::Copied) || first.sent_at < path.liveness.proof() {
            return latest;
        }
        let due = first.sent_at + path.overdue() + self.delay_of_lone(path);
        if due < now { latest } else { due.max(now + least_silence(path, srtt)).min(latest) }
    }

    /// Returns the chunk in flight on a path that left first.
    ///
    /// It need not have the lowest TSN: what was lost on another path is retransmitted here behind chunks of higher TSNs.
    fn first_sent(&self, path: &Path) -> Option<&TxChunk> {
        let heads = [path.fresh.head, path.resent.head].into_iter().filter(|&head| head != NIL);
        heads.map(|head| &self.out[head]).min_by_key(|chunk| chunk.sent_at)
    }

    /// The probe timeout, for a lone packet plus the delay of its acknowledgement.
    fn patience(&self, path: &Path) -> Span {
        probe_timeout(path, self.delay_of_lone(path))
    }

    /// How long the acknowledgement of a lone packet may be delayed, unless the packet asks for it at once (`rfc7053`).
    fn delay_of_lone(&self, path: &Path) -> Span {
        let asks = self.first_sent(path).is_some_and(TxChunk::asks_for_sack);
        if path.flight <= path.mtu && !asks { self.config.sack_delay } else { Span::ZERO }
    }

    /// The probe timeout of a path may have passed. True if the path is silent from now on, which needs another one to carry
    /// its chunks.
    pub(crate) fn fall_silent(&mut self, now: Instant, p: PathId, paths: &mut Paths) -> bool {
        if paths[p].liveness.deadline().is_none_or(|at| at > now) {
            return false;
        }
        let has_other = paths.ids().any(|q| q != p && paths[q].is_usable());
        paths[p].liveness.overdue(has_other);
        if has_other {
            self.come_back_to(paths[p].earliest());
            self.copy_resent(p, paths);
        } else {
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

    /// A silent path delivered something before it fell silent: it may send a few packets until one of them is acknowledged.
    #[cold]
    pub(crate) fn begin_trial(&self, now: Instant, path: &mut Path) {
        if path.liveness.begin_trial(now) {
            self.be_patient(now, path);
        }
    }

    /// A heartbeat was answered that left after path `p` fell silent: sends the earliest chunk in flight there again.
    ///
    /// All of them left before the heartbeat, and should have arrived. The acknowledgement of the earliest shows which of the others are lost.
    /// T3 may have expired meanwhile, and left chunks in flight that were sent shortly before. They count as lost now, too: else they could fill the new
    /// window, and nothing could be sent.
    #[cold]
    pub(crate) fn try_earliest(&mut self, now: Instant, p: PathId, paths: &mut Paths) {
        let mut tried = false;
        while let i = paths[p].earliest()
            && i != NIL
            && !self.out[i].is(Mark::Abandoned)
            && (paths[p].timed_out || !tried)
        {
            self.mark_lost(i, LossCause::Timeout, paths);
            tried = true;
        }
        if tried {
            self.after_losses(now, Cause::Timeout, paths);
        }
    }

    /// A silent path has answered. A path whose probe timeout passed while all others were silent was spared as the last one. Now there is
    /// another, so it is judged again at once.
    #[cold]
    pub(crate) fn end_loneliness(&self, now: Instant, paths: &mut Paths) {
        for p in paths.ids() {
            let is_last = !paths.ids().any(|q| q != p && paths[q].is_usable());
            if paths[p].liveness.is_lonely() && !paths[p].flight.is_zero() && !is_last {
                paths[p].liveness.act_at(now);
            }
        }
    }
}

impl Path {
    /// A heartbeat left, for the first time at `first`. If the path is silent, it is repeated after a probe timeout or a quarter of the time since then,
    /// whichever is longer.
    pub(crate) fn await_answer(&mut self, now: Instant, first: Instant) {
        if self.liveness.is_silent() {
            self.liveness.act_at(now + self.probe_timeout().max(now.since(first) / PROBES));
        }
    }

    /// How long an answer takes at the most, unless it is lost.
    pub(super) fn probe_timeout(&self) -> Span {
        probe_timeout(self, Span::ZERO)
    }
}

/// Time without an acknowledgement after which a path may have failed.
///
/// It is the least RTT, or longer where the path takes longer to get [`SILENT_PACKETS`] packets acknowledged, and at most SRTT. A queue makes
/// SRTT long, but acknowledgements still come all the time.
pub(super) fn least_silence(path: &Path, srtt: Span) -> Span {
    let share = path.mtu.as_f64() * SILENT_PACKETS / path.flight.as_f64();
    let spacing = srtt.mul_f64(share.min(1.0));
    path.rto.base().unwrap_or(srtt).max(spacing).min(srtt).max(LEAST_PROBE_TIMEOUT)
}

/// 2 SRTT + 4 RTTVAR, and a `delay`; at least [`LEAST_PROBE_TIMEOUT`], at most the RTO.
fn probe_timeout(path: &Path, delay: Span) -> Span {
    let Some(srtt) = path.rto.srtt() else { return path.rto.current() };
    let expected = srtt * 2 + path.rto.variation() * 4 + delay;
    expected.max(LEAST_PROBE_TIMEOUT).min(path.rto.current())
}
