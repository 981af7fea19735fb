use super::{Encode, HEADER_LEN, header};
use crate::field::{u16_at, u32_at};
use crate::serial::{Mid, StreamId, Tsn};
use transport::PacketBuf;

/// I-FORWARD-TSN: lists abandoned TSNs and messages when I-DATA is used; the receiver skips them
/// (rfc8260#section-2.3.1).
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+---------------+-------------------------------+
/// |  type = 0xc2  |   flags = 0   |        length = 8 + 8 N       |
/// +---------------+---------------+-------------------------------+
/// |                      new cumulative TSN                       |
/// +-------------------------------+-----------------------------+-+
/// |     stream identifier 1       |          reserved           |U|
/// +-------------------------------+-----------------------------+-+
/// |                     message identifier 1                      |
/// +---------------------------------------------------------------+
/// \                            ... N                              \
/// +---------------------------------------------------------------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IForwardTsn<'a> {
    /// The receiver treats all TSNs up to this one as received.
    pub new_cumulative_tsn: Tsn,
    skipped: &'a [[u8; SkippedMessage::LEN]],
}

/// Abandoned messages: all ordered or all unordered messages of a stream up to this message identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SkippedMessage {
    /// Stream of the message.
    pub stream: StreamId,
    /// U: the messages are unordered.
    pub unordered: bool,
    /// Message identifier (MID).
    pub mid: Mid,
}

impl SkippedMessage {
    /// Bytes of an entry in the chunk.
    pub const LEN: usize = 8;
    const UNORDERED: u16 = 1;

    fn decode(bytes: &[u8; Self::LEN]) -> Self {
        SkippedMessage {
            stream: StreamId(u16_at(bytes, 0)),
            unordered: u16_at(bytes, 2) & Self::UNORDERED != 0,
            mid: Mid(u32_at(bytes, 4)),
        }
    }

    fn encode(&self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[..2].copy_from_slice(&self.stream.0.to_be_bytes());
        bytes[2..4].copy_from_slice(&(u16::from(self.unordered) * Self::UNORDERED).to_be_bytes());
        bytes[4..].copy_from_slice(&self.mid.0.to_be_bytes());
        bytes
    }
}

impl<'a> IForwardTsn<'a> {
    /// The chunk type.
    pub const TYPE: u8 = 0xc2;
    /// Bytes before the entries.
    pub const FIXED_LEN: usize = HEADER_LEN + 4;

    /// The entries in the order of the chunk.
    #[inline]
    pub fn skipped(&self) -> impl ExactSizeIterator<Item = SkippedMessage> + Clone + use<'a> {
        self.skipped.iter().map(SkippedMessage::decode)
    }

    /// Length in bytes of a chunk with `messages` entries.
    #[inline]
    pub const fn len_of(messages: usize) -> usize {
        Self::FIXED_LEN + messages * SkippedMessage::LEN
    }

    pub(super) fn decode(value: &'a [u8]) -> Option<Self> {
        let (tsn, rest) = value.split_first_chunk::<4>()?;
        let (skipped, rest) = rest.as_chunks();
        rest.is_empty().then_some(IForwardTsn { new_cumulative_tsn: Tsn(u32_at(tsn, 0)), skipped })
    }

    /// Appends a chunk with these entries.
    pub(crate) fn write(out: &mut Vec<u8>, new_cumulative_tsn: Tsn, skipped: &[SkippedMessage]) {
        out.extend_from_slice(&header(Self::TYPE, 0, Self::len_of(skipped.len())));
        out.extend_from_slice(&new_cumulative_tsn.0.to_be_bytes());
        skipped.iter().for_each(|message| out.extend_from_slice(&message.encode()));
    }
}

impl Encode for IForwardTsn<'_> {
    fn encoded_len(&self) -> usize {
        Self::len_of(self.skipped.len())
    }

    fn encode(&self, out: &mut PacketBuf) {
        out.head.extend_from_slice(&header(Self::TYPE, 0, self.encoded_len()));
        out.head.extend_from_slice(&self.new_cumulative_tsn.0.to_be_bytes());
        out.head.extend_from_slice(self.skipped.as_flattened());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::{Chunk, ChunkError};
    use crate::packet::PacketWriter;
    use crate::testing::{ANY_HEADER, decode, encode, hex};
    use transport::Checksum;

    const VECTOR: &str = "c2000018 00000069 00010000 00000003 00040001 00000009";
    const SKIPPED: [SkippedMessage; 2] = [
        SkippedMessage { stream: StreamId(1), unordered: false, mid: Mid(3) },
        SkippedMessage { stream: StreamId(4), unordered: true, mid: Mid(9) },
    ];

    // rfc8260#section-2.3.1: the vector of the specification
    #[test]
    fn an_ordered_and_an_unordered_message_decode_to_their_fields() {
        let bytes = hex(VECTOR);
        let Ok(Chunk::IForwardTsn(chunk)) = decode(&bytes) else { panic!("not I-FORWARD-TSN") };
        assert_eq!(chunk.new_cumulative_tsn, Tsn(105));
        assert!(chunk.skipped().eq(SKIPPED));
        assert_eq!(encode(&chunk), bytes);
    }

    #[test]
    fn the_writer_writes_what_fits_whole_or_nothing() {
        let mut buf = PacketBuf::default();
        let mut writer = PacketWriter::new(&mut buf, ANY_HEADER, 12 + 24);
        assert!(writer.i_forward_tsn(Tsn(105), &SKIPPED));
        assert!(!writer.i_forward_tsn(Tsn(105), &[]));
        writer.finish(Checksum::Offloaded);
        assert_eq!(buf.head[12..], hex(VECTOR));
    }

    #[test]
    fn reserved_bits_are_ignored() {
        let bytes = hex("c2ff0018 00000069 0001fffe 00000003 0004ffff 00000009");
        let Ok(Chunk::IForwardTsn(chunk)) = decode(&bytes) else { panic!("not I-FORWARD-TSN") };
        assert!(chunk.skipped().eq(SKIPPED));
    }

    #[test]
    fn a_length_that_no_list_has_is_rejected() {
        for bytes in ["c2000006 0000 0000", "c200000c 00000069 00010000"] {
            assert_eq!(decode(&hex(bytes)), Err(ChunkError::Value { chunk_type: 0xc2 }));
        }
        assert!(decode(&hex("c2000008 00000069")).is_ok());
    }
}
