use super::{Encode, HEADER_LEN, T_BIT, header};
use crate::octets::PacketBuf;

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
