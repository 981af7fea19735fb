use super::{Encode, HEADER_LEN, header};
use transport::PacketBuf;

/// TIMESTAMP: the time at which the packet was sent, by the sender's clock. The chunk precedes the DATA
/// chunks of its packet. A receiver that does not know the type skips the chunk.
///
/// Anabranch defines this chunk: the paper on LEDBAT-MP (`papers/004_ledbat_mp`) needs send times, but
/// defines no format.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+---------------+-------------------------------+
/// |  type = 0xb1  |   flags = 0   |          length = 12          |
/// +---------------+---------------+-------------------------------+
/// |                    time in microseconds,                      |
/// |                       64 bits, unsigned                       |
/// +---------------------------------------------------------------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamp {
    /// Microseconds since an instant that only the sender knows.
    pub micros: u64,
}

impl Timestamp {
    /// The chunk type.
    pub const TYPE: u8 = 0xb1;
    /// Bytes of the chunk.
    pub const LEN: usize = HEADER_LEN + 8;

    pub(super) fn decode(value: &[u8]) -> Option<Self> {
        value.try_into().ok().map(|micros| Timestamp { micros: u64::from_be_bytes(micros) })
    }
}

impl Encode for Timestamp {
    fn encoded_len(&self) -> usize {
        Self::LEN
    }

    fn encode(&self, out: &mut PacketBuf) {
        out.head.extend_from_slice(&header(Self::TYPE, 0, Self::LEN));
        out.head.extend_from_slice(&self.micros.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::Chunk;
    use crate::testing::{decode, encode, hex};

    #[test]
    fn captured_chunk_decodes_and_encodes_to_the_same_bytes() {
        let bytes = hex("b1 00 000c 00000001 00000002");
        let chunk = Timestamp { micros: (1 << 32) + 2 };
        assert_eq!(decode(&bytes), Ok(Chunk::Timestamp(chunk)));
        assert_eq!(encode(&chunk), bytes);
    }

    #[test]
    fn other_use_of_the_chunk_type_is_unknown() {
        for other in ["b1 00 0004", "b1 00 0008 00000000", "b1 00 0010 00000000 00000000 00000000"] {
            assert!(matches!(decode(&hex(other)), Ok(Chunk::Unknown(_))), "{other}");
        }
    }
}
