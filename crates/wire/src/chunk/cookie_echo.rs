use super::{Encode, HEADER_LEN, header};
use transport::PacketBuf;

/// COOKIE ECHO: returns the state cookie to the responder (rfc9260#section-3.3.11).
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+---------------+-------------------------------+
/// |   type = 10   |   flags = 0   |            length             |
/// +---------------+---------------+-------------------------------+
/// \                            cookie                             \
/// +---------------------------------------------------------------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CookieEcho<'a> {
    /// The state cookie of the INIT ACK, unchanged.
    pub cookie: &'a [u8],
}

impl<'a> CookieEcho<'a> {
    /// The chunk type.
    pub const TYPE: u8 = 10;

    pub(super) fn decode(value: &'a [u8]) -> Self {
        CookieEcho { cookie: value }
    }
}

impl Encode for CookieEcho<'_> {
    fn encoded_len(&self) -> usize {
        HEADER_LEN + self.cookie.len()
    }

    fn encode(&self, out: &mut PacketBuf) {
        out.head.extend_from_slice(&header(Self::TYPE, 0, self.encoded_len()));
        out.head.extend_from_slice(self.cookie);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::Chunk;
    use crate::testing::{decode, encode, hex};

    #[test]
    fn captured_chunk_decodes_to_its_fields() {
        let bytes = hex("0a 00 0009  1122334455 000000");
        let expected = CookieEcho { cookie: &[0x11, 0x22, 0x33, 0x44, 0x55] };
        assert_eq!(decode(&bytes), Ok(Chunk::CookieEcho(expected)));
        assert_eq!(encode(&expected), bytes);
    }

    #[test]
    fn encoding_and_decoding_returns_the_same_chunk() {
        for cookie in [&b""[..], b"cook", b"cookie"] {
            let chunk = CookieEcho { cookie };
            assert_eq!(decode(&encode(&chunk)), Ok(Chunk::CookieEcho(chunk)));
        }
    }
}
