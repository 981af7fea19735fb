use super::{Encode, HEADER_LEN, header};
use crate::field::u32_at;
use crate::octets::PacketBuf;
use crate::serial::Tsn;

/// SHUTDOWN: no more data will be sent (rfc9260#section-3.3.8).
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+---------------+-------------------------------+
/// |   type = 7    |   flags = 0   |          length = 8           |
/// +---------------+---------------+-------------------------------+
/// |                      cumulative TSN ack                       |
/// +---------------------------------------------------------------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shutdown {
    /// Everything up to here has arrived.
    pub cumulative_tsn_ack: Tsn,
}

impl Shutdown {
    /// The chunk type.
    pub const TYPE: u8 = 7;

    pub(super) fn decode(value: &[u8]) -> Option<Self> {
        let fixed: &[u8; 4] = value.try_into().ok()?;
        Some(Shutdown { cumulative_tsn_ack: Tsn(u32_at(fixed, 0)) })
    }
}

impl Encode for Shutdown {
    fn encoded_len(&self) -> usize {
        HEADER_LEN + 4
    }

    fn encode(&self, out: &mut PacketBuf) {
        out.head.extend_from_slice(&header(Self::TYPE, 0, self.encoded_len()));
        out.head.extend_from_slice(&self.cumulative_tsn_ack.0.to_be_bytes());
    }
}
