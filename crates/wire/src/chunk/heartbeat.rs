use super::{Encode, HEADER_LEN, header};
use crate::param::HEARTBEAT_INFO;
use crate::tlv;
use transport::PacketBuf;

/// HEARTBEAT: probes whether a path works (rfc9260#section-3.3.5).
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+---------------+-------------------------------+
/// |   type = 4    |   flags = 0   |            length             |
/// +---------------+---------------+-------------------------------+
/// |  parameter = heartbeat info 1 |       parameter length        |
/// +-------------------------------+-------------------------------+
/// \          information only its sender understands              \
/// +---------------------------------------------------------------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heartbeat<'a> {
    /// The sender's information, which the receiver returns unchanged.
    pub info: &'a [u8],
}

impl<'a> Heartbeat<'a> {
    /// The chunk type.
    pub const TYPE: u8 = 4;

    /// Decodes the value of HEARTBEAT and HEARTBEAT ACK: exactly one Heartbeat Info parameter.
    pub(super) fn decode(value: &'a [u8]) -> Option<Self> {
        match tlv::split_first(value) {
            Ok((info, [])) if info.kind == HEARTBEAT_INFO => Some(Heartbeat { info: info.value() }),
            _ => None,
        }
    }

    /// Encodes the information in a chunk of the given type, HEARTBEAT or HEARTBEAT ACK.
    pub(super) fn encode_as(&self, chunk_type: u8, out: &mut Vec<u8>) {
        let length = self.encoded_len();
        out.extend_from_slice(&header(chunk_type, 0, length));
        out.extend_from_slice(&HEARTBEAT_INFO.to_be_bytes());
        out.extend_from_slice(&((length - HEADER_LEN) as u16).to_be_bytes());
        out.extend_from_slice(self.info);
    }
}

impl Encode for Heartbeat<'_> {
    fn encoded_len(&self) -> usize {
        HEADER_LEN + tlv::HEADER_LEN + self.info.len()
    }

    fn encode(&self, out: &mut PacketBuf) {
        self.encode_as(Self::TYPE, &mut out.head);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::{Chunk, ChunkError};
    use crate::testing::{decode, encode, hex};

    #[test]
    fn captured_chunk_decodes_to_its_fields() {
        let bytes = hex("04 00 000e  0001 000a 0a0b0c0d0e0f 0000");
        let expected = Heartbeat { info: &[10, 11, 12, 13, 14, 15] };
        assert_eq!(decode(&bytes), Ok(Chunk::Heartbeat(expected)));
        assert_eq!(encode(&expected), bytes);
    }

    #[test]
    fn encoding_and_decoding_returns_the_same_chunk() {
        for info in [&b""[..], b"1", b"12345678"] {
            let chunk = Heartbeat { info };
            assert_eq!(decode(&encode(&chunk)), Ok(Chunk::Heartbeat(chunk)));
        }
    }

    #[test]
    fn heartbeat_without_exactly_one_info_is_rejected() {
        for wrong in [
            "04 00 0004",
            "04 00 0008  0002 0004",
            "04 00 0008  0001 0003",
            "04 00 0008  0001 0005",
            "04 00 000c  0001 0004  0001 0004",
        ] {
            assert_eq!(decode(&hex(wrong)), Err(ChunkError::Value { chunk_type: 4 }), "{wrong}");
        }
    }

    #[test]
    fn padding_counted_in_the_length_is_accepted() {
        let bytes = hex("04 00 000c  0001 0005 09 000000");
        assert_eq!(decode(&bytes), Ok(Chunk::Heartbeat(Heartbeat { info: &[9] })));
    }
}
