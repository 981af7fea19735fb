//! The datagrams of version 2: four types, distinguished by the first byte. Integers are little-endian.
//!
//! ```text
//! initiation  1, suite, 0, 0 | sender u32   | Noise message 1 (98) | MAC 16 | cookie 16
//! response    2, suite, 0, 0 | sender u32   | receiver u32 | Noise message 2 (50) | MAC 16
//! cookie      3, suite, 0, 0 | receiver u32 | cookie 16 | MAC 16
//! data        4, 0, 0, 0     | receiver u32 | counter u64 | ciphertext, tag 16
//! ```
//!
//! The suite of a cookie is the one that the responder wants, or 255 if it accepts that of the initiation.

use crate::mac::MAC;
use crate::suite::TAG;

/// Payload of both messages of a handshake: the version of these formats, and flags, none of which is defined
/// yet.
pub(crate) const PAYLOAD: [u8; 2] = [2, 0];
/// Bytes of Noise's first message of IK: ephemeral key, encrypted static key, encrypted payload.
pub(crate) const MESSAGE_1: usize = 32 + 48 + PAYLOAD.len() + TAG;
/// Bytes of Noise's second message of IK: ephemeral key, encrypted payload.
pub(crate) const MESSAGE_2: usize = 32 + PAYLOAD.len() + TAG;
/// Bytes of a data packet before its ciphertext.
pub(crate) const HEADER: usize = 16;
/// Value of the suite field in a cookie reply: the responder accepts the suite of the initiation.
pub(crate) const ANY_SUITE: u8 = 255;

const INITIATION: u8 = 1;
const RESPONSE: u8 = 2;
const COOKIE: u8 = 3;
const DATA: u8 = 4;

/// Type of MACs and of cookies, which are MACs of an address.
pub(crate) type Mac = [u8; MAC];

/// A parsed datagram; only types and lengths are checked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Parsed<'a> {
    /// Begins a handshake.
    Initiation(Initiation<'a>),
    /// Ends a handshake.
    Response { sender: u32, receiver: u32, message: &'a [u8], signed: &'a [u8], mac: Mac },
    /// Requests the initiation again, with a cookie and perhaps with another suite.
    Cookie { suite: u8, receiver: u32, cookie: Mac, signed: &'a [u8], mac: Mac },
    /// A packet; an empty packet has a ciphertext of the tag alone.
    Data { receiver: u32, counter: u64, ciphertext: &'a [u8] },
}

/// The parts of an initiation.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Initiation<'a> {
    pub(crate) suite: u8,
    pub(crate) sender: u32,
    pub(crate) message: &'a [u8],
    /// The bytes that the MAC covers.
    pub(crate) signed: &'a [u8],
    pub(crate) mac: Mac,
    pub(crate) cookie: Mac,
}

/// Parses a datagram; `None` if its form is unknown.
pub(crate) fn parse(bytes: &[u8]) -> Option<Parsed<'_>> {
    let (&[kind, suite, 0, 0], rest) = bytes.split_first_chunk()? else { return None };
    let (index, rest) = u32_of(rest)?;
    match kind {
        INITIATION => {
            let (message, rest) = rest.split_at_checked(MESSAGE_1)?;
            let (&mac, rest) = rest.split_first_chunk()?;
            let signed = &bytes[..8 + MESSAGE_1];
            let cookie = rest.try_into().ok()?;
            Some(Parsed::Initiation(Initiation { suite, sender: index, message, signed, mac, cookie }))
        }
        RESPONSE => {
            let (receiver, rest) = u32_of(rest)?;
            let (message, rest) = rest.split_at_checked(MESSAGE_2)?;
            let signed = &bytes[..12 + MESSAGE_2];
            Some(Parsed::Response { sender: index, receiver, message, signed, mac: rest.try_into().ok()? })
        }
        COOKIE => {
            let (&cookie, rest) = rest.split_first_chunk()?;
            let signed = &bytes[..8 + MAC];
            Some(Parsed::Cookie { suite, receiver: index, cookie, signed, mac: rest.try_into().ok()? })
        }
        DATA if suite == 0 => {
            let (&counter, ciphertext) = rest.split_first_chunk()?;
            let counter = u64::from_le_bytes(counter);
            (ciphertext.len() >= TAG).then_some(Parsed::Data { receiver: index, counter, ciphertext })
        }
        _ => None,
    }
}

/// A datagram that an ICMP message quotes. The first 8 bytes of an initiation, or 16 of a packet, are enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quoted {
    Initiation { sender: u32 },
    Data { receiver: u32, counter: u64 },
}

/// Parses the first bytes of a datagram that this end sent. `None` if this is neither an initiation nor a
/// data packet.
pub(crate) fn quoted(bytes: &[u8]) -> Option<Quoted> {
    let (&[kind, suite, 0, 0], rest) = bytes.split_first_chunk()? else { return None };
    let (index, rest) = u32_of(rest)?;
    match kind {
        INITIATION => Some(Quoted::Initiation { sender: index }),
        DATA if suite == 0 => {
            let counter = u64::from_le_bytes(*rest.first_chunk()?);
            Some(Quoted::Data { receiver: index, counter })
        }
        _ => None,
    }
}

fn u32_of(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (&first, rest) = bytes.split_first_chunk()?;
    Some((u32::from_le_bytes(first), rest))
}

/// The part of an initiation before its MAC.
pub(crate) fn initiation(suite: u8, sender: u32, message: &[u8]) -> Vec<u8> {
    [&[INITIATION, suite, 0, 0], &sender.to_le_bytes()[..], message].concat()
}

/// The part of a response before its MAC.
pub(crate) fn response(suite: u8, sender: u32, receiver: u32, message: &[u8]) -> Vec<u8> {
    [&[RESPONSE, suite, 0, 0], &sender.to_le_bytes()[..], &receiver.to_le_bytes(), message].concat()
}

/// The part of a cookie reply before its MAC.
pub(crate) fn cookie(suite: u8, receiver: u32, cookie: &Mac) -> Vec<u8> {
    [&[COOKIE, suite, 0, 0], &receiver.to_le_bytes()[..], cookie].concat()
}

/// Appends the header of a data packet.
pub(crate) fn data(receiver: u32, counter: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(&[DATA, 0, 0, 0]);
    out.extend_from_slice(&receiver.to_le_bytes());
    out.extend_from_slice(&counter.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut bytes = initiation(1, 7, &[1; MESSAGE_1]);
        bytes.extend([[2; MAC], [3; MAC]].concat());
        assert_eq!(bytes.len(), 138);
        let Some(Parsed::Initiation(read)) = parse(&bytes) else { panic!("an initiation") };
        let message = &[1; MESSAGE_1][..];
        let expected = Initiation {
            suite: 1,
            sender: 7,
            message,
            signed: &bytes[..106],
            mac: [2; MAC],
            cookie: [3; MAC],
        };
        assert_eq!(read, expected);
        let mut bytes = Vec::new();
        data(9, 1 << 40, &mut bytes);
        bytes.extend([5; TAG]);
        let expected = Parsed::Data { receiver: 9, counter: 1 << 40, ciphertext: &[5; TAG] };
        assert_eq!(parse(&bytes), Some(expected));
        assert_eq!(response(1, 7, 8, &[0; MESSAGE_2]).len() + MAC, 78);
        assert_eq!(cookie(ANY_SUITE, 7, &[0; MAC]).len() + MAC, 40);
    }

    #[test]
    fn other_lengths_types_and_reserved_bytes_are_refused() {
        let mut bytes = initiation(0, 7, &[1; MESSAGE_1]);
        bytes.extend([0; 2 * MAC]);
        for length in 0..bytes.len() {
            assert_eq!(parse(&bytes[..length]), None, "{length}");
        }
        let mut longer = bytes.clone();
        longer.push(0);
        assert_eq!(parse(&longer), None);
        for (at, value) in [(0, 0), (0, 5), (2, 1), (3, 1)] {
            let mut other = bytes.clone();
            other[at] = value;
            assert_eq!(parse(&other), None);
        }
        let mut packet = Vec::new();
        data(9, 0, &mut packet);
        packet.extend([0; TAG]);
        packet[1] = 1;
        assert_eq!(parse(&packet), None);
    }
}
