//! Tail loss probes (`rfc8985#section-7`) on the last usable path.
//!
//! If the whole flight or all SACKs are lost, the sender learns of it when T3 expires, after a second or more. So after a probe timeout it retransmits
//! one chunk, the last of those that it has sent only once. The peer acknowledges a duplicate at once, and the gap ack blocks of that SACK show which chunks are missing.
//! While there are other usable paths they carry copies ([`super::silence`]), and no probe is needed.
//!
//! One probe leaves until something is acknowledged, and T3 is not restarted meanwhile. If only the probe repaired a loss, the window is cut as in a fast
//! recovery (`rfc8985#section-7.4.2`).

use super::partial::Cause;
use super::{ChunkState, Mark, Sender};
use crate::path::{LossCause, NIL, PathId, Paths};
use units::Instant;

impl Sender {
    /// Lets one chunk leave on the last usable path, whose probe timeout passed, whatever the window.
    ///
    /// This is the earliest lost chunk of the path, if there is one.
    #[cold]
    pub(super) fn probe_tail(&mut self, now: Instant, p: PathId, paths: &mut Paths) {
        let path = &paths[p];
        if !self.detects_by_time() || path.liveness.is_probed() || path.flight.is_zero() {
            return;
        }
        let last = if path.fresh.tail == NIL { path.resent.tail } else { path.fresh.tail };
        if !path.has_lost() && !self.out[last].is(Mark::Abandoned) {
            self.mark_lost(last, LossCause::Timeout, paths);
            self.after_losses(now, Cause::Timeout, paths);
        }
        let path = &mut paths[p];
        path.shots = path.shots.max(u32::from(path.has_lost()));
        path.liveness.probed();
    }

    /// Returns whether a probe repaired the loss of chunk `i`, so that the window is to be cut. The chunk was in `state`, and is now acknowledged.
    ///
    /// The chunk was not lost if the peer reports a duplicate, which undoes the cut.
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
