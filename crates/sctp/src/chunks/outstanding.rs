//! Chunks that were sent and not cumulatively acknowledged.

use super::column::Column;
use super::{ChunkState, Fragment, RecordId, Tag, TxChunk};
use crate::message::Payload;
use crate::path::{List, NIL, PathId};
use crate::steps;
use bytes::Bytes;
use cc::SendRecord;
use std::collections::VecDeque;
use std::ops::{Index, IndexMut};
use transport::Octets;
use units::{ByteCount, Instant};
use wire::{Data, DataFlags, IData, Mid, PacketWriter, SkippedMessage, Ssn, Tsn};

/// Least number of chunks for which the ring keeps memory, so that a varying flight size needs no
/// allocations.
const KEPT: usize = 32;

/// The number of different TSNs: the indices of equal TSNs differ by a multiple of it.
const LAP: u64 = 1 << 32;

/// A ring of chunks with consecutive TSNs, and columns of values that only some chunks have. TSNs are
/// unwrapped into indices of 64 bits, which are ordered.
#[derive(Debug)]
pub(crate) struct Outstanding {
    /// The first TSN of the association. The index of the chunk with this TSN is [`LAP`] higher.
    initial: u32,
    /// TSN of the chunk that was most recently inserted before another chunk of its list.
    inserted: u32,
    first: u64,
    chunks: VecDeque<TxChunk>,
    /// User bytes; empty for filler (user data that is all zeros and is not stored).
    payload: Column<Bytes>,
    /// State of the path at the last transmission, if the congestion control needs rate samples.
    records: Column<SendRecord>,
    /// The tracked message (whose outcome is reported) of each chunk, until the peer cannot renege on
    /// the chunk.
    tags: Column<Tag>,
    /// The partial-reliability record of the message of each chunk, if there is one, until the peer cannot
    /// renege on the chunk.
    messages: Column<RecordId>,
    /// Message and fragment numbers; used only with interleaving.
    places: Column<Place>,
}

/// The fields of an I-DATA chunk that give its place in a message.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    mid: u32,
    fsn: u32,
}

impl Outstanding {
    pub(crate) fn new(initial_tsn: Tsn) -> Self {
        // The first index is one lap above the first TSN, so that lower TSNs have indices, too.
        let first = LAP + u64::from(initial_tsn.0);
        Outstanding {
            initial: initial_tsn.0,
            inserted: 0,
            first,
            chunks: VecDeque::new(),
            payload: Column::default(),
            records: Column::default(),
            tags: Column::default(),
            messages: Column::default(),
            places: Column::default(),
        }
    }

    /// Makes all chunks I-DATA chunks. The caller must call this before it inserts the first chunk.
    pub(crate) fn interleave(&mut self) {
        self.places.open();
    }

    /// True if chunks are I-DATA chunks.
    #[inline]
    pub(crate) fn is_interleaved(&self) -> bool {
        self.places.is_open()
    }

    /// The TSN of the chunk with this index: the lower 32 bits.
    #[inline]
    pub(crate) fn tsn(index: u64) -> Tsn {
        Tsn(index as u32)
    }

    /// Number of a chunk among all chunks of the association in TSN order, counted from 1.
    #[inline]
    pub(crate) fn number(&self, index: u64) -> u64 {
        index - (LAP + u64::from(self.initial)) + 1
    }

    /// The index of a TSN: of all its possible indices, the one nearest to the cumulative TSN.
    #[inline]
    pub(crate) fn index_of(&self, tsn: Tsn) -> u64 {
        let cum = self.first - 1;
        let distance = tsn.0.wrapping_sub(cum as u32) as i32;
        cum.wrapping_add_signed(i64::from(distance))
    }

    /// Index of the lowest chunk, the first above the cumulative TSN.
    #[inline]
    pub(crate) fn first_index(&self) -> u64 {
        self.first
    }

    /// Sets the TSN of the next chunk, whose index is above all earlier indices. No chunk may be outstanding.
    pub(crate) fn jump_to(&mut self, next: Tsn) {
        debug_assert!(self.chunks.is_empty());
        self.first += u64::from(next.0.wrapping_sub(self.first as u32));
    }

    /// Index of the next chunk to be sent.
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

    /// Position of chunk `i` in the ring and in each column, from 0.
    #[inline]
    fn place_of(&self, i: u64) -> usize {
        (i - self.first) as usize
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, fragment: Fragment, flight_size: u32, path: PathId) -> u64 {
        let i = self.next_index();
        let length = fragment.payload.len() as u16;
        if let Payload::Bytes(bytes) = fragment.payload {
            self.payload.set(self.chunks.len(), bytes);
        }
        if fragment.tag != Tag::default() {
            self.tags.set(self.chunks.len(), fragment.tag);
        }
        if fragment.record != RecordId::default() {
            self.messages.set(self.chunks.len(), fragment.record);
        }
        if self.places.is_open() {
            self.places.set(self.chunks.len(), Place { mid: fragment.number, fsn: fragment.fsn });
        }
        let ssn = if fragment.flags.unordered { Ssn(0) } else { Ssn(fragment.number as u16) };
        self.chunks.push_back(TxChunk {
            sent_at: Instant::ZERO,
            flight_size,
            ppid: fragment.ppid,
            stream: fragment.stream,
            ssn,
            length,
            to_prev: 0,
            to_next: 0,
            flags: fragment.flags.to_bits(),
            marks: 0,
            path,
            transmissions: 0,
            missing: 0,
            state: ChunkState::InFlight,
        });
        i
    }

    /// Makes the ring keep a [`SendRecord`] of each transmission, for rate samples. Call this before
    /// inserting the first chunk.
    pub(crate) fn keep_records(&mut self) {
        self.records.open();
    }

    #[inline]
    pub(crate) fn keeps_records(&self) -> bool {
        self.records.is_open()
    }

    /// Stores the state of the path at a transmission of chunk `i`.
    pub(crate) fn set_record(&mut self, i: u64, record: SendRecord) {
        self.records.set(self.place_of(i), record);
    }

    /// State of the path at the last transmission of chunk `i`.
    pub(crate) fn record(&self, i: u64) -> SendRecord {
        self.records.get(self.place_of(i)).copied().unwrap_or_default()
    }

    /// Removes and returns the tag of chunk `i`, which identifies its tracked message.
    #[inline]
    pub(crate) fn take_tag(&mut self, i: u64) -> Tag {
        self.tags.take(self.place_of(i))
    }

    /// Identifies the partial-reliability record of the message of chunk `i`; the default if there is none.
    #[inline]
    pub(crate) fn message_of(&self, i: u64) -> RecordId {
        self.messages.get(self.place_of(i)).copied().unwrap_or_default()
    }

    /// Removes the link of chunk `i` to the partial-reliability record of its message, and returns it.
    #[inline]
    pub(crate) fn take_message(&mut self, i: u64) -> RecordId {
        self.messages.take(self.place_of(i))
    }

    /// The bytes of chunk `i`.
    pub(crate) fn payload_of(&self, i: u64) -> Payload {
        match self.payload.get(self.place_of(i)) {
            Some(bytes) if !bytes.is_empty() => Payload::Bytes(bytes.clone()),
            _ => Payload::Filler(self[i].len() as u32),
        }
    }

    /// Frees the bytes of a chunk that is never sent again, and sets its length to 0. Returns the old length.
    pub(crate) fn free(&mut self, i: u64) -> ByteCount {
        self.payload.take(self.place_of(i));
        ByteCount::from(usize::from(std::mem::take(&mut self[i].length)))
    }

    /// Chunk `i` as the DATA chunk to write.
    #[inline]
    pub(crate) fn data(&self, i: u64) -> Data<'_> {
        let chunk = &self[i];
        let head = self.payload.get(self.place_of(i)).map_or(&[][..], |bytes| bytes);
        Data {
            flags: DataFlags::from_bits(chunk.flags),
            tsn: Self::tsn(i),
            stream: chunk.stream,
            ssn: chunk.ssn,
            ppid: chunk.ppid,
            payload: Octets { head, zeros: chunk.len() - head.len() },
        }
    }

    /// Chunk `i` as the I-DATA chunk to write.
    fn i_data(&self, i: u64) -> IData<'_> {
        let Data { flags, tsn, stream, ppid, payload, .. } = self.data(i);
        let Place { mid, fsn } = self.places.get(self.place_of(i)).copied().unwrap_or_default();
        IData { flags, tsn, stream, mid: Mid(mid), ppid, fsn, payload }
    }

    /// The message of chunk `i` as a FORWARD TSN names it; without interleaving the message number is
    /// the SSN.
    #[cold]
    pub(crate) fn skipped(&self, i: u64) -> SkippedMessage {
        let IData { flags, stream, mid, .. } = self.i_data(i);
        let mid = if self.is_interleaved() { mid } else { Mid(self[i].ssn.0.into()) };
        SkippedMessage { stream, unordered: flags.unordered, mid }
    }

    /// Writes chunk `i` into a packet that has room for it.
    #[inline(always)] // into `Sender::transmit`, which calls it for each chunk
    pub(crate) fn write(&self, i: u64, w: &mut PacketWriter<'_>) {
        if self.is_interleaved() {
            self.write_i_data(i, w);
        } else {
            w.data(&self.data(i));
        }
    }

    #[inline(never)]
    fn write_i_data(&self, i: u64, w: &mut PacketWriter<'_>) {
        w.push(&self.i_data(i));
    }

    pub(crate) fn pop_front(&mut self) -> Option<TxChunk> {
        self.first += 1;
        let chunk = self.chunks.pop_front();
        if self.chunks.is_empty() {
            self.chunks.clear(); // the ring restarts at its first place, which is still in the CPU cache
        }
        if self.chunks.capacity() > KEPT.max(8 * self.chunks.len()) {
            self.chunks.shrink_to(KEPT.max(2 * self.chunks.len()));
        }
        self.payload.pop_front(self.chunks.capacity());
        self.records.pop_front(self.chunks.capacity());
        self.tags.pop_front(self.chunks.capacity());
        self.messages.pop_front(self.chunks.capacity());
        self.places.pop_front(self.chunks.capacity());
        chunk
    }

    /// The chunk after `i` on its list; [`NIL`] if `i` is the last one.
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

    /// Makes two chunks neighbours on a list. [`NIL`] means an end of the list.
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

    /// Inserts a chunk into a list by TSN, nearly always at the end.
    #[inline(always)] // into `Sender::transmit`, which calls it for each chunk
    pub(crate) fn link(&mut self, list: &mut List, i: u64) {
        let before = self.place(list, i, &mut { u32::MAX }).unwrap_or(list.tail);
        self.link_after(list, before, i);
    }

    /// Returns the chunk (or [`NIL`]) after which `i` belongs; `None` if the search exceeds `steps`.
    #[inline]
    pub(crate) fn place(&self, list: &List, i: u64, steps: &mut u32) -> Option<u64> {
        if list.tail == NIL || list.tail < i { Some(list.tail) } else { self.place_within(list, i, steps) }
    }

    /// Searches from both ends of the list and from the chunk inserted last. So inserting many
    /// successive chunks passes over the list only once.
    #[cold]
    fn place_within(&self, list: &List, i: u64, steps: &mut u32) -> Option<u64> {
        if list.head > i {
            return Some(NIL);
        }
        let (mut low, mut high) = (list.head, list.tail);
        let inserted = self.first + u64::from(self.inserted.wrapping_sub(self.first as u32));
        if inserted != i && self.is_on(list, inserted) {
            if inserted < i { low = inserted } else { high = inserted }
        }
        loop {
            steps::count(2);
            let (after, before) = (self.following(low), self.preceding(high));
            if after > i {
                return Some(low);
            }
            if before < i {
                return Some(before);
            }
            (low, high) = (after, before);
            *steps = steps.checked_sub(2)?;
        }
    }

    /// Returns true if a chunk is on a non-empty list, judged by its state and path.
    fn is_on(&self, list: &List, i: u64) -> bool {
        self.indices().contains(&i) && {
            let (chunk, head) = (&self[i], &self[list.head]);
            let listed = matches!(chunk.state, ChunkState::InFlight | ChunkState::Lost(_));
            let flies_alike = chunk.state != ChunkState::InFlight || chunk.is_fresh() == head.is_fresh();
            listed && chunk.path == head.path && chunk.state == head.state && flies_alike
        }
    }

    /// Inserts chunk `i` into a list after chunk `before`, which [`place`](Self::place) returned.
    #[inline(always)]
    pub(crate) fn link_after(&mut self, list: &mut List, before: u64, i: u64) {
        let after = if before == NIL { list.head } else { self.following(before) };
        if after != NIL {
            self.inserted = i as u32;
        }
        self.join(list, before, i);
        self.join(list, i, after);
    }

    /// Removes a chunk from its list.
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
        &self.chunks[self.place_of(i)]
    }
}

impl IndexMut<u64> for Outstanding {
    #[inline]
    fn index_mut(&mut self, i: u64) -> &mut TxChunk {
        let place = self.place_of(i);
        &mut self.chunks[place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use wire::{Ppid, StreamId};

    proptest! {
        /// Adds chunks of filler and of bytes, acknowledges and removes them. Checks the bytes of each chunk.
        #[test]
        fn a_chunk_carries_what_it_was_given(steps in prop::collection::vec((0u8..5, 1usize..40), 1..200)) {
            let mut out = Outstanding::new(Tsn(u32::MAX - 20));
            let mut model: VecDeque<Vec<u8>> = VecDeque::new();
            for (kind, n) in steps {
                match kind {
                    0..=2 => {
                        let bytes = vec![if kind == 0 { 0 } else { n as u8 }; n];
                        let filler = kind == 0;
                        let payload =
                            if filler { Payload::Filler(n as u32) } else { Payload::Bytes(bytes.clone().into()) };
                        let (flags, stream, number) = (DataFlags::from_bits(3), StreamId(1), n as u32);
                        let (tag, record, ppid) = (Tag::default(), RecordId::default(), Ppid(7));
                        let fragment = Fragment { payload, flags, stream, number, fsn: 0, ppid, tag, record };
                        out.push(fragment, 0, PathId(0));
                        model.push_back(bytes);
                    }
                    3 => prop_assert_eq!(out.pop_front().map(|chunk| chunk.len()), model.pop_front().map(|b| b.len())),
                    _ if n < model.len() => {
                        let freed = out.free(out.first_index() + n as u64);
                        prop_assert_eq!(freed, ByteCount::from(model[n].len()));
                        model[n].clear();
                    }
                    _ => {}
                }
                let carried: Vec<_> = out.indices().map(|i| out.data(i).payload.to_vec()).collect();
                prop_assert_eq!(carried, Vec::from(model.clone()));
            }
        }
    }
}
