use super::{Encode, HEADER_LEN, header};
use crate::field::u32_at;
use crate::serial::Tsn;
use transport::PacketBuf;

/// ECNE, ECN-Echo: packets with DATA arrived with the mark "congestion experienced"
/// (draft-stewart-tsvwg-sctpecn-07). In a packet the ECNE precedes the SACK.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+---------------+-------------------------------+
/// |   type = 12   |   flags = 0   |          length = 12          |
/// +---------------+---------------+-------------------------------+
/// |              lowest TSN of the marked packet                  |
/// +---------------------------------------------------------------+
/// |              marked packets since the last CWR                |
/// +---------------------------------------------------------------+
/// ```
///
/// The format of RFC 4960, appendix A, which Linux sends, has length 8 and no number of packets. It is
/// decoded as one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ecne {
    /// The lowest TSN in the latest marked packet.
    pub lowest_tsn: Tsn,
    /// Number of marked packets since the last CWR.
    pub packets: u32,
}

impl Ecne {
    /// The chunk type.
    pub const TYPE: u8 = 12;
    /// Bytes of the chunk.
    pub const LEN: usize = HEADER_LEN + 8;

    pub(super) fn decode(value: &[u8]) -> Option<Self> {
        let packets = match value.len() {
            4 => 1,
            8 => u32_at(value.first_chunk::<8>()?, 4),
            _ => return None,
        };
        Some(Ecne { lowest_tsn: Tsn(u32_at(value.first_chunk::<4>()?, 0)), packets })
    }
}

impl Encode for Ecne {
    fn encoded_len(&self) -> usize {
        Self::LEN
    }

    fn encode(&self, out: &mut PacketBuf) {
        out.head.extend_from_slice(&header(Self::TYPE, 0, Self::LEN));
        out.head.extend_from_slice(&self.lowest_tsn.0.to_be_bytes());
        out.head.extend_from_slice(&self.packets.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::{Chunk, ChunkError};
    use crate::testing::{decode, encode, hex};

    #[test]
    fn captured_chunk_decodes_to_its_fields() {
        let bytes = hex("0c 00 000c 12345678 00000003");
        let expected = Ecne { lowest_tsn: Tsn(0x1234_5678), packets: 3 };
        assert_eq!(decode(&bytes), Ok(Chunk::Ecne(expected)));
        assert_eq!(encode(&expected), bytes);
    }

    // rfc4960#appendix-A
    #[test]
    fn the_form_without_a_number_of_packets_is_one_packet() {
        let expected = Ecne { lowest_tsn: Tsn(7), packets: 1 };
        assert_eq!(decode(&hex("0c 00 0008 00000007")), Ok(Chunk::Ecne(expected)));
    }

    #[test]
    fn wrong_length_is_rejected() {
        for wrong in ["0c 00 0004", "0c 00 0006 0000 0000", "0c 00 0010 00000007 00000001 00000001"] {
            assert_eq!(decode(&hex(wrong)), Err(ChunkError::Value { chunk_type: 12 }), "{wrong}");
        }
    }
}
