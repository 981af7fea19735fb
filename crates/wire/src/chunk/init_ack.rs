use super::{Encode, Init};
use transport::PacketBuf;

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
/// The fields are those of [`Init`], and describe the sender of the INIT ACK.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::Chunk;
    use crate::param::{Parameter, Parameters};
    use crate::serial::Tsn;
    use crate::testing::{decode, encode, hex};

    #[test]
    fn captured_chunk_decodes_to_its_fields() {
        let bytes = hex("02 00 001e  00000001  00010000  0001 0002  00000003  0007 000a 0102030405060000");
        let Ok(Chunk::InitAck(InitAck(init))) = decode(&bytes) else { panic!("not INIT ACK") };
        assert_eq!((init.initiate_tag, init.a_rwnd), (1, 65_536));
        assert_eq!((init.outbound_streams, init.inbound_streams), (1, 2));
        assert_eq!(init.initial_tsn, Tsn(3));
        assert!(init.parameters.iter().eq([Ok(Parameter::StateCookie(&[1, 2, 3, 4, 5, 6]))]));
        assert_eq!(encode(&InitAck(init)), bytes);
    }

    #[test]
    fn encoding_and_decoding_returns_the_same_chunk() {
        let ack = InitAck(Init {
            initiate_tag: u32::MAX,
            a_rwnd: 0,
            outbound_streams: 3,
            inbound_streams: 4,
            initial_tsn: Tsn(0),
            parameters: Parameters::default(),
        });
        assert_eq!(decode(&encode(&ack)), Ok(Chunk::InitAck(ack)));
    }
}
