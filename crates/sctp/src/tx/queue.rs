//! Messages that wait for their first transmission: a queue for each stream, and a stream scheduler.
//!
//! The cost of a message does not depend on the number of waiting messages or of streams. A stream that was
//! never used takes no memory.

use super::first_come::FirstCome;
use super::held::Held;
use super::pieces::{Piece, PieceId, Pieces};
use super::turns::{Front, Turns};
use crate::chunks::{Fragment, RecordId, Tag};
use crate::config::Config;
use crate::error::StreamError;
use crate::message::{Message, MessageId, Payload, SendError};
use crate::path::PathId;
use crate::per_stream::{PerStream, StreamSet};
use std::collections::BTreeMap;
use units::ByteCount;
use wire::{DataFlags, Ppid, StreamId};

#[derive(Debug)]
pub(super) struct SendQueue {
    pieces: Pieces,
    /// What is sent next: the first message, or part of one, in the queue of the stream that the scheduler
    /// chose.
    head: PieceId,
    scheduler: Scheduler,
    outbound: PerStream<Outbound>,
    bytes: ByteCount,
    /// Messages of which the user has not given the last part yet, by stream. With interleaving each stream
    /// may have one such message; without interleaving only one stream may have one.
    unfinished: BTreeMap<StreamId, Unfinished>,
    /// True if fragments of messages of different streams may alternate (`rfc8260`).
    interleaved: bool,
    streams: u16,
    /// Number of pieces (messages or parts of messages). A run (equal messages in one piece) counts once for
    /// each of its messages.
    len: u32,
    /// Number of pieces of abandoned messages: they have no bytes, and each is removed when it would be sent.
    voids: u32,
    tracked: u64,
    pub(super) held: Option<Box<Held>>,
}

/// The stream scheduler (`rfc8260#section-3`).
#[derive(Debug)]
enum Scheduler {
    FirstCome(FirstCome),
    Turns(Box<Turns>),
}

/// The queue of a stream.
#[derive(Debug)]
struct Outbound {
    next_ordered: u32,
    next_unordered: u32,
    /// Numbers of ordered and of unordered messages that were abandoned before any part was sent. They are
    /// subtracted from the numbers of later messages, so that the numbers on the wire have no gap.
    dropped: [u32; 2],
    /// Fragment sequence number of the next chunk; counted only with interleaving.
    fsn: u32,
    first: PieceId,
    last: PieceId,
}

impl Default for Outbound {
    fn default() -> Self {
        let (first, last) = (PieceId::NONE, PieceId::NONE);
        Outbound { next_ordered: 0, next_unordered: 0, dropped: [0; 2], fsn: 0, first, last }
    }
}

impl Outbound {
    /// The message number of a message or of a part of one: a new number for the beginning of a message, else
    /// the number given last.
    #[inline]
    fn number(&mut self, beginning: bool, unordered: bool) -> u32 {
        let next = if unordered { &mut self.next_unordered } else { &mut self.next_ordered };
        *next = next.wrapping_add(u32::from(beginning));
        next.wrapping_sub(1)
    }

    /// Appends a message, or a part of one, to the queue. Returns true if the queue was empty.
    fn append(&mut self, piece: Piece, pieces: &mut Pieces) -> bool {
        let last = std::mem::replace(&mut self.last, pieces.add(piece, PieceId::NONE));
        if last == PieceId::NONE {
            self.first = self.last;
            return true;
        }
        pieces.link(last, self.last);
        false
    }
}

/// Properties that the next part of a message shares with the earlier parts.
#[derive(Clone, Copy, Debug)]
struct Unfinished {
    stream: StreamId,
    unordered: bool,
    ppid: Ppid,
    tag: Tag,
    record: RecordId,
    /// True if the message was abandoned: parts of it that the user still gives are dropped.
    abandoned: bool,
}

#[inline]
fn next_tag(numbers: &mut u64, tracked: bool) -> Tag {
    if !tracked {
        return Tag::default();
    }
    *numbers += 1;
    Tag::of(MessageId(*numbers - 1))
}

impl SendQueue {
    pub(super) fn new(config: &Config) -> Self {
        let turns = Turns::new(config.stream_scheduler, &config.stream_values);
        SendQueue {
            pieces: Pieces::new(),
            head: PieceId::NONE,
            scheduler: match turns {
                None => Scheduler::FirstCome(FirstCome::default()),
                Some(turns) => Scheduler::Turns(Box::new(turns)),
            },
            outbound: PerStream::default(),
            bytes: ByteCount::ZERO,
            unfinished: BTreeMap::new(),
            interleaved: false,
            streams: config.outbound_streams,
            len: 0,
            voids: 0,
            tracked: 0,
            held: None,
        }
    }

    /// Sets the number of streams: the handshake may reduce it, and the user may add streams later.
    pub(super) fn set_streams(&mut self, streams: u16) {
        self.streams = streams;
    }

    /// Lets fragments of messages of different streams alternate. Called before any data is sent.
    pub(super) fn interleave(&mut self) {
        self.interleaved = true;
        if let Scheduler::Turns(turns) = &mut self.scheduler {
            turns.interleave();
            self.choose_unless_void();
        }
    }

    pub(super) fn set_value(&mut self, stream: StreamId, value: u16) -> Result<(), StreamError> {
        if let Scheduler::Turns(turns) = &mut self.scheduler {
            turns.set_value(stream, value);
            self.choose_unless_void();
        }
        if stream.0 < self.streams {
            Ok(())
        } else {
            Err(StreamError::NoSuchStream { stream, streams: self.streams })
        }
    }

    /// The priority or weight of a stream; none if there is no such stream.
    pub(super) fn value(&self, stream: StreamId) -> Option<u16> {
        let value = match &self.scheduler {
            Scheduler::Turns(turns) => turns.value(stream),
            Scheduler::FirstCome(_) => 0,
        };
        (stream.0 < self.streams).then_some(value)
    }

    pub(super) fn check(&self, message: &Message) -> Result<(), SendError> {
        if message.payload.is_empty() {
            return Err(SendError::Empty);
        }
        if message.stream.0 >= self.streams {
            return Err(SendError::NoSuchStream { stream: message.stream, streams: self.streams });
        }
        if self.unfinished.is_empty() { Ok(()) } else { self.check_unfinished(message) }
    }

    /// Checks that a message continues the unfinished message, if there is one that must be continued.
    #[cold]
    fn check_unfinished(&self, message: &Message) -> Result<(), SendError> {
        let unfinished = match self.interleaved {
            true => self.unfinished.get(&message.stream),
            false => self.unfinished.values().next(),
        };
        match unfinished {
            Some(&Unfinished { stream, unordered, .. })
                if (stream, unordered) != (message.stream, message.unordered) =>
            {
                Err(SendError::UnfinishedMessage { stream })
            }
            _ => Ok(()),
        }
    }

    /// Appends a message, or a piece of a message, to the queue of its stream. Returns the number of a
    /// message with a delivery report. Later pieces of a message get the partial-reliability record and the
    /// payload protocol identifier of its first piece.
    #[inline(always)] // into `Sender::push`, so that a message that only lengthens a run is not copied
    pub(super) fn give(&mut self, message: Message, record: RecordId) -> Option<MessageId> {
        let waits = self.held.is_some() || !self.unfinished.is_empty();
        if !waits && record == RecordId::default() && self.lengthens_run(&message) {
            return None;
        }
        self.give_apart(message, record)
    }

    /// Appends a message that does not extend a run (one piece for several equal messages).
    fn give_apart(&mut self, mut message: Message, record: RecordId) -> Option<MessageId> {
        let Message { stream, unordered, end_of_record, .. } = message;
        let (beginning, tag, record) = match self.unfinished.get(&stream) {
            Some(&Unfinished { ppid, tag, record, .. }) => {
                message.ppid = ppid;
                (false, tag, record)
            }
            None => (true, next_tag(&mut self.tracked, message.tracked), record),
        };
        if !end_of_record {
            let ppid = message.ppid;
            let unfinished = Unfinished { stream, unordered, ppid, tag, record, abandoned: false };
            self.unfinished.insert(stream, unfinished);
        } else if !beginning {
            self.unfinished.remove(&stream);
        }
        match &mut self.held {
            Some(held) if held.holds(stream) => held.push(message, beginning, tag, record),
            _ => self.enqueue(message, beginning, tag, record),
        }
        if self.held.is_some() {
            self.release_behind_message();
        }
        tag.id()
    }

    pub(super) fn enqueue(&mut self, message: Message, beginning: bool, tag: Tag, record: RecordId) {
        if beginning && self.lengthens_run(&message) {
            return;
        }
        let Message { stream, unordered, .. } = message;
        self.bytes += message.payload.byte_count();
        self.len += 1;
        let outbound = self.outbound.of(stream);
        let number = outbound.number(beginning, unordered);
        let piece = Piece { message, number, tag, record, beginning, copies: 1 };
        let was_empty = outbound.append(piece, &mut self.pieces);
        match &mut self.scheduler {
            Scheduler::FirstCome(first_come) => {
                first_come.add(stream);
                if self.head == PieceId::NONE {
                    self.head = outbound.first;
                }
            }
            Scheduler::Turns(_) => self.piece_added(stream, was_empty),
        }
    }

    /// Adds a whole message to the run of equal messages at the end of its stream. Returns false if it
    /// differs from them.
    #[inline(always)]
    fn lengthens_run(&mut self, message: &Message) -> bool {
        let outbound = self.outbound.of(message.stream);
        let Some(run) = self.pieces.get_mut(outbound.last) else { return false };
        if !run.is_followed_by(message) {
            return false;
        }
        run.copies += 1;
        outbound.number(true, message.unordered);
        self.bytes += message.payload.byte_count();
        self.len += 1;
        match &mut self.scheduler {
            Scheduler::FirstCome(first_come) => first_come.add(message.stream),
            Scheduler::Turns(_) => self.piece_added(message.stream, false),
        }
        true
    }

    /// True if an unfinished message blocks all others: without interleaving, the parts of a message stay
    /// together.
    pub(super) fn is_closed_to_others(&self) -> bool {
        !self.interleaved && !self.unfinished.is_empty()
    }

    /// The streams on which the user has given the beginning of a message, but not its end.
    pub(super) fn unfinished_streams(&self) -> impl Iterator<Item = StreamId> {
        self.unfinished.keys().copied()
    }

    /// True if no message of a stream waits in its queue.
    pub(super) fn has_none_of(&mut self, stream: StreamId) -> bool {
        self.outbound.get_mut(stream).is_none_or(|outbound| outbound.first == PieceId::NONE)
    }

    /// Restarts the message numbers of these streams at 0, for messages that are queued from now on.
    pub(super) fn renumber(&mut self, streams: &StreamSet) {
        for stream in self.outbound.used(streams) {
            if let Some(outbound) = self.outbound.get_mut(stream) {
                (outbound.next_ordered, outbound.next_unordered, outbound.dropped) = (0, 0, [0; 2]);
            }
        }
    }

    pub(super) fn streams(&self) -> u16 {
        self.streams
    }

    #[cold]
    fn piece_added(&mut self, stream: StreamId, was_empty: bool) {
        let front = self.front(stream);
        if let Scheduler::Turns(turns) = &mut self.scheduler {
            turns.pushed(stream, was_empty, front);
            self.choose_unless_void();
        }
    }

    /// The state of the next message of a stream.
    fn front(&mut self, stream: StreamId) -> Front {
        let outbound = self.outbound.of(stream);
        if outbound.first == PieceId::NONE {
            return Front::None;
        }
        let piece = &self.pieces[outbound.first];
        let unordered = piece.message.unordered;
        let is_last = piece.number == outbound.number(false, unordered);
        let is_open = |open: &Unfinished| is_last && open.unordered == unordered && !open.abandoned;
        let open = !self.interleaved && self.unfinished.get(&stream).is_some_and(is_open);
        if open { Front::Open } else { Front::Whole }
    }

    /// Chooses what to send next: the first message, or part of one, of the stream whose turn it is.
    fn choose(&mut self) {
        if let Scheduler::Turns(turns) = &self.scheduler {
            self.head = turns.next().map_or(PieceId::NONE, |stream| self.outbound.of(stream).first);
        }
    }

    /// As [`Self::choose`], but removes the pieces of abandoned messages.
    fn choose_unless_void(&mut self) {
        self.choose();
        if self.voids > 0 {
            self.skip_voids();
        }
    }

    pub(super) fn tracked(&self) -> u64 {
        self.tracked
    }

    /// Continues the numbers of tracked messages (with a delivery report) after `tracked`, for example after
    /// a restart.
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

    /// Number of unsent bytes of the message, or part of one, that is sent next.
    #[inline]
    pub(super) fn head_len(&self) -> Option<usize> {
        self.head().map(|piece| piece.message.payload.len())
    }

    #[inline]
    pub(super) fn head_is_unordered(&self) -> bool {
        self.head().is_some_and(|piece| piece.message.unordered)
    }

    /// The path that the user chose for the message whose data is sent next.
    #[inline]
    pub(super) fn head_path(&self) -> Option<PathId> {
        self.head().and_then(|piece| piece.message.path)
    }

    #[inline]
    pub(super) fn head_is_urgent(&self) -> bool {
        self.head().is_some_and(|piece| piece.message.urgent)
    }

    /// Removes and returns the next fragment, of at most `most` bytes. The queue must not be empty.
    #[inline(always)] // into `Sender::write_new`, which calls it for each chunk
    pub(super) fn take(&mut self, most: usize) -> Fragment {
        let piece = &self.pieces[self.head];
        let len = piece.message.payload.len();
        let last = len <= most;
        if piece.copies > 1 && !last {
            self.divide_run();
        }
        let piece = &mut self.pieces[self.head];
        let message = &mut piece.message;
        let flags = DataFlags {
            unordered: message.unordered,
            beginning: piece.beginning,
            ending: last && message.end_of_record,
            immediate: last && message.immediate_sack,
        };
        let (stream, given, ppid, tag) = (message.stream, piece.number, message.ppid, piece.tag);
        let record = piece.record;
        let of_run = piece.copies > 1;
        let payload = if of_run {
            piece.copies -= 1;
            piece.number = given.wrapping_add(1);
            message.payload.clone()
        } else {
            piece.beginning = false;
            message.payload.split_to(len.min(most))
        };
        let dropped = self.outbound.of(stream).dropped[usize::from(flags.unordered)];
        let number = given.wrapping_sub(dropped);
        let mut fragment = Fragment { flags, stream, number, fsn: 0, ppid, tag, record, payload };
        self.bytes -= fragment.payload.byte_count();
        if last {
            self.len -= 1;
            if !of_run {
                self.remove_head(stream);
            }
        }
        match &mut self.scheduler {
            Scheduler::FirstCome(first_come) => {
                if last && (first_come.sent() || !of_run) {
                    let next = first_come.next();
                    self.head = next.map_or(PieceId::NONE, |stream| self.outbound.of(stream).first);
                }
            }
            Scheduler::Turns(_) => self.chunk_sent(&fragment),
        }
        if self.interleaved {
            fragment.fsn = self.next_fsn(&fragment);
        }
        if self.voids > 0 {
            self.skip_voids();
        }
        fragment
    }

    #[cold]
    fn chunk_sent(&mut self, fragment: &Fragment) {
        let front = self.front(fragment.stream);
        if let Scheduler::Turns(turns) = &mut self.scheduler {
            turns.sent(fragment.stream, fragment.payload.len(), fragment.flags.ending, front);
            self.choose();
        }
    }

    /// The fragment sequence number of a fragment that is being sent.
    #[cold]
    fn next_fsn(&mut self, fragment: &Fragment) -> u32 {
        let outbound = self.outbound.of(fragment.stream);
        let next = if fragment.flags.ending { 0 } else { outbound.fsn.wrapping_add(1) };
        std::mem::replace(&mut outbound.fsn, next)
    }

    /// True if the next fragment may go into the same packet as the last one.
    #[inline]
    pub(super) fn shares_packet(&self) -> bool {
        match &self.scheduler {
            Scheduler::FirstCome(_) => true,
            Scheduler::Turns(turns) => turns.shares_packet(),
        }
    }

    /// Ends the present packet: it gets no more fragments.
    #[inline]
    pub(super) fn packet_done(&mut self) {
        if let Scheduler::Turns(turns) = &mut self.scheduler {
            turns.packet_done();
            self.choose_unless_void();
        }
    }

    /// Removes the message, or part of one, that was just sent from the queue of its stream.
    fn remove_head(&mut self, stream: StreamId) {
        let outbound = self.outbound.of(stream);
        outbound.first = self.pieces.next(self.head);
        if outbound.first == PieceId::NONE {
            outbound.last = PieceId::NONE;
        }
        self.pieces.remove(self.head);
    }

    /// Separates the first message from a run of equal messages, because it has to be divided into fragments.
    #[cold]
    fn divide_run(&mut self) {
        let run = &mut self.pieces[self.head];
        let message = run.message.clone();
        let (stream, number) = (message.stream, run.number);
        run.copies -= 1;
        run.number = number.wrapping_add(1);
        let (tag, record) = (Tag::default(), RecordId::default());
        let first = Piece { message, number, tag, record, beginning: true, copies: 1 };
        self.head = self.pieces.add(first, self.head);
        self.outbound.of(stream).first = self.head;
    }

    #[inline]
    pub(super) fn head_record(&self) -> RecordId {
        self.head().map(|piece| piece.record).unwrap_or_default()
    }

    /// True if a reset of a stream holds back its new messages.
    pub(super) fn holds(&self, stream: StreamId) -> bool {
        self.held.as_ref().is_some_and(|held| held.holds(stream))
    }

    /// The message, or part of one, that was last queued on a stream; [`PieceId::NONE`] if it waits for a
    /// reset of the stream.
    pub(super) fn last_piece(&mut self, stream: StreamId) -> PieceId {
        if self.holds(stream) { PieceId::NONE } else { self.outbound.of(stream).last }
    }

    /// Waiting bytes of a message that [`Self::abandon`] would drop; `None` if no part of the message waits.
    pub(super) fn bytes_of(
        &self,
        record: RecordId,
        stream: StreamId,
        first: Option<PieceId>,
    ) -> Option<ByteCount> {
        let first = first.or_else(|| self.outbound.get(stream).map(|outbound| outbound.first));
        let is_piece = |id: &PieceId| *id != PieceId::NONE;
        let pieces =
            std::iter::successors(first.filter(is_piece), |&id| Some(self.pieces.next(id)).filter(is_piece));
        let own = pieces.take_while(|&id| self.pieces[id].record == record);
        own.map(|id| self.pieces[id].message.payload.byte_count()).reduce(|sum, bytes| sum + bytes)
    }

    /// True if the user has given the beginning of a message on this stream, but not its end.
    pub(super) fn is_unfinished(&self, stream: StreamId) -> bool {
        self.unfinished.contains_key(&stream)
    }

    /// True if this part belongs to an abandoned message and must be dropped.
    pub(super) fn refuses(&mut self, piece: &Message) -> bool {
        if self.unfinished.is_empty() {
            return false;
        }
        let refused = self.unfinished.get(&piece.stream).is_some_and(|unfinished| unfinished.abandoned);
        if refused && piece.end_of_record {
            self.unfinished.remove(&piece.stream);
            self.release_behind_message();
        }
        refused
    }

    /// Abandons the waiting parts of a message with a partial-reliability record. Returns the bytes of each
    /// part. `first`: the first part, if no part of the message was sent. Otherwise the parts are at the
    /// front of the stream's queue.
    pub(super) fn abandon(
        &mut self,
        record: RecordId,
        stream: StreamId,
        first: Option<PieceId>,
    ) -> Vec<Payload> {
        if let Some(unfinished) = self.unfinished.get_mut(&stream)
            && unfinished.record == record
        {
            (unfinished.abandoned, unfinished.record) = (true, RecordId::default());
        }
        let mut id = first.unwrap_or(self.outbound.of(stream).first);
        let mut parts = Vec::new();
        while id != PieceId::NONE && self.pieces[id].record == record {
            let piece = &mut self.pieces[id];
            piece.record = RecordId::default();
            piece.message.end_of_record = true;
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

    /// Ends an abandoned message that was sent in part. If no part of it waits, the stream's turn ends.
    pub(super) fn give_up_begun(&mut self, stream: StreamId, waits: bool) {
        self.outbound.of(stream).fsn = 0;
        if !waits && matches!(&self.scheduler, Scheduler::Turns(turns) if turns.begun() == Some(stream)) {
            self.end_turn(stream);
            self.skip_voids();
        }
    }

    /// Ends the turn of a message that the user will not complete, so that other streams get their turns.
    pub(super) fn pass_unfinished(&mut self) {
        if self.head == PieceId::NONE
            && let Scheduler::Turns(turns) = &self.scheduler
            && let Some(stream) = turns.begun()
        {
            self.end_turn(stream);
            self.skip_voids();
        }
    }

    /// Ends the turn of the message that a stream is sending.
    fn end_turn(&mut self, stream: StreamId) {
        let front = self.front(stream);
        if let Scheduler::Turns(turns) = &mut self.scheduler {
            turns.sent(stream, 0, true, front);
            self.choose();
        }
    }

    /// Removes the pieces of abandoned messages, which have no bytes, from the front of the queue.
    #[cold]
    fn skip_voids(&mut self) {
        while self.voids > 0
            && let Some(piece) = self.head()
            && piece.message.payload.is_empty()
        {
            let (stream, beginning, unordered) =
                (piece.message.stream, piece.beginning, piece.message.unordered);
            self.voids -= 1;
            self.outbound.of(stream).dropped[usize::from(unordered)] += u32::from(beginning);
            self.remove_head(stream);
            match &mut self.scheduler {
                Scheduler::FirstCome(first_come) => {
                    first_come.sent();
                    let next = first_come.next();
                    self.head = next.map_or(PieceId::NONE, |stream| self.outbound.of(stream).first);
                }
                Scheduler::Turns(_) => self.end_turn(stream),
            }
        }
    }

    /// Appends a message without a partial-reliability record.
    #[cfg(test)]
    pub(super) fn push(&mut self, message: Message) -> Option<MessageId> {
        self.give(message, RecordId::default())
    }

    #[cfg(test)]
    fn heap_bytes(&self) -> usize {
        let scheduler = match &self.scheduler {
            Scheduler::FirstCome(first_come) => first_come.heap_bytes(),
            Scheduler::Turns(_) => 0,
        };
        self.pieces.heap_bytes() + scheduler + self.outbound.heap_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    fn queue(streams: u16) -> SendQueue {
        SendQueue::new(&Config { outbound_streams: streams, ..Config::default() })
    }

    #[test]
    fn pieces_of_a_message_keep_the_payload_protocol_identifier_of_the_first() {
        let mut queue = queue(1);
        for (ppid, end_of_record) in [(1, false), (2, false), (3, true), (4, true)] {
            queue.push(Message { ppid: Ppid(ppid), end_of_record, ..filler(10) });
        }
        let sent: Vec<u32> = std::iter::from_fn(|| queue.head_len().map(|_| queue.take(8).ppid.0)).collect();
        assert_eq!(sent, [1, 1, 1, 1, 1, 1, 4, 4]);
    }

    #[test]
    fn a_stream_used_alone_takes_no_memory_for_those_below() {
        let mut queue = queue(u16::MAX);
        queue.set_streams(u16::MAX);
        let last = Message { stream: StreamId(u16::MAX - 1), ..filler(1) };
        for ssn in 0..3 {
            assert!(queue.check(&last).is_ok());
            queue.push(last.clone());
            assert_eq!(queue.take(8).number, ssn);
        }
        assert!(queue.outbound.heap_bytes() < 400, "{} bytes", queue.outbound.heap_bytes());
    }

    #[test]
    fn an_empty_queue_holds_64_bytes_at_most_for_each_stream_that_was_used() {
        for step in [1, 7] {
            let mut queue = queue(u16::MAX);
            let streams: Vec<u16> = (0..u16::MAX).step_by(step).collect();
            for round in 0..2 {
                for &stream in &streams {
                    queue.push(Message { stream: StreamId(stream), ..filler(10) });
                }
                for &stream in &streams {
                    let fragment = queue.take(100);
                    assert_eq!((fragment.stream, fragment.number), (StreamId(stream), round));
                }
            }
            assert!(queue.is_empty());
            let most = 64 * streams.len() + 16_384;
            assert!(queue.heap_bytes() <= most, "{} bytes for {} streams", queue.heap_bytes(), streams.len());
        }
    }

    #[test]
    fn a_long_message_neither_overtakes_nor_is_overtaken() {
        let mut queue = queue(2);
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
        let mut queue = queue(1);
        for message in
            [filler(10), filler(10), filler(10), filler(7), Message { unordered: true, ..filler(7) }]
        {
            queue.push(message);
        }
        assert_eq!((queue.pieces.len(), queue.len(), queue.bytes().get()), (3, 5, 44));
        let mut fragments = Vec::new();
        while !queue.is_empty() {
            let f = queue.take(8);
            fragments.push((f.payload.len(), f.number, f.flags.beginning, f.flags.ending, f.flags.unordered));
        }
        let divided = |ssn| [(8, ssn, true, false, false), (2, ssn, false, true, false)];
        let mut expected = [divided(0), divided(1), divided(2)].concat();
        expected.extend([(7, 3, true, true, false), (7, 0, true, true, true)]);
        assert_eq!(fragments, expected);
        assert_eq!((queue.len(), queue.bytes()), (0, ByteCount::ZERO));
    }

    proptest! {
        /// The model is one queue for all streams, in which each entry is the unsent rest of a message.
        #[test]
        fn messages_of_all_streams_leave_in_the_order_given(
            steps in prop::collection::vec((0u16..4, 1u32..20, 0u8..10), 1..300),
        ) {
            let mut queue = queue(4);
            let mut next = [[0; 2]; 4];
            let mut model: VecDeque<(u16, u32, u32, bool)> = VecDeque::new();
            for (stream, length, kind) in steps {
                if kind < 6 {
                    // Only two lengths, so that equal messages follow each other and form runs.
                    let (length, unordered) = (10 + length / 12, kind == 0);
                    let next = &mut next[usize::from(stream)][usize::from(unordered)];
                    let number = std::mem::replace(next, *next + 1);
                    queue.push(Message { stream: StreamId(stream), unordered, ..filler(length) });
                    model.push_back((stream, number, length, unordered));
                } else if let Some(&(stream, number, left, unordered)) = model.front() {
                    prop_assert_eq!(queue.head_len(), Some(left as usize));
                    let f = queue.take(length as usize);
                    let taken = f.payload.len() as u32;
                    prop_assert_eq!(taken, left.min(length));
                    prop_assert_eq!((f.stream.0, f.number, f.flags.unordered), (stream, number, unordered));
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
