//! What a chunk is made of, and which message it belongs to.

use crate::message::{MessageId, Payload};
use std::num::{NonZeroU32, NonZeroU64};
use wire::{DataFlags, Ppid, StreamId};

/// What one DATA or I-DATA chunk will carry.
pub(crate) struct Fragment {
    pub(crate) payload: Payload,
    pub(crate) flags: DataFlags,
    pub(crate) stream: StreamId,
    /// Of its message among the ordered or the unordered ones of its stream: the message identifier. The stream sequence number
    /// of an ordered message is the lower half of it.
    pub(crate) number: u32,
    /// Fragment sequence number; only with interleaving.
    pub(crate) fsn: u32,
    pub(crate) ppid: Ppid,
    pub(crate) tag: Tag,
    pub(crate) record: RecordId,
}

/// The tracked message that a chunk belongs to, if any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tag(Option<NonZeroU64>);

impl Tag {
    pub(crate) fn of(id: MessageId) -> Self {
        Tag(Some(NonZeroU64::MIN.saturating_add(id.0)))
    }

    #[inline]
    pub(crate) fn id(self) -> Option<MessageId> {
        self.0.map(|number| MessageId(number.get() - 1))
    }
}

/// The record of a message; the default one is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RecordId(Option<NonZeroU32>);

impl RecordId {
    /// The record in this slot.
    pub(crate) fn of(slot: u32) -> Self {
        RecordId(NonZeroU32::new(slot + 1))
    }

    /// Its slot; none of the default one.
    pub(crate) fn slot(self) -> Option<u32> {
        self.0.map(|number| number.get() - 1)
    }
}
