//! Buffer splitting (Dreibholz, Becke, Rathgeb, Tüxen, GLOBECOM 2010; paper 004, section III): a path may hold no more than
//! its share of the send buffer, or of the peer's receive buffer, so that a slow one cannot take all of it.

use super::Sender;
use crate::config::SplitBy;
use crate::path::{Path, PathId, Paths};
use units::ByteCount;

impl Sender {
    /// True if a path fills its share of a buffer, so that it may take no new chunk. One that holds nothing always may: else a
    /// share smaller than a chunk would stop it for ever.
    #[inline]
    pub(super) fn share_is_full(&self, p: PathId, paths: &Paths) -> bool {
        let split = self.cmt.buffer_split;
        if !split.sender() && !split.receiver() {
            return false;
        }
        let path = &paths[p];
        let held = match self.cmt.split_by {
            SplitBy::Queued => path.queued,
            SplitBy::Outstanding => path.flight,
        };
        if held.is_zero() {
            return false;
        }
        let paths_used = paths.iter().filter(|path| path.is_active()).count().max(1) as u64;
        let share = |buffer: ByteCount| ByteCount::new(buffer.get() / paths_used);
        (split.sender() && held + path.mtu > share(self.config.send_buffer))
            || (split.receiver() && held > share(self.peer_rwnd + paths.flight()))
    }

    /// The part of its share of a buffer that a path fills with chunks that are not in flight and not freed; the larger of the
    /// two if both buffers are looked at.
    pub(super) fn backlog(&self, path: &Path, paths: &Paths) -> f64 {
        let paths_used = paths.iter().filter(|path| path.is_active()).count().max(1) as f64;
        let (sides, split) = (self.cmt.rescheduling, self.cmt.buffer_split);
        let stuck = (path.queued - path.flight).as_f64();
        let share = |buffer: ByteCount, is_split: bool| {
            let shared_by = if is_split { paths_used } else { 1.0 };
            stuck / (buffer.as_f64() / shared_by).max(1.0)
        };
        let queued: ByteCount = paths.iter().map(|path| path.queued).sum();
        let of_sender = share(self.config.send_buffer, split.sender());
        let of_receiver = share(self.peer_rwnd + queued, split.receiver());
        let of_sender = if sides.sender() { of_sender } else { 0.0 };
        of_sender.max(if sides.receiver() { of_receiver } else { 0.0 })
    }
}
