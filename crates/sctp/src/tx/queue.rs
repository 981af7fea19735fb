//! Messages that wait for their first transmission, first come first served.

use crate::message::{Message, Payload, SendError};
use std::collections::VecDeque;
use units::ByteCount;
use wire::{DataFlags, Ppid, Ssn, StreamId};

#[derive(Debug)]
pub(super) struct SendQueue {
    pieces: VecDeque<Piece>,
    bytes: ByteCount,
    next_ssn: Vec<Ssn>,
    /// Stream and order of the last message pushed, if its end is still to come.
    unfinished: Option<(StreamId, bool)>,
}

/// A message, or what one push brought of it.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) message: Message,
    ssn: Ssn,
    beginning: bool,
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
            bytes: ByteCount::ZERO,
            next_ssn: vec![Ssn(0); usize::from(streams)],
            unfinished: None,
        }
    }

    /// The handshake settled on this many streams, at most what was asked for.
    pub(super) fn set_streams(&mut self, streams: u16) {
        self.next_ssn.resize(usize::from(streams), Ssn(0));
    }

    pub(super) fn check(&self, message: &Message) -> Result<(), SendError> {
        if message.payload.is_empty() {
            return Err(SendError::Empty);
        }
        if usize::from(message.stream.0) >= self.next_ssn.len() {
            let streams = self.next_ssn.len() as u16;
            return Err(SendError::NoSuchStream { stream: message.stream, streams });
        }
        match self.unfinished {
            Some((stream, unordered)) if (stream, unordered) != (message.stream, message.unordered) => {
                Err(SendError::UnfinishedMessage { stream })
            }
            _ => Ok(()),
        }
    }

    pub(super) fn push(&mut self, message: Message) {
        let ssn = if message.unordered { Ssn(0) } else { self.next_ssn[usize::from(message.stream.0)] };
        if message.end_of_record && !message.unordered {
            self.next_ssn[usize::from(message.stream.0)] = ssn.next();
        }
        let beginning = self.unfinished.is_none();
        self.unfinished = (!message.end_of_record).then_some((message.stream, message.unordered));
        self.bytes += message.payload.byte_count();
        self.pieces.push_back(Piece { message, ssn, beginning });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.pieces.len()
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

    /// The next fragment of at most `most` bytes. The queue must not be empty.
    pub(super) fn take(&mut self, most: usize) -> Fragment {
        let piece = &mut self.pieces[0];
        let len = piece.message.payload.len();
        let message = &mut piece.message;
        let last = len <= most;
        let flags = DataFlags {
            unordered: message.unordered,
            beginning: piece.beginning,
            ending: last && message.end_of_record,
            immediate: last && message.immediate_sack,
        };
        piece.beginning = false;
        let payload = message.payload.split_to(len.min(most));
        let fragment =
            Fragment { flags, stream: message.stream, ssn: piece.ssn, ppid: message.ppid, payload };
        self.bytes -= fragment.payload.byte_count();
        if last {
            self.pieces.pop_front();
        }
        fragment
    }
}
