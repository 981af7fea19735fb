//! The datagrams: four types, distinguished by the first byte. Integers are little-endian.
//!
//! ```text
//! initiation  1, 0, 0, 0 | sender u32   | Noise message 1 (97) | MAC 16 | cookie 16
//! response    2, 0, 0, 0 | sender u32   | receiver u32 | Noise message 2 (49) | MAC 16
//! cookie      3, 0, 0, 0 | receiver u32 | cookie 16 | MAC 16
//! data        4, 0, 0, 0 | receiver u32 | counter u64 | ciphertext, tag 16
//! ```

use super::mac::MAC;

/// Version of these formats, in the payloads of the handshake.
pub(super) const VERSION: u8 = 1;
/// Noise's first message of IK: ephemeral key, encrypted static key, encrypted version.
pub(super) const MESSAGE_1: usize = 32 + 48 + 1 + TAG;
/// Noise's second message of IK: ephemeral key, encrypted version.
pub(super) const MESSAGE_2: usize = 32 + 1 + TAG;
/// Bytes of the tag of a ciphertext.
pub(super) const TAG: usize = 16;
/// Bytes of a data packet before its ciphertext.
pub(super) const HEADER: usize = 16;

const INITIATION: u8 = 1;
const RESPONSE: u8 = 2;
const COOKIE: u8 = 3;
const DATA: u8 = 4;

/// Type of MACs and of cookies, which are MACs of an address.
pub(super) type Mac = [u8; MAC];

/// A parsed datagram; only types and lengths are checked.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Parsed<'a> {
    /// Begins a handshake.
    Initiation { sender: u32, message: &'a [u8], signed: &'a [u8], mac: Mac, cookie: Mac },
    /// Ends a handshake.
    Response { sender: u32, receiver: u32, message: &'a [u8], signed: &'a [u8], mac: Mac },
    /// Requests the initiation again, with a cookie.
    Cookie { receiver: u32, cookie: Mac, signed: &'a [u8], mac: Mac },
    /// A packet; an empty packet has a ciphertext of the tag alone.
    Data { receiver: u32, counter: u64, ciphertext: &'a [u8] },
}

/// Parses a datagram; `None` if its form is unknown.
pub(super) fn parse(bytes: &[u8]) -> Option<Parsed<'_>> {
    let (&[kind, 0, 0, 0], rest) = bytes.split_first_chunk()? else { return None };
    let (index, rest) = u32_of(rest)?;
    match kind {
        INITIATION => {
            let (message, rest) = rest.split_at_checked(MESSAGE_1)?;
            let (&mac, rest) = rest.split_first_chunk()?;
            let signed = &bytes[..8 + MESSAGE_1];
            let cookie = rest.try_into().ok()?;
            Some(Parsed::Initiation { sender: index, message, signed, mac, cookie })
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
            Some(Parsed::Cookie { receiver: index, cookie, signed, mac: rest.try_into().ok()? })
        }
        DATA => {
            let (&counter, ciphertext) = rest.split_first_chunk()?;
            let counter = u64::from_le_bytes(counter);
            (ciphertext.len() >= TAG).then_some(Parsed::Data { receiver: index, counter, ciphertext })
        }
        _ => None,
    }
}

fn u32_of(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (&first, rest) = bytes.split_first_chunk()?;
    Some((u32::from_le_bytes(first), rest))
}

/// The part of an initiation before its MAC.
pub(super) fn initiation(sender: u32, message: &[u8]) -> Vec<u8> {
    [&[INITIATION, 0, 0, 0], &sender.to_le_bytes()[..], message].concat()
}

/// The part of a response before its MAC.
pub(super) fn response(sender: u32, receiver: u32, message: &[u8]) -> Vec<u8> {
    [&[RESPONSE, 0, 0, 0], &sender.to_le_bytes()[..], &receiver.to_le_bytes(), message].concat()
}

/// The part of a cookie reply before its MAC.
pub(super) fn cookie(receiver: u32, cookie: &Mac) -> Vec<u8> {
    [&[COOKIE, 0, 0, 0], &receiver.to_le_bytes()[..], cookie].concat()
}

/// Appends the header of a data packet.
pub(super) fn data(receiver: u32, counter: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(&[DATA, 0, 0, 0]);
    out.extend_from_slice(&receiver.to_le_bytes());
    out.extend_from_slice(&counter.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut bytes = initiation(7, &[1; MESSAGE_1]);
        bytes.extend([[2; MAC], [3; MAC]].concat());
        let Some(Parsed::Initiation { sender: 7, message, signed, mac, cookie }) = parse(&bytes) else {
            panic!("an initiation")
        };
        assert_eq!((message, signed, mac, cookie), (&[1; MESSAGE_1][..], &bytes[..105], [2; MAC], [3; MAC]));
        let mut bytes = Vec::new();
        data(9, 1 << 40, &mut bytes);
        bytes.extend([5; TAG]);
        let expected = Parsed::Data { receiver: 9, counter: 1 << 40, ciphertext: &[5; TAG] };
        assert_eq!(parse(&bytes), Some(expected));
    }

    #[test]
    fn other_lengths_types_and_reserved_bytes_are_refused() {
        let mut bytes = initiation(7, &[1; MESSAGE_1]);
        bytes.extend([0; 2 * MAC]);
        for length in 0..bytes.len() {
            assert_eq!(parse(&bytes[..length]), None, "{length}");
        }
        let mut longer = bytes.clone();
        longer.push(0);
        assert_eq!(parse(&longer), None);
        for (at, value) in [(0, 0), (0, 5), (1, 1), (3, 1)] {
            let mut other = bytes.clone();
            other[at] = value;
            assert_eq!(parse(&other), None);
        }
    }
}
