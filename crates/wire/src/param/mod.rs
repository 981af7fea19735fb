//! Parameters: what INIT and INIT ACK negotiate, and the information of a HEARTBEAT (rfc9260#section-3.3.2.1).
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

use crate::octets::Octets;
use crate::tlv::{self, Tlv, TlvError};
use std::net::{Ipv4Addr, Ipv6Addr};
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
/// Type of the Supported Extensions parameter.
pub const SUPPORTED_EXTENSIONS: u16 = 0x8008;

/// A parameter, as a view of its chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter<'a> {
    /// Type 1: information only its sender understands (rfc9260#section-3.3.5).
    HeartbeatInfo(&'a [u8]),
    /// Type 5: an address of the sender (rfc9260#section-3.3.2.1.1).
    Ipv4(Ipv4Addr),
    /// Type 6: an address of the sender (rfc9260#section-3.3.2.1.2).
    Ipv6(Ipv6Addr),
    /// Type 7: all an endpoint must know to make the association it has not yet made (rfc9260#section-3.3.3.1.1).
    StateCookie(&'a [u8]),
    /// Type 8: a parameter of the INIT that its receiver does not know, whole (rfc9260#section-3.3.3.1.2).
    UnrecognizedParameter(&'a [u8]),
    /// Type 9: by how much the cookie should live longer, in milliseconds on the wire
    /// (rfc9260#section-3.3.2.1.3). Written rounded down, and no longer than 32 bits tell.
    CookiePreservative(Span),
    /// Type 11: a name instead of addresses, with its final zero byte. Must not be sent any more; must be answered
    /// with ABORT (rfc9260#section-3.3.2.1.4).
    HostName(&'a [u8]),
    /// Type 12: the kinds of addresses the sender can use (rfc9260#section-3.3.2.1.5).
    SupportedAddressTypes(SupportedAddressTypes),
    /// Type 0x8008: the chunk types of the extensions the sender supports (rfc5061#section-4.2.7).
    SupportedExtensions(&'a [u8]),
    /// Of another type: kept as it is.
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
            SUPPORTED_EXTENSIONS => Some(Parameter::SupportedExtensions(value)),
            _ => Some(Parameter::Unknown(UnknownParameter::new(tlv))),
        }
        .ok_or(TlvError::Value { kind: tlv.kind })
    }

    /// Appends it to `out`; false, and nothing written, if it is too long for its length field.
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
            Parameter::SupportedExtensions(types) => append(SUPPORTED_EXTENSIONS, types),
            Parameter::Unknown(unknown) => append(unknown.parameter_type(), unknown.value()),
        }
    }
}
