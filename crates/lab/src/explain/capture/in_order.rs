//! Sorts the packets of a capture by time.
//!
//! Programs that capture at several interfaces write the packets of each interface in blocks. The blocks of
//! dumpcap hold up to 250 ms, so that a SACK may precede the data that it acknowledges.

use net::{CaptureError, CaptureReader, Frame};
use std::collections::BTreeMap;
use std::io::BufRead;
use units::{Instant, Span};

/// Largest time by which a packet may be older than a packet before it in the file.
const MOST_DELAY: Span = Span::from_secs(1);

/// Largest number of bytes of buffered packets. A packet is buffered while an earlier packet may still
/// follow.
const MOST_BYTES: usize = 32 << 20;

/// A buffered packet.
struct Kept {
    interface: u32,
    link_type: u16,
    length: u32,
    bytes: Box<[u8]>,
}

impl Kept {
    /// Approximate memory of the packet.
    fn cost(&self) -> usize {
        self.bytes.len() + size_of::<(Instant, u64, Kept)>()
    }
}

/// Reads a capture in the order of time.
pub(super) struct InOrder<R> {
    reader: CaptureReader<R>,
    /// Packets by time, and by number in the file.
    waiting: BTreeMap<(Instant, u64), Kept>,
    bytes: usize,
    /// The latest timestamp of a packet that was read.
    latest: Instant,
    packets: u64,
    is_ended: bool,
}

impl<R: BufRead> InOrder<R> {
    pub(super) fn new(reader: CaptureReader<R>) -> Self {
        let (waiting, latest) = (BTreeMap::new(), Instant::ZERO);
        InOrder { reader, waiting, bytes: 0, latest, packets: 0, is_ended: false }
    }

    /// Packets that were read.
    pub(super) fn packets(&self) -> u64 {
        self.packets
    }

    /// True if the file ended in the middle of a packet.
    pub(super) fn is_truncated(&self) -> bool {
        self.reader.is_truncated()
    }

    /// Calls `read` with each packet as it is read, and `take` with each packet in the order of time.
    pub(super) fn for_each<S>(
        &mut self,
        state: &mut S,
        read: impl Fn(&mut S, &Frame<'_>),
        take: impl Fn(&mut S, &Frame<'_>),
    ) -> Result<(), CaptureError> {
        while !self.is_ended {
            self.read(|frame| read(state, frame))?;
            while let Some((at, Kept { interface, link_type, length, bytes })) = self.due() {
                take(state, &Frame { at, interface, link_type, bytes: &bytes, length });
            }
        }
        Ok(())
    }

    fn read(&mut self, seen: impl FnOnce(&Frame<'_>)) -> Result<(), CaptureError> {
        let Some(frame) = self.reader.next_frame()? else {
            self.is_ended = true;
            return Ok(());
        };
        seen(&frame);
        let Frame { at, interface, link_type, bytes, length } = frame;
        let kept = Kept { interface, link_type, length, bytes: bytes.into() };
        self.bytes += kept.cost();
        self.latest = self.latest.max(at);
        self.waiting.insert((at, self.packets), kept);
        self.packets += 1;
        Ok(())
    }

    /// Returns the earliest packet if no earlier one can follow, or if too many bytes are buffered.
    fn due(&mut self) -> Option<(Instant, Kept)> {
        let (&(at, _), _) = self.waiting.first_key_value()?;
        if !self.is_ended && self.bytes <= MOST_BYTES && self.latest.since(at) < MOST_DELAY {
            return None;
        }
        let (_, kept) = self.waiting.pop_first()?;
        self.bytes -= kept.cost();
        Some((at, kept))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_of_one_time_wait_in_bounded_memory() {
        const LENGTH: u32 = 1 << 17;
        let words = [0xa1b2_c3d4u32, 0x0004_0002, 0, 0, 1 << 18, 101];
        let mut file: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
        let packets = 2 * MOST_BYTES / LENGTH as usize;
        for _ in 0..packets {
            file.extend([0, 0, LENGTH, LENGTH].into_iter().flat_map(u32::to_le_bytes));
            file.resize(file.len() + LENGTH as usize, 0);
        }
        let mut capture = InOrder::new(CaptureReader::new(file.as_slice()).expect("a capture"));
        let mut taken = 0;
        while !capture.is_ended {
            capture.read(|_| ()).expect("it can be read");
            while capture.due().is_some() {
                taken += 1;
            }
            assert!(capture.bytes <= MOST_BYTES, "{taken} of {packets} taken");
        }
        assert_eq!((taken, capture.bytes), (packets, 0));
    }
}
