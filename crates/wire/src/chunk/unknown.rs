use super::Encode;
use crate::UnknownAction;
use transport::{Octets, PacketBuf};

/// A chunk of a type that this crate does not decode (rfc9260#section-3.2).
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---+-----------+---------------+-------------------------------+
/// |act|   type    |     flags     |            length             |
/// +---+-----------+---------------+-------------------------------+
/// \                             value                             \
/// +---------------------------------------------------------------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownChunk<'a> {
    /// Type of the chunk.
    pub chunk_type: u8,
    /// The chunk with its header and without padding.
    pub bytes: Octets<'a>,
}

impl UnknownChunk<'_> {
    /// The required treatment of the chunk.
    pub const fn action(&self) -> UnknownAction {
        UnknownAction::from_top_bits(self.chunk_type >> 6)
    }
}

impl Encode for UnknownChunk<'_> {
    fn encoded_len(&self) -> usize {
        self.bytes.len()
    }

    fn encode(&self, out: &mut PacketBuf) {
        out.head.extend_from_slice(self.bytes.head);
        out.zeros = self.bytes.zeros;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::Chunk;
    use crate::testing::{decode, encode, hex};

    #[test]
    fn unknown_chunk_keeps_its_bytes() {
        let bytes = hex("c5 a7 0007  010203 00");
        let expected = UnknownChunk { chunk_type: 0xc5, bytes: bytes[..7].into() };
        assert_eq!(decode(&bytes), Ok(Chunk::Unknown(expected)));
        assert_eq!(encode(&expected), bytes);
    }

    #[test]
    fn top_bits_of_an_unknown_chunk_type_select_the_action() {
        let action = |chunk_type| UnknownChunk { chunk_type, bytes: Octets::default() }.action();
        assert_eq!(action(0x3f), UnknownAction::StopDiscard);
        assert_eq!(action(0x40), UnknownAction::StopReport);
        assert_eq!(action(0x85), UnknownAction::SkipDiscard);
        assert_eq!(action(0xc0), UnknownAction::SkipReport);
    }
}
