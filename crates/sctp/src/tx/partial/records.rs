//! Records of messages that may be abandoned. One record covers all chunks and unsent pieces of a message.

use super::super::pieces::PieceId;
use super::super::ranges::Range;
use crate::chunks::{RecordId, Tag};
use crate::message::{Message, Reliability};
use units::Instant;
use wire::{Ppid, StreamId};

/// A message that may be abandoned, or whose context is reported to the user if the message fails.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) stream: StreamId,
    pub(super) unordered: bool,
    pub(super) ppid: Ppid,
    pub(super) context: u32,
    pub(super) reliability: Reliability,
    pub(super) given_at: Instant,
    /// Position in the order in which the user gave the messages.
    pub(super) serial: u64,
    /// Identifies the message if it has a delivery report.
    pub(super) tag: Tag,
    /// The first unsent part of the message in the queue, until the part is sent; `NONE` if a reset of the
    /// stream held the message back.
    pub(super) piece: PieceId,
    /// The first and the last TSN of the message so far; `None` before the first chunk is sent.
    pub(super) tsns: Option<Range>,
    /// Message number in its stream, once a part of the message was sent.
    pub(super) number: u32,
    /// Number of sent chunks that the peer has not acknowledged or may renege on.
    pub(super) waiting: u32,
    /// True once the last chunk has a TSN.
    pub(super) ended: bool,
}

impl Record {
    pub(super) fn new(now: Instant, serial: u64, message: &Message) -> Self {
        Record {
            stream: message.stream,
            unordered: message.unordered,
            ppid: message.ppid,
            context: message.context,
            reliability: message.reliability,
            given_at: now,
            serial,
            tag: Tag::default(),
            piece: PieceId::NONE,
            tsns: None,
            number: 0,
            waiting: 0,
            ended: false,
        }
    }

    /// The first part of the message, if its place in the queue is known and it is unsent. Otherwise the
    /// message must be at the front of its stream's queue when it is abandoned.
    pub(super) fn first_piece(&self) -> Option<PieceId> {
        Some(self.piece).filter(|&piece| self.tsns.is_none() && piece != PieceId::NONE)
    }

    /// False if a reset of the stream held this unsent message back, so that its place in the queue is not
    /// known.
    pub(super) fn can_be_found(&self) -> bool {
        self.tsns.is_some() || self.piece != PieceId::NONE
    }

    /// True if the lifetime of the message has passed (`rfc3758#section-4.1`).
    pub(super) fn is_expired(&self, now: Instant) -> bool {
        matches!(self.reliability, Reliability::Until(life) if now.since(self.given_at) > life)
    }

    /// True if a chunk that was sent this number of times may not be retransmitted.
    pub(super) fn is_exhausted(&self, transmissions: u8) -> bool {
        // The counter of transmissions saturates at `u8::MAX`.
        matches!(self.reliability, Reliability::Retransmissions(most)
            if transmissions < u8::MAX && u32::from(transmissions) > most)
    }

    /// True if the peer has the whole message and cannot renege on it.
    fn is_over(&self) -> bool {
        self.ended && self.waiting == 0
    }
}

#[derive(Debug, Default)]
pub(super) struct Records {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

#[derive(Debug)]
enum Slot {
    Used(Record),
    Free,
}

impl Records {
    pub(super) fn add(&mut self, record: Record) -> RecordId {
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = Slot::Used(record);
                slot
            }
            None => {
                self.slots.push(Slot::Used(record));
                self.slots.len() as u32 - 1
            }
        };
        RecordId::of(slot)
    }

    #[inline]
    pub(super) fn get(&self, id: RecordId) -> Option<&Record> {
        match self.slots.get(id.slot()? as usize)? {
            Slot::Used(record) => Some(record),
            Slot::Free => None,
        }
    }

    #[inline]
    pub(super) fn get_mut(&mut self, id: RecordId) -> Option<&mut Record> {
        match self.slots.get_mut(id.slot()? as usize)? {
            Slot::Used(record) => Some(record),
            Slot::Free => None,
        }
    }

    pub(super) fn remove(&mut self, id: RecordId) -> Option<Record> {
        let slot = id.slot()?;
        match std::mem::replace(self.slots.get_mut(slot as usize)?, Slot::Free) {
            Slot::Used(record) => {
                self.free.push(slot);
                if self.free.len() == self.slots.len() {
                    *self = Records::default();
                }
                Some(record)
            }
            Slot::Free => None,
        }
    }

    /// Counts a chunk on which the peer cannot renege. Returns the record if this completes the message.
    pub(super) fn acknowledged(&mut self, id: RecordId) -> Option<Record> {
        let record = self.get_mut(id)?;
        record.waiting -= 1;
        if record.is_over() { self.remove(id) } else { None }
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Payload;
    use units::Span;

    fn record(reliability: Reliability) -> Record {
        let message = Message { reliability, ..Message::new(Payload::Filler(1)) };
        Record::new(Instant::ZERO, 0, &message)
    }

    #[test]
    fn a_record_is_found_by_its_id_until_it_is_removed() {
        let mut records = Records::default();
        let ids: Vec<RecordId> = (0..3).map(|_| records.add(record(Reliability::Reliable))).collect();
        assert!(records.get(RecordId::default()).is_none());
        assert!(records.remove(ids[1]).is_some() && records.remove(ids[1]).is_none());
        assert!(records.get(ids[0]).is_some() && records.get(ids[1]).is_none());
        assert_eq!(records.add(record(Reliability::Reliable)), ids[1], "its place is used again");
        for id in ids {
            records.remove(id);
        }
        assert!(records.is_empty());
    }

    // rfc7496#section-3.1
    #[test]
    fn a_limit_of_n_retransmissions_allows_n_plus_one_transmissions() {
        let most = record(Reliability::Retransmissions(2));
        assert_eq!([1, 2, 3, 4].map(|sent| most.is_exhausted(sent)), [false, false, true, true]);
        assert!(!record(Reliability::Retransmissions(254)).is_exhausted(u8::MAX));
    }

    // rfc3758#section-4.1
    #[test]
    fn a_lifetime_is_over_when_more_than_it_has_passed() {
        let record = record(Reliability::Until(Span::from_millis(5)));
        let at = |ms| Instant::ZERO + Span::from_millis(ms);
        assert_eq!([4, 5, 6].map(|ms| record.is_expired(at(ms))), [false, false, true]);
    }
}
