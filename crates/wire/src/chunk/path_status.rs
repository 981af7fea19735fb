use super::{Encode, HEADER_LEN, header};
use transport::PacketBuf;

/// PATH-STATUS: the sender's preferences for the path on which the packet arrives, like MP_PRIO of Multipath
/// TCP (`rfc8684#section-3.3.8`). A receiver that does not know the type skips the chunk.
///
/// Anabranch defines this chunk. It contains no address: a NAT may replace the address of the sender.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+---------------+-------------------------------+
/// |  type = 0xb2  |   flags = 0   |           length = 8          |
/// +---------------+---------------+-------------------------------+
/// |              cost             |     heartbeat interval, s     |
/// +-------------------------------+-------------------------------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathStatus {
    /// Cost of the path. A path carries data only when no path of lower cost can.
    pub cost: u16,
    /// Minimum number of seconds between heartbeats; 0: the receiver of the chunk decides.
    pub heartbeat_interval: u16,
}

impl PathStatus {
    /// The chunk type.
    pub const TYPE: u8 = 0xb2;
    /// Bytes of the chunk.
    pub const LEN: usize = HEADER_LEN + 4;

    pub(super) fn decode(value: &[u8]) -> Option<Self> {
        let &[a, b, c, d] = value else { return None };
        let (cost, heartbeat_interval) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
        Some(PathStatus { cost, heartbeat_interval })
    }
}

impl Encode for PathStatus {
    fn encoded_len(&self) -> usize {
        Self::LEN
    }

    fn encode(&self, out: &mut PacketBuf) {
        out.head.extend_from_slice(&header(Self::TYPE, 0, Self::LEN));
        out.head.extend_from_slice(&self.cost.to_be_bytes());
        out.head.extend_from_slice(&self.heartbeat_interval.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::Chunk;
    use crate::testing::{decode, encode, hex};

    #[test]
    fn chunk_decodes_and_encodes_to_the_same_bytes() {
        let bytes = hex("b2 00 0008 0102 003c");
        let chunk = PathStatus { cost: 258, heartbeat_interval: 60 };
        assert_eq!(decode(&bytes), Ok(Chunk::PathStatus(chunk)));
        assert_eq!(encode(&chunk), bytes);
    }

    #[test]
    fn other_use_of_the_chunk_type_is_unknown() {
        for other in ["b2 00 0004", "b2 00 0006 0000 0000", "b2 00 000c 00000000 00000000"] {
            assert!(matches!(decode(&hex(other)), Ok(Chunk::Unknown(_))), "{other}");
        }
    }
}
