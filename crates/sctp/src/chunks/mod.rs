//! Chunks that were sent and that the peer has not cumulatively acknowledged: a ring of them, and lists through it.

mod chunk;
mod column;
mod fragment;
mod outstanding;

pub(crate) use chunk::{ChunkState, Mark, TxChunk};
pub(crate) use fragment::{Fragment, RecordId, Tag};
pub(crate) use outstanding::Outstanding;

/// The most chunks above the cumulative TSN: stream sequence numbers have an order only within half of their circle
/// (`rfc9260#section-1.6`).
pub(crate) const MOST_OUTSTANDING: usize = 1 << 15;
