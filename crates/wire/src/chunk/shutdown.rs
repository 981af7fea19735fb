use super::{Encode, HEADER_LEN, header};
use crate::field::u32_at;
use crate::serial::Tsn;
use transport::PacketBuf;

/// SHUTDOWN: no more data will be sent (rfc9260#section-3.3.8).
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+---------------+-------------------------------+
/// |   type = 7    |   flags = 0   |          length = 8           |
/// +---------------+---------------+-------------------------------+
/// |                      cumulative TSN ack                       |
/// +---------------------------------------------------------------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shutdown {
    /// Cumulative TSN ack: all TSNs up to this one arrived.
    pub cumulative_tsn_ack: Tsn,
}

impl Shutdown {
    /// The chunk type.
    pub const TYPE: u8 = 7;

    pub(super) fn decode(value: &[u8]) -> Option<Self> {
        let fixed: &[u8; 4] = value.try_into().ok()?;
        Some(Shutdown { cumulative_tsn_ack: Tsn(u32_at(fixed, 0)) })
    }
}

impl Encode for Shutdown {
    fn encoded_len(&self) -> usize {
        HEADER_LEN + 4
    }

    fn encode(&self, out: &mut PacketBuf) {
        out.head.extend_from_slice(&header(Self::TYPE, 0, self.encoded_len()));
        out.head.extend_from_slice(&self.cumulative_tsn_ack.0.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::{Chunk, ChunkError};
    use crate::testing::{decode, encode, hex};

    #[test]
    fn captured_chunk_decodes_to_its_fields() {
        let bytes = hex("07 00 0008 12345678");
        let expected = Shutdown { cumulative_tsn_ack: Tsn(0x1234_5678) };
        assert_eq!(decode(&bytes), Ok(Chunk::Shutdown(expected)));
        assert_eq!(encode(&expected), bytes);
    }

    #[test]
    fn encoding_and_decoding_returns_the_same_chunk() {
        for tsn in [0, 1, u32::MAX] {
            let chunk = Shutdown { cumulative_tsn_ack: Tsn(tsn) };
            assert_eq!(decode(&encode(&chunk)), Ok(Chunk::Shutdown(chunk)));
        }
    }

    #[test]
    fn wrong_length_is_rejected() {
        for wrong in ["07 00 0004", "07 00 000c 12345678 00000000"] {
            assert_eq!(decode(&hex(wrong)), Err(ChunkError::Value { chunk_type: 7 }), "{wrong}");
        }
    }
}
