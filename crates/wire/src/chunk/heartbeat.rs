use super::{Encode, HEADER_LEN, header};
use crate::octets::PacketBuf;
use crate::param::HEARTBEAT_INFO;
use crate::tlv;

/// HEARTBEAT: asks whether a path is alive (rfc9260#section-3.3.5).
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
    /// The sender's information, to be returned untouched.
    pub info: &'a [u8],
}

impl<'a> Heartbeat<'a> {
    /// The chunk type.
    pub const TYPE: u8 = 4;

    /// Also the value of a HEARTBEAT ACK: one Heartbeat Info parameter and nothing else.
    pub(super) fn decode(value: &'a [u8]) -> Option<Self> {
        match tlv::split_first(value) {
            Ok((info, [])) if info.kind == HEARTBEAT_INFO => Some(Heartbeat { info: info.value() }),
            _ => None,
        }
    }

    /// Writes it as the given type, HEARTBEAT or HEARTBEAT ACK.
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
