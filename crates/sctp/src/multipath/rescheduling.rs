//! Chunk rescheduling (Dreibholz, Becke, Rathgeb, Tüxen, GLOBECOM 2010): if chunks of a path that
//! wait for the earliest chunk (that with the lowest TSN) occupy half of a buffer, the sender
//! transmits the earliest chunk again on that path.

use super::splitting::{Buffers, backlog};
use crate::config::{BufferSide, Cmt};
use crate::path::{PathId, Paths};
use units::Span;

/// The sender reschedules the earliest chunk if chunks that wait for it fill at least this part of a buffer.
const FULL_ENOUGH: f64 = 0.5;

/// Chooses the path for the earliest chunk, which was sent on path `on` and has been in flight for `age`.
/// Path `on` itself is chosen only after two SRTTs.
pub(crate) fn target(
    cmt: &Cmt,
    buffers: Buffers,
    (on, age): (PathId, Span),
    paths: &Paths,
    has_room: impl Fn(PathId) -> bool,
) -> Option<PathId> {
    let wants = |p: PathId| {
        let path = &paths[p];
        let stale = path.rto.srtt().is_some_and(|srtt| age > srtt * 2);
        (p != on || stale)
            && path.is_active()
            && path.recovery.is_none()
            && !paths.is_spared(p)
            && backlog(cmt, cmt.rescheduling, buffers, path, paths) >= FULL_ENOUGH
    };
    paths.ids().find(|&p| wants(p) && has_room(p))
}

#[inline]
pub(crate) fn is_on(cmt: &Cmt) -> bool {
    cmt.rescheduling != BufferSide::None
}
