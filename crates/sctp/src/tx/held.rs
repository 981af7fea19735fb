//! Messages for streams under reset; they get their numbers after the reset (`rfc6525#section-5.1.2`, A1).

use crate::chunks::{RecordId, Tag};
use crate::message::Message;
use crate::per_stream::StreamSet;
use std::collections::{BTreeSet, VecDeque};
use units::ByteCount;
use wire::StreamId;

/// Messages for streams under reset (held streams), in the order in which the user gave them.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// Streams whose messages a reset holds back, if the reset lists them.
    listed: BTreeSet<StreamId>,
    /// Number of resets that hold back the messages of all streams.
    all: u32,
    waiting: VecDeque<Waiting>,
    bytes: ByteCount,
    /// True if messages that no reset holds back any more wait until the user completes a queued message.
    due: bool,
}

/// A message or a piece of one, and the values with which it is queued after the reset.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) message: Message,
    pub(super) beginning: bool,
    pub(super) tag: Tag,
    pub(super) record: RecordId,
}

impl Held {
    pub(super) fn holds(&self, stream: StreamId) -> bool {
        self.all > 0 || self.listed.contains(&stream)
    }

    pub(super) fn holds_any(&self) -> bool {
        self.all > 0 || !self.listed.is_empty()
    }

    /// True if the last waiting message is not complete.
    fn ends_unfinished(&self) -> bool {
        self.waiting.back().is_some_and(|last| !last.message.end_of_record)
    }

    pub(super) fn push(&mut self, message: Message, beginning: bool, tag: Tag, record: RecordId) {
        self.bytes += message.payload.byte_count();
        self.waiting.push_back(Waiting { message, beginning, tag, record });
    }

    /// Holds the messages of these streams back until [`Self::release`].
    pub(super) fn hold(&mut self, streams: &StreamSet) {
        self.all += u32::from(streams.is_all());
        self.listed.extend(streams.streams());
    }

    /// One reset no longer holds the messages of these streams back. True if messages can be queued now;
    /// `unfinished` is true if the user has not completed a queued message.
    pub(super) fn release(&mut self, streams: &StreamSet, unfinished: bool) -> bool {
        self.all -= u32::from(streams.is_all());
        for stream in streams.streams() {
            self.listed.remove(stream);
        }
        // Parts of a message have successive TSNs, so no other message may be queued between them.
        self.due = unfinished && !self.ends_unfinished();
        !self.due
    }

    pub(super) fn release_all(&mut self) {
        self.listed.clear();
        self.all = 0;
    }

    pub(super) fn is_due(&self) -> bool {
        self.due
    }

    /// Removes and returns the messages that no reset holds back any more.
    pub(super) fn take_released(&mut self) -> VecDeque<Waiting> {
        self.due = false;
        let waiting = std::mem::take(&mut self.waiting);
        let (still, released): (VecDeque<_>, VecDeque<_>) =
            waiting.into_iter().partition(|waiting| self.holds(waiting.message.stream));
        self.waiting = still;
        self.bytes -= released.iter().map(|waiting| waiting.message.payload.byte_count()).sum();
        released
    }

    /// Number of messages or pieces of messages.
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// User bytes of the messages.
    pub(super) fn bytes(&self) -> ByteCount {
        self.bytes
    }
}
