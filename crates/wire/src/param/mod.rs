//! Parameters of INIT, INIT ACK, HEARTBEAT and HEARTBEAT ACK (rfc9260#section-3.2.1).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-------------------------------+-------------------------------+
//! |             type              |            length             |
//! +-------------------------------+-------------------------------+
//! \                             value                             \
//! +---------------------------------------------------------------+
//! ```

mod address_types;
mod list;
mod unknown;

pub use address_types::SupportedAddressTypes;
pub use list::{ParameterList, Parameters};
pub use unknown::UnknownParameter;

use crate::tlv::{self, Tlv, TlvError};
use std::net::{Ipv4Addr, Ipv6Addr};
use transport::Octets;
use units::Span;

/// Type of the Heartbeat Info parameter.
pub const HEARTBEAT_INFO: u16 = 1;
/// Type of the IPv4 Address parameter.
pub const IPV4_ADDRESS: u16 = 5;
/// Type of the IPv6 Address parameter.
pub const IPV6_ADDRESS: u16 = 6;
/// Type of the State Cookie parameter.
pub const STATE_COOKIE: u16 = 7;
/// Type of the Unrecognized Parameter parameter.
pub const UNRECOGNIZED_PARAMETER: u16 = 8;
/// Type of the Cookie Preservative parameter.
pub const COOKIE_PRESERVATIVE: u16 = 9;
/// Type of the Host Name Address parameter.
pub const HOST_NAME_ADDRESS: u16 = 11;
/// Type of the Supported Address Types parameter.
pub const SUPPORTED_ADDRESS_TYPES: u16 = 12;
/// Type of the Random parameter.
pub const RANDOM: u16 = 0x8002;
/// Type of the Chunk List parameter.
pub const CHUNK_LIST: u16 = 0x8003;
/// Type of the Requested HMAC Algorithm parameter.
pub const HMAC_ALGORITHMS: u16 = 0x8004;
/// Type of the Forward TSN Supported parameter.
pub const FORWARD_TSN_SUPPORTED: u16 = 0xc000;
/// Type of the ECN Capable parameter.
pub const ECN_CAPABLE: u16 = 0x8000;
/// Type of the Zero Checksum Acceptable parameter.
pub const ZERO_CHECKSUM_ACCEPTABLE: u16 = 0x8001;
/// Type of the Supported Extensions parameter.
pub const SUPPORTED_EXTENSIONS: u16 = 0x8008;
/// Type of the Adaptation Layer Indication parameter.
pub const ADAPTATION: u16 = 0xc006;

/// A parameter, as a view of its chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter<'a> {
    /// Type 1: information that only its sender interprets (rfc9260#section-3.3.5).
    HeartbeatInfo(&'a [u8]),
    /// Type 5: an address of the sender (rfc9260#section-3.3.2.1.1).
    Ipv4(Ipv4Addr),
    /// Type 6: an address of the sender (rfc9260#section-3.3.2.1.2).
    Ipv6(Ipv6Addr),
    /// Type 7: the state cookie, from which the responder creates the association
    /// (rfc9260#section-3.3.3.1.1).
    StateCookie(&'a [u8]),
    /// Type 8: a parameter of the INIT, with its header, whose type the receiver of the INIT does not know
    /// (rfc9260#section-3.3.3.1.2).
    UnrecognizedParameter(&'a [u8]),
    /// Type 9: requested increase of the cookie lifetime (rfc9260#section-3.3.2.1.3). Encoded as whole
    /// milliseconds, rounded down, at most 2^32 - 1.
    CookiePreservative(Span),
    /// Type 11: a host name in place of addresses, with its final zero byte. An endpoint must not send it,
    /// and answers it by an ABORT (rfc9260#section-3.3.2.1.4).
    HostName(&'a [u8]),
    /// Type 12: the kinds of addresses the sender can use (rfc9260#section-3.3.2.1.5).
    SupportedAddressTypes(SupportedAddressTypes),
    /// Type 0x8000: the sender supports ECN (draft-stewart-tsvwg-sctpecn-07). The parameter has no value; a
    /// parameter of this type with a value is decoded as an unknown one.
    EcnCapable,
    /// Type 0x8001: the error detection method with which the sender accepts a zero checksum
    /// (rfc9653#section-4); 1: SCTP over DTLS. Decoded as unknown if the value is not 4 bytes long.
    ZeroChecksumAcceptable(u32),
    /// Type 0x8008: the chunk types of the extensions the sender supports (rfc5061#section-4.2.7).
    SupportedExtensions(&'a [u8]),
    /// Type 0x8002: the random number of the sender for AUTH (rfc4895#section-3.1).
    Random(&'a [u8]),
    /// Type 0x8003: the chunk types that the sender accepts only after an AUTH chunk (rfc4895#section-3.2).
    ChunkList(&'a [u8]),
    /// Type 0x8004: the HMAC identifiers that the sender supports, 16 bits each, the preferred first
    /// (rfc4895#section-3.3).
    HmacAlgorithms(&'a [u8]),
    /// Type 0xc000: the sender supports FORWARD TSN (rfc3758#section-3.1).
    ForwardTsnSupported,
    /// Type 0xc006: the adaptation code point of the sender's upper layer (rfc5061#section-4.2.6). Decoded as
    /// unknown if the value is not 4 bytes long.
    Adaptation(u32),
    /// Any other type, not decoded.
    Unknown(UnknownParameter<'a>),
}

impl<'a> Parameter<'a> {
    fn decode(tlv: Tlv<'a>) -> Result<Self, TlvError> {
        let value = tlv.value();
        match tlv.kind {
            HEARTBEAT_INFO => Some(Parameter::HeartbeatInfo(value)),
            IPV4_ADDRESS => value.try_into().ok().map(|octets: [u8; 4]| Parameter::Ipv4(octets.into())),
            IPV6_ADDRESS => value.try_into().ok().map(|octets: [u8; 16]| Parameter::Ipv6(octets.into())),
            STATE_COOKIE => Some(Parameter::StateCookie(value)),
            UNRECOGNIZED_PARAMETER => Some(Parameter::UnrecognizedParameter(value)),
            COOKIE_PRESERVATIVE => value
                .try_into()
                .ok()
                .map(|ms| Parameter::CookiePreservative(Span::from_millis(u32::from_be_bytes(ms).into()))),
            HOST_NAME_ADDRESS => Some(Parameter::HostName(value)),
            SUPPORTED_ADDRESS_TYPES => {
                SupportedAddressTypes::decode(value).map(Parameter::SupportedAddressTypes)
            }
            RANDOM => Some(Parameter::Random(value)),
            CHUNK_LIST => Some(Parameter::ChunkList(value)),
            HMAC_ALGORITHMS => Some(Parameter::HmacAlgorithms(value)),
            ECN_CAPABLE if value.is_empty() => Some(Parameter::EcnCapable),
            ZERO_CHECKSUM_ACCEPTABLE if value.len() == 4 => value
                .try_into()
                .ok()
                .map(|method| Parameter::ZeroChecksumAcceptable(u32::from_be_bytes(method))),
            SUPPORTED_EXTENSIONS => Some(Parameter::SupportedExtensions(value)),
            // In rfc3758#section-3.1 this parameter has no value. A value is ignored.
            FORWARD_TSN_SUPPORTED => Some(Parameter::ForwardTsnSupported),
            ADAPTATION if value.len() == 4 => {
                value.try_into().ok().map(|code| Parameter::Adaptation(u32::from_be_bytes(code)))
            }
            _ => Some(Parameter::Unknown(UnknownParameter::new(tlv))),
        }
        .ok_or(TlvError::Value { kind: tlv.kind })
    }

    /// Appends the parameter to `out`. Returns false, and writes nothing, if it is too long for its length
    /// field.
    fn append_to(&self, out: &mut Vec<u8>) -> bool {
        let mut append = |kind, value: &[u8]| tlv::append(out, kind, &[Octets::from(value)]);
        match *self {
            Parameter::HeartbeatInfo(info) => append(HEARTBEAT_INFO, info),
            Parameter::Ipv4(address) => append(IPV4_ADDRESS, &address.octets()),
            Parameter::Ipv6(address) => append(IPV6_ADDRESS, &address.octets()),
            Parameter::StateCookie(cookie) => append(STATE_COOKIE, cookie),
            Parameter::UnrecognizedParameter(whole) => append(UNRECOGNIZED_PARAMETER, whole),
            Parameter::CookiePreservative(increment) => {
                let ms = u32::try_from(increment.as_nanos() / 1_000_000).unwrap_or(u32::MAX);
                append(COOKIE_PRESERVATIVE, &ms.to_be_bytes())
            }
            Parameter::HostName(name) => append(HOST_NAME_ADDRESS, name),
            Parameter::SupportedAddressTypes(types) => {
                let (bytes, used) = types.encode();
                append(SUPPORTED_ADDRESS_TYPES, &bytes[..used])
            }
            Parameter::Random(random) => append(RANDOM, random),
            Parameter::ChunkList(types) => append(CHUNK_LIST, types),
            Parameter::HmacAlgorithms(ids) => append(HMAC_ALGORITHMS, ids),
            Parameter::EcnCapable => append(ECN_CAPABLE, &[]),
            Parameter::ZeroChecksumAcceptable(method) => {
                append(ZERO_CHECKSUM_ACCEPTABLE, &method.to_be_bytes())
            }
            Parameter::SupportedExtensions(types) => append(SUPPORTED_EXTENSIONS, types),
            Parameter::ForwardTsnSupported => append(FORWARD_TSN_SUPPORTED, &[]),
            Parameter::Adaptation(code) => append(ADAPTATION, &code.to_be_bytes()),
            Parameter::Unknown(unknown) => append(unknown.parameter_type(), unknown.value()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::UnknownAction;
    use crate::testing::hex;

    /// For each type: an encoded parameter, and the decoded parameter.
    fn captures() -> Vec<(Vec<u8>, Parameter<'static>)> {
        let all = SupportedAddressTypes { ipv4: true, ipv6: true, host_name: true };
        vec![
            (hex("0001 0007 616263"), Parameter::HeartbeatInfo(b"abc")),
            (hex("0005 0008 c0000201"), Parameter::Ipv4([192, 0, 2, 1].into())),
            (
                hex("0006 0014 20010db8 00000000 00000000 0000000f"),
                Parameter::Ipv6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 15)),
            ),
            (hex("0007 0005 aa"), Parameter::StateCookie(&[0xaa])),
            (hex("0008 0009 c0de 0005 01"), Parameter::UnrecognizedParameter(&[0xc0, 0xde, 0, 5, 1])),
            (hex("0009 0008 000003e8"), Parameter::CookiePreservative(Span::from_secs(1))),
            (hex("000b 0006 6100"), Parameter::HostName(b"a\0")),
            (hex("000c 000a 0005 0006 000b"), Parameter::SupportedAddressTypes(all)),
            (hex("8002 0006 0102"), Parameter::Random(&[1, 2])),
            (hex("8003 0006 c180"), Parameter::ChunkList(&[0xc1, 0x80])),
            (hex("8004 0008 0003 0001"), Parameter::HmacAlgorithms(&[0, 3, 0, 1])),
            (hex("c000 0004"), Parameter::ForwardTsnSupported),
            (hex("c006 0008 0000abcd"), Parameter::Adaptation(0xabcd)),
            (hex("8000 0004"), Parameter::EcnCapable),
            (hex("8001 0008 00000001"), Parameter::ZeroChecksumAcceptable(1)),
            (hex("8008 0006 1082"), Parameter::SupportedExtensions(&[0x10, 0x82])),
        ]
    }

    #[test]
    fn captured_parameters_decode_and_encode_to_the_same_bytes() {
        for (bytes, expected) in captures() {
            let mut list = ParameterList::new();
            assert!(list.push(&expected));
            assert_eq!(list.as_parameters().as_bytes(), bytes, "{expected:?}");
            assert!(Parameters::from_bytes(&bytes).iter().eq([Ok(expected)]), "{expected:?}");
        }
    }

    #[test]
    fn parameters_are_padded_except_the_last() {
        let mut list = ParameterList::new();
        assert!(list.push(&Parameter::StateCookie(b"c")) && list.push(&Parameter::HostName(b"h")));
        assert_eq!(list.as_parameters().as_bytes(), hex("0007 0005 63 000000  000b 0005 68"));
        // Some senders count the padding of the last parameter in the length of the chunk.
        let padded = hex("0007 0005 63 000000  000b 0005 68 000000");
        let expected = [Parameter::StateCookie(b"c"), Parameter::HostName(b"h")];
        assert!(Parameters::from_bytes(&padded).iter().eq(expected.map(Ok)));
        assert!(list.as_parameters().iter().eq(expected.map(Ok)));
    }

    #[test]
    fn unknown_parameter_keeps_its_bytes() {
        let bytes = hex("c0de 0006 0102");
        let Some(Ok(Parameter::Unknown(unknown))) = Parameters::from_bytes(&bytes).iter().next() else {
            panic!("not unknown")
        };
        assert_eq!(unknown.parameter_type(), 0xc0de);
        assert_eq!((unknown.bytes(), unknown.value()), (bytes.as_slice(), &bytes[4..]));
        let mut list = ParameterList::new();
        assert!(list.push(&Parameter::Unknown(unknown)));
        assert_eq!(list.as_parameters().as_bytes(), bytes);
    }

    #[test]
    fn an_optional_parameter_of_another_length_is_unknown() {
        for bytes in ["8000 0005 01", "8000 0008 00000000", "8001 0004", "8001 000c 00000001 00000002"] {
            let bytes = hex(bytes);
            let first = Parameters::from_bytes(&bytes).iter().next();
            let Some(Ok(Parameter::Unknown(unknown))) = first else { panic!("not unknown: {first:?}") };
            assert_eq!(unknown.action(), UnknownAction::SkipDiscard);
        }
    }

    #[test]
    fn top_bits_of_an_unknown_parameter_type_select_the_action() {
        let expected = [
            ("3fff", UnknownAction::StopDiscard),
            ("4000", UnknownAction::StopReport),
            ("8005", UnknownAction::SkipDiscard),
            ("c001", UnknownAction::SkipReport),
        ];
        for (kind, action) in expected {
            let bytes = hex(&format!("{kind} 0004"));
            let first = Parameters::from_bytes(&bytes).iter().next();
            assert!(
                matches!(first, Some(Ok(Parameter::Unknown(unknown))) if unknown.action() == action),
                "{kind}"
            );
        }
    }

    #[test]
    fn wrong_value_is_skipped_and_wrong_length_ends_the_list() {
        let bytes = hex("0005 0007 c00002 00  0009 0004  000c 0005 00 000000  0007 0004  0006 0015");
        let expected = [
            Err(TlvError::Value { kind: 5 }),
            Err(TlvError::Value { kind: 9 }),
            Err(TlvError::Value { kind: 12 }),
            Ok(Parameter::StateCookie(&[])),
            Err(TlvError::Length { kind: 6, length: 21 }),
        ];
        assert!(Parameters::from_bytes(&bytes).iter().eq(expected));
        assert!(Parameters::from_bytes(&[0, 7]).iter().eq([Err(TlvError::Truncated(2))]));
        assert!(
            Parameters::from_bytes(&[0, 7, 0, 3]).iter().eq([Err(TlvError::Length { kind: 7, length: 3 })])
        );
    }

    #[test]
    fn cookie_preservative_saturates_at_32_bits() {
        let mut list = ParameterList::new();
        assert!(list.push(&Parameter::CookiePreservative(Span::MAX)));
        assert_eq!(list.as_parameters().as_bytes()[4..], [0xff; 4]);
    }

    #[test]
    fn parameter_longer_than_the_length_field_is_not_written() {
        let cookie = vec![1; 65_532];
        let mut list = ParameterList::new();
        assert!(!list.push(&Parameter::StateCookie(&cookie)));
        assert_eq!(list, ParameterList::new());
        assert!(list.push(&Parameter::StateCookie(&cookie[1..])));
    }
}
