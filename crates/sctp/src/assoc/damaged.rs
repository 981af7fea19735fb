use crate::rx::Receiver;
use transport::Octets;
use wire::{CommonHeader, Data, PacketDrop};

/// Number of bytes of a damaged packet that a report contains at least: the sender of the packet can
/// recognise a DATA chunk by them.
const LEAST_COPY: usize = CommonHeader::LEN + Data::HEADER_LEN + 32;

/// A packet that arrived damaged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Damaged {
    /// The packet or its first bytes.
    copy: Vec<u8>,
    /// Length of the whole packet.
    length: usize,
}

impl Damaged {
    /// Copies a packet for a report that is at most `limit` bytes long and, if possible, no longer
    /// than the packet.
    pub(super) fn of(packet: Octets<'_>, limit: usize) -> Self {
        let length = packet.len();
        let overhead = CommonHeader::LEN + PacketDrop::FIXED_LEN;
        let most = length.saturating_sub(overhead).max(LEAST_COPY).min(limit.saturating_sub(overhead));
        let (copy, _) = packet.split_at(length.min(most));
        Damaged { copy: copy.to_vec(), length }
    }

    /// Returns the chunk that reports the packet.
    pub(super) fn report(&self, receiver: &Receiver) -> PacketDrop<'_> {
        let (max_rate, on_queue) = receiver.buffer();
        let truncated = self.copy.len() < self.length;
        PacketDrop {
            from_middlebox: false,
            bad_checksum: true,
            truncated,
            max_rate,
            on_queue,
            truncated_length: if truncated { u16::try_from(self.length).unwrap_or(u16::MAX) } else { 0 },
            packet: &self.copy,
        }
    }
}
