//! A chunk that was sent: its contents, its path and its history.

use crate::path::{List, LossCause, Path, PathId};
use units::{ByteCount, Instant};
use wire::{DataFlags, Ppid, Ssn, StreamId};

/// A DATA chunk that was sent, without its bytes.
#[derive(Debug)]
pub(crate) struct TxChunk {
    pub(crate) sent_at: Instant,
    /// Number of bytes that the chunk adds to the flight size of its path.
    pub(crate) flight_size: u32,
    pub(super) ppid: Ppid,
    pub(crate) stream: StreamId,
    pub(super) ssn: Ssn,
    /// Number of user bytes. It fits in 16 bits because a chunk is shorter than the MTU (at most 65,535).
    pub(super) length: u16,
    /// Distances in TSNs to the previous and the next chunk on the same list of the path, below
    /// [`MOST_OUTSTANDING`](super::MOST_OUTSTANDING); zero at an end of the list.
    pub(super) to_prev: u16,
    pub(super) to_next: u16,
    /// [`DataFlags`] as bits.
    pub(super) flags: u8,
    /// [`Mark`]s, one bit each.
    pub(super) marks: u8,
    /// The path of the last transmission of this chunk.
    pub(crate) path: PathId,
    pub(crate) transmissions: u8,
    pub(crate) missing: u8,
    pub(crate) state: ChunkState,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<TxChunk>() == 32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChunkState {
    InFlight,
    /// Not in flight: waits for retransmission.
    Lost(LossCause),
    /// Acknowledged, but the peer may still renege.
    Acked,
    /// Acknowledged, and the peer cannot renege; its bytes are freed.
    Freed,
    /// [Abandoned](Mark::Abandoned) and not in flight; its bytes are freed.
    Abandoned,
}

/// Flags that record the history of a chunk, one bit each.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub(crate) enum Mark {
    /// The next acknowledgement of the chunk increases no cwnd: the chunk was acknowledged before (the peer
    /// reneged on it), or rescheduled.
    Credited = 1 << 0,
    /// The chunk was lost at least once by [`LossCause::Timeout`]: not by missing reports or RACK.
    TimedOut = 1 << 1,
    /// The chunk was late, and another path carried a copy of it; `sent_at` is the time of the newest copy.
    Copied = 1 << 2,
    /// The sender retransmitted the chunk before it counted as lost (`multipath/rescheduling.rs`).
    /// This happens at most once.
    Moved = 1 << 3,
    /// The sender never sends the chunk again, whatever its state (see `abandon.rs`).
    Abandoned = 1 << 4,
}

impl TxChunk {
    #[inline]
    pub(crate) fn is(&self, mark: Mark) -> bool {
        self.marks & mark as u8 != 0
    }

    #[inline]
    pub(crate) fn mark(&mut self, mark: Mark) {
        self.marks |= mark as u8;
    }

    /// Returns true if the chunk was sent once and is not abandoned, so that it may be reported missing.
    #[inline]
    pub(crate) fn is_fresh(&self) -> bool {
        self.transmissions == 1 && !self.is(Mark::Abandoned)
    }

    /// True for the last chunk of a message.
    #[inline]
    pub(crate) fn is_ending(&self) -> bool {
        DataFlags::from_bits(self.flags).ending
    }

    /// Returns true if the chunk is a whole unordered message: the peer delivers it even if lower
    /// TSNs are missing.
    #[inline]
    pub(crate) fn stands_alone(&self) -> bool {
        let flags = DataFlags::from_bits(self.flags);
        flags.unordered && flags.beginning && flags.ending
    }

    /// Returns true if the peer cannot renege on the chunk and has delivered it as a whole unordered message.
    #[inline]
    pub(crate) fn is_delivered(&self) -> bool {
        self.state == ChunkState::Freed && self.stands_alone()
    }

    /// Returns the list of the path that holds the chunk while the chunk is in flight.
    #[inline]
    pub(crate) fn flight_list<'a>(&self, path: &'a mut Path) -> &'a mut List {
        if self.is_fresh() { &mut path.fresh } else { &mut path.resent }
    }

    pub(crate) fn is_acked(&self) -> bool {
        matches!(self.state, ChunkState::Acked | ChunkState::Freed)
    }

    /// Number of user bytes.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        usize::from(self.length)
    }

    /// Number of user bytes.
    #[inline]
    pub(crate) fn byte_count(&self) -> ByteCount {
        ByteCount::from(self.len())
    }

    /// Sets the I bit for the next transmission (`rfc7053`).
    pub(crate) fn ask_for_sack(&mut self) {
        self.flags |= DataFlags { immediate: true, ..DataFlags::from_bits(0) }.to_bits();
    }

    /// Returns true if the last transmission of the chunk had the I bit.
    pub(crate) fn asks_for_sack(&self) -> bool {
        DataFlags::from_bits(self.flags).immediate
    }
}
