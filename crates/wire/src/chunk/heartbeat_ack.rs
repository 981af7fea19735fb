use super::{Encode, Heartbeat};
use transport::PacketBuf;

/// HEARTBEAT ACK: the answer to HEARTBEAT (rfc9260#section-3.3.6).
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+---------------+-------------------------------+
/// |   type = 5    |   flags = 0   |            length             |
/// +---------------+---------------+-------------------------------+
/// |  parameter = heartbeat info 1 |       parameter length        |
/// +-------------------------------+-------------------------------+
/// \               information from the HEARTBEAT                  \
/// +---------------------------------------------------------------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeartbeatAck<'a> {
    /// The information of the HEARTBEAT that this chunk answers.
    pub info: &'a [u8],
}

impl<'a> HeartbeatAck<'a> {
    /// The chunk type.
    pub const TYPE: u8 = 5;

    pub(super) fn decode(value: &'a [u8]) -> Option<Self> {
        Heartbeat::decode(value).map(|Heartbeat { info }| HeartbeatAck { info })
    }
}

impl Encode for HeartbeatAck<'_> {
    fn encoded_len(&self) -> usize {
        Heartbeat { info: self.info }.encoded_len()
    }

    fn encode(&self, out: &mut PacketBuf) {
        Heartbeat { info: self.info }.encode_as(Self::TYPE, &mut out.head);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::Chunk;
    use crate::testing::{decode, encode, hex};

    #[test]
    fn captured_chunk_decodes_to_its_fields() {
        let bytes = hex("05 00 000e  0001 000a 0a0b0c0d0e0f 0000");
        let expected = HeartbeatAck { info: &[10, 11, 12, 13, 14, 15] };
        assert_eq!(decode(&bytes), Ok(Chunk::HeartbeatAck(expected)));
        assert_eq!(encode(&expected), bytes);
    }

    #[test]
    fn encoding_and_decoding_returns_the_same_chunk() {
        for info in [&b""[..], b"1", b"12345678"] {
            let chunk = HeartbeatAck { info };
            assert_eq!(decode(&encode(&chunk)), Ok(Chunk::HeartbeatAck(chunk)));
        }
    }
}
