//! The contents of a chunk, and the identifiers of its message.

use crate::message::{MessageId, Payload};
use std::num::{NonZeroU32, NonZeroU64};
use wire::{DataFlags, Ppid, StreamId};

/// The contents of one DATA or I-DATA chunk.
pub(crate) struct Fragment {
    pub(crate) payload: Payload,
    pub(crate) flags: DataFlags,
    pub(crate) stream: StreamId,
    /// Message identifier, counted separately for ordered and unordered messages of the stream. Its lower 16
    /// bits are the stream sequence number of an ordered message.
    pub(crate) number: u32,
    /// Fragment sequence number; used only with interleaving.
    pub(crate) fsn: u32,
    pub(crate) ppid: Ppid,
    pub(crate) tag: Tag,
    pub(crate) record: RecordId,
}

/// Identifies the tracked message (whose outcome is reported to the user) of a chunk; by default none.
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

/// Identifies the record of a message that may be abandoned (`tx/partial/records.rs`); by default none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RecordId(Option<NonZeroU32>);

impl RecordId {
    /// Identifies the record in slot number `slot` of `tx/partial/records.rs`.
    pub(crate) fn of(slot: u32) -> Self {
        RecordId(NonZeroU32::new(slot + 1))
    }

    /// The slot of the record, if there is one.
    pub(crate) fn slot(self) -> Option<u32> {
        self.0.map(|number| number.get() - 1)
    }
}
