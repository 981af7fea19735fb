//! Expiry of T3-rtx (`rfc9260#section-6.3.3`).
//!
//! The window begins at one packet, and ssthresh is cut as after congestion. Beyond RFC 9260 it stays where it was in an outage: the path is
//! [silent](super::reinject), the answer to a heartbeat is overdue, and SACKs came on other paths after the heartbeat left. That says nothing about
//! how much the path can carry, and slow start ends at the old window at the latest, as after a pause (`rfc5681#section-4.1`). CUBIC would need ten seconds for the last third of a window of 2000 packets. Where no SACK comes, it may be congestion.

use super::partial::Cause;
use super::{Mark, Sender};
use crate::path::{LossCause, NIL, Path, PathId, Paths};
use cc::LossKind;
use units::{Instant, Span};

/// What an expiry of T3-rtx means to the association.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct T3Outcome {
    /// False for the probe of a closed window that the peer keeps answering (`rfc9260#section-6.1`, rule A).
    pub(crate) counts_as_error: bool,
}

/// Copied chunks at the head of what is in flight that are passed each time T3 expires.
const MOST_PASSED: u32 = 1024;

impl Sender {
    /// When T3 of path `p` is due, if that is later than `now`: an RTO after the earliest chunk left that is in flight. `rfc9260#section-6.3.2` (R3)
    /// starts it anew only when that chunk is acknowledged. Where most chunks at the head are taken for lost and are sent again, it is not,
    /// although others arrive all the time. Only with time-based detection, which finds lost retransmissions. A chunk that was copied does not say
    /// when it left.
    pub(crate) fn later_t3(&self, now: Instant, p: PathId, paths: &Paths) -> Option<Instant> {
        let path = &paths[p];
        if !self.detects_by_time()
            || path.liveness.is_silent()
            || path.timed_out
            || path.liveness.probes() > 0
        {
            return None;
        }
        let fresh = self.left_uncopied(path.fresh.head)?;
        let resent = self.left_uncopied(path.resent.head)?;
        let due = fresh.into_iter().chain(resent).min()? + path.rto.current();
        (due > now).then_some(due)
    }

    /// When the first chunk left, from `i` on along a list, that was not copied; the outer none if too many were.
    fn left_uncopied(&self, mut i: u64) -> Option<Option<Instant>> {
        for _ in 0..=MOST_PASSED {
            if i == NIL {
                return Some(None);
            }
            if !self.out[i].is(Mark::Copied) {
                return Some(Some(self.out[i].sent_at));
            }
            i = self.out.following(i);
        }
        None
    }

    /// T3 of path `p` expired: all chunks in flight there are lost, but with `rtt_heuristic` those sent less than an SRTT ago
    /// are spared. A chunk whose last copy is overdue is lost in any case.
    pub(crate) fn on_t3(&mut self, now: Instant, p: PathId, paths: &mut Paths) -> T3Outcome {
        let probing = self.peer_closed && self.out.len() == 1;
        let outcome = T3Outcome { counts_as_error: !(probing && self.heard) };
        self.heard = false;
        self.account_for_timeout(now, p, paths);
        let before = paths[p].window;
        self.control(now, paths, |control, views, windows| {
            control.on_loss(now, views, p.index(), LossKind::Timeout, windows);
        });
        if self.has_failed(now, &paths[p]) {
            let kept = before.ssthresh.unwrap_or_default().max(before.cwnd);
            let ssthresh = &mut paths[p].window.ssthresh;
            *ssthresh = ssthresh.map(|cut| cut.max(kept));
        }
        self.ecn.note_reduction(p, self.out.next_index() - 1);
        let spared =
            if self.cmt.rtt_heuristic { paths[p].rto.srtt().unwrap_or_default() } else { Span::ZERO };
        let awaited = self.copied_in_flight();
        // By TSN, so that each goes to the end of the list of the lost.
        let mut next = [paths[p].fresh.head, paths[p].resent.head];
        while let i = next[0].min(next[1])
            && i != NIL
        {
            next[usize::from(next[0] != i)] = self.out.following(i);
            let is_overdue = self.out[i].is(Mark::Copied) && !awaited.contains(&i);
            if is_overdue || now.since(self.out[i].sent_at) >= spared {
                self.mark_lost(i, LossCause::Timeout, paths);
            } else if self.out[i].is(Mark::Copied) {
                self.out[i].mark(Mark::TimedOut);
            }
        }
        paths[p].timed_out = true;
        paths[p].rto.back_off(&self.config);
        let span = self.t3_span(&paths[p], true);
        let path = &mut paths[p];
        path.restart(now);
        path.blocked_until = Instant::ZERO;
        path.shots = u32::from(path.has_lost());
        path.stats.timeouts += 1;
        path.t3 = (!path.flight.is_zero()).then(|| now + span);
        self.after_losses(now, Cause::Timeout, paths);
        outcome
    }

    /// T3 expired on a path that has failed. Congestion is not the reason.
    fn has_failed(&self, now: Instant, path: &Path) -> bool {
        let is_lost = |sent| sent + path.probe_timeout() <= now && self.heard_since(sent);
        path.liveness.is_silent() && path.heartbeat.unanswered_since().is_some_and(is_lost)
    }

    /// Path `p` is no more: what is outstanding there is sent again elsewhere, which says nothing about congestion.
    pub(crate) fn on_path_removed(&mut self, now: Instant, p: PathId, paths: &mut Paths) {
        while let i = paths[p].earliest()
            && i != NIL
        {
            self.mark_lost(i, LossCause::Timeout, paths);
        }
        let path = &mut paths[p];
        path.t3 = None;
        path.liveness.await_nothing();
        path.restart(now);
        if let Some(rack) = &mut path.rack {
            rack.set_deadline(None);
        }
        path.liveness.trust();
        (path.timed_out, path.shots) = (false, u32::from(path.has_lost()));
        self.after_losses(now, Cause::Timeout, paths);
    }

    /// How long T3 runs on a path: the RTO, and a random part of it more (`rto_jitter`) after an expiry of this path, or if what leaves was lost by
    /// one, on whichever path: else a chunk that moves between paths which fail in turn could leave in each outage.
    pub(super) fn t3_span(&mut self, path: &Path, again: bool) -> Span {
        let rto = path.rto.current();
        if !(again || path.timed_out) || self.config.rto_jitter == 0.0 {
            return rto;
        }
        rto + rto.mul_f64(self.config.rto_jitter * self.random.unit())
    }
}
