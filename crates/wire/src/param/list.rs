use super::Parameter;
use crate::tlv::{self, TlvError};
use std::fmt;

/// The encoded parameters of a chunk. The iterator decodes them one by one.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Parameters<'a> {
    bytes: &'a [u8],
}

impl<'a> Parameters<'a> {
    /// Wraps the bytes of parameters without checking them; the iterator reports errors.
    pub const fn from_bytes(bytes: &'a [u8]) -> Self {
        Parameters { bytes }
    }

    /// The encoded parameters. All parameters but the last are padded.
    pub const fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Iterates over the parameters in order. A wrong length ends the iteration; a wrong value does not.
    pub fn iter(&self) -> impl Iterator<Item = Result<Parameter<'a>, TlvError>> + Clone + use<'a> {
        tlv::Tlvs::new(self.bytes).map(|tlv| tlv.and_then(Parameter::decode))
    }
}

impl fmt::Debug for Parameters<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Builds a list of parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParameterList {
    bytes: Vec<u8>,
}

impl ParameterList {
    /// No parameters.
    pub const fn new() -> Self {
        ParameterList { bytes: Vec::new() }
    }

    /// Appends a parameter. Returns false, and changes nothing, if it is too long for its length field.
    pub fn push(&mut self, parameter: &Parameter<'_>) -> bool {
        parameter.append_to(&mut self.bytes)
    }

    /// Length of the list so far in bytes, with the padding of its last parameter.
    pub fn padded_len(&self) -> usize {
        self.bytes.len().next_multiple_of(4)
    }

    /// The list so far.
    pub fn as_parameters(&self) -> Parameters<'_> {
        Parameters::from_bytes(&self.bytes)
    }
}
