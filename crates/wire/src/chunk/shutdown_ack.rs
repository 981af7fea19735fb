use super::{Encode, HEADER_LEN, header};
use transport::PacketBuf;

/// SHUTDOWN ACK: the answer to SHUTDOWN once all data is acknowledged (rfc9260#section-3.3.9).
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+---------------+-------------------------------+
/// |   type = 8    |   flags = 0   |          length = 4           |
/// +---------------+---------------+-------------------------------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShutdownAck;

impl ShutdownAck {
    /// The chunk type.
    pub const TYPE: u8 = 8;

    pub(super) fn decode(value: &[u8]) -> Option<Self> {
        value.is_empty().then_some(ShutdownAck)
    }
}

impl Encode for ShutdownAck {
    fn encoded_len(&self) -> usize {
        HEADER_LEN
    }

    fn encode(&self, out: &mut PacketBuf) {
        out.head.extend_from_slice(&header(Self::TYPE, 0, HEADER_LEN));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::{Chunk, ChunkError};
    use crate::testing::{decode, encode, hex};

    #[test]
    fn captured_chunk_decodes_and_encodes_to_the_same_bytes() {
        let bytes = hex("08 00 0004");
        assert_eq!(decode(&bytes), Ok(Chunk::ShutdownAck(ShutdownAck)));
        assert_eq!(encode(&ShutdownAck), bytes);
    }

    #[test]
    fn chunk_with_a_value_is_rejected() {
        let bytes = hex("08 00 0008 00000000");
        assert_eq!(decode(&bytes), Err(ChunkError::Value { chunk_type: 8 }));
    }
}
