use super::{Encode, HEADER_LEN, header};
use transport::{Octets, PacketBuf};

/// PAD: makes a packet longer; the receiver skips this chunk, even if it does not know the type
/// (rfc4820#section-3).
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+---------------+-------------------------------+
/// |  type = 0x84  |   flags = 0   |            length             |
/// +---------------+---------------+-------------------------------+
/// \               padding data, zeros unless there is a reason    \
/// +---------------------------------------------------------------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pad<'a> {
    /// The padding data.
    pub padding: Octets<'a>,
}

impl Pad<'static> {
    /// A chunk of `length` bytes (4 to 65,532), header included.
    pub fn of_len(length: usize) -> Self {
        Pad { padding: Octets::new(&[], length - HEADER_LEN) }
    }
}

impl<'a> Pad<'a> {
    /// The chunk type.
    pub const TYPE: u8 = 0x84;

    pub(super) fn decode(chunk: Octets<'a>) -> Self {
        Pad { padding: chunk.split_at(HEADER_LEN).1 }
    }
}

impl Encode for Pad<'_> {
    fn encoded_len(&self) -> usize {
        HEADER_LEN + self.padding.len()
    }

    fn encode(&self, out: &mut PacketBuf) {
        out.head.extend_from_slice(&header(Self::TYPE, 0, self.encoded_len()));
        out.head.extend_from_slice(self.padding.head);
        out.zeros = self.padding.zeros;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::Chunk;
    use crate::testing::{decode, encode, hex};

    // rfc4820#section-3
    #[test]
    fn padding_of_any_length_and_content_is_skipped() {
        for bytes in ["84 00 0004", "84 00 0009 0000000000 000000", "84 00 0008 01020304"] {
            let bytes = hex(bytes);
            let Ok(Chunk::Pad(pad)) = decode(&bytes) else { panic!("{bytes:?}") };
            assert_eq!(encode(&pad), bytes);
        }
    }

    #[test]
    fn a_chunk_of_a_given_length_holds_zeros() {
        assert_eq!(encode(&Pad::of_len(4)), hex("84 00 0004"));
        assert_eq!(encode(&Pad::of_len(12)), hex("84 00 000c 00000000 00000000"));
    }
}
