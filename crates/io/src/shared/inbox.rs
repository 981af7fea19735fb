//! Messages on their way from the stack to the callers.

use sctp::Received;
use std::collections::{BTreeMap, VecDeque};
use wire::StreamId;

/// Largest number of bytes in the inbox. Further messages stay in the stack and reduce the a_rwnd.
const LIMIT: usize = 128 * 1024;

/// Bounded queue of messages. Streams with a separate reader have separate queues.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    messages: VecDeque<Received>,
    streams: BTreeMap<StreamId, Own>,
    bytes: usize,
    /// True if the driver stopped adding messages because `LIMIT` bytes are unread.
    stopped: bool,
    /// Messages that must be read before the driver adds more.
    awaited: Option<Awaited>,
}

/// Unread messages of streams that the peer reset after it had sent these messages.
#[derive(Debug)]
struct Awaited {
    /// Streams that the peer has reset; empty for all streams.
    streams: Vec<StreamId>,
    messages: usize,
}

impl Awaited {
    fn concerns(&self, message: &Received) -> bool {
        self.streams.is_empty() || self.streams.contains(&message.stream)
    }
}

/// The queue of one stream with a separate reader.
#[derive(Debug, Default)]
struct Own {
    readers: usize,
    messages: VecDeque<Received>,
}

impl Inbox {
    pub(super) fn push(&mut self, message: Received) {
        self.bytes += message.payload.len();
        let own = self.streams.get_mut(&message.stream).map(|own| &mut own.messages);
        own.unwrap_or(&mut self.messages).push_back(message);
    }

    /// True if the driver may add messages; otherwise it is notified once there is room.
    pub(super) fn has_room(&mut self) -> bool {
        self.stopped = self.bytes >= LIMIT;
        !self.stopped
    }

    /// The next message of a stream with a separate reader, or of all other streams.
    pub(super) fn pop(&mut self, stream: Option<StreamId>) -> Option<Received> {
        let queue = match stream {
            None => &mut self.messages,
            Some(stream) => &mut self.streams.get_mut(&stream)?.messages,
        };
        let message = queue.pop_front()?;
        self.bytes -= message.payload.len();
        if let Some(awaited) = self.awaited.as_mut().filter(|awaited| awaited.concerns(&message)) {
            awaited.messages -= 1;
        }
        Some(message)
    }

    /// True if the driver should be notified that it can continue: there is room again,
    /// or the awaited messages were read. After true, the next call returns false.
    pub(super) fn resumes(&mut self) -> bool {
        let read = self.awaited.take_if(|awaited| awaited.messages == 0).is_some();
        let resumes = self.stopped && self.bytes <= LIMIT / 2;
        self.stopped &= !resumes;
        resumes || read
    }

    /// True if messages of these streams are unread, or of any stream if the list is empty. Then the driver
    /// adds no messages, and is notified once the unread messages are read.
    pub(super) fn awaits(&mut self, streams: &[StreamId]) -> bool {
        let mut awaited = Awaited { streams: streams.to_vec(), messages: 0 };
        let all = self.streams.values().flat_map(|own| &own.messages).chain(&self.messages);
        awaited.messages = all.filter(|message| awaited.concerns(message)).count();
        self.awaited = Some(awaited).filter(|awaited| awaited.messages > 0);
        self.awaited.is_some()
    }

    /// Adds a reader to a stream; the first reader gets the messages that have arrived.
    pub(super) fn open_stream(&mut self, stream: StreamId) {
        let own = self.streams.entry(stream).or_default();
        own.readers += 1;
        if own.readers == 1 {
            let (theirs, others) = self.messages.drain(..).partition(|message| message.stream == stream);
            (own.messages, self.messages) = (theirs, others);
        }
    }

    /// Removes a reader of a stream. Unread messages of the last reader join the queue of all other streams.
    pub(super) fn close_stream(&mut self, stream: StreamId) {
        let Some(own) = self.streams.get_mut(&stream) else { return };
        own.readers -= 1;
        if own.readers == 0 {
            self.messages.append(&mut own.messages);
            self.streams.remove(&stream);
        }
    }

    /// Discards the messages when nobody can read them any more.
    pub(super) fn clear(&mut self) {
        *self = Inbox::default();
    }

    /// Number of unread messages of a stream.
    pub(super) fn unread(&self, stream: StreamId) -> usize {
        let own = self.streams.get(&stream).map_or(0, |own| own.messages.len());
        own + self.messages.iter().filter(|message| message.stream == stream).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sctp::Payload;
    use wire::{Mid, Ppid, Ssn, Tsn};

    fn message(stream: u16, length: u32) -> Received {
        Received {
            stream: StreamId(stream),
            ssn: Ssn(0),
            mid: Mid(0),
            tsn: Tsn(0),
            ppid: Ppid(0),
            unordered: false,
            payload: Payload::Filler(length),
            end_of_record: true,
            aborted: false,
        }
    }

    #[test]
    fn a_stream_with_its_own_reader_leaves_the_common_queue_and_returns_to_it() {
        let mut inbox = Inbox::default();
        [1, 2, 1].into_iter().for_each(|stream| inbox.push(message(stream, 10)));
        inbox.open_stream(StreamId(1));
        inbox.push(message(1, 30));
        assert_eq!(inbox.unread(StreamId(1)), 3);
        assert_eq!(inbox.pop(None).map(|message| message.stream), Some(StreamId(2)));
        assert_eq!(inbox.pop(None), None);
        assert_eq!(inbox.pop(Some(StreamId(1))).map(|message| message.payload.len()), Some(10));
        inbox.close_stream(StreamId(1));
        let lengths: Vec<_> =
            std::iter::from_fn(|| inbox.pop(None)).map(|message| message.payload.len()).collect();
        assert_eq!(lengths, [10, 30]);
    }

    #[test]
    fn a_stream_with_two_readers_stays_theirs_until_both_are_gone() {
        let mut inbox = Inbox::default();
        inbox.open_stream(StreamId(1));
        inbox.open_stream(StreamId(1));
        inbox.push(message(1, 10));
        inbox.close_stream(StreamId(1));
        assert_eq!(inbox.pop(None), None);
        assert!(inbox.pop(Some(StreamId(1))).is_some());
        inbox.push(message(1, 10));
        inbox.close_stream(StreamId(1));
        assert!(inbox.pop(None).is_some());
    }

    #[test]
    fn the_driver_is_told_once_when_the_messages_of_the_streams_that_it_waits_for_are_read() {
        let mut inbox = Inbox::default();
        assert!(!inbox.awaits(&[]));
        [1, 2, 1, 3].into_iter().for_each(|stream| inbox.push(message(stream, 10)));
        inbox.open_stream(StreamId(3));
        assert!(!inbox.awaits(&[StreamId(9)]));
        assert!(inbox.awaits(&[StreamId(1), StreamId(9)]));
        let resumed: Vec<_> = (0..3).map(|_| (inbox.pop(None).is_some(), inbox.resumes())).collect();
        assert_eq!(resumed, [(true, false), (true, false), (true, true)]);
        assert!(inbox.awaits(&[]), "stream 3");
        assert!(inbox.pop(Some(StreamId(3))).is_some() && inbox.resumes() && !inbox.resumes());
    }

    #[test]
    fn the_driver_stops_at_the_limit_and_is_told_once_when_half_is_read() {
        let mut inbox = Inbox::default();
        for _ in 0..4 {
            assert!(inbox.has_room());
            inbox.push(message(0, 32 * 1024));
        }
        assert!(!inbox.has_room());
        let resumed: Vec<_> = (0..4).map(|_| (inbox.pop(None).is_some(), inbox.resumes())).collect();
        assert_eq!(resumed, [(true, false), (true, true), (true, false), (true, false)]);
    }
}
