//! pcapng files (draft-ietf-opsawg-pcapng): sections of blocks. The reader uses the blocks that describe
//! interfaces or hold packets.

use super::{CaptureError, Head, MOST_BYTES, Next, Order, fill, read, skip};
use std::io::BufRead;
use units::Instant;

/// The type of a section header, which is the same in both byte orders.
pub(super) const MAGIC: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];

const INTERFACE: u32 = 1;
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;
const SECTION: u32 = 0x0a0d_0d0a;

/// Bytes of a block outside its body: type and length before the body, and the length after it.
const FRAME: u32 = 12;

/// Maximum length of the description of an interface in bytes; a longer one is an error.
const MOST_DESCRIPTION: u32 = 1 << 16;

const IF_TSRESOL: u16 = 9;
const IF_TSOFFSET: u16 = 14;

#[derive(Debug)]
pub(super) struct PcapNg {
    order: Order,
    interfaces: Vec<Interface>,
    /// Number of interfaces of earlier sections.
    before: u32,
}

#[derive(Clone, Copy, Debug)]
struct Interface {
    link_type: u16,
    /// Maximum number of bytes that the interface captures of a packet; 0: no limit.
    snap: u32,
    /// Number of time units in a second.
    units: u64,
    /// Seconds to add to each time.
    offset: i64,
}

impl PcapNg {
    /// Reads the rest of the first section header; its type was read already.
    pub(super) fn new(source: &mut impl BufRead) -> Result<Self, CaptureError> {
        let mut file = PcapNg { order: Order::Little, interfaces: Vec::new(), before: 0 };
        if !file.section(source)? {
            return Err(CaptureError::Damaged("it ends in its header"));
        }
        Ok(file)
    }

    /// Begins a section whose type was read. Returns false if the file ends.
    fn section(&mut self, source: &mut impl BufRead) -> Result<bool, CaptureError> {
        let mut head = [0; 8];
        if !fill(source, &mut head)? {
            return Ok(false);
        }
        let [l0, l1, l2, l3, magic @ ..] = head;
        self.order = match magic {
            [0x4d, 0x3c, 0x2b, 0x1a] => Order::Little,
            [0x1a, 0x2b, 0x3c, 0x4d] => Order::Big,
            _ => return Err(CaptureError::NotACapture),
        };
        self.before += self.interfaces.len() as u32;
        self.interfaces.clear();
        let length = self.order.u32([l0, l1, l2, l3]);
        let rest = length.checked_sub(FRAME).filter(|_| length.is_multiple_of(4)).ok_or(BAD_LENGTH)?;
        Ok(skip(source, u64::from(rest))?)
    }

    /// Reads up to the next packet.
    pub(super) fn next(
        &mut self,
        source: &mut impl BufRead,
        bytes: &mut Vec<u8>,
    ) -> Result<Next, CaptureError> {
        loop {
            if source.fill_buf()?.is_empty() {
                return Ok(Next::End);
            }
            let mut kind = [0; 4];
            if !fill(source, &mut kind)? {
                return Ok(Next::Cut);
            }
            if self.order.u32(kind) == SECTION {
                if !self.section(source)? {
                    return Ok(Next::Cut);
                }
                continue;
            }
            let mut length = [0; 4];
            if !fill(source, &mut length)? {
                return Ok(Next::Cut);
            }
            let length = self.order.u32(length);
            let body = length.checked_sub(FRAME).filter(|_| length.is_multiple_of(4)).ok_or(BAD_LENGTH)?;
            let (whole, packet) = match self.order.u32(kind) {
                INTERFACE => (self.interface(source, body, bytes)?, None),
                kind @ (ENHANCED_PACKET | OBSOLETE_PACKET) => self.packet(source, body, bytes, kind)?,
                SIMPLE_PACKET => self.simple_packet(source, body, bytes)?,
                _ => (skip(source, u64::from(body))?, None),
            };
            if !whole || !skip(source, 4)? {
                return Ok(Next::Cut);
            }
            if let Some(head) = packet {
                return Ok(Next::Packet(head));
            }
        }
    }

    fn interface(
        &mut self,
        source: &mut impl BufRead,
        body: u32,
        bytes: &mut Vec<u8>,
    ) -> Result<bool, CaptureError> {
        if body > MOST_DESCRIPTION {
            return Err(CaptureError::Damaged("a description of an interface of more than 64 KiB"));
        }
        if !read(source, body, bytes)? {
            return Ok(false);
        }
        let (order, fixed) = (self.order, bytes.first_chunk::<8>());
        let &[t0, t1, _, _, s0, s1, s2, s3] =
            fixed.ok_or(CaptureError::Damaged("an interface without a type"))?;
        let snap = order.u32([s0, s1, s2, s3]);
        let mut one = Interface { link_type: order.u16([t0, t1]), snap, units: 1_000_000, offset: 0 };
        let mut options = &bytes[8..];
        while let Some((&[c0, c1, l0, l1], rest)) = options.split_first_chunk() {
            let length = usize::from(order.u16([l0, l1]));
            let Some(value) = rest.get(..length) else { break };
            match (order.u16([c0, c1]), value) {
                (0, _) => break,
                (IF_TSRESOL, &[resolution, ..]) => one.units = units(resolution)?,
                (IF_TSOFFSET, &[a, b, c, d, e, f, g, h]) => {
                    let value = [a, b, c, d, e, f, g, h];
                    one.offset = match order {
                        Order::Little => i64::from_le_bytes(value),
                        Order::Big => i64::from_be_bytes(value),
                    };
                }
                _ => {}
            }
            options = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        }
        self.interfaces.push(one);
        Ok(true)
    }

    fn packet(
        &mut self,
        source: &mut impl BufRead,
        body: u32,
        bytes: &mut Vec<u8>,
        kind: u32,
    ) -> Result<(bool, Option<Head>), CaptureError> {
        let mut head = [0; 20];
        let left = body.checked_sub(20).ok_or(BAD_LENGTH)?;
        if !fill(source, &mut head)? {
            return Ok((false, None));
        }
        let word = |n: usize| self.order.u32([head[n], head[n + 1], head[n + 2], head[n + 3]]);
        let number =
            if kind == ENHANCED_PACKET { word(0) } else { u32::from(self.order.u16([head[0], head[1]])) };
        let interface = self.interface_of(number)?;
        let (captured, length) = (word(12), word(16));
        let options = left.checked_sub(captured).ok_or(BAD_LENGTH)?;
        if !read(source, captured, bytes)? || !skip(source, u64::from(options))? {
            return Ok((false, None));
        }
        let at = interface.time(u64::from(word(4)) << 32 | u64::from(word(8)));
        let number = self.before.saturating_add(number);
        let head =
            Head { at, interface: number, link_type: interface.link_type, length: length.max(captured) };
        Ok((true, Some(head)))
    }

    /// Reads a simple packet block: a packet of the first interface, without a time.
    fn simple_packet(
        &mut self,
        source: &mut impl BufRead,
        body: u32,
        bytes: &mut Vec<u8>,
    ) -> Result<(bool, Option<Head>), CaptureError> {
        let mut length = [0; 4];
        let left = body.checked_sub(4).ok_or(BAD_LENGTH)?;
        if !fill(source, &mut length)? {
            return Ok((false, None));
        }
        let length = self.order.u32(length);
        let interface = self.interface_of(0)?;
        let snap = if interface.snap == 0 { MOST_BYTES } else { interface.snap };
        let captured = length.min(snap).min(left);
        if !read(source, captured, bytes)? || !skip(source, u64::from(left - captured))? {
            return Ok((false, None));
        }
        let head = Head { at: Instant::ZERO, interface: self.before, link_type: interface.link_type, length };
        Ok((true, Some(head)))
    }

    fn interface_of(&self, number: u32) -> Result<Interface, CaptureError> {
        let found = self.interfaces.get(number as usize).copied();
        found.ok_or(CaptureError::Damaged("a packet of an interface that is not described"))
    }
}

const BAD_LENGTH: CaptureError = CaptureError::Damaged("a block whose length cannot be");

/// Units of time in a second: a power of ten, or a power of two if the highest bit is set.
fn units(resolution: u8) -> Result<u64, CaptureError> {
    let units = match resolution {
        0x80.. => 1u64.checked_shl(u32::from(resolution & 0x7f)),
        _ => 10u64.checked_pow(u32::from(resolution)),
    };
    units.ok_or(CaptureError::Damaged("a unit of time that is too short"))
}

impl Interface {
    fn time(&self, units: u64) -> Instant {
        let whole = i128::from(units / self.units) + i128::from(self.offset);
        let fraction = u128::from(units % self.units) * 1_000_000_000 / u128::from(self.units);
        let nanos = whole * 1_000_000_000 + fraction as i128;
        Instant::from_nanos(nanos.clamp(0, i128::from(u64::MAX)) as u64)
    }
}
