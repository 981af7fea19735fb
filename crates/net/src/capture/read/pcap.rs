//! Classic pcap files: a header, then packets with a header each.

use super::{CaptureError, Head, Next, Order, fill, read};
use std::io::BufRead;
use units::Instant;

/// Format of the packets of a file.
#[derive(Debug)]
pub(super) struct Pcap {
    order: Order,
    /// Nanoseconds in one unit of the fraction of a second.
    unit: u64,
    link_type: u16,
}

/// Magic number of files with times in microseconds, and in nanoseconds.
const MICROS: u32 = 0xa1b2_c3d4;
const NANOS: u32 = 0xa1b2_3c4d;

impl Pcap {
    /// The byte order and the time unit of a file that begins with these bytes.
    pub(super) fn order(first: [u8; 4]) -> Option<(Order, u64)> {
        [Order::Little, Order::Big].into_iter().find_map(|order| match order.u32(first) {
            MICROS => Some((order, 1000)),
            NANOS => Some((order, 1)),
            _ => None,
        })
    }

    pub(super) fn new(first: [u8; 4], source: &mut impl BufRead) -> Result<Self, CaptureError> {
        let (order, unit) = Self::order(first).ok_or(CaptureError::NotACapture)?;
        let mut rest = [0; 20];
        if !fill(source, &mut rest)? {
            return Err(CaptureError::Damaged("it ends in its header"));
        }
        // The upper half of this field gives the length of the frame check sequence.
        let link_type = order.u32([rest[16], rest[17], rest[18], rest[19]]) as u16;
        Ok(Pcap { order, unit, link_type })
    }

    pub(super) fn next(
        &mut self,
        source: &mut impl BufRead,
        bytes: &mut Vec<u8>,
    ) -> Result<Next, CaptureError> {
        if source.fill_buf()?.is_empty() {
            return Ok(Next::End);
        }
        let mut head = [0; 16];
        if !fill(source, &mut head)? {
            return Ok(Next::Cut);
        }
        let word = |n: usize| self.order.u32([head[n], head[n + 1], head[n + 2], head[n + 3]]);
        let (seconds, fraction, captured, length) = (word(0), word(4), word(8), word(12));
        if !read(source, captured, bytes)? {
            return Ok(Next::Cut);
        }
        let nanos = u64::from(seconds) * 1_000_000_000 + u64::from(fraction) * self.unit;
        let at = Instant::from_nanos(nanos);
        Ok(Next::Packet(Head { at, interface: 0, link_type: self.link_type, length: length.max(captured) }))
    }
}
