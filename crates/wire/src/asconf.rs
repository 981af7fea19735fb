//! The parameters of ASCONF and ASCONF-ACK: requests to change addresses, and the responses
//! (rfc5061#section-4.2).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-------------------------------+-------------------------------+
//! |             type              |            length             |
//! +-------------------------------+-------------------------------+
//! |                        correlation id                         |
//! +---------------------------------------------------------------+
//! \        request: address parameter; response: error causes     \
//! +---------------------------------------------------------------+
//! ```

use crate::cause::Causes;
use crate::param::{IPV4_ADDRESS, IPV6_ADDRESS, UnknownParameter};
use crate::tlv::{self, Tlv, TlvError};
use std::fmt;
use std::net::IpAddr;
use transport::Octets;

/// Type of the Add IP Address parameter.
pub const ADD_ADDRESS: u16 = 0xc001;
/// Type of the Delete IP Address parameter.
pub const DELETE_ADDRESS: u16 = 0xc002;
/// Type of the Error Cause Indication parameter.
pub const ERROR_INDICATION: u16 = 0xc003;
/// Type of the Set Primary Address parameter.
pub const SET_PRIMARY: u16 = 0xc004;
/// Type of the Success Indication parameter.
pub const SUCCESS_INDICATION: u16 = 0xc005;

/// The change that a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressChange {
    /// Adds the address (rfc5061#section-4.2.1).
    Add,
    /// Deletes the address (rfc5061#section-4.2.2).
    Delete,
    /// Asks the receiver to use the address as its primary destination (rfc5061#section-4.2.4).
    SetPrimary,
}

impl AddressChange {
    const fn kind(self) -> u16 {
        match self {
            AddressChange::Add => ADD_ADDRESS,
            AddressChange::Delete => DELETE_ADDRESS,
            AddressChange::SetPrimary => SET_PRIMARY,
        }
    }
}

/// A request of an ASCONF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The requested change.
    pub change: AddressChange,
    /// Correlation id: the response contains the same number.
    pub correlation: u32,
    /// The address. An unspecified address means the source address of the packet.
    pub address: IpAddr,
}

/// A parameter of an ASCONF that is not a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRequest<'a> {
    /// The type of the parameter is unknown.
    Unknown {
        /// Correlation id, which a response repeats; 0 if the parameter is too short to contain one.
        correlation: u32,
        /// The parameter.
        parameter: UnknownParameter<'a>,
    },
    /// The parameter is malformed.
    Malformed(TlvError),
}

impl Request {
    fn decode(tlv: Tlv<'_>) -> Result<Self, NoRequest<'_>> {
        let number = tlv.value().split_first_chunk();
        let change = match tlv.kind {
            ADD_ADDRESS => AddressChange::Add,
            DELETE_ADDRESS => AddressChange::Delete,
            SET_PRIMARY => AddressChange::SetPrimary,
            _ => {
                let correlation = number.map_or(0, |(number, _)| u32::from_be_bytes(*number));
                return Err(NoRequest::Unknown { correlation, parameter: UnknownParameter::new(tlv) });
            }
        };
        let decode = || {
            let (correlation, rest) = number?;
            let (address, rest) = tlv::split_first(rest).ok()?;
            let address = address_of(address).filter(|_| rest.is_empty())?;
            Some(Request { change, correlation: u32::from_be_bytes(*correlation), address })
        };
        decode().ok_or(NoRequest::Malformed(TlvError::Value { kind: tlv.kind }))
    }

    /// Appends the request to `out`.
    pub fn append_to(&self, out: &mut Vec<u8>) {
        let mut address = Vec::with_capacity(20);
        write_address(&mut address, self.address);
        let correlation = self.correlation.to_be_bytes();
        tlv::append(out, self.change.kind(), &[Octets::from(&correlation), Octets::from(address.as_slice())]);
    }

    /// Length of the encoded request in bytes.
    pub fn encoded_len(&self) -> usize {
        tlv::HEADER_LEN + 4 + address_len(self.address)
    }
}

/// A response of an ASCONF-ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Response<'a> {
    /// The request was carried out (rfc5061#section-4.2.5).
    Done {
        /// Correlation id of the request.
        correlation: u32,
    },
    /// The request failed (rfc5061#section-4.2.3).
    Failed {
        /// Correlation id of the request.
        correlation: u32,
        /// The reasons.
        causes: Causes<'a>,
    },
}

impl<'a> Response<'a> {
    fn decode(tlv: Tlv<'a>) -> Result<Self, TlvError> {
        let wrong = TlvError::Value { kind: tlv.kind };
        let (correlation, rest) = tlv.value().split_first_chunk().ok_or(wrong)?;
        let correlation = u32::from_be_bytes(*correlation);
        match tlv.kind {
            SUCCESS_INDICATION => Ok(Response::Done { correlation }),
            ERROR_INDICATION => Ok(Response::Failed { correlation, causes: Causes::from_bytes(rest) }),
            _ => Err(wrong),
        }
    }

    /// Appends the response to `out`. Returns false, and writes nothing, if it is too long for its length
    /// field.
    pub fn append_to(&self, out: &mut Vec<u8>) -> bool {
        let (kind, correlation, causes) = match self {
            Response::Done { correlation } => (SUCCESS_INDICATION, correlation, Causes::default()),
            Response::Failed { correlation, causes } => (ERROR_INDICATION, correlation, *causes),
        };
        let correlation = correlation.to_be_bytes();
        tlv::append(out, kind, &[Octets::from(&correlation), Octets::from(causes.as_bytes())])
    }
}

/// The encoded requests of an ASCONF.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Requests<'a> {
    bytes: &'a [u8],
}

impl<'a> Requests<'a> {
    /// Wraps the bytes of requests without checking them; the iterator reports errors.
    pub const fn from_bytes(bytes: &'a [u8]) -> Self {
        Requests { bytes }
    }

    /// The encoded requests.
    pub const fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Iterates over the requests in order. A wrong length ends the iteration; a wrong type or value is an
    /// error item, and the iteration goes on.
    pub fn iter(&self) -> impl Iterator<Item = Result<Request, NoRequest<'a>>> + Clone + use<'a> {
        tlv::Tlvs::new(self.bytes).map(|tlv| tlv.map_err(NoRequest::Malformed).and_then(Request::decode))
    }
}

impl fmt::Debug for Requests<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// The encoded responses of an ASCONF-ACK.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Responses<'a> {
    bytes: &'a [u8],
}

impl<'a> Responses<'a> {
    /// Wraps the bytes of responses without checking them; the iterator reports errors.
    pub const fn from_bytes(bytes: &'a [u8]) -> Self {
        Responses { bytes }
    }

    /// The encoded responses.
    pub const fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Iterates over the responses in order. A wrong length ends the iteration; a wrong type or value is an
    /// error item, and the iteration goes on.
    pub fn iter(&self) -> impl Iterator<Item = Result<Response<'a>, TlvError>> + Clone + use<'a> {
        tlv::Tlvs::new(self.bytes).map(|tlv| tlv.and_then(Response::decode))
    }
}

impl fmt::Debug for Responses<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// The address of an address parameter.
pub(crate) fn address_of(tlv: Tlv<'_>) -> Option<IpAddr> {
    match tlv.kind {
        IPV4_ADDRESS => <[u8; 4]>::try_from(tlv.value()).ok().map(IpAddr::from),
        IPV6_ADDRESS => <[u8; 16]>::try_from(tlv.value()).ok().map(IpAddr::from),
        _ => None,
    }
}

/// Length of an encoded address parameter in bytes.
pub(crate) fn address_len(address: IpAddr) -> usize {
    if address.is_ipv4() { 8 } else { 20 }
}

/// Appends an address parameter.
pub(crate) fn write_address(out: &mut Vec<u8>, address: IpAddr) {
    match address {
        IpAddr::V4(address) => tlv::append(out, IPV4_ADDRESS, &[Octets::from(&address.octets())]),
        IpAddr::V6(address) => tlv::append(out, IPV6_ADDRESS, &[Octets::from(&address.octets())]),
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::hex;

    // rfc5061#section-4.2
    #[test]
    fn captured_requests_decode_and_encode_to_the_same_bytes() {
        let bytes = hex("c001001000000001 000500080a010001  c002001000000002 0005000800000000
             c004001c00000003 00060014 20010db8 00000000 00000000 00000001");
        let of = |change, correlation, address: &str| Request {
            change,
            correlation,
            address: address.parse().unwrap(),
        };
        let expected = [
            of(AddressChange::Add, 1, "10.1.0.1"),
            of(AddressChange::Delete, 2, "0.0.0.0"),
            of(AddressChange::SetPrimary, 3, "2001:db8::1"),
        ];
        assert!(Requests::from_bytes(&bytes).iter().eq(expected.map(Ok)));
        let mut written = Vec::new();
        expected.iter().for_each(|request| request.append_to(&mut written));
        assert_eq!(written, bytes);
        assert_eq!(expected.iter().map(Request::encoded_len).sum::<usize>(), bytes.len());
    }

    #[test]
    fn wrong_request_is_skipped_and_wrong_length_ends_the_list() {
        let bytes = hex(
            "c001000c00000001 00050004  c001000400000000  c0010008000000ff  c002001400000002 000500080a000001
             00000000  c00600080000000a  c004001000000003 000500080a010001  c001ffff",
        );
        let wrong = |kind| Err(NoRequest::Malformed(TlvError::Value { kind }));
        let got: Vec<_> = Requests::from_bytes(&bytes).iter().collect();
        assert_eq!(got[..2], [wrong(ADD_ADDRESS), wrong(ADD_ADDRESS)]);
        assert_eq!(got.last(), Some(&Err(NoRequest::Malformed(TlvError::Length { kind: 0, length: 0 }))));
        let bytes = hex(
            "c002001400000002 000500080a000001 00000000  c00600080000000a  c004001000000003 000500080a010001",
        );
        let last =
            Request { change: AddressChange::SetPrimary, correlation: 3, address: [10, 1, 0, 1].into() };
        let unknown = hex("c00600080000000a");
        let parameter = UnknownParameter::new(tlv::split_first(&unknown).unwrap().0);
        let unknown = Err(NoRequest::Unknown { correlation: 10, parameter });
        assert!(Requests::from_bytes(&bytes).iter().eq([wrong(DELETE_ADDRESS), unknown, Ok(last)]));
    }

    #[test]
    fn wrong_response_is_skipped() {
        let bytes = hex("c0050004 c0030006 0001 0000 c00700080000000a c005000800000009");
        let wrong = |kind| Err(TlvError::Value { kind });
        assert!(Responses::from_bytes(&bytes).iter().eq([
            wrong(SUCCESS_INDICATION),
            wrong(ERROR_INDICATION),
            wrong(0xc007),
            Ok(Response::Done { correlation: 9 })
        ]));
    }
}
