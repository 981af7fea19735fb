use super::{Encode, HEADER_LEN, header};
use crate::field::{u16_at, u32_at};
use crate::octets::PacketBuf;
use crate::param::Parameters;
use crate::serial::Tsn;

/// INIT: asks for an association (rfc9260#section-3.3.2).
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+---------------+-------------------------------+
/// |   type = 1    |   flags = 0   |            length             |
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
/// Values that the RFC forbids, such as a tag of 0, are decoded all the same: the answer is the endpoint's to give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Init<'a> {
    /// Tag that every packet to the sender of this chunk must bear.
    pub initiate_tag: u32,
    /// Bytes the sender has room for.
    pub a_rwnd: u32,
    /// Streams the sender wants to send on.
    pub outbound_streams: u16,
    /// Most streams the sender can receive on.
    pub inbound_streams: u16,
    /// The first TSN the sender will use.
    pub initial_tsn: Tsn,
    /// Addresses and options.
    pub parameters: Parameters<'a>,
}

impl<'a> Init<'a> {
    /// The chunk type.
    pub const TYPE: u8 = 1;
    /// Bytes before the parameters.
    pub const FIXED_LEN: usize = 20;

    /// Also the value of an INIT ACK.
    pub(super) fn decode(value: &'a [u8]) -> Option<Self> {
        let (fixed, parameters) = value.split_first_chunk::<{ Init::FIXED_LEN - HEADER_LEN }>()?;
        Some(Init {
            initiate_tag: u32_at(fixed, 0),
            a_rwnd: u32_at(fixed, 4),
            outbound_streams: u16_at(fixed, 8),
            inbound_streams: u16_at(fixed, 10),
            initial_tsn: Tsn(u32_at(fixed, 12)),
            parameters: Parameters::from_bytes(parameters),
        })
    }

    /// Writes it as the given type, INIT or INIT ACK.
    pub(super) fn encode_as(&self, chunk_type: u8, out: &mut Vec<u8>) {
        out.extend_from_slice(&header(chunk_type, 0, self.encoded_len()));
        out.extend_from_slice(&self.initiate_tag.to_be_bytes());
        out.extend_from_slice(&self.a_rwnd.to_be_bytes());
        out.extend_from_slice(&self.outbound_streams.to_be_bytes());
        out.extend_from_slice(&self.inbound_streams.to_be_bytes());
        out.extend_from_slice(&self.initial_tsn.0.to_be_bytes());
        out.extend_from_slice(self.parameters.as_bytes());
    }
}

impl Encode for Init<'_> {
    fn encoded_len(&self) -> usize {
        Self::FIXED_LEN + self.parameters.as_bytes().len()
    }

    fn encode(&self, out: &mut PacketBuf) {
        self.encode_as(Self::TYPE, &mut out.head);
    }
}
