//! Delivery reports: which tracked messages (those for which the user wants a report) were delivered or
//! failed.
//!
//! A chunk is delivered for good when the cumulative TSN passes it or an NR-SACK reports it as non-renegable.
//! A Gap Ack Block of a SACK does not suffice, since the peer may still renege. A message is delivered when
//! all of its chunks are delivered for good.

use super::{Mark, Outstanding, Sender};
use crate::message::{Message, MessageId, Payload};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use wire::{StreamId, Tsn};

/// The tracked messages (with a delivery report) that are partly sent or not reported yet. The send buffer
/// limits the memory: it holds each undelivered message, and between two ranges of delivered messages lies an
/// undelivered one.
#[derive(Debug, Default)]
pub(super) struct Deliveries {
    /// Messages of several chunks, from the first transmission until all chunks are delivered for good.
    partial: BTreeMap<MessageId, Partial>,
    /// Ranges of delivered messages not reported yet: maps first to last message. No two ranges are adjacent.
    untold: BTreeMap<MessageId, MessageId>,
}

/// A message of several chunks of which at least one was sent.
#[derive(Debug)]
struct Partial {
    stream: StreamId,
    /// Number of sent chunks that are not delivered for good.
    waiting: u32,
    /// True once the last chunk was sent.
    ended: bool,
}

/// Data that the peer did not acknowledge: a message that is tracked (has a delivery report) or abandoned, or
/// a chunk of any other message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) id: Option<MessageId>,
    /// TSN of the first failed chunk; `None` if a part of the message was never sent.
    pub(crate) tsn: Option<Tsn>,
    pub(crate) sent: bool,
    pub(crate) abandoned: bool,
    /// The message, with only those bytes that are not delivered for good.
    pub(crate) message: Message,
}

/// A tracked message (with a delivery report) of which parts failed.
struct Parts {
    failure: Failure,
    payloads: Vec<Payload>,
    ended: bool,
}

impl Deliveries {
    /// Counts a chunk that is sent for the first time and is only a part of its message.
    fn sent(&mut self, id: MessageId, stream: StreamId, ending: bool) {
        let fresh = Partial { stream, waiting: 0, ended: false };
        let partial = self.partial.entry(id).or_insert(fresh);
        partial.waiting += 1;
        partial.ended |= ending;
    }

    pub(super) fn abandoned(&mut self, id: MessageId) {
        self.partial.remove(&id);
    }

    fn acknowledged(&mut self, id: MessageId) {
        if let Entry::Occupied(mut entry) = self.partial.entry(id) {
            let partial = entry.get_mut();
            partial.waiting -= 1;
            if partial.waiting > 0 || !partial.ended {
                return;
            }
            entry.remove();
        }
        self.delivered(id);
    }

    /// Adds a message to the adjacent range of delivered messages, or joins the two adjacent ranges.
    fn delivered(&mut self, id: MessageId) {
        let next = MessageId(id.0 + 1);
        let last = self.untold.remove(&next).unwrap_or(id);
        match self.untold.range_mut(..id).next_back() {
            Some((_, end)) if end.0 + 1 == id.0 => *end = last,
            _ => {
                self.untold.insert(id, last);
            }
        }
    }
}

impl Sender {
    /// Counts a chunk of a tracked message (with a delivery report) of several chunks, before its first
    /// transmission.
    #[cold]
    pub(super) fn note_tracked(&mut self, id: MessageId, stream: StreamId, ending: bool) {
        self.deliveries.get_or_insert_default().sent(id, stream, ending);
    }

    /// Records that chunk `i` is delivered for good.
    #[inline(always)] // into `take_cumulative`, which calls it for each chunk
    pub(super) fn note_delivery(&mut self, i: u64) {
        if let Some(id) = self.out.take_tag(i).id()
            && !self.out[i].is(Mark::Abandoned)
        {
            self.deliveries.get_or_insert_default().acknowledged(id);
        }
        if self.partial.is_some() {
            self.note_settled(i);
        }
    }

    /// True if delivered messages are not reported to the user yet.
    #[inline]
    pub(crate) fn has_delivered(&self) -> bool {
        self.deliveries.as_ref().is_some_and(|deliveries| !deliveries.untold.is_empty())
    }

    /// Removes and returns the next range of delivered messages: its first and its last message.
    #[inline]
    pub(crate) fn next_delivered(&mut self) -> Option<(MessageId, MessageId)> {
        self.deliveries.as_mut()?.untold.pop_first()
    }

    /// Takes over the message numbers and the reports of the sender before a restart of the association.
    pub(crate) fn track_after(&mut self, other: Sender) {
        self.queue.count_from(other.queue.tracked());
        self.deliveries = other.deliveries;
    }

    /// Empties the queue, and reports all data that was neither acknowledged nor abandoned. Each tracked
    /// message is reported once, and each chunk of other messages separately.
    pub(crate) fn failed(&mut self, mut tell: impl FnMut(Failure)) {
        let mut tracked = BTreeMap::new();
        let partial = self.deliveries.as_mut().map(|deliveries| std::mem::take(&mut deliveries.partial));
        for (id, partial) in partial.into_iter().flatten() {
            let message =
                Message { stream: partial.stream, tracked: true, ..Message::new(Payload::Filler(0)) };
            let failure = Failure { id: Some(id), tsn: None, sent: true, abandoned: false, message };
            tracked.insert(id, Parts { failure, payloads: Vec::new(), ended: partial.ended });
        }
        let mut add = |mut failure: Failure, wholly_sent: bool| {
            let Some(id) = failure.id else { return tell(failure) };
            let (tsn, payload) = (failure.tsn.take(), take(&mut failure.message));
            let all = tracked.entry(id).or_insert_with(|| Parts {
                failure: failure.clone(),
                payloads: Vec::new(),
                ended: wholly_sent,
            });
            all.failure.tsn = all.failure.tsn.or(tsn.filter(|_| all.ended));
            all.failure.message = failure.message;
            all.payloads.push(payload);
        };
        for i in self.out.indices() {
            let id = self.out.take_tag(i).id();
            let chunk = &self.out[i];
            if id.is_some() || !(chunk.is_acked() || chunk.is(Mark::Abandoned)) {
                add(self.failed_chunk(i, id), true);
            }
        }
        self.queue.release_all();
        while !self.queue.is_empty() {
            self.queue.pass_unfinished();
            let unsent = self.queue.take(usize::MAX);
            let message = Message {
                stream: unsent.stream,
                ppid: unsent.ppid,
                unordered: unsent.flags.unordered,
                tracked: unsent.tag.id().is_some(),
                context: self.context(unsent.record),
                reliability: self.reliability(unsent.record),
                ..Message::new(unsent.payload)
            };
            let sent = !unsent.flags.beginning;
            add(Failure { id: unsent.tag.id(), tsn: None, sent, abandoned: false, message }, false);
        }
        for Parts { mut failure, payloads, .. } in tracked.into_values() {
            failure.message.payload = Payload::concat(payloads);
            tell(failure);
        }
    }

    /// The failure report of unacknowledged chunk `i`. `id`: the message of the chunk, if it has a delivery
    /// report.
    fn failed_chunk(&self, i: u64, id: Option<MessageId>) -> Failure {
        let (data, record) = (self.out.data(i), self.out.message_of(i));
        let message = Message {
            stream: data.stream,
            ppid: data.ppid,
            unordered: data.flags.unordered,
            tracked: id.is_some(),
            context: self.context(record),
            reliability: self.reliability(record),
            ..Message::new(self.out.payload_of(i))
        };
        Failure { id, tsn: Some(Outstanding::tsn(i)), sent: true, abandoned: false, message }
    }
}

fn take(message: &mut Message) -> Payload {
    std::mem::replace(&mut message.payload, Payload::Filler(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_delivered_message_is_told_of_once_and_ranges_that_touch_are_one(
            order in Just((0..60).collect::<Vec<u64>>()).prop_shuffle(),
            told_after in 0usize..60,
        ) {
            let mut deliveries = Deliveries::default();
            let mut told = Vec::new();
            for (n, &id) in order.iter().enumerate() {
                deliveries.delivered(MessageId(id));
                let ranges: Vec<_> = deliveries.untold.iter().map(|(first, last)| (first.0, last.0)).collect();
                prop_assert!(ranges.windows(2).all(|pair| pair[0].1 + 1 < pair[1].0), "{ranges:?}");
                if n == told_after {
                    told.extend(std::mem::take(&mut deliveries.untold));
                }
            }
            told.extend(deliveries.untold);
            let mut ids: Vec<u64> = told.into_iter().flat_map(|(first, last)| first.0..=last.0).collect();
            ids.sort_unstable();
            prop_assert_eq!(ids, (0..60).collect::<Vec<_>>());
        }
    }
}
