use super::{Encode, HEADER_LEN, header};
use crate::cause::Causes;
use crate::octets::PacketBuf;

/// ERROR: something went wrong, but the association goes on (rfc9260#section-3.3.10).
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
    /// What went wrong.
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
