use super::{Encode, HEADER_LEN, header};
use crate::field::{u16_at, u32_at};
use crate::serial::{Ssn, StreamId, Tsn};
use transport::PacketBuf;

/// FORWARD TSN: the sender has abandoned the missing chunks up to a new cumulative TSN
/// (rfc3758#section-3.2).
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+---------------+-------------------------------+
/// |  type = 0xc0  |   flags = 0   |       length = 8 + 4 N        |
/// +---------------+---------------+-------------------------------+
/// |                      new cumulative TSN                       |
/// +-------------------------------+-------------------------------+
/// |            stream 1           |   stream sequence number 1    |
/// \                            ... N                              \
/// +-------------------------------+-------------------------------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForwardTsn<'a> {
    /// The receiver treats all TSNs up to this one as received.
    pub new_cumulative_tsn: Tsn,
    entries: &'a [[u8; 4]],
}

impl<'a> ForwardTsn<'a> {
    /// The chunk type.
    pub const TYPE: u8 = 0xc0;
    /// Bytes before the streams.
    pub const FIXED_LEN: usize = 8;
    /// Bytes of an entry: a stream and its stream sequence number.
    pub const SKIP_LEN: usize = 4;

    /// The entries in the order of the chunk: each stream with abandoned ordered messages, and the last
    /// stream sequence number that the receiver skips in it.
    #[inline]
    pub fn skips(&self) -> impl ExactSizeIterator<Item = (StreamId, Ssn)> + Clone + use<'a> {
        self.entries.iter().map(|bytes| (StreamId(u16_at(bytes, 0)), Ssn(u16_at(bytes, 2))))
    }

    pub(super) fn decode(value: &'a [u8]) -> Option<Self> {
        let (tsn, entries) = value.split_first_chunk::<{ ForwardTsn::FIXED_LEN - HEADER_LEN }>()?;
        let (entries, rest) = entries.as_chunks();
        rest.is_empty().then(|| ForwardTsn { new_cumulative_tsn: Tsn(u32_at(tsn, 0)), entries })
    }

    /// Appends a chunk with these entries.
    pub(crate) fn write(out: &mut Vec<u8>, new_cumulative_tsn: Tsn, skips: &[(StreamId, Ssn)]) {
        let length = Self::FIXED_LEN + Self::SKIP_LEN * skips.len();
        out.extend_from_slice(&header(Self::TYPE, 0, length));
        out.extend_from_slice(&new_cumulative_tsn.0.to_be_bytes());
        for (stream, ssn) in skips {
            out.extend_from_slice(&stream.0.to_be_bytes());
            out.extend_from_slice(&ssn.0.to_be_bytes());
        }
    }
}

impl Encode for ForwardTsn<'_> {
    fn encoded_len(&self) -> usize {
        Self::FIXED_LEN + Self::SKIP_LEN * self.entries.len()
    }

    fn encode(&self, out: &mut PacketBuf) {
        out.head.extend_from_slice(&header(Self::TYPE, 0, self.encoded_len()));
        out.head.extend_from_slice(&self.new_cumulative_tsn.0.to_be_bytes());
        out.head.extend_from_slice(self.entries.as_flattened());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::{Chunk, ChunkError};
    use crate::packet::PacketWriter;
    use crate::testing::{ANY_HEADER, decode, encode, hex};

    /// The test vector: cumulative TSN 105, SSN 3 of stream 1 and SSN 0 of stream 4 are skipped.
    const VECTOR: &str = "c0 00 0010 00000069 0001 0003 0004 0000";
    const SKIPS: [(StreamId, Ssn); 2] = [(StreamId(1), Ssn(3)), (StreamId(4), Ssn(0))];

    #[test]
    fn forward_tsn_decodes_and_encodes_to_the_same_bytes() {
        let bytes = hex(VECTOR);
        let Ok(Chunk::ForwardTsn(chunk)) = decode(&bytes) else { panic!("not FORWARD TSN") };
        assert_eq!(chunk.new_cumulative_tsn, Tsn(105));
        assert!(chunk.skips().eq(SKIPS));
        assert_eq!(encode(&chunk), bytes);
    }

    #[test]
    fn writer_encodes_the_vector_or_nothing() {
        for (limit, fits) in [(12 + 16, true), (12 + 15, false)] {
            let mut buf = PacketBuf::default();
            let mut writer = PacketWriter::new(&mut buf, ANY_HEADER, limit);
            assert_eq!(writer.forward_tsn(Tsn(105), &SKIPS), fits);
            assert_eq!(buf.head[12..], if fits { hex(VECTOR) } else { Vec::new() });
        }
    }

    #[test]
    fn forward_tsn_without_streams_is_eight_bytes_long() {
        let bytes = hex("c0 00 0008 00000069");
        let Ok(Chunk::ForwardTsn(chunk)) = decode(&bytes) else { panic!("not FORWARD TSN") };
        assert_eq!(chunk.skips().len(), 0);
    }

    #[test]
    fn forward_tsn_of_another_length_is_malformed() {
        for bytes in ["c0 00 0004", "c0 00 0006 0000", "c0 00 000a 00000069 0001"] {
            let bytes = [hex(bytes), vec![0; 2]].concat();
            let bytes = &bytes[..bytes.len() & !3];
            assert_eq!(decode(bytes), Err(ChunkError::Value { chunk_type: 0xc0 }), "{bytes:?}");
        }
    }
}
