use super::{Encode, Init};
use crate::octets::PacketBuf;

/// INIT ACK: the answer to INIT, with the state cookie among its parameters (rfc9260#section-3.3.3).
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+---------------+-------------------------------+
/// |   type = 2    |   flags = 0   |            length             |
/// +---------------+---------------+-------------------------------+
/// |                         initiate tag                          |
/// +---------------------------------------------------------------+
/// |            advertised receiver window credit                  |
/// +-------------------------------+-------------------------------+
/// |       outbound streams        |   maximum of inbound streams  |
/// +-------------------------------+-------------------------------+
/// |                          initial TSN                          |
/// +---------------------------------------------------------------+
/// \                          parameters                           \
/// +---------------------------------------------------------------+
/// ```
///
/// Its fields are those of [`Init`], said by the other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InitAck<'a>(pub Init<'a>);

impl<'a> InitAck<'a> {
    /// The chunk type.
    pub const TYPE: u8 = 2;

    pub(super) fn decode(value: &'a [u8]) -> Option<Self> {
        Init::decode(value).map(InitAck)
    }
}

impl Encode for InitAck<'_> {
    fn encoded_len(&self) -> usize {
        self.0.encoded_len()
    }

    fn encode(&self, out: &mut PacketBuf) {
        self.0.encode_as(Self::TYPE, &mut out.head);
    }
}
