//! Buffer splitting (Dreibholz, Becke, Rathgeb, Tüxen, GLOBECOM 2010; paper 004, section III): each path may
//! fill only its share of the send buffer, or of the peer's receive buffer, so that no path fills all of it.

use crate::config::{BufferSide, Cmt, SplitBy};
use crate::path::{Path, PathId, Paths};
use units::ByteCount;

/// The buffers at both ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buffers {
    /// Size of the send buffer.
    pub(crate) sender: ByteCount,
    /// a_rwnd of the peer less the bytes in flight.
    pub(crate) peer_rwnd: ByteCount,
}

/// Returns true if a path fills its share (an equal part) of a buffer, and so may not carry a new chunk. A
/// path without chunks may always carry one: otherwise a share smaller than a chunk would stop the path for
/// ever.
#[inline]
pub(crate) fn share_is_full(cmt: &Cmt, buffers: Buffers, p: PathId, paths: &Paths) -> bool {
    cmt.buffer_split != BufferSide::None && fills_share(cmt, buffers, &paths[p], paths)
}

#[cold]
fn fills_share(cmt: &Cmt, buffers: Buffers, path: &Path, paths: &Paths) -> bool {
    let held = match cmt.split_by {
        SplitBy::Queued => path.queued,
        SplitBy::Outstanding => path.flight,
    };
    let (split, among) = (cmt.buffer_split, paths_used(paths));
    let share = |buffer: ByteCount| ByteCount::new(buffer.get() / among);
    !held.is_zero()
        && ((split.sender() && held + path.mtu > share(buffers.sender))
            || (split.receiver() && held > share(buffers.peer_rwnd + paths.flight())))
}

/// The part of a buffer (or of the path's share of that buffer, if it is divided) that is occupied by
/// chunks of the path which are neither in flight nor freed. If `sides` names both buffers, the
/// larger of the two parts.
pub(super) fn backlog(cmt: &Cmt, sides: BufferSide, buffers: Buffers, path: &Path, paths: &Paths) -> f64 {
    let split = cmt.buffer_split;
    let stuck = (path.queued - path.flight).as_f64();
    let part = |buffer: ByteCount, is_split: bool| {
        let among = if is_split { paths_used(paths) as f64 } else { 1.0 };
        stuck / (buffer.as_f64() / among).max(1.0)
    };
    let queued: ByteCount = paths.iter().map(|path| path.queued).sum();
    let of_sender = part(buffers.sender, split.sender());
    let of_receiver = part(buffers.peer_rwnd + queued, split.receiver());
    let of_sender = if sides.sender() { of_sender } else { 0.0 };
    of_sender.max(if sides.receiver() { of_receiver } else { 0.0 })
}

/// Number of paths among which a buffer is divided.
fn paths_used(paths: &Paths) -> u64 {
    paths.iter().filter(|path| path.is_active()).count().max(1) as u64
}
