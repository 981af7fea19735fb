//! The parameters of RE-CONFIG (rfc6525#section-4). Among the parameters of INIT these types are unknown.

use crate::field::{u16_at, u32_at};
use crate::serial::{StreamId, Tsn};
use crate::tlv::{self, Tlv, TlvError};
use std::fmt;

const OUTGOING_RESET: u16 = 13;
const INCOMING_RESET: u16 = 14;
const ASSOCIATION_RESET: u16 = 15;
const RESPONSE: u16 = 16;
const ADD_OUTGOING: u16 = 17;
const ADD_INCOMING: u16 = 18;

/// A parameter of RE-CONFIG: a request, or the answer to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReConfigParameter<'a> {
    /// Type 13: the sender of the request resets its outgoing streams (rfc6525#section-4.1).
    OutgoingReset {
        /// Number of this request.
        request: u32,
        /// Number of the incoming reset request that this request answers. If it answers none: the last
        /// request number that the sender has processed.
        response: u32,
        /// The last TSN that the sender of this request has assigned.
        last_tsn: Tsn,
        /// The streams. An empty list means all streams.
        streams: StreamNumbers<'a>,
    },
    /// Type 14: asks the receiver to reset its outgoing streams (rfc6525#section-4.2).
    IncomingReset {
        /// Number of this request.
        request: u32,
        /// The streams. An empty list means all streams.
        streams: StreamNumbers<'a>,
    },
    /// Type 15: resets the stream sequence numbers and TSNs of both directions (rfc6525#section-4.3).
    AssociationReset {
        /// Number of this request.
        request: u32,
    },
    /// Type 16: the answer to a request (rfc6525#section-4.4).
    Response {
        /// Number of the request.
        response: u32,
        /// The result of the request.
        result: ReConfigResult,
        /// After an association reset: the next TSN of the sender of this response, and the next TSN of its
        /// receiver.
        next_tsns: Option<(Tsn, Tsn)>,
    },
    /// Type 17: the sender of the request adds outgoing streams (rfc6525#section-4.5).
    AddOutgoing {
        /// Number of this request.
        request: u32,
        /// Number of streams to add.
        streams: u16,
    },
    /// Type 18: asks the receiver to add outgoing streams (rfc6525#section-4.6).
    AddIncoming {
        /// Number of this request.
        request: u32,
        /// Number of streams to add.
        streams: u16,
    },
}

/// The result of a request (rfc6525#section-4.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReConfigResult {
    /// 0: success, nothing to do.
    NothingToDo,
    /// 1: success, performed.
    Performed,
    /// 2: denied.
    Denied,
    /// 3: error, a stream does not exist.
    WrongStream,
    /// 4: error, another request is in progress.
    RequestInProgress,
    /// 5: error, the request has a wrong number.
    BadSequenceNumber,
    /// 6: in progress; the sender of the request repeats it later.
    InProgress,
    /// Any other value.
    Unknown(u32),
}

impl ReConfigResult {
    const fn from_wire(value: u32) -> Self {
        match value {
            0 => ReConfigResult::NothingToDo,
            1 => ReConfigResult::Performed,
            2 => ReConfigResult::Denied,
            3 => ReConfigResult::WrongStream,
            4 => ReConfigResult::RequestInProgress,
            5 => ReConfigResult::BadSequenceNumber,
            6 => ReConfigResult::InProgress,
            other => ReConfigResult::Unknown(other),
        }
    }

    const fn to_wire(self) -> u32 {
        match self {
            ReConfigResult::NothingToDo => 0,
            ReConfigResult::Performed => 1,
            ReConfigResult::Denied => 2,
            ReConfigResult::WrongStream => 3,
            ReConfigResult::RequestInProgress => 4,
            ReConfigResult::BadSequenceNumber => 5,
            ReConfigResult::InProgress => 6,
            ReConfigResult::Unknown(other) => other,
        }
    }
}

/// An encoded list of stream numbers.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct StreamNumbers<'a> {
    numbers: &'a [[u8; 2]],
}

impl<'a> StreamNumbers<'a> {
    /// Takes the stream numbers, each in network byte order ([`u16::to_be_bytes`]).
    pub const fn new(numbers: &'a [[u8; 2]]) -> Self {
        StreamNumbers { numbers }
    }

    /// Iterates over the streams in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = StreamId> + Clone + use<'a> {
        self.numbers.iter().map(|&number| StreamId(u16::from_be_bytes(number)))
    }

    fn decode(bytes: &'a [u8]) -> Option<Self> {
        let (numbers, rest) = bytes.as_chunks();
        rest.is_empty().then_some(StreamNumbers { numbers })
    }
}

impl fmt::Debug for StreamNumbers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(|stream| stream.0)).finish()
    }
}

/// Reason why the parameters of a RE-CONFIG chunk are rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReConfigError {
    /// A parameter is malformed.
    #[error("a malformed parameter: {0}")]
    Malformed(#[from] TlvError),
    /// There is no parameter of a known type.
    #[error("no parameter of a known type")]
    Empty,
    /// There are more than two parameters, or two that may not share a chunk.
    #[error("parameters that may not be in one chunk")]
    Combination,
}

impl<'a> ReConfigParameter<'a> {
    /// Decodes a parameter. Returns `None` if its type is unknown.
    pub(crate) fn decode(tlv: Tlv<'a>) -> Result<Option<Self>, ReConfigError> {
        let (kind, value) = (tlv.kind, tlv.value());
        let decoded = match kind {
            OUTGOING_RESET => Self::decode_outgoing(value),
            INCOMING_RESET => value.split_first_chunk().and_then(|(request, streams)| {
                let streams = StreamNumbers::decode(streams)?;
                Some(ReConfigParameter::IncomingReset { request: u32::from_be_bytes(*request), streams })
            }),
            ASSOCIATION_RESET => value
                .try_into()
                .ok()
                .map(|request| ReConfigParameter::AssociationReset { request: u32::from_be_bytes(request) }),
            RESPONSE => Self::decode_response(value),
            ADD_OUTGOING => Self::decode_number(value)
                .map(|(request, streams)| ReConfigParameter::AddOutgoing { request, streams }),
            ADD_INCOMING => Self::decode_number(value)
                .map(|(request, streams)| ReConfigParameter::AddIncoming { request, streams }),
            _ => return Ok(None),
        };
        decoded.map(Some).ok_or(ReConfigError::Malformed(TlvError::Value { kind }))
    }

    fn decode_outgoing(value: &'a [u8]) -> Option<Self> {
        let (fixed, streams) = value.split_first_chunk::<12>()?;
        Some(ReConfigParameter::OutgoingReset {
            request: u32_at(fixed, 0),
            response: u32_at(fixed, 4),
            last_tsn: Tsn(u32_at(fixed, 8)),
            streams: StreamNumbers::decode(streams)?,
        })
    }

    fn decode_response(value: &[u8]) -> Option<Self> {
        let (fixed, tsns) = value.split_first_chunk::<8>()?;
        let next_tsns = match tsns {
            [] => None,
            tsns => {
                let tsns: &[u8; 8] = tsns.try_into().ok()?;
                Some((Tsn(u32_at(tsns, 0)), Tsn(u32_at(tsns, 4))))
            }
        };
        let result = ReConfigResult::from_wire(u32_at(fixed, 4));
        Some(ReConfigParameter::Response { response: u32_at(fixed, 0), result, next_tsns })
    }

    /// Decodes a request for more streams: the request number and the number of streams.
    fn decode_number(value: &[u8]) -> Option<(u32, u16)> {
        let fixed: &[u8; 8] = value.try_into().ok()?;
        Some((u32_at(fixed, 0), u16_at(fixed, 4)))
    }

    /// True if both parameters may share a chunk, in either order (rfc6525#section-3.1).
    pub(crate) fn may_accompany(&self, other: &Self) -> bool {
        use ReConfigParameter::{AddIncoming, AddOutgoing, IncomingReset, OutgoingReset, Response};
        matches!(
            (self, other),
            (OutgoingReset { .. }, IncomingReset { .. })
                | (IncomingReset { .. }, OutgoingReset { .. })
                | (AddOutgoing { .. }, AddIncoming { .. })
                | (AddIncoming { .. }, AddOutgoing { .. })
                | (Response { .. }, OutgoingReset { .. } | Response { .. })
                | (OutgoingReset { .. }, Response { .. })
        )
    }
}

/// Builds the parameters of a RE-CONFIG chunk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReConfigList {
    bytes: Vec<u8>,
}

impl ReConfigList {
    /// Appends a parameter. Returns false, and changes nothing, if it is too long for its length field.
    pub fn push(&mut self, parameter: &ReConfigParameter<'_>) -> bool {
        let words = |words: &[u32]| words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<u8>>();
        let none: &[u8] = &[];
        let (kind, fixed, rest) = match *parameter {
            ReConfigParameter::OutgoingReset { request, response, last_tsn, streams } => {
                (OUTGOING_RESET, words(&[request, response, last_tsn.0]), streams.numbers.as_flattened())
            }
            ReConfigParameter::IncomingReset { request, streams } => {
                (INCOMING_RESET, words(&[request]), streams.numbers.as_flattened())
            }
            ReConfigParameter::AssociationReset { request } => (ASSOCIATION_RESET, words(&[request]), none),
            ReConfigParameter::Response { response, result, next_tsns: None } => {
                (RESPONSE, words(&[response, result.to_wire()]), none)
            }
            ReConfigParameter::Response { response, result, next_tsns: Some((sender, receiver)) } => {
                (RESPONSE, words(&[response, result.to_wire(), sender.0, receiver.0]), none)
            }
            ReConfigParameter::AddOutgoing { request, streams } => {
                (ADD_OUTGOING, words(&[request, u32::from(streams) << 16]), none)
            }
            ReConfigParameter::AddIncoming { request, streams } => {
                (ADD_INCOMING, words(&[request, u32::from(streams) << 16]), none)
            }
        };
        tlv::append(&mut self.bytes, kind, &[fixed.as_slice().into(), rest.into()])
    }

    /// The encoded parameters so far, for [`ReConfig::bytes`](crate::ReConfig::bytes).
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The encoded parameters.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::ReConfig;
    use crate::testing::hex;

    #[test]
    fn encoding_and_decoding_returns_the_same_parameters() {
        let numbers = [0u16, 65_534].map(u16::to_be_bytes);
        let streams = StreamNumbers::new(&numbers);
        let result = ReConfigResult::Unknown(9);
        for (parameter, bytes) in [
            (ReConfigParameter::IncomingReset { request: 1, streams }, "000e000c 00000001 0000fffe"),
            (ReConfigParameter::AssociationReset { request: 2 }, "000f0008 00000002"),
            (
                ReConfigParameter::Response { response: 3, result, next_tsns: Some((Tsn(4), Tsn(5))) },
                "00100014 00000003 00000009 00000004 00000005",
            ),
            (ReConfigParameter::AddOutgoing { request: 6, streams: 7 }, "0011000c 00000006 00070000"),
            (ReConfigParameter::AddIncoming { request: 8, streams: 9 }, "0012000c 00000008 00090000"),
        ] {
            let mut list = ReConfigList::default();
            assert!(list.push(&parameter));
            assert_eq!(list.as_bytes(), hex(bytes));
            assert_eq!(ReConfig { bytes: list.as_bytes() }.parameters(), Ok((parameter, None)));
        }
    }

    // rfc6525#section-4.4
    #[test]
    fn each_result_keeps_its_number() {
        for value in 0..9 {
            assert_eq!(ReConfigResult::from_wire(value).to_wire(), value);
        }
        assert_eq!(ReConfigResult::from_wire(6), ReConfigResult::InProgress);
    }
}
