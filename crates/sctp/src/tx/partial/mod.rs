//! Partial reliability (`rfc3758`, `rfc7496`): decides which messages the sender abandons, and when.
//!
//! A message is abandoned as a whole: one record covers its chunks and its pieces in the queue. The sender
//! may abandon a message when a chunk of it is marked as lost, when it would be sent after its lifetime, or
//! when a more urgent message needs room in the send buffer. `abandon.rs` abandons the chunks, and
//! `forward.rs` informs the peer.

mod forward;
mod message;
mod records;
#[cfg(test)]
mod tests;

pub(super) use forward::Cause;

use super::Sender;
use super::delivery::Failure;
use crate::chunks::{ChunkState, Mark, Outstanding, RecordId, Tag};
use crate::message::{AbandonedByPolicy, Message, MessageId, Reliability};
use crate::path::{LossCause, Paths};
use forward::Forwarding;
use records::{Record, Records};
use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};
use units::{ByteCount, Instant};
use wire::StreamId;

/// Records of all messages that may be abandoned or have a context (a number of the user for failure
/// reports).
#[derive(Debug, Default)]
pub(super) struct Partial {
    records: Records,
    /// Number of records that were ever added.
    serial: u64,
    /// Number of records of messages with a lifetime.
    timed: u32,
    /// Records of messages with a priority. The message of the last entry is abandoned first.
    by_priority: BTreeMap<(u32, Reverse<u64>), RecordId>,
    /// Chunks marked as lost whose messages the sender has not yet considered for abandonment.
    lost: Vec<u64>,
    forward: Forwarding,
    /// Abandoned messages that are not reported to the user yet.
    untold: VecDeque<Failure>,
    /// Number of abandoned messages, by stream and policy.
    counts: BTreeMap<u16, AbandonedByPolicy>,
    /// Number of abandoned messages of all streams, by policy.
    total: AbandonedByPolicy,
}

impl Partial {
    /// True if the lifetime of a message has passed.
    #[cold]
    fn is_expired(&self, record: RecordId, now: Instant) -> bool {
        self.records.get(record).is_some_and(|record| record.is_expired(now))
    }

    fn place(record: &Record) -> Option<(u32, Reverse<u64>)> {
        match record.reliability {
            Reliability::Priority(priority) => Some((priority, Reverse(record.serial))),
            _ => None,
        }
    }

    fn add(&mut self, record: Record) -> RecordId {
        self.serial += 1;
        self.timed += u32::from(matches!(record.reliability, Reliability::Until(_)));
        let place = Self::place(&record);
        let id = self.records.add(record);
        if let Some(place) = place {
            self.by_priority.insert(place, id);
        }
        id
    }

    /// Removes a record from the counters and the order of priorities.
    fn forget(&mut self, record: &Record) {
        self.timed -= u32::from(matches!(record.reliability, Reliability::Until(_)));
        if let Some(place) = Self::place(record) {
            self.by_priority.remove(&place);
        }
    }
}

impl Sender {
    /// Applies the result of the handshake: unless both ends support FORWARD TSN, all messages are reliable.
    pub(crate) fn agree_on_forward_tsn(&mut self, agreed: bool) {
        self.abandons = agreed;
    }

    /// Creates the record of a message before it is queued, if the message may be abandoned or has a context.
    #[inline]
    pub(super) fn record_of(&mut self, now: Instant, message: &Message) -> RecordId {
        let limited = message.reliability != Reliability::Reliable && self.config.pr_sctp;
        if !limited && message.context == 0 {
            return RecordId::default();
        }
        self.new_record(now, message, limited)
    }

    #[cold]
    fn new_record(&mut self, now: Instant, message: &Message, limited: bool) -> RecordId {
        if self.queue.is_unfinished(message.stream) {
            return RecordId::default();
        }
        let partial = self.partial.get_or_insert_default();
        let mut record = Record::new(now, partial.serial, message);
        if !limited {
            record.reliability = Reliability::Reliable;
        }
        partial.add(record)
    }

    /// Completes the record of a message that was just queued. `tracked`: the number of the message, if it
    /// has a delivery report.
    pub(super) fn note_queued(&mut self, id: RecordId, stream: StreamId, tracked: Option<MessageId>) {
        let piece = self.queue.last_piece(stream);
        if let Some(record) = self.partial.as_mut().and_then(|partial| partial.records.get_mut(id)) {
            record.piece = piece;
            record.tag = tracked.map(Tag::of).unwrap_or_default();
        }
    }

    /// Records the first transmission of chunk `i`. Its message has a record; `number` is the number of the
    /// message in its stream.
    #[cold]
    pub(super) fn note_sent(&mut self, i: u64, number: u32, ending: bool) {
        let id = self.out.message_of(i);
        if let Some(record) = self.partial.as_mut().and_then(|partial| partial.records.get_mut(id)) {
            let first = record.tsns.map_or(i, |tsns| tsns.first);
            record.tsns = Some(super::ranges::Range { first, last: i });
            record.number = number;
            record.waiting += 1;
            record.ended |= ending;
        }
    }

    /// Records that the peer cannot renege on chunk `i`. Removes the record of a complete message.
    #[cold]
    pub(super) fn note_settled(&mut self, i: u64) {
        let id = self.out.take_message(i);
        if let Some(partial) = &mut self.partial
            && let Some(record) = partial.records.acknowledged(id)
        {
            partial.forget(&record);
        }
    }

    pub(super) fn context(&self, id: RecordId) -> u32 {
        let record = self.partial.as_ref().and_then(|partial| partial.records.get(id));
        record.map_or(0, |record| record.context)
    }

    pub(super) fn reliability(&self, id: RecordId) -> Reliability {
        let record = self.partial.as_ref().and_then(|partial| partial.records.get(id));
        record.map_or(Reliability::Reliable, |record| record.reliability)
    }

    #[inline]
    pub(super) fn note_lost(&mut self, i: u64) {
        if let Some(partial) = &mut self.partial
            && self.abandons
        {
            partial.lost.push(i);
        }
    }

    /// Returns the state of partial reliability; `None` if messages cannot be abandoned.
    #[inline]
    fn abandoning(&self) -> Option<&Partial> {
        self.partial.as_deref().filter(|_| self.abandons)
    }

    /// After a SACK or a T3-rtx expiry has marked chunks as lost, abandons their messages that may not be
    /// retransmitted (`rfc3758#section-3.5`, rule A5).
    #[inline]
    pub(super) fn after_losses(&mut self, now: Instant, cause: Cause, paths: &mut Paths) {
        if self.abandoning().is_some() {
            self.abandon_lost(now, cause, paths);
        }
    }

    #[cold]
    fn abandon_lost(&mut self, now: Instant, cause: Cause, paths: &mut Paths) {
        let Some(partial) = &mut self.partial else { return };
        let mut lost = std::mem::take(&mut partial.lost);
        for i in lost.drain(..) {
            let is_lost = self.out.indices().contains(&i) && matches!(self.out[i].state, ChunkState::Lost(_));
            if is_lost && self.may_not_be_resent(now, i) {
                self.abandon_message(now, self.out.message_of(i), paths);
            }
        }
        if let Some(partial) = &mut self.partial {
            partial.lost = lost; // keeps its memory
        }
        self.advance_point(now, cause, paths);
    }

    /// True if chunk `i` may not be sent again: its message is too old or was retransmitted too often.
    #[inline]
    pub(super) fn is_spent(&self, i: u64) -> bool {
        self.abandoning().is_some() && self.may_not_be_resent(self.now, i)
    }

    /// True if the lifetime of the message of chunk `i` has passed, so that the chunk is not copied. Copies
    /// do not count as retransmissions.
    #[inline]
    pub(super) fn is_stale(&self, i: u64) -> bool {
        self.abandoning().is_some_and(|partial| {
            partial.records.get(self.out.message_of(i)).is_some_and(|record| record.is_expired(self.now))
        })
    }

    #[cold]
    fn may_not_be_resent(&self, now: Instant, i: u64) -> bool {
        let record = self.partial.as_ref().and_then(|partial| partial.records.get(self.out.message_of(i)));
        record.is_some_and(|record| record.is_expired(now) || record.is_exhausted(self.out[i].transmissions))
    }

    /// True if the lifetime of the message to be sent or retransmitted next has passed. No data is sent until
    /// this message is abandoned.
    #[inline]
    pub(super) fn has_expired(&self, paths: &Paths) -> bool {
        self.abandoning().is_some_and(|partial| partial.timed > 0) && self.expired(paths).is_some()
    }

    /// True if the lifetime of the message to be sent next for the first time has passed.
    #[inline]
    pub(super) fn head_expired(&self) -> bool {
        self.abandoning().is_some_and(|partial| partial.is_expired(self.queue.head_record(), self.now))
    }

    #[cold]
    fn expired(&self, paths: &Paths) -> Option<RecordId> {
        if self.head_expired() {
            return Some(self.queue.head_record());
        }
        let causes = [LossCause::Timeout, LossCause::FastRetransmit];
        let lists = paths.iter().flat_map(|path| causes.map(|cause| *path.lost_list(cause)));
        let spent = lists.filter_map(|list| list.first()).find(|&i| self.may_not_be_resent(self.now, i));
        spent.map(|i| self.out.message_of(i))
    }

    /// Abandons messages that would be sent too late (`rfc3758#section-4.1`, rules TR3 and TR4).
    #[cold]
    pub(super) fn expire(&mut self, paths: &mut Paths) {
        while self.has_expired(paths)
            && let Some(id) = self.expired(paths)
        {
            self.abandon_message(self.now, id, paths);
        }
        self.advance_point(self.now, Cause::Decision, paths);
    }

    /// Abandons less urgent messages until `message` fits the send buffer (`rfc7496#section-3.2`): first the
    /// least urgent messages, and of these the oldest. If `message` cannot fit, abandons none and returns
    /// false.
    #[cold]
    pub(super) fn displace_for(&mut self, now: Instant, message: &Message, paths: &mut Paths) -> bool {
        let Reliability::Priority(priority) = message.reliability else { return false };
        let Some(partial) = self.abandoning().filter(|_| !self.queue.is_unfinished(message.stream)) else {
            return false;
        };
        let mut missing = (self.buffered() + message.payload.byte_count()) - self.send_buffer();
        let mut queue_full = self.is_queue_full();
        let mut victims = Vec::new();
        for (&(theirs, _), &id) in partial.by_priority.iter().rev() {
            if theirs <= priority || (missing.is_zero() && !queue_full) {
                break;
            }
            let Some(record) = partial.records.get(id).filter(|record| record.can_be_found()) else {
                continue;
            };
            let (bytes, unsent) = self.held_by(id, record);
            missing -= bytes;
            queue_full &= !unsent;
            victims.push(id);
        }
        if !missing.is_zero() || queue_full {
            return false;
        }
        for id in victims {
            self.abandon_message(now, id, paths);
        }
        self.advance_point(now, Cause::Decision, paths);
        true
    }

    /// Bytes of the send buffer that a message occupies, and whether a part of it waits in the queue.
    fn held_by(&self, id: RecordId, record: &Record) -> (ByteCount, bool) {
        let chunks = record.tsns.map_or(0..0, |tsns| tsns.first.max(self.out.first_index())..tsns.last + 1);
        let sent: ByteCount =
            chunks.filter(|&i| self.out.message_of(i) == id).map(|i| self.out[i].byte_count()).sum();
        let first = record.first_piece();
        let queued = self.queue.bytes_of(id, record.stream, first);
        (sent + queued.unwrap_or_default(), queued.is_some())
    }

    /// True if abandoned messages are not reported to the user yet.
    #[inline]
    pub(crate) fn has_abandoned(&self) -> bool {
        self.partial.as_ref().is_some_and(|partial| !partial.untold.is_empty())
    }

    /// Removes and returns the next abandoned message that is not reported to the user yet.
    pub(crate) fn next_abandoned(&mut self) -> Option<Failure> {
        self.partial.as_mut()?.untold.pop_front()
    }

    /// Number of messages abandoned so far, by stream and policy (`rfc7496#section-4.3`).
    pub(crate) fn abandoned(&self) -> BTreeMap<StreamId, AbandonedByPolicy> {
        let counts = self.partial.iter().flat_map(|partial| &partial.counts);
        counts.map(|(&stream, &counts)| (StreamId(stream), counts)).collect()
    }

    /// Number of messages abandoned so far, by policy (`rfc7496#section-4.4`).
    pub(crate) fn abandoned_in_all(&self) -> AbandonedByPolicy {
        self.partial.as_ref().map(|partial| partial.total).unwrap_or_default()
    }

    /// Time of the next action: to send a FORWARD TSN, or to abandon a message before more data is sent.
    pub(crate) fn partial_deadline(&self, paths: &Paths) -> Option<Instant> {
        self.abandoning()?;
        if self.has_expired(paths) { Some(self.now) } else { self.forward_deadline() }
    }
}
