use super::{Encode, HEADER_LEN, T_BIT, header};
use transport::PacketBuf;

/// SHUTDOWN COMPLETE: the association has ended (rfc9260#section-3.3.13).
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+-------------+-+-------------------------------+
/// |   type = 14   |  reserved   |T|          length = 4           |
/// +---------------+-------------+-+-------------------------------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShutdownComplete {
    /// T: as in [`Abort::reflected_tag`](crate::Abort::reflected_tag).
    pub reflected_tag: bool,
}

impl ShutdownComplete {
    /// The chunk type.
    pub const TYPE: u8 = 14;

    pub(super) fn decode(flags: u8, value: &[u8]) -> Option<Self> {
        value.is_empty().then_some(ShutdownComplete { reflected_tag: flags & T_BIT != 0 })
    }
}

impl Encode for ShutdownComplete {
    fn encoded_len(&self) -> usize {
        HEADER_LEN
    }

    fn encode(&self, out: &mut PacketBuf) {
        let flags = if self.reflected_tag { T_BIT } else { 0 };
        out.head.extend_from_slice(&header(Self::TYPE, flags, HEADER_LEN));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::{Chunk, ChunkError};
    use crate::testing::{decode, encode, hex};

    #[test]
    fn captured_chunk_decodes_to_its_fields() {
        for (captured, reflected_tag) in [("0e 00 0004", false), ("0e 01 0004", true)] {
            let bytes = hex(captured);
            let expected = ShutdownComplete { reflected_tag };
            assert_eq!(decode(&bytes), Ok(Chunk::ShutdownComplete(expected)));
            assert_eq!(encode(&expected), bytes);
        }
    }

    #[test]
    fn reserved_flags_are_ignored() {
        let expected = ShutdownComplete { reflected_tag: false };
        assert_eq!(decode(&hex("0e fe 0004")), Ok(Chunk::ShutdownComplete(expected)));
    }

    #[test]
    fn chunk_with_a_value_is_rejected() {
        let bytes = hex("0e 00 0008 00000000");
        assert_eq!(decode(&bytes), Err(ChunkError::Value { chunk_type: 14 }));
    }
}
