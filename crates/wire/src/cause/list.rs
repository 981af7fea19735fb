use super::Cause;
use crate::tlv::{self, TlvError};
use std::fmt;

/// The error causes of a chunk, in the bytes they were sent in; each is read when it is asked for.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Causes<'a> {
    bytes: &'a [u8],
}

impl<'a> Causes<'a> {
    /// Takes `bytes` for error causes. Any bytes will do: what is wrong with them shows when they are read.
    pub const fn from_bytes(bytes: &'a [u8]) -> Self {
        Causes { bytes }
    }

    /// The bytes: every cause padded, but perhaps the last.
    pub const fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Each cause in order. After one whose length is wrong it ends; after one whose value is wrong it goes
    /// on.
    pub fn iter(&self) -> impl Iterator<Item = Result<Cause<'a>, TlvError>> + Clone + use<'a> {
        tlv::Tlvs::new(self.bytes).map(|tlv| tlv.and_then(Cause::decode))
    }
}

impl fmt::Debug for Causes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Error causes in the making.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CauseList {
    bytes: Vec<u8>,
}

impl CauseList {
    /// No causes.
    pub const fn new() -> Self {
        CauseList { bytes: Vec::new() }
    }

    /// Appends a cause; false, and nothing changed, if it is too long for its length field.
    pub fn push(&mut self, cause: &Cause<'_>) -> bool {
        cause.append_to(&mut self.bytes)
    }

    /// What has been made so far.
    pub fn as_causes(&self) -> Causes<'_> {
        Causes::from_bytes(&self.bytes)
    }
}
