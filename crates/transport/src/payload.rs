//! User data that is sent and received.

use crate::Octets;
use bytes::Bytes;
use units::ByteCount;

/// User data of a message. [`Payload::to_bytes`] reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payload {
    /// A number of zero bytes that are never stored. Hidden, because only simulators and
    /// measuring tools use it.
    #[doc(hidden)]
    Filler(u32),
    /// Stored bytes.
    Bytes(Bytes),
}

impl Payload {
    /// Length in bytes.
    pub fn len(&self) -> usize {
        match self {
            Payload::Filler(n) => *n as usize,
            Payload::Bytes(bytes) => bytes.len(),
        }
    }

    /// True if the length is zero.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The length as a quantity.
    pub fn byte_count(&self) -> ByteCount {
        ByteCount::from(self.len())
    }

    /// Removes and returns the first `n` bytes; `n` must not exceed the length.
    pub fn split_to(&mut self, n: usize) -> Payload {
        match self {
            Payload::Filler(len) => {
                *len -= n as u32;
                Payload::Filler(n as u32)
            }
            Payload::Bytes(bytes) => Payload::Bytes(bytes.split_to(n)),
        }
    }

    /// The payload as bytes of a packet.
    #[inline]
    pub fn as_octets(&self) -> Octets<'_> {
        match self {
            Payload::Filler(n) => Octets { head: &[], zeros: *n as usize },
            Payload::Bytes(bytes) => Octets { head: bytes, zeros: 0 },
        }
    }

    /// Copies bytes from a packet. If none of them is stored, they become filler.
    #[inline]
    pub fn from_octets(octets: Octets<'_>) -> Payload {
        if octets.head.is_empty() {
            Payload::Filler(octets.zeros as u32)
        } else {
            Payload::Bytes(Bytes::from(octets.to_vec()))
        }
    }

    /// Concatenates the parts; the result is filler if all parts are filler.
    pub fn concat(mut parts: Vec<Payload>) -> Payload {
        parts.retain(|part| !part.is_empty());
        if parts.len() == 1 {
            return parts.swap_remove(0);
        }
        if parts.iter().all(|part| matches!(part, Payload::Filler(_))) {
            return Payload::Filler(parts.iter().map(|part| part.len() as u32).sum());
        }
        let mut bytes = Vec::with_capacity(parts.iter().map(Payload::len).sum());
        for part in &parts {
            part.as_octets().append_to(&mut bytes);
        }
        Payload::Bytes(Bytes::from(bytes))
    }

    /// The payload as stored bytes, including filler.
    pub fn to_bytes(&self) -> Bytes {
        match self {
            Payload::Filler(n) => Bytes::from(vec![0; *n as usize]),
            Payload::Bytes(bytes) => bytes.clone(),
        }
    }
}
