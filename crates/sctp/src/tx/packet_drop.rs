//! Data that the peer or a middlebox reported as dropped (draft-stewart-sctp-pktdrprep-16).

use super::{ChunkState, Mark, Sender};
use crate::path::{LossTrigger, PathId, Paths};
use cc::{CongestionWindow, WindowRule};
use units::{ByteCount, Instant};
use wire::Tsn;

/// Number of bytes of a reported payload that must equal the bytes sent. A shorter payload proves nothing.
const PROOF: usize = 31;

/// A report of a middlebox never reduces cwnd below this number of packets.
const LEAST_PACKETS: u64 = 2;

impl Sender {
    /// Retransmits a chunk that was damaged on its way to the peer, if the reported payload is genuine. No
    /// cwnd is reduced, since the loss is not due to congestion.
    pub(crate) fn on_damaged(&mut self, now: Instant, tsn: Tsn, payload: &[u8], paths: &mut Paths) {
        let i = self.out.index_of(tsn);
        if !self.out.indices().contains(&i) || self.peer.is_closed() {
            return;
        }
        let chunk = &self.out[i];
        let gone = chunk.is(Mark::Abandoned) || chunk.is(Mark::Copied);
        if chunk.state != ChunkState::InFlight || gone || !self.is_ours(i, payload) {
            return;
        }
        let p = chunk.path;
        let lost = &paths[p].lost_fast;
        let Some(before) = self.out.place(lost, i, &mut self.limits.steps) else {
            self.limits.steps = 0;
            return;
        };
        self.queue_lost(before, i, LossTrigger::PacketDrop, paths);
        paths[p].stats.reported_drops += 1;
        paths[p].t3 = Some(now + paths[p].rto.current());
    }

    /// True if a reported payload begins with the bytes of chunk `i`.
    fn is_ours(&self, i: u64, payload: &[u8]) -> bool {
        let ours = self.out.data(i).payload;
        let (Some(reported), true) = (payload.get(..PROOF), ours.len() >= PROOF) else { return false };
        let stored = ours.head.len().min(PROOF);
        ours.head[..stored] == reported[..stored] && reported[stored..].iter().all(|&byte| byte == 0)
    }

    /// Adapts cwnd of path `p` to a middlebox's report of its link rate (bytes per second) and queue length
    /// (bytes). If the queue exceeds the bandwidth-delay product, cwnd is reduced by a part of the excess:
    /// the part of the queue that can be the flight size of this path. Otherwise cwnd grows by a quarter of
    /// the free capacity, at most by a burst.
    pub(crate) fn on_bandwidth_report(
        &mut self,
        now: Instant,
        p: PathId,
        rate: u32,
        on_queue: u32,
        paths: &mut Paths,
    ) {
        let path = &paths[p];
        let Some(srtt) = path.rto.srtt() else { return };
        if rate == 0 {
            return;
        }
        let (window, segment) = (path.window, path.mtu);
        let available = scaled(u64::from(rate), srtt.as_nanos().min(SECOND), SECOND);
        let queued = ByteCount::new(u64::from(on_queue));
        let least = window.cwnd.min(segment * LEAST_PACKETS);
        let bound = |cwnd: ByteCount| cwnd.min(available).max(least);
        let window = if queued > available {
            let share = path.flight.min(queued);
            let excess = scaled((queued - available).get(), share.get(), queued.get());
            let cwnd = bound(window.cwnd - excess);
            CongestionWindow { cwnd, ssthresh: Some(cwnd - ByteCount::new(1)) }
        } else {
            let room = ByteCount::new((available - queued).get() / 4);
            let burst = segment * u64::from(self.config.max_burst);
            CongestionWindow { cwnd: bound(window.cwnd + room.min(burst)), ..window }
        };
        self.apply_rule(now, p, WindowRule::Replace(window), paths);
    }
}

const SECOND: u64 = 1_000_000_000;

/// Returns `bytes * part / whole`, rounded down; `whole` is not zero.
fn scaled(bytes: u64, part: u64, whole: u64) -> ByteCount {
    ByteCount::new((u128::from(bytes) * u128::from(part) / u128::from(whole)) as u64)
}
