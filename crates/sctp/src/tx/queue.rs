//! Messages that wait for their first transmission: a queue for each stream, and a stream scheduler that decides which of
//! them sends next.
//!
//! What a message costs does not depend on how many others wait or on how many streams there are. A stream that was never
//! used takes no memory.

use super::delivery::Tag;
use super::first_come::FirstCome;
use super::partial::RecordId;
use super::pieces::{Piece, PieceId, Pieces};
use crate::message::{Message, MessageId, Payload, SendError};
use crate::path::PathId;
use crate::per_stream::PerStream;
use units::ByteCount;
use wire::{DataFlags, Ppid, Ssn, StreamId};

#[derive(Debug)]
pub(super) struct SendQueue {
    pieces: Pieces,
    /// What is sent next: the first piece of the stream that the scheduler chose.
    head: PieceId,
    scheduler: FirstCome,
    outbound: PerStream<Outbound>,
    bytes: ByteCount,
    /// Stream and order of the last message pushed, if its end is still to come.
    unfinished: Option<Unfinished>,
    /// Streams there are.
    streams: u16,
    /// Pieces, each copy counted.
    len: u32,
    /// Pieces without bytes, of messages that were abandoned: they leave when they would be sent.
    voids: u32,
    /// Tracked messages so far.
    tracked: u64,
}

/// The queue of a stream.
#[derive(Debug)]
struct Outbound {
    /// Of the message that is sent next or of which a part was sent: numbers are given with the first transmission, so that
    /// an abandoned message that was not sent leaves no gap.
    next_ssn: Ssn,
    first: PieceId,
    last: PieceId,
}

impl Default for Outbound {
    fn default() -> Self {
        Outbound { next_ssn: Ssn(0), first: PieceId::NONE, last: PieceId::NONE }
    }
}

/// What the next piece of a message has in common with those before.
#[derive(Clone, Copy, Debug)]
struct Unfinished {
    stream: StreamId,
    unordered: bool,
    ppid: Ppid,
    tag: Tag,
    record: RecordId,
    /// It was abandoned: what is still to come of it is not taken.
    abandoned: bool,
}

/// What one DATA chunk will carry.
pub(crate) struct Fragment {
    pub(super) payload: Payload,
    pub(super) flags: DataFlags,
    pub(super) stream: StreamId,
    pub(super) ssn: Ssn,
    pub(super) ppid: Ppid,
    pub(super) tag: Tag,
    pub(super) record: RecordId,
}

impl SendQueue {
    pub(super) fn new(streams: u16) -> Self {
        SendQueue {
            pieces: Pieces::new(),
            head: PieceId::NONE,
            scheduler: FirstCome::default(),
            outbound: PerStream::default(),
            bytes: ByteCount::ZERO,
            unfinished: None,
            streams,
            len: 0,
            voids: 0,
            tracked: 0,
        }
    }

    /// The handshake settled on this many streams, at most what was asked for.
    pub(super) fn set_streams(&mut self, streams: u16) {
        self.streams = streams;
    }

    pub(super) fn check(&self, message: &Message) -> Result<(), SendError> {
        if message.payload.is_empty() {
            return Err(SendError::Empty);
        }
        if message.stream.0 >= self.streams {
            return Err(SendError::NoSuchStream { stream: message.stream, streams: self.streams });
        }
        match self.unfinished {
            Some(Unfinished { stream, unordered, .. })
                if (stream, unordered) != (message.stream, message.unordered) =>
            {
                Err(SendError::UnfinishedMessage { stream })
            }
            _ => Ok(()),
        }
    }

    /// Appends a message, or a piece of one, to the queue of its stream: its payload protocol identifier is that of the
    /// first piece, and so is its record. Returns the number of a tracked message.
    pub(super) fn push(&mut self, mut message: Message, record: RecordId) -> Option<MessageId> {
        let (beginning, tag, record) = match self.unfinished {
            Some(Unfinished { ppid, tag, record, .. }) => {
                message.ppid = ppid;
                (false, tag, record)
            }
            None => (true, self.next_tag(message.tracked), record),
        };
        let Message { stream, unordered, ppid, .. } = message;
        self.unfinished = (!message.end_of_record).then_some(Unfinished {
            stream,
            unordered,
            ppid,
            tag,
            record,
            abandoned: false,
        });
        self.bytes += message.payload.byte_count();
        self.len += 1;
        self.scheduler.add(stream);
        let outbound = self.outbound.of(stream);
        let last = outbound.last;
        if last != PieceId::NONE && self.pieces[last].is_followed_by(&message) {
            self.pieces[last].copies += 1;
            return None; // no run is tracked
        }
        outbound.last = self.pieces.add(Piece { message, tag, record, beginning, copies: 1 }, PieceId::NONE);
        if last != PieceId::NONE {
            self.pieces.link(last, outbound.last);
            return tag.id();
        }
        outbound.first = outbound.last;
        if self.head == PieceId::NONE {
            self.head = outbound.first;
        }
        tag.id()
    }

    fn next_tag(&mut self, tracked: bool) -> Tag {
        if !tracked {
            return Tag::default();
        }
        self.tracked += 1;
        Tag::of(MessageId(self.tracked - 1))
    }

    /// Tracked messages so far.
    pub(super) fn tracked(&self) -> u64 {
        self.tracked
    }

    /// Continues the numbering of tracked messages behind `tracked`, as after a restart.
    pub(super) fn count_from(&mut self, tracked: u64) {
        self.tracked = tracked;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(super) fn len(&self) -> usize {
        self.len as usize
    }

    pub(super) fn bytes(&self) -> ByteCount {
        self.bytes
    }

    #[inline]
    fn head(&self) -> Option<&Piece> {
        (self.head != PieceId::NONE).then(|| &self.pieces[self.head])
    }

    /// Bytes left of the piece that is sent next.
    #[inline]
    pub(super) fn head_len(&self) -> Option<usize> {
        self.head().map(|piece| piece.message.payload.len())
    }

    /// The path chosen for the piece that is sent next.
    #[inline]
    pub(super) fn head_path(&self) -> Option<PathId> {
        self.head().and_then(|piece| piece.message.path)
    }

    /// The next fragment of at most `most` bytes. The queue must not be empty.
    #[inline]
    pub(super) fn take(&mut self, most: usize) -> Fragment {
        let piece = &mut self.pieces[self.head];
        let len = piece.message.payload.len();
        let last = len <= most;
        if piece.copies > 1 && !last {
            return self.take_of_run(most);
        }
        let message = &mut piece.message;
        let flags = DataFlags {
            unordered: message.unordered,
            beginning: piece.beginning,
            ending: last && message.end_of_record,
            immediate: last && message.immediate_sack,
        };
        let (stream, ppid, tag, record) = (message.stream, message.ppid, piece.tag, piece.record);
        let of_run = piece.copies > 1;
        let payload = if of_run {
            piece.copies -= 1;
            message.payload.clone()
        } else {
            piece.beginning = false;
            message.payload.split_to(len.min(most))
        };
        let ssn = self.number(stream, flags.unordered, flags.ending);
        let fragment = Fragment { flags, stream, ssn, ppid, tag, record, payload };
        self.bytes -= fragment.payload.byte_count();
        if last {
            self.len -= 1;
            if !of_run {
                self.remove_head(stream);
            }
            if self.scheduler.sent() || !of_run {
                self.next_turn();
                if self.voids > 0 {
                    self.skip_voids();
                }
            }
        }
        fragment
    }

    /// The stream sequence number of the message of a stream that is sent now; `ends` it or not.
    #[inline]
    fn number(&mut self, stream: StreamId, unordered: bool, ends: bool) -> Ssn {
        if unordered {
            return Ssn(0);
        }
        let outbound = self.outbound.of(stream);
        let ssn = outbound.next_ssn;
        if ends {
            outbound.next_ssn = ssn.next();
        }
        ssn
    }

    /// The head is the first piece of the stream that the scheduler chose.
    #[inline]
    fn next_turn(&mut self) {
        let next = self.scheduler.next();
        self.head = next.map_or(PieceId::NONE, |stream| self.outbound.of(stream).first);
    }

    /// The piece that was sent leaves the queue of its stream.
    fn remove_head(&mut self, stream: StreamId) {
        let outbound = self.outbound.of(stream);
        outbound.first = self.pieces.next(self.head);
        if outbound.first == PieceId::NONE {
            outbound.last = PieceId::NONE;
        }
        self.pieces.remove(self.head);
    }

    /// As [`Self::take`], where the first message of a run has to be divided and so leaves the run.
    fn take_of_run(&mut self, most: usize) -> Fragment {
        let run = &mut self.pieces[self.head];
        let message = run.message.clone();
        let stream = message.stream;
        run.copies -= 1;
        let (tag, record) = (Tag::default(), RecordId::default());
        self.head = self.pieces.add(Piece { message, tag, record, beginning: true, copies: 1 }, self.head);
        self.outbound.of(stream).first = self.head;
        self.take(most)
    }

    /// The record of the message that is sent next.
    #[inline]
    pub(super) fn head_record(&self) -> RecordId {
        self.head().map(|piece| piece.record).unwrap_or_default()
    }

    /// The last piece given for a stream; there is one right after a push.
    pub(super) fn last_piece(&mut self, stream: StreamId) -> PieceId {
        self.outbound.of(stream).last
    }

    /// Bytes that wait of the message of a record, as [`Self::abandon`] would find them; none if no piece waits.
    pub(super) fn bytes_of(
        &self,
        record: RecordId,
        stream: StreamId,
        first: Option<PieceId>,
    ) -> Option<ByteCount> {
        let first = first.or_else(|| self.outbound.get(stream).map(|outbound| outbound.first));
        let is_piece = |id: &PieceId| *id != PieceId::NONE;
        let pieces = std::iter::successors(first.filter(is_piece), |&id| {
            Some(self.pieces.next(id)).filter(is_piece)
        });
        let own = pieces.take_while(|&id| self.pieces[id].record == record);
        own.map(|id| self.pieces[id].message.payload.byte_count()).reduce(|sum, bytes| sum + bytes)
    }

    /// The next piece given belongs to a message that was begun before.
    pub(super) fn is_unfinished(&self) -> bool {
        self.unfinished.is_some()
    }

    /// True if the message that is still being given was abandoned: this piece of it is not taken.
    pub(super) fn refuses(&mut self, piece: &Message) -> bool {
        let refused = self.unfinished.is_some_and(|unfinished| unfinished.abandoned);
        if refused && piece.end_of_record {
            self.unfinished = None;
        }
        refused
    }

    /// Abandons what waits of the message of a record. `first` is its first piece if no part of it was sent; else the stream
    /// begins with it. Returns the bytes, piece by piece.
    pub(super) fn abandon(
        &mut self,
        record: RecordId,
        stream: StreamId,
        first: Option<PieceId>,
    ) -> Vec<Payload> {
        if let Some(unfinished) = &mut self.unfinished
            && unfinished.record == record
        {
            (unfinished.abandoned, unfinished.record) = (true, RecordId::default());
        }
        let mut id = first.unwrap_or(self.outbound.of(stream).first);
        let mut parts = Vec::new();
        while id != PieceId::NONE && self.pieces[id].record == record {
            let piece = &mut self.pieces[id];
            piece.record = RecordId::default();
            let payload = std::mem::replace(&mut piece.message.payload, Payload::Filler(0));
            self.bytes -= payload.byte_count();
            self.len -= 1;
            self.voids += 1;
            parts.push(payload);
            id = self.pieces.next(id);
        }
        self.skip_voids();
        parts
    }

    /// The number of an abandoned message of which a part was sent, and which is not continued.
    pub(super) fn end(&mut self, stream: StreamId, unordered: bool) -> Ssn {
        self.number(stream, unordered, true)
    }

    /// Removes pieces without bytes that would be sent next.
    #[cold]
    fn skip_voids(&mut self) {
        while self.voids > 0 && self.head().is_some_and(|piece| piece.message.payload.is_empty()) {
            let stream = self.pieces[self.head].message.stream;
            self.voids -= 1;
            self.remove_head(stream);
            self.scheduler.sent();
            self.next_turn();
        }
    }

    /// Bytes allocated.
    #[cfg(test)]
    fn heap_bytes(&self) -> usize {
        self.pieces.heap_bytes() + self.scheduler.heap_bytes() + self.outbound.heap_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    #[test]
    fn pieces_of_a_message_keep_the_payload_protocol_identifier_of_the_first() {
        let mut queue = SendQueue::new(1);
        for (ppid, end_of_record) in [(1, false), (2, false), (3, true), (4, true)] {
            give(&mut queue, Message { ppid: Ppid(ppid), end_of_record, ..filler(10) });
        }
        let sent: Vec<u32> = std::iter::from_fn(|| queue.head_len().map(|_| queue.take(8).ppid.0)).collect();
        assert_eq!(sent, [1, 1, 1, 1, 1, 1, 4, 4]);
    }

    #[test]
    fn a_stream_used_alone_takes_no_memory_for_those_below() {
        let mut queue = SendQueue::new(u16::MAX);
        queue.set_streams(u16::MAX);
        let last = Message { stream: StreamId(u16::MAX - 1), ..filler(1) };
        for ssn in 0..3 {
            assert!(queue.check(&last).is_ok());
            give(&mut queue, last.clone());
            assert_eq!(queue.take(8).ssn, Ssn(ssn));
        }
        assert!(queue.outbound.heap_bytes() < 400, "{} bytes", queue.outbound.heap_bytes());
    }

    #[test]
    fn an_empty_queue_holds_64_bytes_at_most_for_each_stream_that_was_used() {
        for step in [1, 7] {
            let mut queue = SendQueue::new(u16::MAX);
            let streams: Vec<u16> = (0..u16::MAX).step_by(step).collect();
            for round in 0..2 {
                for &stream in &streams {
                    give(&mut queue, Message { stream: StreamId(stream), ..filler(10) });
                }
                for &stream in &streams {
                    let fragment = queue.take(100);
                    assert_eq!((fragment.stream, fragment.ssn), (StreamId(stream), Ssn(round)));
                }
            }
            assert!(queue.is_empty());
            let most = 64 * streams.len() + 16_384;
            assert!(queue.heap_bytes() <= most, "{} bytes for {} streams", queue.heap_bytes(), streams.len());
        }
    }

    #[test]
    fn a_long_message_neither_overtakes_nor_is_overtaken() {
        let mut queue = SendQueue::new(2);
        let bytes = |stream, n: usize| {
            let payload = Payload::Bytes(vec![stream as u8; n].into());
            Message { stream: StreamId(stream), ..Message::new(payload) }
        };
        give(&mut queue, bytes(1, 10));
        give(&mut queue, bytes(0, 1 << 20));
        give(&mut queue, bytes(1, 10));
        let mut sent: Vec<(u16, usize)> = Vec::new();
        while queue.head_len().is_some() {
            let fragment = queue.take(1452);
            match sent.last_mut() {
                Some((stream, bytes)) if *stream == fragment.stream.0 => *bytes += fragment.payload.len(),
                _ => sent.push((fragment.stream.0, fragment.payload.len())),
            }
        }
        assert_eq!(sent, [(1, 10), (0, 1 << 20), (1, 10)]);
    }

    fn give(queue: &mut SendQueue, message: Message) {
        queue.push(message, RecordId::default());
    }

    fn filler(n: u32) -> Message {
        Message::new(Payload::Filler(n))
    }

    #[test]
    fn a_run_of_like_messages_is_one_entry_and_comes_out_as_what_went_in() {
        let mut queue = SendQueue::new(1);
        for message in
            [filler(10), filler(10), filler(10), filler(7), Message { unordered: true, ..filler(7) }]
        {
            give(&mut queue, message);
        }
        assert_eq!((queue.pieces.len(), queue.len(), queue.bytes().get()), (3, 5, 44));
        let mut fragments = Vec::new();
        while !queue.is_empty() {
            let f = queue.take(8);
            fragments.push((f.payload.len(), f.ssn.0, f.flags.beginning, f.flags.ending, f.flags.unordered));
        }
        let divided = |ssn| [(8, ssn, true, false, false), (2, ssn, false, true, false)];
        let mut expected = [divided(0), divided(1), divided(2)].concat();
        expected.extend([(7, 3, true, true, false), (7, 0, true, true, true)]);
        assert_eq!(fragments, expected);
        assert_eq!((queue.len(), queue.bytes()), (0, ByteCount::ZERO));
    }

    proptest! {
        /// A model with one queue for all streams, in which each entry is a fragment still to come.
        #[test]
        fn messages_of_all_streams_leave_in_the_order_given(
            steps in prop::collection::vec((0u16..4, 1u32..20, 0u8..10), 1..300),
        ) {
            let mut queue = SendQueue::new(4);
            let mut next_ssn = [0; 4];
            let mut model: VecDeque<(u16, u16, u32, bool)> = VecDeque::new();
            for (stream, length, kind) in steps {
                if kind < 6 {
                    // Few lengths, so that there are runs.
                    let (length, unordered) = (10 + length / 12, kind == 0);
                    let ssn = if unordered { 0 } else { next_ssn[usize::from(stream)] };
                    next_ssn[usize::from(stream)] += u16::from(!unordered);
                    give(&mut queue, Message { stream: StreamId(stream), unordered, ..filler(length) });
                    model.push_back((stream, ssn, length, unordered));
                } else if let Some(&(stream, ssn, left, unordered)) = model.front() {
                    prop_assert_eq!(queue.head_len(), Some(left as usize));
                    let f = queue.take(length as usize);
                    let taken = f.payload.len() as u32;
                    prop_assert_eq!(taken, left.min(length));
                    prop_assert_eq!((f.stream.0, f.ssn.0, f.flags.unordered), (stream, ssn, unordered));
                    prop_assert_eq!(f.flags.ending, taken == left);
                    match taken == left {
                        true => drop(model.pop_front()),
                        false => model[0].2 -= taken,
                    }
                }
                prop_assert_eq!(queue.len(), model.len());
                prop_assert_eq!(queue.bytes().get(), model.iter().map(|entry| u64::from(entry.2)).sum::<u64>());
            }
        }
    }
}
