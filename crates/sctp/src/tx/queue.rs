//! Messages that wait for their first transmission, first come first served.

use crate::message::{Message, Payload, SendError};
use crate::path::PathId;
use crate::per_stream::PerStream;
use std::collections::VecDeque;
use units::ByteCount;
use wire::{DataFlags, Ppid, Ssn, StreamId};

#[derive(Debug)]
#[repr(C)] // the pieces first
pub(super) struct SendQueue {
    pieces: VecDeque<Piece>,
    bytes: ByteCount,
    /// Stream and order of the last message pushed, if its end is still to come.
    unfinished: Option<Unfinished>,
    /// Streams there are.
    streams: u16,
    /// Pieces, each copy counted.
    len: u32,
    next_ssn: PerStream<Ssn>,
}

/// What the next piece of a message has in common with those before.
#[derive(Clone, Copy, Debug)]
struct Unfinished {
    stream: StreamId,
    unordered: bool,
    ppid: Ppid,
}

/// A message, or what one push brought of it; or a run of whole messages alike, which a saturated source makes, so that
/// a long queue of them costs no memory.
#[derive(Debug)]
#[repr(align(64))] // not two cache lines
pub(super) struct Piece {
    pub(super) message: Message,
    pub(super) copies: usize,
    /// Of the first copy.
    ssn: Ssn,
    beginning: bool,
}

impl Piece {
    /// True if `next` can join the run.
    fn is_followed_by(&self, next: &Message) -> bool {
        let whole = self.beginning && self.message.end_of_record;
        whole && matches!(next.payload, Payload::Filler(_)) && self.message == *next
    }
}

/// What one DATA chunk will carry.
pub(crate) struct Fragment {
    pub(super) payload: Payload,
    pub(super) flags: DataFlags,
    pub(super) stream: StreamId,
    pub(super) ssn: Ssn,
    pub(super) ppid: Ppid,
}

impl SendQueue {
    pub(super) fn new(streams: u16) -> Self {
        SendQueue {
            pieces: VecDeque::new(),
            len: 0,
            bytes: ByteCount::ZERO,
            unfinished: None,
            streams,
            next_ssn: PerStream::default(),
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

    /// Appends a message, or a piece of one: its payload protocol identifier is that of the first piece.
    pub(super) fn push(&mut self, mut message: Message) {
        let ssn = if message.unordered {
            Ssn(0)
        } else {
            let next = self.next_ssn.of(message.stream);
            let ssn = *next;
            if message.end_of_record {
                *next = ssn.next();
            }
            ssn
        };
        let beginning = match self.unfinished {
            Some(Unfinished { ppid, .. }) => {
                message.ppid = ppid;
                false
            }
            None => true,
        };
        if !message.end_of_record {
            let Message { stream, unordered, ppid, .. } = message;
            self.unfinished = Some(Unfinished { stream, unordered, ppid });
        } else if !beginning {
            self.unfinished = None;
        }
        self.bytes += message.payload.byte_count();
        self.len += 1;
        match self.pieces.back_mut() {
            Some(run) if run.is_followed_by(&message) => run.copies += 1,
            _ => self.pieces.push_back(Piece { message, copies: 1, ssn, beginning }),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.len as usize
    }

    pub(super) fn bytes(&self) -> ByteCount {
        self.bytes
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Piece> {
        self.pieces.iter()
    }

    /// Bytes left of the first piece.
    #[inline]
    pub(super) fn head_len(&self) -> Option<usize> {
        self.pieces.front().map(|piece| piece.message.payload.len())
    }

    /// The path chosen for the first piece.
    #[inline]
    pub(super) fn head_path(&self) -> Option<PathId> {
        self.pieces.front().and_then(|piece| piece.message.path)
    }

    /// The next fragment of at most `most` bytes. The queue must not be empty.
    #[inline]
    pub(super) fn take(&mut self, most: usize) -> Fragment {
        let piece = &mut self.pieces[0];
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
        let (stream, ssn, ppid) = (message.stream, piece.ssn, message.ppid);
        let payload = if piece.copies > 1 {
            piece.copies -= 1;
            piece.ssn = if message.unordered { ssn } else { ssn.next() };
            message.payload.clone()
        } else {
            piece.beginning = false;
            message.payload.split_to(len.min(most))
        };
        let fragment = Fragment { flags, stream, ssn, ppid, payload };
        self.bytes -= fragment.payload.byte_count();
        if last {
            self.len -= 1;
            if self.pieces[0].message.payload.is_empty() {
                self.pieces.pop_front();
            }
        }
        fragment
    }

    /// As [`Self::take`], where the first message of a run has to be divided and so leaves the run.
    fn take_of_run(&mut self, most: usize) -> Fragment {
        let run = &mut self.pieces[0];
        let first = Piece { message: run.message.clone(), copies: 1, ssn: run.ssn, beginning: true };
        run.copies -= 1;
        run.ssn = if run.message.unordered { run.ssn } else { run.ssn.next() };
        self.pieces.push_front(first);
        self.take(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn streams_take_no_memory_until_they_are_used() {
        let mut queue = SendQueue::new(u16::MAX);
        queue.set_streams(u16::MAX);
        let last = Message { stream: StreamId(u16::MAX - 1), ..filler(1) };
        for ssn in 0..3 {
            assert!(queue.check(&last).is_ok());
            queue.push(last.clone());
            assert_eq!(queue.take(8).ssn, Ssn(ssn));
        }
        assert!(queue.next_ssn.heap_bytes() < 300, "{} bytes", queue.next_ssn.heap_bytes());
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
}
