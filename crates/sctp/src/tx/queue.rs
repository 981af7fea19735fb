//! Messages that wait for their first transmission: a queue for each stream, and a stream scheduler that decides which of
//! them sends next.
//!
//! What a message costs does not depend on how many others wait or on how many streams there are. A stream that was never
//! used takes no memory.

use super::delivery::Tag;
use super::first_come::FirstCome;
use super::hold::Held;
use super::pieces::{Piece, PieceId, Pieces};
use crate::message::{Message, MessageId, Payload, SendError};
use crate::path::PathId;
use crate::per_stream::{PerStream, StreamSet};
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
    /// Tracked messages so far.
    tracked: u64,
    /// None unless streams are held.
    pub(super) held: Option<Box<Held>>,
}

/// The queue of a stream.
#[derive(Debug)]
struct Outbound {
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
}

/// What one DATA chunk will carry.
pub(crate) struct Fragment {
    pub(super) payload: Payload,
    pub(super) flags: DataFlags,
    pub(super) stream: StreamId,
    pub(super) ssn: Ssn,
    pub(super) ppid: Ppid,
    pub(super) tag: Tag,
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
            tracked: 0,
            held: None,
        }
    }

    /// There are this many streams from now on: after the handshake at most what was asked for, later more.
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
    /// first piece. Returns the number of a tracked message.
    pub(super) fn push(&mut self, mut message: Message) -> Option<MessageId> {
        let (beginning, tag) = match self.unfinished {
            Some(Unfinished { ppid, tag, .. }) => {
                message.ppid = ppid;
                (false, tag)
            }
            None => (true, self.next_tag(message.tracked)),
        };
        let Message { stream, unordered, ppid, .. } = message;
        self.unfinished = (!message.end_of_record).then_some(Unfinished { stream, unordered, ppid, tag });
        match &mut self.held {
            Some(held) if held.holds(stream) => held.push(message, beginning, tag),
            _ => self.enqueue(message, beginning, tag),
        }
        if self.unfinished.is_none() {
            self.release_behind_message();
        }
        tag.id()
    }

    /// Appends a piece of a message to the queue of its stream.
    pub(super) fn enqueue(&mut self, message: Message, beginning: bool, tag: Tag) {
        let Message { stream, unordered, .. } = message;
        self.bytes += message.payload.byte_count();
        self.len += 1;
        self.scheduler.add(stream);
        let outbound = self.outbound.of(stream);
        let ssn = if unordered { Ssn(0) } else { outbound.next_ssn };
        if message.end_of_record && !unordered {
            outbound.next_ssn = ssn.next();
        }
        let last = outbound.last;
        if last != PieceId::NONE && self.pieces[last].is_followed_by(&message) {
            self.pieces[last].copies += 1;
            return;
        }
        outbound.last = self.pieces.add(Piece { message, ssn, tag, beginning, copies: 1 }, PieceId::NONE);
        if last != PieceId::NONE {
            self.pieces.link(last, outbound.last);
            return;
        }
        outbound.first = outbound.last;
        if self.head == PieceId::NONE {
            self.head = outbound.first;
        }
    }

    /// The stream of the last message pushed, if its end is still to come.
    pub(super) fn unfinished_stream(&self) -> Option<StreamId> {
        self.unfinished.map(|unfinished| unfinished.stream)
    }

    /// True if no message of a stream waits in its queue.
    pub(super) fn has_none_of(&mut self, stream: StreamId) -> bool {
        self.outbound.get_mut(stream).is_none_or(|outbound| outbound.first == PieceId::NONE)
    }

    /// Messages of these streams that are queued from now on are numbered from 0.
    pub(super) fn renumber(&mut self, streams: &StreamSet) {
        for stream in self.outbound.used(streams) {
            if let Some(outbound) = self.outbound.get_mut(stream) {
                outbound.next_ssn = Ssn(0);
            }
        }
    }

    /// Streams there are.
    pub(super) fn streams(&self) -> u16 {
        self.streams
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
        let (stream, ssn, ppid, tag) = (message.stream, piece.ssn, message.ppid, piece.tag);
        let of_run = piece.copies > 1;
        let payload = if of_run {
            piece.copies -= 1;
            piece.ssn = if message.unordered { ssn } else { ssn.next() };
            message.payload.clone()
        } else {
            piece.beginning = false;
            message.payload.split_to(len.min(most))
        };
        let fragment = Fragment { flags, stream, ssn, ppid, tag, payload };
        self.bytes -= fragment.payload.byte_count();
        if last {
            self.len -= 1;
            if !of_run {
                self.remove_head(stream);
            }
            if self.scheduler.sent() || !of_run {
                let next = self.scheduler.next();
                self.head = next.map_or(PieceId::NONE, |stream| self.outbound.of(stream).first);
            }
        }
        fragment
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
        let (stream, ssn) = (message.stream, run.ssn);
        run.copies -= 1;
        run.ssn = if message.unordered { ssn } else { ssn.next() };
        self.head = self
            .pieces
            .add(Piece { message, ssn, tag: Tag::default(), beginning: true, copies: 1 }, self.head);
        self.outbound.of(stream).first = self.head;
        self.take(most)
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
            queue.push(Message { ppid: Ppid(ppid), end_of_record, ..filler(10) });
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
            queue.push(last.clone());
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
                    queue.push(Message { stream: StreamId(stream), ..filler(10) });
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
        queue.push(bytes(1, 10));
        queue.push(bytes(0, 1 << 20));
        queue.push(bytes(1, 10));
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

    fn filler(n: u32) -> Message {
        Message::new(Payload::Filler(n))
    }

    #[test]
    fn a_run_of_like_messages_is_one_entry_and_comes_out_as_what_went_in() {
        let mut queue = SendQueue::new(1);
        for message in
            [filler(10), filler(10), filler(10), filler(7), Message { unordered: true, ..filler(7) }]
        {
            queue.push(message);
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
                    queue.push(Message { stream: StreamId(stream), unordered, ..filler(length) });
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
