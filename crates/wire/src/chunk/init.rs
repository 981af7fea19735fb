use super::{Encode, HEADER_LEN, header};
use crate::field::{u16_at, u32_at};
use crate::param::Parameters;
use crate::serial::Tsn;
use transport::PacketBuf;

/// INIT: initiates an association (rfc9260#section-3.3.2).
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
/// Decoding accepts values that the RFC forbids, such as a tag of 0; the endpoint rejects them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Init<'a> {
    /// Verification tag for all packets to the sender of this chunk.
    pub initiate_tag: u32,
    /// Advertised receiver window (a_rwnd), in bytes.
    pub a_rwnd: u32,
    /// Number of outbound streams that the sender requests.
    pub outbound_streams: u16,
    /// Largest number of inbound streams that the sender supports.
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

    /// Decodes the value of INIT and INIT ACK.
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

    /// Encodes the fields in a chunk of the given type, INIT or INIT ACK.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::{Chunk, ChunkError};
    use crate::param::{Parameter, ParameterList, SupportedAddressTypes};
    use crate::testing::{decode, encode, hex};

    #[test]
    fn captured_chunk_decodes_to_its_fields() {
        // Two addresses and the supported address types.
        let bytes = hex("01 00 002a  deadbeef  0001c9c0  000a 0800  ffffffff
             0005 0008 0a000102  0005 0008 0a010102  000c 0006 0005 0000");
        let Ok(Chunk::Init(init)) = decode(&bytes) else { panic!("not INIT") };
        assert_eq!((init.initiate_tag, init.a_rwnd), (0xdead_beef, 117_184));
        assert_eq!((init.outbound_streams, init.inbound_streams), (10, 2048));
        assert_eq!(init.initial_tsn, Tsn(u32::MAX));
        let ipv4_only = SupportedAddressTypes { ipv4: true, ..SupportedAddressTypes::default() };
        let parameters: Vec<_> = init.parameters.iter().collect();
        assert_eq!(
            parameters,
            [
                Ok(Parameter::Ipv4([10, 0, 1, 2].into())),
                Ok(Parameter::Ipv4([10, 1, 1, 2].into())),
                Ok(Parameter::SupportedAddressTypes(ipv4_only)),
            ]
        );
        assert_eq!(encode(&init), bytes);
    }

    #[test]
    fn encoding_and_decoding_returns_the_same_chunk() {
        let mut list = ParameterList::new();
        assert!(list.push(&Parameter::StateCookie(b"cookie")));
        assert!(list.push(&Parameter::SupportedExtensions(&[0x10])));
        let init = Init {
            initiate_tag: 1,
            a_rwnd: 1500,
            outbound_streams: 1,
            inbound_streams: 65_535,
            initial_tsn: Tsn(7),
            parameters: list.as_parameters(),
        };
        assert_eq!(decode(&encode(&init)), Ok(Chunk::Init(init)));
    }

    #[test]
    fn chunk_shorter_than_its_fixed_part_is_rejected() {
        let bytes = hex("01 00 0010  deadbeef  0001c9c0  000a 0800");
        assert_eq!(decode(&bytes), Err(ChunkError::Value { chunk_type: 1 }));
    }
}
