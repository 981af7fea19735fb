//! Chunks that were sent and that the peer has not cumulatively acknowledged.

use crate::message::Payload;
use crate::path::{List, LossCause, NIL, PathId};
use std::collections::VecDeque;
use std::ops::{Index, IndexMut};
use units::Instant;
use wire::{Data, DataFlags, Ppid, Ssn, StreamId, Tsn};

/// A DATA chunk that was sent: one cache line.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct TxChunk {
    pub(crate) payload: Payload,
    /// [`DataFlags`] as bits, and [`MOVED`].
    flags: u8,
    pub(crate) stream: StreamId,
    pub(crate) ssn: Ssn,
    pub(crate) ppid: Ppid,
    /// What it counts as in flight.
    pub(crate) booked: u32,
    /// Where it was last sent.
    pub(crate) path: PathId,
    pub(crate) sent_at: Instant,
    pub(crate) transmissions: u8,
    pub(crate) missing: u8,
    pub(crate) state: ChunkState,
    /// It was acknowledged once already: a later acknowledgement after reneging counts nothing.
    pub(crate) credited: bool,
    pub(crate) timed_out: bool,
    /// It was late, and copies of it left on other paths, the last one at `sent_at`.
    pub(crate) copied: bool,
    /// Distances to the neighbours on its list, fewer than [`MOST_OUTSTANDING`](super::send::MOST_OUTSTANDING); zero at
    /// an end.
    to_prev: u16,
    to_next: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChunkState {
    InFlight,
    /// Not in flight, waiting to be sent again.
    Lost(LossCause),
    /// The peer has it but may still renege.
    Acked,
    /// The peer has it for good; its bytes are gone.
    Freed,
}

/// A bit beside those of [`DataFlags`]: the chunk was rescheduled once.
const MOVED: u8 = 1 << 7;

const _: () = assert!(size_of::<TxChunk>() == 64);

impl TxChunk {
    pub(crate) fn is_moved(&self) -> bool {
        self.flags & MOVED != 0
    }

    pub(crate) fn set_moved(&mut self) {
        self.flags |= MOVED;
    }

    pub(crate) fn is_acked(&self) -> bool {
        matches!(self.state, ChunkState::Acked | ChunkState::Freed)
    }

    /// Its next transmission asks for an acknowledgement without delay (`rfc7053`).
    pub(crate) fn ask_for_sack(&mut self) {
        self.flags |= DataFlags { immediate: true, ..DataFlags::from_bits(0) }.to_bits();
    }

    pub(crate) fn data(&self, tsn: Tsn) -> Data<'_> {
        Data {
            flags: DataFlags::from_bits(self.flags),
            tsn,
            stream: self.stream,
            ssn: self.ssn,
            ppid: self.ppid,
            payload: self.payload.as_octets(),
        }
    }
}

/// A ring of so many places is never made smaller: a window that rises and falls as usual allocates nothing.
const KEPT: usize = 32;

/// A ring of chunks with consecutive TSNs. TSNs are unwrapped into indices of 64 bits, which have an order.
#[derive(Debug)]
pub(crate) struct Outstanding {
    /// Index of the first chunk of all.
    origin: u64,
    first: u64,
    chunks: VecDeque<TxChunk>,
}

impl Outstanding {
    pub(crate) fn new(initial_tsn: Tsn) -> Self {
        // One lap ahead, so that there is room below.
        let origin = (1 << 32) + u64::from(initial_tsn.0);
        Outstanding { origin, first: origin, chunks: VecDeque::new() }
    }

    /// The TSN at an index.
    #[inline]
    pub(crate) fn tsn(index: u64) -> Tsn {
        Tsn(index as u32)
    }

    /// How many chunks there are up to this one, since the first of all.
    #[inline]
    pub(crate) fn number(&self, index: u64) -> u64 {
        index - self.origin + 1
    }

    /// The index of a TSN: the one nearest to the cumulative TSN.
    #[inline]
    pub(crate) fn index_of(&self, tsn: Tsn) -> u64 {
        let cum = self.first - 1;
        let distance = tsn.0.wrapping_sub(cum as u32) as i32;
        cum.wrapping_add_signed(i64::from(distance))
    }

    /// Index of the lowest chunk, one above the cumulative TSN.
    #[inline]
    pub(crate) fn first_index(&self) -> u64 {
        self.first
    }

    /// Index of the chunk to be sent next.
    #[inline]
    pub(crate) fn next_index(&self) -> u64 {
        self.first + self.chunks.len() as u64
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.chunks.len()
    }

    pub(crate) fn indices(&self) -> std::ops::Range<u64> {
        self.first..self.next_index()
    }

    pub(crate) fn push(&mut self, fragment: super::queue::Fragment, booked: u32, path: PathId) -> u64 {
        let i = self.next_index();
        self.chunks.push_back(TxChunk {
            payload: fragment.payload,
            flags: fragment.flags.to_bits(),
            stream: fragment.stream,
            ssn: fragment.ssn,
            ppid: fragment.ppid,
            booked,
            path,
            sent_at: Instant::ZERO,
            transmissions: 0,
            missing: 0,
            state: ChunkState::InFlight,
            credited: false,
            timed_out: false,
            copied: false,
            to_prev: 0,
            to_next: 0,
        });
        i
    }

    pub(crate) fn pop_front(&mut self) -> Option<TxChunk> {
        self.first += 1;
        let chunk = self.chunks.pop_front();
        if self.chunks.is_empty() {
            self.chunks.clear(); // begins at its first place again, which is still in the cache
        }
        if self.chunks.capacity() > KEPT.max(8 * self.chunks.len()) {
            self.chunks.shrink_to(KEPT.max(2 * self.chunks.len()));
        }
        chunk
    }

    /// The chunk after `i` on its list.
    #[inline]
    pub(crate) fn following(&self, i: u64) -> u64 {
        match self[i].to_next {
            0 => NIL,
            distance => i + u64::from(distance),
        }
    }

    #[inline]
    fn preceding(&self, i: u64) -> u64 {
        match self[i].to_prev {
            0 => NIL,
            distance => i - u64::from(distance),
        }
    }

    /// The chunks on a list.
    pub(crate) fn along(&self, list: List) -> impl Iterator<Item = u64> {
        std::iter::successors(list.first(), |&i| Some(self.following(i)).filter(|&next| next != NIL))
    }

    /// Makes two chunks neighbours on a list; either may be [`NIL`], an end.
    #[inline]
    fn join(&mut self, list: &mut List, before: u64, after: u64) {
        let distance = if before == NIL || after == NIL { 0 } else { (after - before) as u16 };
        match before {
            NIL => list.head = after,
            before => self[before].to_next = distance,
        }
        match after {
            NIL => list.tail = before,
            after => self[after].to_prev = distance,
        }
    }

    /// Puts a chunk on a list in its place, which is nearly always the end.
    #[inline]
    pub(crate) fn link(&mut self, list: &mut List, i: u64) {
        let mut before = list.tail;
        while before != NIL && before > i {
            before = self.preceding(before);
        }
        let after = if before == NIL { list.head } else { self.following(before) };
        self.join(list, before, i);
        self.join(list, i, after);
    }

    /// Takes a chunk off its list.
    #[inline]
    pub(crate) fn unlink(&mut self, list: &mut List, i: u64) {
        let (before, after) = (self.preceding(i), self.following(i));
        self.join(list, before, after);
    }
}

impl Index<u64> for Outstanding {
    type Output = TxChunk;
    #[inline]
    fn index(&self, i: u64) -> &TxChunk {
        &self.chunks[(i - self.first) as usize]
    }
}

impl IndexMut<u64> for Outstanding {
    #[inline]
    fn index_mut(&mut self, i: u64) -> &mut TxChunk {
        &mut self.chunks[(i - self.first) as usize]
    }
}
