//! Chunks that were sent and are not cumulatively acknowledged: a ring of chunks, and lists through the ring.

mod chunk;
mod column;
mod fragment;
mod outstanding;

pub(crate) use chunk::{ChunkState, Mark, TxChunk};
pub(crate) use fragment::{Fragment, RecordId, Tag};
pub(crate) use outstanding::Outstanding;

/// Maximum number of chunks above the cumulative TSN: stream sequence numbers can be compared only within
/// half of their range (`rfc9260#section-1.6`).
pub(crate) const MOST_OUTSTANDING: usize = 1 << 15;
