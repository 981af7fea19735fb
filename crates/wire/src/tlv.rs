//! The common format of parameters and error causes: type, length, value (rfc9260#section-3.2.1,
//! rfc9260#section-3.3.10).

use crate::field::{padded, u16_at};
use transport::Octets;

/// Bytes of type and length.
pub(crate) const HEADER_LEN: usize = 4;

/// Reason why a parameter or an error cause cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TlvError {
    /// The remaining bytes are too few for a type and a length.
    #[error("{0} bytes are left: too few for a type and a length")]
    Truncated(usize),
    /// The length field is below 4, or the element would end past the end of the bytes.
    #[error("type {kind:#06x} has length {length}, which is below 4 or past the end")]
    Length {
        /// Type of the parameter (or cause code).
        kind: u16,
        /// Value of the length field.
        length: u16,
    },
    /// The value is malformed for the type.
    #[error("the value is not one of type {kind:#06x}")]
    Value {
        /// Type of the parameter (or cause code).
        kind: u16,
    },
}

/// One parameter or error cause: its type, and its bytes with the header and without padding.
#[derive(Clone, Copy)]
pub(crate) struct Tlv<'a> {
    pub kind: u16,
    pub bytes: &'a [u8],
}

impl<'a> Tlv<'a> {
    pub fn value(&self) -> &'a [u8] {
        &self.bytes[HEADER_LEN..]
    }
}

/// Decodes the first element. Also returns the bytes after its padding. The last element may lack its
/// padding, because the length of the chunk does not count this padding (rfc9260#section-3.2).
pub(crate) fn split_first(bytes: &[u8]) -> Result<(Tlv<'_>, &[u8]), TlvError> {
    let header: &[u8; HEADER_LEN] = bytes.first_chunk().ok_or(TlvError::Truncated(bytes.len()))?;
    let (kind, length) = (u16_at(header, 0), u16_at(header, 2));
    let size = usize::from(length);
    if size < HEADER_LEN || size > bytes.len() {
        return Err(TlvError::Length { kind, length });
    }
    let rest = &bytes[padded(size).min(bytes.len())..];
    Ok((Tlv { kind, bytes: &bytes[..size] }, rest))
}

/// Iterates over the elements of a list. Ends after an error, because the next element cannot be found.
#[derive(Clone)]
pub(crate) struct Tlvs<'a> {
    rest: &'a [u8],
}

impl<'a> Tlvs<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Tlvs { rest: bytes }
    }
}

impl<'a> Iterator for Tlvs<'a> {
    type Item = Result<Tlv<'a>, TlvError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let first = split_first(self.rest);
        self.rest = first.map_or(&[], |(_, rest)| rest);
        Some(first.map(|(tlv, _)| tlv))
    }
}

/// Pads the list, then appends an element made of the given parts, without padding. Returns false, and writes
/// nothing, if the length of the element exceeds the 16-bit field.
pub(crate) fn append(list: &mut Vec<u8>, kind: u16, parts: &[Octets<'_>]) -> bool {
    let length = HEADER_LEN + parts.iter().map(Octets::len).sum::<usize>();
    let Ok(field) = u16::try_from(length) else { return false };
    list.resize(padded(list.len()), 0);
    list.extend_from_slice(&kind.to_be_bytes());
    list.extend_from_slice(&field.to_be_bytes());
    for part in parts {
        part.append_to(list);
    }
    true
}
