use super::Parameter;
use crate::tlv::{self, TlvError};
use std::fmt;

/// The parameters of a chunk, in the bytes they were sent in; each is read when it is asked for.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Parameters<'a> {
    bytes: &'a [u8],
}

impl<'a> Parameters<'a> {
    /// Takes `bytes` for parameters. Any bytes will do: what is wrong with them shows when they are read.
    pub const fn from_bytes(bytes: &'a [u8]) -> Self {
        Parameters { bytes }
    }

    /// The bytes: every parameter padded, but perhaps the last.
    pub const fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Each parameter in order. After one whose length is wrong it ends; after one whose value is wrong it goes on.
    pub fn iter(&self) -> impl Iterator<Item = Result<Parameter<'a>, TlvError>> + Clone + use<'a> {
        tlv::Tlvs::new(self.bytes).map(|tlv| tlv.and_then(Parameter::decode))
    }
}

impl fmt::Debug for Parameters<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Parameters in the making.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParameterList {
    bytes: Vec<u8>,
}

impl ParameterList {
    /// No parameters.
    pub const fn new() -> Self {
        ParameterList { bytes: Vec::new() }
    }

    /// Appends a parameter; false, and nothing changed, if it is too long for its length field.
    pub fn push(&mut self, parameter: &Parameter<'_>) -> bool {
        parameter.append_to(&mut self.bytes)
    }

    /// Bytes of what has been made so far, the last parameter padded too.
    pub fn padded_len(&self) -> usize {
        self.bytes.len().next_multiple_of(4)
    }

    /// What has been made so far.
    pub fn as_parameters(&self) -> Parameters<'_> {
        Parameters::from_bytes(&self.bytes)
    }
}
