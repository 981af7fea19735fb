//! Tail loss probes (`rfc8985#section-7`) on the last usable path.
//!
//! If the whole flight or all SACKs are lost, only an expiry of T3-rtx would show the loss, after a second or
//! more. So after a probe timeout the sender retransmits one chunk: the last one that it has sent only once.
//! The peer acknowledges a duplicate at once, and the Gap Ack Blocks of that SACK show which chunks are
//! missing. While other paths are usable, they carry copies instead ([`super::silence`]).
//!
//! The sender sends at most one probe before the path answers, and does not restart T3-rtx for it. If only
//! the probe repaired a loss, cwnd is reduced as in a fast recovery (`rfc8985#section-7.4.2`).

use super::partial::Cause;
use super::{ChunkState, Mark, Sender};
use crate::path::{LossTrigger, NIL, PathId, Paths};
use units::Instant;

impl Sender {
    /// Sends one chunk on the last usable path after its probe timeout, even if cwnd is full: the earliest
    /// lost chunk, or else the last chunk in flight, preferably a chunk that was sent only once.
    #[cold]
    pub(super) fn probe_tail(&mut self, now: Instant, p: PathId, paths: &mut Paths) {
        let path = &paths[p];
        if !self.detects_by_time() || path.liveness.is_probed() || path.flight.is_zero() {
            return;
        }
        let last = if path.fresh.tail == NIL { path.resent.tail } else { path.fresh.tail };
        if !path.has_lost() && !self.out[last].is(Mark::Abandoned) {
            self.mark_lost(last, LossTrigger::ProbeTimeout, paths);
            self.after_losses(now, Cause::Timeout, paths);
        }
        let path = &mut paths[p];
        path.may_resend |= path.has_lost();
        path.liveness.probed();
    }

    /// Returns true if a probe repaired the loss of chunk `i`, so that cwnd must be reduced. The chunk was in
    /// `state`, and is now acknowledged. If the peer reports a duplicate of the chunk, it was not lost, and
    /// the reduction is undone.
    pub(super) fn note_repair(&mut self, i: u64, state: ChunkState, paths: &mut Paths) -> bool {
        let chunk = &self.out[i];
        let p = chunk.path;
        let path = &mut paths[p];
        let probed = path.liveness.is_probed() && !path.timed_out && path.recovery.is_none();
        let sent_again = state == ChunkState::InFlight && chunk.transmissions > 1 && chunk.is(Mark::TimedOut);
        if !probed || !sent_again {
            return false;
        }
        if let Some(rack) = &mut path.rack {
            rack.lost_one(false);
        }
        self.remember_resent(i, p, paths);
        true
    }
}
