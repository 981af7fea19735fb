use super::Cause;
use crate::tlv::{self, TlvError};
use std::fmt;

/// The encoded error causes of a chunk. The iterator decodes them one by one.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Causes<'a> {
    bytes: &'a [u8],
}

impl<'a> Causes<'a> {
    /// Wraps the bytes of error causes without checking them; the iterator reports errors.
    pub const fn from_bytes(bytes: &'a [u8]) -> Self {
        Causes { bytes }
    }

    /// The encoded causes. All causes but the last are padded.
    pub const fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Iterates over the causes in order. A wrong length ends the iteration; a wrong value is an error item,
    /// and the iteration goes on.
    pub fn iter(&self) -> impl Iterator<Item = Result<Cause<'a>, TlvError>> + Clone + use<'a> {
        tlv::Tlvs::new(self.bytes).map(|tlv| tlv.and_then(Cause::decode))
    }
}

impl fmt::Debug for Causes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Builds a list of error causes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CauseList {
    bytes: Vec<u8>,
}

impl CauseList {
    /// No causes.
    pub const fn new() -> Self {
        CauseList { bytes: Vec::new() }
    }

    /// Appends a cause. Returns false, and changes nothing, if the cause is too long for its length field.
    pub fn push(&mut self, cause: &Cause<'_>) -> bool {
        cause.append_to(&mut self.bytes)
    }

    /// The causes so far.
    pub fn as_causes(&self) -> Causes<'_> {
        Causes::from_bytes(&self.bytes)
    }
}
