//! Messages given for streams under reset wait outside the send queue, since their numbers are not known yet
//! (`rfc6525#section-5.1.2`, A1). Messages that were queued before the reset are sent first.

use super::Sender;
use super::held::Waiting;
use super::queue::SendQueue;
use crate::chunks::Outstanding;
use crate::path::Paths;
use crate::per_stream::StreamSet;
use units::ByteCount;
use wire::{StreamId, Tsn};

impl SendQueue {
    /// Makes messages for these streams wait until [`Self::release`].
    fn hold(&mut self, streams: &StreamSet) {
        self.held.get_or_insert_default().hold(streams);
    }

    /// Queues the waiting messages of these streams, except for streams whose messages another reset holds
    /// back, too.
    fn release(&mut self, streams: &StreamSet) {
        let unfinished = self.is_closed_to_others();
        if self.held.as_mut().is_some_and(|held| held.release(streams, unfinished)) {
            self.queue_released();
        }
    }

    /// Queues the messages that no reset holds back any more, and that waited until the user completed the
    /// unfinished message.
    pub(super) fn release_behind_message(&mut self) {
        if !self.is_closed_to_others() && self.held.as_ref().is_some_and(|held| held.is_due()) {
            self.queue_released();
        }
    }

    fn queue_released(&mut self) {
        let Some(mut held) = self.held.take() else { return };
        for Waiting { message, beginning, tag, record } in held.take_released() {
            self.enqueue(message, beginning, tag, record);
        }
        self.held = Some(held).filter(|held| held.holds_any());
    }

    /// Queues all messages that wait for resets of their streams, even if resets are in progress.
    pub(super) fn release_all(&mut self) {
        if let Some(held) = &mut self.held {
            held.release_all();
            self.queue_released();
        }
    }

    pub(super) fn has_held(&self) -> bool {
        self.held_len() > 0
    }

    /// Number of messages (or parts of messages) that resets hold back.
    pub(super) fn held_len(&self) -> usize {
        self.held.as_ref().map_or(0, |held| held.len())
    }

    /// User bytes of the messages that resets hold back.
    pub(super) fn held_bytes(&self) -> ByteCount {
        self.held.as_ref().map_or(ByteCount::ZERO, |held| held.bytes())
    }

    /// True if the stream is being reset, and all its earlier data was sent.
    #[cold]
    pub(super) fn is_last_before_reset(&mut self, stream: StreamId) -> bool {
        self.held.as_ref().is_some_and(|held| held.holds(stream)) && self.has_none_of(stream)
    }
}

impl Sender {
    /// Holds new messages of these streams back until [`Self::resume_streams`].
    pub(crate) fn hold_streams(&mut self, streams: &StreamSet) {
        self.queue.hold(streams);
    }

    /// Lets the messages of these streams be sent again. If the streams were reset, the messages are numbered
    /// from 0.
    pub(crate) fn resume_streams(&mut self, streams: &StreamSet, reset: bool) {
        if reset {
            self.queue.renumber(streams);
        }
        self.queue.release(streams);
    }

    /// Returns one of these streams on which the user has given the beginning of a message, but not its end.
    pub(crate) fn unfinished_among(&self, streams: &StreamSet) -> Option<StreamId> {
        self.queue.unfinished_streams().find(|&stream| streams.contains(stream))
    }

    /// True if messages wait until their streams are reset.
    pub(crate) fn has_held(&self) -> bool {
        self.queue.has_held()
    }

    /// True if all data of these streams, whose new messages a reset holds back, was sent at least once. The
    /// search starts at position `first`: the streams before it have no data left.
    pub(crate) fn has_sent_all(&mut self, streams: &StreamSet, first: &mut usize) -> bool {
        if streams.is_all() {
            return self.queue.is_empty();
        }
        while let Some(&stream) = streams.streams().get(*first) {
            if !self.queue.has_none_of(stream) {
                return false;
            }
            *first += 1;
        }
        true
    }

    pub(crate) fn next_index(&self) -> u64 {
        self.out.next_index()
    }

    /// True if the cumulative TSN has passed all chunks below this index.
    pub(crate) fn is_acked_below(&self, index: u64) -> bool {
        self.out.first_index() >= index
    }

    /// True if no chunk is outstanding and no data waits, except data held back by a reset.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.queue.is_empty() && self.out.is_empty()
    }

    pub(crate) fn next_tsn(&self) -> Tsn {
        Outstanding::tsn(self.out.next_index())
    }

    /// Restarts all streams at number 0, and the TSNs at `next`, if given. No chunk may be outstanding.
    pub(crate) fn begin_again(&mut self, next: Option<Tsn>) {
        self.queue.renumber(&StreamSet::default());
        self.acked.clear();
        if let Some(next) = next {
            self.out.jump_to(next);
            self.jumped = true;
        }
    }

    /// True if a cumulative TSN was sent before the TSNs were reset: its index is far above all chunks sent
    /// since.
    pub(super) fn is_from_before_reset(&self, cum: u64) -> bool {
        self.jumped && cum >= self.out.next_index() + FAR
    }

    /// Sets the number of bytes that each packet with data keeps free for other chunks.
    pub(crate) fn set_extra(&mut self, extra: usize, paths: &Paths) {
        self.extra = extra;
        self.fit_fragments(paths);
    }

    pub(crate) fn set_streams(&mut self, streams: u16) {
        self.queue.set_streams(streams);
    }

    pub(crate) fn streams(&self) -> u16 {
        self.queue.streams()
    }
}

/// A distance of TSNs, larger than the maximum number of outstanding chunks.
const FAR: u64 = 1 << 17;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunks::Fragment;
    use crate::config::Config;
    use crate::message::{Message, Payload};

    fn queue(streams: u16) -> SendQueue {
        SendQueue::new(&Config { outbound_streams: streams, ..Config::default() })
    }

    fn message(stream: u16, length: u32) -> Message {
        Message { stream: StreamId(stream), ..Message::new(Payload::Filler(length)) }
    }

    fn set(streams: &[u16]) -> StreamSet {
        StreamSet::of(streams.iter().map(|&stream| StreamId(stream)))
    }

    fn sent(queue: &mut SendQueue) -> Vec<(u16, u32, usize)> {
        let fragment = |f: Fragment| (f.stream.0, f.number, f.payload.len());
        std::iter::from_fn(|| queue.head_len().map(|_| fragment(queue.take(1000)))).collect()
    }

    // rfc6525#section-5.1.2
    #[test]
    fn data_given_for_a_stream_under_reset_waits_and_is_numbered_when_it_is_released() {
        let mut queue = queue(3);
        queue.push(message(1, 1));
        queue.hold(&set(&[1]));
        queue.push(message(1, 2));
        queue.push(message(2, 3));
        assert_eq!((queue.held_len(), queue.held_bytes().get(), queue.len()), (1, 2, 2));
        assert!(!queue.is_last_before_reset(StreamId(1)));
        assert_eq!(sent(&mut queue), [(1, 0, 1), (2, 0, 3)]);
        assert!(queue.is_last_before_reset(StreamId(1)) && !queue.is_last_before_reset(StreamId(2)));
        queue.renumber(&set(&[1]));
        queue.release(&set(&[1]));
        queue.push(message(1, 4));
        queue.push(message(2, 5));
        assert_eq!(sent(&mut queue), [(1, 0, 2), (1, 1, 4), (2, 1, 5)]);
        assert!(queue.held.is_none());
    }

    #[test]
    fn a_stream_that_two_resets_hold_waits_for_both() {
        let mut queue = queue(3);
        queue.hold(&set(&[1]));
        queue.hold(&set(&[]));
        queue.push(message(1, 1));
        queue.push(message(2, 2));
        queue.release(&set(&[]));
        assert_eq!(sent(&mut queue), [(2, 0, 2)]);
        queue.release(&set(&[1]));
        assert_eq!(sent(&mut queue), [(1, 0, 1)]);
    }

    // rfc9260#section-6.9: fragments of a message have successive TSNs
    #[test]
    fn what_is_released_does_not_come_between_the_pieces_of_a_message() {
        let mut queue = queue(2);
        queue.hold(&set(&[1]));
        queue.push(message(1, 1));
        queue.push(Message { end_of_record: false, ..message(0, 2) });
        queue.release(&set(&[1]));
        queue.push(Message { end_of_record: false, ..message(0, 3) });
        assert_eq!((queue.held_len(), queue.held.is_some()), (1, true));
        queue.push(message(0, 4));
        assert_eq!(sent(&mut queue), [(0, 0, 2), (0, 0, 3), (0, 0, 4), (1, 0, 1)]);
        assert!(queue.held.is_none());
    }

    #[test]
    fn pieces_of_a_message_given_before_and_after_the_release_stay_together() {
        let mut queue = queue(2);
        queue.hold(&set(&[1]));
        queue.push(Message { end_of_record: false, ..message(1, 1) });
        queue.release(&set(&[1]));
        queue.push(message(1, 2));
        queue.push(message(1, 3));
        assert_eq!(sent(&mut queue), [(1, 0, 1), (1, 0, 2), (1, 1, 3)]);
    }
}
