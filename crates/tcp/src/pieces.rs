//! A part of the byte stream, stored in pieces. Filler (zero payload of measuring tools) takes no memory.

use bytes::Bytes;
use std::collections::VecDeque;
use transport::{Octets, PacketBuf, Payload};

/// Pieces of the stream, ascending and disjoint, with gaps for bytes that have not arrived.
#[derive(Debug, Default)]
pub(crate) struct Pieces(VecDeque<Piece>);

#[derive(Debug)]
struct Piece {
    start: u64,
    payload: Payload,
}

impl Piece {
    #[inline]
    fn end(&self) -> u64 {
        self.start + self.payload.len() as u64
    }
}

/// To save memory, stored bytes are appended to the piece before them if they are
/// shorter than a quarter of this length and the piece is shorter than this length.
const SMALL: usize = 2048;

impl Pieces {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Inserts a piece at a position without data.
    #[inline]
    pub(crate) fn insert(&mut self, start: u64, payload: Payload) {
        if payload.is_empty() {
            return;
        }
        let at = match self.0.back() {
            Some(last) if last.start > start => self.0.partition_point(|piece| piece.start < start),
            _ => self.0.len(),
        };
        let before = if at > 0 { self.0.get_mut(at - 1).filter(|piece| piece.end() == start) } else { None };
        let rest = match before {
            Some(before) => join(&mut before.payload, payload),
            None => Some(payload),
        };
        if let Some(payload) = rest {
            self.0.insert(at, Piece { start, payload });
        }
    }

    /// Copies bytes of a packet to a position without data. Filler zeros stay unstored.
    #[inline]
    pub(crate) fn insert_octets(&mut self, start: u64, octets: Octets<'_>) {
        if !octets.head.is_empty() {
            self.insert(start, Payload::Bytes(Bytes::copy_from_slice(octets.head)));
        }
        self.insert(start + octets.head.len() as u64, Payload::Filler(octets.zeros as u32));
    }

    /// Appends a copy of `length` bytes from position `start` to a packet. None of these bytes
    /// may be missing.
    #[inline]
    pub(crate) fn copy(&self, start: u64, length: usize, packet: &mut PacketBuf) {
        let (mut from, end) = (start, start + length as u64);
        let first = match self.0.front() {
            Some(front) if front.end() > start => 0,
            _ => self.0.partition_point(|piece| piece.end() <= start),
        };
        for piece in self.0.range(first..) {
            if from >= end {
                break;
            }
            debug_assert!(piece.start <= from, "a gap in the stream");
            let part = (from - piece.start) as usize..(end.min(piece.end()) - piece.start) as usize;
            match &piece.payload {
                Payload::Filler(_) => packet.zeros += part.len(),
                Payload::Bytes(bytes) => {
                    packet.materialise();
                    packet.head.extend_from_slice(&bytes[part]);
                }
            }
            from = piece.end();
        }
    }

    /// Removes and returns at most `max` bytes of the first piece.
    pub(crate) fn take(&mut self, max: usize) -> Option<Payload> {
        let first = self.0.front_mut()?;
        if first.payload.len() > max {
            first.start += max as u64;
            return Some(first.payload.split_to(max));
        }
        self.0.pop_front().map(|piece| piece.payload)
    }

    /// Drops all bytes before a position.
    #[inline]
    pub(crate) fn forget_below(&mut self, position: u64) {
        while let Some(first) = self.0.front_mut().filter(|piece| piece.start < position) {
            if first.end() > position {
                first.payload.split_to((position - first.start) as usize);
                first.start = position;
                return;
            }
            self.0.pop_front();
        }
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// Appends `next` to `payload`, or returns `next` if the two should stay separate.
fn join(payload: &mut Payload, next: Payload) -> Option<Payload> {
    match (&mut *payload, next) {
        (Payload::Filler(n), Payload::Filler(more)) => match n.checked_add(more) {
            Some(sum) => {
                *n = sum;
                None
            }
            None => Some(Payload::Filler(more)),
        },
        (Payload::Bytes(bytes), Payload::Bytes(more)) if bytes.len() < SMALL && more.len() < SMALL / 4 => {
            match std::mem::take(bytes).try_into_mut() {
                Ok(mut joined) => {
                    joined.extend_from_slice(&more);
                    *bytes = joined.freeze();
                    None
                }
                Err(shared) => {
                    *bytes = shared;
                    Some(Payload::Bytes(more))
                }
            }
        }
        (_, next) => Some(next),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Byte number `n` of a stream in which every third run of 50 bytes is filler.
    fn byte(n: u64) -> u8 {
        if n / 50 % 3 == 1 { 0 } else { (n % 251) as u8 + 1 }
    }

    fn payload(range: std::ops::Range<u64>) -> Payload {
        match range.clone().all(|n| byte(n) == 0) {
            true => Payload::Filler((range.end - range.start) as u32),
            false => Payload::Bytes(range.map(byte).collect()),
        }
    }

    proptest! {
        /// Inserts pieces in any order, and reads them back from any position.
        #[test]
        fn what_goes_in_comes_out(
            cuts in prop::collection::btree_set(1u64..999, 0..80), order in any::<u64>(), reads in any::<u64>(),
        ) {
            let mut ends: Vec<u64> = [0].into_iter().chain(cuts).chain([1000]).collect();
            ends.dedup();
            let mut parts: Vec<_> = ends.windows(2).map(|w| w[0]..w[1]).collect();
            let mut state = order | 1;
            let mut draw = |below: u64| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                state % below
            };
            for i in (1..parts.len()).rev() {
                parts.swap(i, draw(i as u64 + 1) as usize);
            }
            let mut pieces = Pieces::default();
            for part in parts {
                pieces.insert(part.start, payload(part));
            }
            for _ in 0..20 {
                let from = draw(1000);
                let length = draw(1001 - from);
                let mut packet = PacketBuf::default();
                pieces.copy(from, length as usize, &mut packet);
                let expected: Vec<u8> = (from..from + length).map(byte).collect();
                prop_assert_eq!(packet.as_octets().to_vec(), expected);
            }
            let mut at = reads % 500;
            pieces.forget_below(at);
            while let Some(part) = pieces.take(1 + draw(90) as usize) {
                let expected: Vec<u8> = (at..at + part.len() as u64).map(byte).collect();
                prop_assert_eq!(&part.to_bytes()[..], &expected[..]);
                at += part.len() as u64;
            }
            prop_assert_eq!(at, 1000);
        }
    }

    #[test]
    fn small_pieces_and_filler_are_put_together() {
        let mut pieces = Pieces::default();
        for n in 0..1000 {
            pieces.insert(n, Payload::Bytes(Bytes::copy_from_slice(&[7])));
        }
        assert_eq!(pieces.len(), 1);
        for n in 0..1000 {
            pieces.insert(1000 + 1200 * n, Payload::Filler(1200));
        }
        assert_eq!(pieces.len(), 2);
    }
}
