//! Abandoned chunks: the sender never sends them again, even if the peer does not have them
//! (`rfc3758#section-3.5`).
//!
//! An abandoned chunk stays in the ring of sent chunks until the cumulative TSN passes it. If it is in
//! flight, it counts in the flight size of its path until it is acknowledged, passed or lost. A T3-rtx expiry
//! removes it from the flight size and reduces cwnd as for any other chunk. No missing reports are counted
//! for it: the sender counts them only for its list of chunks sent once, and moves the chunk from there to
//! the list of retransmitted chunks.

use super::{ChunkState, Mark, SackDelta, Sender};
use crate::path::Paths;
use crate::steps;
use units::ByteCount;

impl Sender {
    /// Abandons chunk `i` and frees its bytes. An acknowledged chunk is only marked, so that the sender does
    /// not retransmit it if the peer reneges.
    pub(super) fn abandon(&mut self, i: u64, paths: &mut Paths) {
        let chunk = &self.out[i];
        let path = &mut paths[chunk.path];
        if chunk.is(Mark::Abandoned) {
            return;
        }
        match chunk.state {
            ChunkState::InFlight => {
                self.out.unlink(chunk.flight_list(path), i);
                self.out[i].mark(Mark::Abandoned);
                self.out.link(self.out[i].flight_list(path), i);
            }
            ChunkState::Lost(cause) => {
                self.out.unlink(path.lost(cause), i);
                self.peer.unlose(ByteCount::new(u64::from(self.out[i].flight_size)));
                self.out[i].state = ChunkState::Abandoned;
                path.cuc.forget();
                if path.flight.is_zero() && !path.has_lost() {
                    path.t3 = None;
                }
            }
            ChunkState::Acked => {}
            ChunkState::Abandoned | ChunkState::Freed => return,
        }
        let chunk = &mut self.out[i];
        chunk.mark(Mark::Abandoned);
        chunk.missing = 0;
        self.retained -= self.out.free(i);
    }

    /// Removes the lost and abandoned chunk `i` from the flight size. The chunk is not retransmitted.
    #[cold]
    pub(super) fn lose_abandoned(&mut self, i: u64, paths: &mut Paths) {
        self.take_from_flight(i, paths);
        self.out[i].state = ChunkState::Abandoned;
        paths[self.out[i].path].cuc.forget();
    }

    /// Handles abandoned chunk `i` when the cumulative TSN passes it. The peer may have skipped the chunk, so
    /// its acknowledgement gives no RTT sample and increases no cwnd.
    #[cold]
    pub(super) fn pass_abandoned(&mut self, i: u64, paths: &mut Paths, delta: &mut SackDelta) {
        let chunk = &self.out[i];
        let (path, delta) = (&mut paths[chunk.path], &mut delta[chunk.path]);
        if chunk.is(Mark::Credited) {
            steps::count(1);
            self.limits.restored();
        } else {
            steps::count_paid(1);
        }
        path.cuc.forget();
        if chunk.state == ChunkState::InFlight {
            delta.oldest |= !chunk.is(Mark::Copied) && i == path.earliest();
            path.flight -= ByteCount::new(u64::from(chunk.flight_size));
            self.out.unlink(chunk.flight_list(path), i);
        }
    }
}
