//! Expiry of T3-rtx (`rfc9260#section-6.3.3`).

use super::Sender;
use super::partial::Cause;
use crate::path::{LossTrigger, NIL, PathId, Paths};
use cc::LossKind;
use units::{Instant, Span};

/// The consequence of a T3-rtx expiry for the association.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct T3Outcome {
    /// False for a probe of a closed receive window while the peer answers (`rfc9260#section-6.1`, rule A).
    pub(crate) counts_as_error: bool,
}

impl Sender {
    /// Handles the expiry of T3-rtx on path `p`: marks all chunks in flight on the path as lost. With
    /// `rtt_heuristic`, chunks sent less than an SRTT ago stay in flight.
    pub(crate) fn on_t3(&mut self, now: Instant, p: PathId, paths: &mut Paths) -> T3Outcome {
        let probing = self.peer.is_closed() && self.out.len() == 1;
        let outcome = T3Outcome { counts_as_error: !(probing && self.heard) };
        self.heard = false;
        self.account_for_timeout(now, p, paths);
        self.control(now, paths, |control, views, windows| {
            control.on_loss(now, views, p.index(), LossKind::Timeout, windows);
        });
        self.ecn.note_reduction(p, self.out.next_index() - 1);
        let spared =
            if self.cmt.rtt_heuristic { paths[p].rto.srtt().unwrap_or_default() } else { Span::ZERO };
        // In TSN order, so that each chunk is appended to a list of lost chunks without a search.
        let mut next = [paths[p].fresh.head, paths[p].resent.head];
        while let i = next[0].min(next[1])
            && i != NIL
        {
            next[usize::from(next[0] != i)] = self.out.following(i);
            if now.since(self.out[i].sent_at) >= spared {
                self.mark_lost(i, LossTrigger::T3, paths);
            }
        }
        paths[p].timed_out = true;
        paths[p].rto.back_off(&self.config);
        let path = &mut paths[p];
        path.restart();
        path.blocked_until = Instant::ZERO;
        path.may_resend = path.has_lost();
        path.stats.timeouts += 1;
        path.t3 = (!path.flight.is_zero()).then(|| now + path.rto.current());
        self.after_losses(now, Cause::Timeout, paths);
        outcome
    }

    /// Marks all chunks in flight on removed path `p` as lost, without informing the congestion control.
    pub(crate) fn on_path_removed(&mut self, now: Instant, p: PathId, paths: &mut Paths) {
        self.save(p, paths);
        while let i = paths[p].earliest()
            && i != NIL
        {
            self.mark_lost(i, LossTrigger::PathRemoved, paths);
        }
        let path = &mut paths[p];
        path.t3 = None;
        path.liveness.await_nothing();
        path.restart();
        if let Some(rack) = &mut path.rack {
            rack.set_deadline(None);
        }
        path.liveness.trust();
        (path.timed_out, path.may_resend) = (false, path.has_lost());
        self.after_losses(now, Cause::Timeout, paths);
    }
}
