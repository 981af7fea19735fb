//! Tail loss probes (`rfc8985#section-7`) on the last usable path.
//!
//! If all that is in flight is lost, or all SACKs are, no SACK tells, and the sender waits for T3, a second or more. After a probe timeout
//! the last of the chunks that were sent once is sent again. The peer answers a chunk that it already has at once, and the gap ack blocks of the SACK tell
//! what else is missing. While there are other paths these carry copies ([`super::reinject`]), and no probe is needed.
//!
//! RFC 8985 sends one probe. Here up to [`MOST_PROBES`] follow, since bursts of losses outlast one, and each waits twice as long as the one before. T3 runs on
//! meanwhile. A chunk that only a probe could repair was lost, and the window is cut as in a fast recovery (`rfc8985#section-7.4.2`).

use super::partial::Cause;
use super::{ChunkState, Mark, Sender};
use crate::path::{LossCause, NIL, PathId, Paths};
use units::Instant;

/// Probes without an answer. With more, an outage of all paths would cost more than three times the packets that RFC 9260 sends.
const MOST_PROBES: u8 = 4;

impl Sender {
    /// The probe timeout of the last usable path passed: one chunk may leave whatever the window, a lost one if there is any.
    #[cold]
    pub(super) fn probe_tail(&mut self, now: Instant, p: PathId, paths: &mut Paths) {
        let path = &paths[p];
        if !self.detects_by_time() || path.probes == MOST_PROBES || path.flight.is_zero() {
            return;
        }
        let last = if path.fresh.tail == NIL { path.resent.tail } else { path.fresh.tail };
        if !path.has_lost() && !self.out[last].is(Mark::Abandoned) {
            self.mark_lost(last, LossCause::Timeout, paths);
            self.after_losses(now, Cause::Timeout, paths);
        }
        let path = &mut paths[p];
        path.shots = path.shots.max(u32::from(path.has_lost()));
        path.probes += 1;
        path.patience = Some(now + path.probe_timeout() * (1 << path.probes));
    }

    /// Chunk `i`, which was in `state`, is acknowledged. True if it was lost and a probe repaired that, for which the window is cut. If the acknowledgement
    /// comes sooner than the least RTT after the probe, the chunk had arrived; if the peer reports a duplicate, too, and the cut is undone.
    pub(super) fn note_repair(&mut self, now: Instant, i: u64, state: ChunkState, paths: &mut Paths) -> bool {
        let chunk = &self.out[i];
        let (p, age) = (chunk.path, now.since(chunk.sent_at));
        let path = &mut paths[p];
        let probed = path.probes > 0 && !path.timed_out && path.recovery.is_none();
        let sent_again = state == ChunkState::InFlight && chunk.transmissions > 1 && chunk.is(Mark::TimedOut);
        if !probed || !sent_again || path.rto.base().is_none_or(|base| age < base) {
            return false;
        }
        if let Some(rack) = &mut path.rack {
            rack.lost_one(false);
        }
        self.remember_resent(i, p, paths);
        true
    }
}
