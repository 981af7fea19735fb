use super::{Encode, HEADER_LEN, header};
use crate::cause::Causes;
use transport::PacketBuf;

/// ERROR: reports an error; the association continues (rfc9260#section-3.3.10).
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+---------------+-------------------------------+
/// |   type = 9    |   flags = 0   |            length             |
/// +---------------+---------------+-------------------------------+
/// \                     one or more error causes                  \
/// +---------------------------------------------------------------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationError<'a> {
    /// The reported error causes.
    pub causes: Causes<'a>,
}

impl<'a> OperationError<'a> {
    /// The chunk type.
    pub const TYPE: u8 = 9;

    pub(super) fn decode(value: &'a [u8]) -> Self {
        OperationError { causes: Causes::from_bytes(value) }
    }
}

impl Encode for OperationError<'_> {
    fn encoded_len(&self) -> usize {
        HEADER_LEN + self.causes.as_bytes().len()
    }

    fn encode(&self, out: &mut PacketBuf) {
        out.head.extend_from_slice(&header(Self::TYPE, 0, self.encoded_len()));
        out.head.extend_from_slice(self.causes.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cause::{Cause, CauseList};
    use crate::chunk::Chunk;
    use crate::serial::{StreamId, Tsn};
    use crate::testing::{decode, encode, hex};

    #[test]
    fn captured_chunk_decodes_to_its_fields() {
        let bytes = hex("09 00 000c  0001 0008 0011 0000");
        let Ok(Chunk::Error(error)) = decode(&bytes) else { panic!("not ERROR") };
        assert!(error.causes.iter().eq([Ok(Cause::InvalidStream { stream: StreamId(17) })]));
        assert_eq!(encode(&error), bytes);
    }

    #[test]
    fn encoding_and_decoding_returns_the_same_chunk() {
        let mut list = CauseList::new();
        assert!(list.push(&Cause::ProtocolViolation(b"why")));
        assert!(list.push(&Cause::NoUserData { tsn: Tsn(3) }));
        let error = OperationError { causes: list.as_causes() };
        assert_eq!(decode(&encode(&error)), Ok(Chunk::Error(error)));
    }
}
