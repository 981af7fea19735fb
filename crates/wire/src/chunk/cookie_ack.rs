use super::{Encode, HEADER_LEN, header};
use transport::PacketBuf;

/// COOKIE ACK: the responder accepted the cookie and established the association (rfc9260#section-3.3.12).
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+---------------+-------------------------------+
/// |   type = 11   |   flags = 0   |          length = 4           |
/// +---------------+---------------+-------------------------------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CookieAck;

impl CookieAck {
    /// The chunk type.
    pub const TYPE: u8 = 11;

    pub(super) fn decode(value: &[u8]) -> Option<Self> {
        value.is_empty().then_some(CookieAck)
    }
}

impl Encode for CookieAck {
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
        let bytes = hex("0b 00 0004");
        assert_eq!(decode(&bytes), Ok(Chunk::CookieAck(CookieAck)));
        assert_eq!(encode(&CookieAck), bytes);
    }

    #[test]
    fn chunk_with_a_value_is_rejected() {
        let bytes = hex("0b 00 0008 00000000");
        assert_eq!(decode(&bytes), Err(ChunkError::Value { chunk_type: 11 }));
    }
}
