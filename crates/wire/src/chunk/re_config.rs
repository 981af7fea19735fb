use super::{Encode, HEADER_LEN, header};
use crate::re_config::{ReConfigError, ReConfigParameter};
use crate::tlv::Tlvs;
use transport::PacketBuf;

/// RE-CONFIG: requests a reset or an addition of streams, or answers such a request (rfc6525#section-3.1).
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+---------------+-------------------------------+
/// |  type = 0x82  |   flags = 0   |            length             |
/// +---------------+---------------+-------------------------------+
/// \                   one or two parameters                       \
/// +---------------------------------------------------------------+
/// ```
///
/// The parameters are kept encoded. [`Self::parameters`] checks and decodes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReConfig<'a> {
    /// The encoded parameters. The first of two parameters is padded.
    pub bytes: &'a [u8],
}

impl<'a> ReConfig<'a> {
    /// The chunk type.
    pub const TYPE: u8 = 0x82;

    pub(super) fn decode(value: &'a [u8]) -> Self {
        ReConfig { bytes: value }
    }

    /// Decodes the parameters: one, or two that may share a chunk. Ignores a parameter of an unknown type and
    /// all parameters after it, because the top bits of such types require it (rfc6525#section-4).
    ///
    /// # Errors
    /// [`ReConfigError`] if there is no parameter, a parameter is malformed, or the parameters may not share
    /// a chunk.
    pub fn parameters(
        &self,
    ) -> Result<(ReConfigParameter<'a>, Option<ReConfigParameter<'a>>), ReConfigError> {
        let mut known = Tlvs::new(self.bytes)
            .map(|tlv| ReConfigParameter::decode(tlv?))
            .take_while(|decoded| !matches!(decoded, Ok(None)))
            .filter_map(Result::transpose);
        let first = known.next().ok_or(ReConfigError::Empty)??;
        let Some(second) = known.next().transpose()? else { return Ok((first, None)) };
        if known.next().is_some() || !first.may_accompany(&second) {
            return Err(ReConfigError::Combination);
        }
        Ok((first, Some(second)))
    }
}

impl Encode for ReConfig<'_> {
    fn encoded_len(&self) -> usize {
        HEADER_LEN + self.bytes.len()
    }

    fn encode(&self, out: &mut PacketBuf) {
        out.head.extend_from_slice(&header(Self::TYPE, 0, self.encoded_len()));
        out.head.extend_from_slice(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::Chunk;
    use crate::re_config::{ReConfigList, ReConfigResult, StreamNumbers};
    use crate::serial::Tsn;
    use crate::testing::{decode, encode, hex};
    use crate::tlv::TlvError;

    fn list(parameters: &[ReConfigParameter<'_>]) -> ReConfigList {
        let mut list = ReConfigList::default();
        assert!(parameters.iter().all(|parameter| list.push(parameter)));
        list
    }

    fn read(bytes: &[u8]) -> Result<Vec<ReConfigParameter<'_>>, ReConfigError> {
        let Ok(Chunk::ReConfig(chunk)) = decode(bytes) else { panic!("not RE-CONFIG") };
        assert_eq!(encode(&chunk), bytes);
        chunk.parameters().map(|(first, second)| std::iter::once(first).chain(second).collect())
    }

    // rfc6525#section-4.1, rfc6525#section-4.4
    #[test]
    fn vectors_computed_by_hand_decode_and_encode_to_the_same_bytes() {
        let streams = [1u16, 3].map(u16::to_be_bytes);
        let reset = ReConfigParameter::OutgoingReset {
            request: 1000,
            response: 1999,
            last_tsn: Tsn(1234),
            streams: StreamNumbers::new(&streams),
        };
        let answer = ReConfigParameter::Response {
            response: 1000,
            result: ReConfigResult::Performed,
            next_tsns: None,
        };
        let vectors = [
            ("82000018 000d0014 000003e8 000007cf 000004d2 00010003", reset),
            ("82000010 0010000c 000003e8 00000001", answer),
        ];
        for (bytes, parameter) in vectors {
            let bytes = hex(bytes);
            assert_eq!(read(&bytes), Ok(vec![parameter]));
            assert_eq!(encode(&ReConfig { bytes: list(&[parameter]).as_bytes() }), bytes);
        }
    }

    // rfc6525#section-3.1
    #[test]
    fn only_the_combinations_of_the_rfc_may_share_a_chunk() {
        let streams = StreamNumbers::default();
        let outgoing =
            ReConfigParameter::OutgoingReset { request: 1, response: 2, last_tsn: Tsn(3), streams };
        let incoming = ReConfigParameter::IncomingReset { request: 2, streams };
        let association = ReConfigParameter::AssociationReset { request: 1 };
        let add_outgoing = ReConfigParameter::AddOutgoing { request: 1, streams: 5 };
        let add_incoming = ReConfigParameter::AddIncoming { request: 2, streams: 5 };
        let result = ReConfigResult::Denied;
        let response = ReConfigParameter::Response { response: 7, result, next_tsns: None };
        let all = [outgoing, incoming, association, add_outgoing, add_incoming, response];
        let allowed =
            [(outgoing, incoming), (add_outgoing, add_incoming), (response, outgoing), (response, response)];
        for first in all {
            assert!(read(&encode(&ReConfig { bytes: list(&[first]).as_bytes() })).is_ok());
            for second in all {
                let together = allowed.contains(&(first, second)) || allowed.contains(&(second, first));
                let chunk = encode(&ReConfig { bytes: list(&[first, second]).as_bytes() });
                let expected =
                    if together { Ok(vec![first, second]) } else { Err(ReConfigError::Combination) };
                assert_eq!(read(&chunk), expected);
            }
        }
        let three = list(&[response, response, response]);
        assert_eq!(read(&encode(&ReConfig { bytes: three.as_bytes() })), Err(ReConfigError::Combination));
    }

    // rfc6525#section-4
    #[test]
    fn what_follows_an_unknown_parameter_is_not_read() {
        let known = hex("82000014 000f0008 00000001 00130008 00000000");
        let association = ReConfigParameter::AssociationReset { request: 1 };
        assert_eq!(read(&known), Ok(vec![association]));
        let unknown = hex("82000014 00130008 00000000 000f0008 00000001");
        assert_eq!(read(&unknown), Err(ReConfigError::Empty));
    }

    #[test]
    fn malformed_parameters_are_refused() {
        let value = |kind| Err(ReConfigError::Malformed(TlvError::Value { kind }));
        for (bytes, expected) in [
            ("82000004", Err(ReConfigError::Empty)),
            ("82000008 000d0004", value(13)),
            ("82000013 000d000f 000003e8 000007cf 0004d2 00", value(13)),
            ("82000015 000d0011 000003e8 000007cf 000004d2 00 000000", value(13)),
            ("82000008 000e0004", value(14)),
            ("8200000d 000e0009 000003e8 00 000000", value(14)),
            ("82000008 000f0004", value(15)),
            ("82000010 000f000c 00000001 00000000", value(15)),
            ("8200000c 00100008 000003e8", value(16)),
            ("82000014 00100010 000003e8 00000001 00000005", value(16)),
            ("8200001c 00100018 000003e8 00000001 00000005 00000006 00000007", value(16)),
            ("8200000c 00110008 000003e8", value(17)),
            ("82000014 00120010 000003e8 00050000 00000000", value(18)),
            ("82000008 000d0003", Err(ReConfigError::Malformed(TlvError::Length { kind: 13, length: 3 }))),
            ("82000008 000d0014", Err(ReConfigError::Malformed(TlvError::Length { kind: 13, length: 20 }))),
            ("82000006 000f 0000", Err(ReConfigError::Malformed(TlvError::Truncated(2)))),
        ] {
            assert_eq!(read(&hex(bytes)), expected, "{bytes}");
        }
    }
}
