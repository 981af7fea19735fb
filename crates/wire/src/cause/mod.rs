//! Error causes: the contents of ABORT and ERROR chunks (rfc9260#section-3.3.10).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-------------------------------+-------------------------------+
//! |          cause code           |            length             |
//! +-------------------------------+-------------------------------+
//! \                      information of the cause                 \
//! +---------------------------------------------------------------+
//! ```

mod list;
mod missing;

pub use list::{CauseList, Causes};
pub use missing::MissingParameters;

use crate::field::{u16_at, u32_at};
use crate::param::Parameters;
use crate::serial::{StreamId, Tsn};
use crate::tlv::{self, Tlv, TlvError};
use transport::Octets;
use units::Span;

/// Code of the Invalid Stream Identifier cause.
pub const INVALID_STREAM: u16 = 1;
/// Code of the Missing Mandatory Parameter cause.
pub const MISSING_MANDATORY_PARAMETER: u16 = 2;
/// Code of the Stale Cookie cause.
pub const STALE_COOKIE: u16 = 3;
/// Code of the Out of Resource cause.
pub const OUT_OF_RESOURCE: u16 = 4;
/// Code of the Unresolvable Address cause.
pub const UNRESOLVABLE_ADDRESS: u16 = 5;
/// Code of the Unrecognized Chunk Type cause.
pub const UNRECOGNIZED_CHUNK: u16 = 6;
/// Code of the Invalid Mandatory Parameter cause.
pub const INVALID_MANDATORY_PARAMETER: u16 = 7;
/// Code of the Unrecognized Parameters cause.
pub const UNRECOGNIZED_PARAMETERS: u16 = 8;
/// Code of the No User Data cause.
pub const NO_USER_DATA: u16 = 9;
/// Code of the Cookie Received While Shutting Down cause.
pub const COOKIE_IN_SHUTDOWN: u16 = 10;
/// Code of the Restart of an Association with New Addresses cause.
pub const RESTART_WITH_NEW_ADDRESSES: u16 = 11;
/// Code of the User-Initiated Abort cause.
pub const USER_INITIATED_ABORT: u16 = 12;
/// Code of the Protocol Violation cause.
pub const PROTOCOL_VIOLATION: u16 = 13;
/// Code of the Restart of an Association with New Encapsulation Port cause.
pub const RESTART_WITH_NEW_PORT: u16 = 14;
/// Code of the Request to Delete Last Remaining IP Address cause.
pub const DELETE_LAST_ADDRESS: u16 = 0xa0;
/// Code of the Operation Refused Due to Resource Shortage cause.
pub const RESOURCE_SHORTAGE: u16 = 0xa1;
/// Code of the Request to Delete Source IP Address cause.
pub const DELETE_SOURCE_ADDRESS: u16 = 0xa2;
/// Code of the Association Aborted Due to Illegal ASCONF-ACK cause.
pub const ILLEGAL_ASCONF_ACK: u16 = 0xa3;
/// Code of the Request Refused - No Authorization cause.
pub const NO_AUTHORIZATION: u16 = 0xa4;
/// Code of the Unsupported HMAC Identifier cause.
pub const UNSUPPORTED_HMAC: u16 = 0x105;

/// An error cause, as a view of its chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause<'a> {
    /// Code 1: DATA on a stream that does not exist (rfc9260#section-3.3.10.1).
    InvalidStream {
        /// The stream.
        stream: StreamId,
    },
    /// Code 2: an INIT or INIT ACK lacks parameters of these types (rfc9260#section-3.3.10.2).
    MissingMandatoryParameter(MissingParameters<'a>),
    /// Code 3: the cookie came back too late (rfc9260#section-3.3.10.3).
    StaleCookie {
        /// By how much the cookie was too late. On the wire: in whole microseconds, rounded down, below 2^32.
        staleness: Span,
    },
    /// Code 4: the sender lacks resources for an association (rfc9260#section-3.3.10.4).
    OutOfResource,
    /// Code 5: a whole address parameter that cannot be resolved (rfc9260#section-3.3.10.5).
    UnresolvableAddress(&'a [u8]),
    /// Code 6: a whole chunk of an unknown type (rfc9260#section-3.3.10.6).
    UnrecognizedChunk(Octets<'a>),
    /// Code 7: a mandatory parameter has an invalid value (rfc9260#section-3.3.10.7).
    InvalidMandatoryParameter,
    /// Code 8: unknown parameters of the INIT ACK (rfc9260#section-3.3.10.8).
    UnrecognizedParameters(Parameters<'a>),
    /// Code 9: a DATA chunk without user data (rfc9260#section-3.3.10.9).
    NoUserData {
        /// TSN of the chunk.
        tsn: Tsn,
    },
    /// Code 10: a COOKIE ECHO arrived after SHUTDOWN ACK had been sent (rfc9260#section-3.3.10.10).
    CookieInShutdown,
    /// Code 11: a restart would add these addresses to the association (rfc9260#section-3.3.10.11).
    RestartWithNewAddresses(Parameters<'a>),
    /// Code 12: the user's reason to abort (rfc9260#section-3.3.10.12).
    UserInitiatedAbort(&'a [u8]),
    /// Code 13: the peer violated the protocol; the bytes give details (rfc9260#section-3.3.10.13).
    ProtocolViolation(&'a [u8]),
    /// Code 14: an INIT came from a UDP port other than that of the association
    /// (draft-tuexen-tsvwg-sctp-udp-encaps-cons-10).
    RestartWithNewPort {
        /// The UDP port of the association; 0 without encapsulation.
        current: u16,
        /// The UDP port of the INIT; 0 without encapsulation.
        new: u16,
    },
    /// Code 0xa0: the contained request would delete the last address (rfc5061#section-4.3.1).
    DeleteLastAddress(&'a [u8]),
    /// Code 0xa1: the receiver lacks resources for the contained request (rfc5061#section-4.3.2).
    ResourceShortage(&'a [u8]),
    /// Code 0xa2: the contained request would delete the source address of its packet
    /// (rfc5061#section-4.3.3).
    DeleteSourceAddress(&'a [u8]),
    /// Code 0xa3: an ASCONF-ACK answered an ASCONF that was not sent (rfc5061#section-4.3.4).
    IllegalAsconfAck,
    /// Code 0xa4: the contained request is not authorized (rfc5061#section-4.3.5).
    NoAuthorization(&'a [u8]),
    /// Code 0x105: the receiver of an AUTH chunk did not announce the HMAC identifier of the chunk
    /// (rfc4895#section-4.1).
    UnsupportedHmac {
        /// The identifier.
        hmac_id: u16,
    },
    /// Any other code, not decoded.
    Unknown {
        /// The cause code.
        code: u16,
        /// The information of the cause.
        value: &'a [u8],
    },
}

impl<'a> Cause<'a> {
    fn decode(tlv: Tlv<'a>) -> Result<Self, TlvError> {
        let value = tlv.value();
        let word = || <&[u8; 4]>::try_from(value).ok();
        let nothing = |cause| value.is_empty().then_some(cause);
        match tlv.kind {
            INVALID_STREAM => word().map(|word| Cause::InvalidStream { stream: StreamId(u16_at(word, 0)) }),
            MISSING_MANDATORY_PARAMETER => {
                MissingParameters::decode(value).map(Cause::MissingMandatoryParameter)
            }
            STALE_COOKIE => {
                word().map(|us| Cause::StaleCookie { staleness: Span::from_micros(u32_at(us, 0).into()) })
            }
            OUT_OF_RESOURCE => nothing(Cause::OutOfResource),
            UNRESOLVABLE_ADDRESS => Some(Cause::UnresolvableAddress(value)),
            UNRECOGNIZED_CHUNK => Some(Cause::UnrecognizedChunk(value.into())),
            INVALID_MANDATORY_PARAMETER => nothing(Cause::InvalidMandatoryParameter),
            UNRECOGNIZED_PARAMETERS => Some(Cause::UnrecognizedParameters(Parameters::from_bytes(value))),
            NO_USER_DATA => word().map(|tsn| Cause::NoUserData { tsn: Tsn(u32_at(tsn, 0)) }),
            COOKIE_IN_SHUTDOWN => nothing(Cause::CookieInShutdown),
            RESTART_WITH_NEW_ADDRESSES => Some(Cause::RestartWithNewAddresses(Parameters::from_bytes(value))),
            USER_INITIATED_ABORT => Some(Cause::UserInitiatedAbort(value)),
            PROTOCOL_VIOLATION => Some(Cause::ProtocolViolation(value)),
            RESTART_WITH_NEW_PORT => word()
                .map(|ports| Cause::RestartWithNewPort { current: u16_at(ports, 0), new: u16_at(ports, 2) }),
            DELETE_LAST_ADDRESS => Some(Cause::DeleteLastAddress(value)),
            RESOURCE_SHORTAGE => Some(Cause::ResourceShortage(value)),
            DELETE_SOURCE_ADDRESS => Some(Cause::DeleteSourceAddress(value)),
            ILLEGAL_ASCONF_ACK => nothing(Cause::IllegalAsconfAck),
            NO_AUTHORIZATION => Some(Cause::NoAuthorization(value)),
            UNSUPPORTED_HMAC => {
                value.try_into().ok().map(|id| Cause::UnsupportedHmac { hmac_id: u16::from_be_bytes(id) })
            }
            code => Some(Cause::Unknown { code, value }),
        }
        .ok_or(TlvError::Value { kind: tlv.kind })
    }

    /// Appends the cause to `out`. Returns false, and writes nothing, if it is too long for its length field.
    fn append_to(&self, out: &mut Vec<u8>) -> bool {
        let mut append = |kind, value: &[u8]| tlv::append(out, kind, &[Octets::from(value)]);
        match *self {
            Cause::InvalidStream { stream } => {
                let [high, low] = stream.0.to_be_bytes();
                append(INVALID_STREAM, &[high, low, 0, 0])
            }
            Cause::MissingMandatoryParameter(missing) => {
                let (count, types) = missing.encode();
                tlv::append(out, MISSING_MANDATORY_PARAMETER, &[Octets::from(&count), types.into()])
            }
            Cause::StaleCookie { staleness } => {
                let us = u32::try_from(staleness.as_nanos() / 1_000).unwrap_or(u32::MAX);
                append(STALE_COOKIE, &us.to_be_bytes())
            }
            Cause::OutOfResource => append(OUT_OF_RESOURCE, &[]),
            Cause::UnresolvableAddress(parameter) => append(UNRESOLVABLE_ADDRESS, parameter),
            Cause::UnrecognizedChunk(chunk) => tlv::append(out, UNRECOGNIZED_CHUNK, &[chunk]),
            Cause::InvalidMandatoryParameter => append(INVALID_MANDATORY_PARAMETER, &[]),
            Cause::UnrecognizedParameters(parameters) => {
                append(UNRECOGNIZED_PARAMETERS, parameters.as_bytes())
            }
            Cause::NoUserData { tsn } => append(NO_USER_DATA, &tsn.0.to_be_bytes()),
            Cause::CookieInShutdown => append(COOKIE_IN_SHUTDOWN, &[]),
            Cause::RestartWithNewAddresses(addresses) => {
                append(RESTART_WITH_NEW_ADDRESSES, addresses.as_bytes())
            }
            Cause::UserInitiatedAbort(reason) => append(USER_INITIATED_ABORT, reason),
            Cause::ProtocolViolation(details) => append(PROTOCOL_VIOLATION, details),
            Cause::RestartWithNewPort { current, new } => {
                let ports = u32::from(current) << 16 | u32::from(new);
                append(RESTART_WITH_NEW_PORT, &ports.to_be_bytes())
            }
            Cause::DeleteLastAddress(request) => append(DELETE_LAST_ADDRESS, request),
            Cause::ResourceShortage(request) => append(RESOURCE_SHORTAGE, request),
            Cause::DeleteSourceAddress(request) => append(DELETE_SOURCE_ADDRESS, request),
            Cause::IllegalAsconfAck => append(ILLEGAL_ASCONF_ACK, &[]),
            Cause::NoAuthorization(request) => append(NO_AUTHORIZATION, request),
            Cause::UnsupportedHmac { hmac_id } => append(UNSUPPORTED_HMAC, &hmac_id.to_be_bytes()),
            Cause::Unknown { code, value } => append(code, value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::param::Parameter;
    use crate::testing::hex;

    /// For each code: an encoded cause, and the decoded cause.
    fn captures() -> Vec<(Vec<u8>, Cause<'static>)> {
        let address = Parameters::from_bytes(&[0, 5, 0, 8, 10, 0, 0, 1]);
        vec![
            (hex("0001 0008 0102 0000"), Cause::InvalidStream { stream: StreamId(0x0102) }),
            (
                hex("0002 000c 00000002 0007 0009"),
                Cause::MissingMandatoryParameter(MissingParameters::new(&[[0, 7], [0, 9]])),
            ),
            (hex("0003 0008 000186a0"), Cause::StaleCookie { staleness: Span::from_millis(100) }),
            (hex("0004 0004"), Cause::OutOfResource),
            (hex("0005 000a 000b 0006 6100"), Cause::UnresolvableAddress(&[0, 11, 0, 6, 0x61, 0])),
            (hex("0006 0009 c0000005 01"), Cause::UnrecognizedChunk((&[0xc0, 0, 0, 5, 1]).into())),
            (hex("0007 0004"), Cause::InvalidMandatoryParameter),
            (hex("0008 000c 0005 0008 0a000001"), Cause::UnrecognizedParameters(address)),
            (hex("0009 0008 ffffffff"), Cause::NoUserData { tsn: Tsn(u32::MAX) }),
            (hex("000a 0004"), Cause::CookieInShutdown),
            (hex("000b 000c 0005 0008 0a000001"), Cause::RestartWithNewAddresses(address)),
            (hex("000c 0007 627965"), Cause::UserInitiatedAbort(b"bye")),
            (hex("000d 0005 21"), Cause::ProtocolViolation(b"!")),
            (hex("000e 0008 26ab c350"), Cause::RestartWithNewPort { current: 9899, new: 50_000 }),
            (hex("00a0 0006 0102"), Cause::DeleteLastAddress(&[1, 2])),
            (hex("00a1 0006 0102"), Cause::ResourceShortage(&[1, 2])),
            (hex("00a2 0006 0102"), Cause::DeleteSourceAddress(&[1, 2])),
            (hex("00a3 0004"), Cause::IllegalAsconfAck),
            (hex("00a4 0006 0102"), Cause::NoAuthorization(&[1, 2])),
            (hex("0105 0006 0004"), Cause::UnsupportedHmac { hmac_id: 4 }),
            (hex("00b0 0006 0102"), Cause::Unknown { code: 0xb0, value: &[1, 2] }),
        ]
    }

    // rfc9260#section-3.3.10
    #[test]
    fn captured_causes_decode_and_encode_to_the_same_bytes() {
        for (bytes, expected) in captures() {
            let mut list = CauseList::new();
            assert!(list.push(&expected));
            assert_eq!(list.as_causes().as_bytes(), bytes, "{expected:?}");
            assert!(Causes::from_bytes(&bytes).iter().eq([Ok(expected)]), "{expected:?}");
        }
    }

    #[test]
    fn a_list_keeps_all_causes_in_order() {
        let mut list = CauseList::new();
        assert!(captures().iter().all(|(_, cause)| list.push(cause)));
        assert!(list.as_causes().iter().eq(captures().into_iter().map(|(_, cause)| Ok(cause))));
    }

    #[test]
    fn contents_of_a_cause_can_be_decoded() {
        let missing = MissingParameters::new(&[[0, 7], [0x80, 8]]);
        assert!(missing.types().eq([7, 0x8008]));
        let Cause::RestartWithNewAddresses(addresses) = captures()[10].1 else { panic!("not code 11") };
        assert!(addresses.iter().eq([Ok(Parameter::Ipv4([10, 0, 0, 1].into()))]));
    }

    #[test]
    fn an_unknown_chunk_is_reported_with_the_zeros_it_had() {
        let mut list = CauseList::new();
        assert!(list.push(&Cause::UnrecognizedChunk(Octets::new(&[0xc0, 0, 0, 7], 3))));
        assert_eq!(list.as_causes().as_bytes(), hex("0006 000b c0000007 000000"));
    }

    #[test]
    fn wrong_value_is_skipped_and_wrong_length_ends_the_list() {
        let bytes = hex(
            "0001 0006 0000 0000  0002 000a 00000002 0007 0000  0004 0008 00000000  000a 0004  0003 0003",
        );
        let expected = [
            Err(TlvError::Value { kind: 1 }),
            Err(TlvError::Value { kind: 2 }),
            Err(TlvError::Value { kind: 4 }),
            Ok(Cause::CookieInShutdown),
            Err(TlvError::Length { kind: 3, length: 3 }),
        ];
        assert!(Causes::from_bytes(&bytes).iter().eq(expected));
    }

    #[test]
    fn cause_longer_than_the_length_field_is_not_written() {
        let details = vec![1; 65_532];
        let mut list = CauseList::new();
        assert!(!list.push(&Cause::ProtocolViolation(&details)));
        assert_eq!(list, CauseList::new());
    }
}
