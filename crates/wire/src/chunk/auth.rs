use super::{Encode, HEADER_LEN};
use transport::PacketBuf;

/// AUTH: authenticates itself and all later chunks of the packet (rfc4895#section-5.1).
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+---------------+-------------------------------+
/// |  type = 0x0f  |   flags = 0   |            length             |
/// +---------------+---------------+-------------------------------+
/// |     shared key identifier     |        HMAC identifier        |
/// +-------------------------------+-------------------------------+
/// \                             HMAC                              \
/// +---------------------------------------------------------------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Auth<'a> {
    /// The flags as received, because the HMAC covers them.
    pub flags: u8,
    /// Identifier of the endpoint pair shared key; 0 if there is no key.
    pub key_id: u16,
    /// Identifier of the HMAC algorithm.
    pub hmac_id: u16,
    /// The HMAC. It is computed over a chunk in which this field is zero.
    pub hmac: &'a [u8],
}

impl<'a> Auth<'a> {
    /// The chunk type.
    pub const TYPE: u8 = 0x0f;
    /// The chunk types that AUTH never authenticates: INIT, INIT ACK, SHUTDOWN COMPLETE, AUTH
    /// (rfc4895#section-3.2).
    pub const NEVER_LISTED: [u8; 4] = [1, 2, 14, 15];
    /// Bytes before the HMAC.
    pub const FIXED_LEN: usize = HEADER_LEN + 4;

    pub(super) fn decode(flags: u8, value: &'a [u8]) -> Option<Self> {
        let (&[k0, k1, h0, h1], hmac) = value.split_first_chunk()?;
        let (key_id, hmac_id) = (u16::from_be_bytes([k0, k1]), u16::from_be_bytes([h0, h1]));
        Some(Auth { flags, key_id, hmac_id, hmac })
    }

    /// The bytes of the chunk before its HMAC.
    pub fn fixed_part(&self) -> [u8; 8] {
        let [l0, l1] = (self.encoded_len() as u16).to_be_bytes();
        let ([k0, k1], [h0, h1]) = (self.key_id.to_be_bytes(), self.hmac_id.to_be_bytes());
        [Self::TYPE, self.flags, l0, l1, k0, k1, h0, h1]
    }
}

impl Encode for Auth<'_> {
    fn encoded_len(&self) -> usize {
        Self::FIXED_LEN + self.hmac.len()
    }

    fn encode(&self, out: &mut PacketBuf) {
        out.head.extend_from_slice(&self.fixed_part());
        out.head.extend_from_slice(self.hmac);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::{Chunk, ChunkError};
    use crate::testing::{decode, encode, hex};

    // rfc4895#section-5.1
    #[test]
    fn captured_chunk_decodes_and_encodes_to_the_same_bytes() {
        let bytes = hex("0f 00 001c 0000 0001 57fcfd7d1f4f86005661ba5e3e8138cb738c22f0");
        let chunk = Auth { flags: 0, key_id: 0, hmac_id: 1, hmac: &bytes[8..] };
        assert_eq!(decode(&bytes), Ok(Chunk::Auth(chunk)));
        assert_eq!(encode(&chunk), bytes);
    }

    #[test]
    fn a_chunk_without_both_identifiers_is_malformed() {
        for short in ["0f 00 0004", "0f 00 0007 000001 00"] {
            assert_eq!(decode(&hex(short)), Err(ChunkError::Value { chunk_type: 0x0f }), "{short}");
        }
        let empty = Auth { flags: 0, key_id: 1, hmac_id: 3, hmac: &[] };
        assert_eq!(decode(&hex("0f 00 0008 0001 0003")), Ok(Chunk::Auth(empty)));
    }
}
