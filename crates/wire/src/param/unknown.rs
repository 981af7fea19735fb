use crate::UnknownAction;
use crate::tlv::{HEADER_LEN, Tlv};

/// A parameter of a type that this crate does not decode (rfc9260#section-3.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownParameter<'a> {
    kind: u16,
    bytes: &'a [u8],
}

impl<'a> UnknownParameter<'a> {
    pub(crate) fn new(tlv: Tlv<'a>) -> Self {
        UnknownParameter { kind: tlv.kind, bytes: tlv.bytes }
    }

    /// Type of the parameter.
    pub const fn parameter_type(&self) -> u16 {
        self.kind
    }

    /// The parameter with its header and without padding, as an endpoint reports it to the peer.
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Value of the parameter.
    pub fn value(&self) -> &'a [u8] {
        &self.bytes[HEADER_LEN..]
    }

    /// The required treatment of the parameter.
    pub const fn action(&self) -> UnknownAction {
        UnknownAction::from_top_bits((self.kind >> 14) as u8)
    }
}
