use super::Encode;
use crate::UnknownAction;
use crate::octets::{Octets, PacketBuf};

/// A chunk of a type this crate does not know, kept as it is (rfc9260#section-3.2).
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
    /// Its type.
    pub chunk_type: u8,
    /// All of it, header included, padding not.
    pub bytes: Octets<'a>,
}

impl UnknownChunk<'_> {
    /// What to do with it.
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
