use super::CommonHeader;
use crate::checksum::{Checksum, crc32c};
use crate::chunk::{Data, Encode, GapBlock, NrSack, Sack};
use crate::field::padded;
use crate::octets::PacketBuf;
use crate::serial::Tsn;

/// Writes one packet, chunk by chunk, into a buffer that is used again and again.
///
/// A chunk that does not fit is not written at all, and the packet stays as it was.
#[derive(Debug)]
pub struct PacketWriter<'b> {
    buf: &'b mut PacketBuf,
    limit: usize,
}

/// The length field has 16 bits, and a chunk that ends on the 4-byte grid needs no padding past them.
const LONGEST_CHUNK: usize = 65_532;

impl<'b> PacketWriter<'b> {
    /// Empties `buf` and begins a packet of at most `limit` bytes, the common header among them.
    #[inline]
    pub fn new(buf: &'b mut PacketBuf, header: CommonHeader, limit: usize) -> Self {
        buf.clear();
        buf.head.extend_from_slice(&header.encode());
        PacketWriter { buf, limit }
    }

    /// Length of the longest chunk, its own header included, that still fits. A multiple of four.
    #[inline]
    pub fn room(&self) -> usize {
        (self.limit.saturating_sub(self.buf.len()) & !3).min(LONGEST_CHUNK)
    }

    /// True as long as there is no chunk.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.buf.len() == CommonHeader::LEN
    }

    /// Appends a DATA chunk; false if it does not fit. Zeros at the end of the payload stay unstored until another
    /// chunk follows.
    #[inline]
    pub fn data(&mut self, data: &Data<'_>) -> bool {
        self.push(data)
    }

    /// Appends a SACK; false if not even its fixed part fits. What does not fit is left out: duplicates first, then
    /// the last gap blocks (rfc9260#section-3.3.4).
    #[inline]
    pub fn sack(
        &mut self,
        cumulative_tsn_ack: Tsn,
        a_rwnd: u32,
        packets_since_last: u8,
        gaps: impl Iterator<Item = GapBlock>,
        duplicates: &[Tsn],
    ) -> bool {
        let room = self.room();
        if room < Sack::FIXED_LEN {
            return false;
        }
        self.buf.materialise();
        Sack::write(
            &mut self.buf.head,
            room,
            cumulative_tsn_ack,
            a_rwnd,
            packets_since_last,
            gaps,
            duplicates,
        );
        true
    }

    /// Appends an NR-SACK; false if not even its fixed part fits. What does not fit is left out: duplicates first,
    /// then the last blocks of the two lists, neither below half of the room.
    pub fn nr_sack(
        &mut self,
        cumulative_tsn_ack: Tsn,
        a_rwnd: u32,
        packets_since_last: u8,
        gaps: impl ExactSizeIterator<Item = GapBlock>,
        nr_gaps: impl ExactSizeIterator<Item = GapBlock>,
        duplicates: &[Tsn],
    ) -> bool {
        let room = self.room();
        if room < NrSack::FIXED_LEN {
            return false;
        }
        self.buf.materialise();
        let blocks = (gaps, nr_gaps);
        NrSack::write(
            &mut self.buf.head,
            room,
            cumulative_tsn_ack,
            a_rwnd,
            packets_since_last,
            blocks,
            duplicates,
        );
        true
    }

    /// Appends any chunk; false if it does not fit.
    #[inline]
    pub fn push<C: Encode>(&mut self, chunk: &C) -> bool {
        let length = chunk.encoded_len();
        if length > self.room() {
            return false;
        }
        self.buf.materialise();
        chunk.encode(self.buf);
        let padding = padded(length) - length;
        if self.buf.zeros > 0 {
            self.buf.zeros += padding;
        } else {
            self.buf.head.extend_from_slice(&[0; 3][..padding]);
        }
        true
    }

    /// Completes the packet with its checksum.
    #[inline]
    pub fn finish(self, checksum: Checksum) {
        if checksum == Checksum::Computed {
            let crc = crc32c(self.buf.as_octets());
            self.buf.head[8..12].copy_from_slice(&crc.to_le_bytes());
        }
    }
}
