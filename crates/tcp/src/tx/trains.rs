//! Trains of segments: Linux passes one large packet to the network device, which divides it into segments
//! (TSO).

use super::Sender;
use units::Instant;

/// Number of segments that a train may have at any rate (`net.ipv4.tcp_min_tso_segs`).
const LEAST: u64 = 2;

/// A train of more than [`LEAST`] segments lasts at most
/// 1/1024 s at the pacing rate (`sk_pacing_shift` of 10).
const PER_SECOND: f64 = 1024.0;

impl Sender {
    /// Adds a new segment to the current train. Returns true if the segment ends a train of several segments.
    /// `before` is the send time of the previous segment.
    #[inline(never)]
    pub(super) fn ends_train(&mut self, now: Instant, before: Instant, limit: u64) -> bool {
        let so_far = if before == now { self.train } else { 0 };
        let ends = so_far + 1 >= self.longest_train() || self.sendable(now, limit).is_none();
        self.train = if ends { 0 } else { so_far + 1 };
        ends && so_far > 0
    }

    fn longest_train(&self) -> u64 {
        let Some(srtt) = self.rto.srtt() else { return LEAST };
        let cwnd = self.cwnd();
        let gain = if self.ssthresh().is_none_or(|most| 2 * cwnd < most.get()) { 2.0 } else { 1.2 };
        let bytes = gain * cwnd as f64 / srtt.as_secs_f64() / PER_SECOND;
        (bytes as u64 / u64::from(self.smss)).max(LEAST)
    }
}
