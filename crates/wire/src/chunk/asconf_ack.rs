use super::{Encode, HEADER_LEN, header};
use crate::asconf::Responses;
use transport::PacketBuf;

/// ASCONF-ACK: the answer to an ASCONF (rfc5061#section-4.1.2).
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+---------------+-------------------------------+
/// |  type = 0x80  |   flags = 0   |            length             |
/// +---------------+---------------+-------------------------------+
/// |                         serial number                         |
/// +---------------------------------------------------------------+
/// |                          response 1                           |
/// \                              ...                              \
/// +---------------------------------------------------------------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AsconfAck<'a> {
    /// The serial number of the ASCONF.
    pub serial: u32,
    /// The responses. A request without a response succeeded, unless an earlier request failed.
    pub responses: Responses<'a>,
}

impl<'a> AsconfAck<'a> {
    /// The chunk type.
    pub const TYPE: u8 = 0x80;

    pub(super) fn decode(value: &'a [u8]) -> Option<Self> {
        let (serial, responses) = value.split_first_chunk()?;
        Some(AsconfAck { serial: u32::from_be_bytes(*serial), responses: Responses::from_bytes(responses) })
    }
}

impl Encode for AsconfAck<'_> {
    fn encoded_len(&self) -> usize {
        HEADER_LEN + 4 + self.responses.as_bytes().len()
    }

    fn encode(&self, out: &mut PacketBuf) {
        out.head.extend_from_slice(&header(Self::TYPE, 0, self.encoded_len()));
        out.head.extend_from_slice(&self.serial.to_be_bytes());
        out.head.extend_from_slice(self.responses.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asconf::Response;
    use crate::cause::{Cause, CauseList};
    use crate::chunk::{Chunk, ChunkError};
    use crate::testing::{decode, encode, hex};

    // rfc5061#section-4.1.2
    #[test]
    fn captured_chunk_decodes_and_encodes_to_the_same_bytes() {
        let bytes = hex("8000001c 00000007 c005000800000001 c003000c00000002 00a00004");
        let responses = Responses::from_bytes(&bytes[8..]);
        let chunk = AsconfAck { serial: 7, responses };
        assert_eq!(decode(&bytes), Ok(Chunk::AsconfAck(chunk)));
        assert_eq!(encode(&chunk), bytes);
        let mut causes = CauseList::new();
        causes.push(&Cause::DeleteLastAddress(&[]));
        let failed = Response::Failed { correlation: 2, causes: causes.as_causes() };
        assert!(responses.iter().eq([Ok(Response::Done { correlation: 1 }), Ok(failed)]));
    }

    #[test]
    fn a_chunk_without_a_serial_number_is_malformed() {
        for wrong in ["80000004", "80000007 000000 00"] {
            assert_eq!(decode(&hex(wrong)), Err(ChunkError::Value { chunk_type: 0x80 }), "{wrong}");
        }
    }
}
