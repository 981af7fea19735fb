//! One chunk that was sent: what it is, where it is, and what happened to it.

use crate::path::{List, LossCause, Path, PathId};
use units::{ByteCount, Instant};
use wire::{DataFlags, Ppid, Ssn, StreamId};

/// A DATA chunk that was sent, without its bytes.
#[derive(Debug)]
pub(crate) struct TxChunk {
    pub(crate) sent_at: Instant,
    /// Bytes by which it raises the flight size of its path.
    pub(crate) flight_size: u32,
    pub(super) ppid: Ppid,
    pub(crate) stream: StreamId,
    pub(super) ssn: Ssn,
    /// User bytes: fewer than the MTU, which has 16 bits.
    pub(super) length: u16,
    /// Distances to the neighbours on its list, fewer than [`MOST_OUTSTANDING`](super::MOST_OUTSTANDING); zero at
    /// an end.
    pub(super) to_prev: u16,
    pub(super) to_next: u16,
    /// [`DataFlags`] as bits.
    pub(super) flags: u8,
    /// [`Mark`]s, one bit each.
    pub(super) marks: u8,
    /// The path of its last transmission.
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
    /// Not in flight, waiting to be sent again.
    Lost(LossCause),
    /// The peer has it but may still renege.
    Acked,
    /// The peer has it and cannot renege; its bytes are freed.
    Freed,
    /// It was [abandoned](Mark::Abandoned) and is not in flight; its bytes are freed.
    Abandoned,
}

/// Flags that record the history of a chunk, one bit each.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub(crate) enum Mark {
    /// It was acknowledged before: if the peer reneges, its next acknowledgement gives no growth credit.
    Credited = 1 << 0,
    /// An expiry of T3-rtx marked it as lost at least once, or spared it because its copy had just left.
    TimedOut = 1 << 1,
    /// The sender sent copies of it on other paths because it was late, the latest at `sent_at`.
    Copied = 1 << 2,
    /// It was rescheduled to another path once.
    Moved = 1 << 3,
    /// The sender never sends it again, whatever its state (see `abandon.rs`).
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

    /// Sent once and not abandoned: in flight it may be reported missing.
    #[inline]
    pub(crate) fn is_fresh(&self) -> bool {
        self.transmissions == 1 && !self.is(Mark::Abandoned)
    }

    /// It ends its message.
    #[inline]
    pub(crate) fn is_ending(&self) -> bool {
        DataFlags::from_bits(self.flags).ending
    }

    /// It is a whole unordered message: the peer's application can read it, whatever is missing before it.
    #[inline]
    pub(crate) fn stands_alone(&self) -> bool {
        let flags = DataFlags::from_bits(self.flags);
        flags.unordered && flags.beginning && flags.ending
    }

    /// The peer has it for good, and its application can read it.
    #[inline]
    pub(crate) fn is_delivered(&self) -> bool {
        self.state == ChunkState::Freed && self.stands_alone()
    }

    /// The list of its path that it is on while it is in flight.
    #[inline]
    pub(crate) fn flight_list<'a>(&self, path: &'a mut Path) -> &'a mut List {
        if self.is_fresh() { &mut path.fresh } else { &mut path.resent }
    }

    pub(crate) fn is_acked(&self) -> bool {
        matches!(self.state, ChunkState::Acked | ChunkState::Freed)
    }

    /// User bytes.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        usize::from(self.length)
    }

    /// User bytes, as a quantity.
    #[inline]
    pub(crate) fn byte_count(&self) -> ByteCount {
        ByteCount::from(self.len())
    }

    /// Its next transmission asks for an acknowledgement without delay (`rfc7053`).
    pub(crate) fn ask_for_sack(&mut self) {
        self.flags |= DataFlags { immediate: true, ..DataFlags::from_bits(0) }.to_bits();
    }

    /// It asked for an acknowledgement without delay when it last left.
    pub(crate) fn asks_for_sack(&self) -> bool {
        DataFlags::from_bits(self.flags).immediate
    }
}
