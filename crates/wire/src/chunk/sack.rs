use super::{Encode, GapBlock, HEADER_LEN, header};
use crate::field::{u16_at, u32_at};
use crate::serial::Tsn;
use transport::PacketBuf;

/// SACK: acknowledges DATA (rfc9260#section-3.3.4).
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+---+-----------+-------------------------------+
/// |   type = 3    |DAC| reserved  |            length             |
/// +---------------+---+-----------+-------------------------------+
/// |                      cumulative TSN ack                       |
/// +---------------------------------------------------------------+
/// |            advertised receiver window credit                  |
/// +-------------------------------+-------------------------------+
/// |     gap ack blocks = N        |      duplicate TSNs = M       |
/// +-------------------------------+-------------------------------+
/// |    start of gap block 1       |       end of gap block 1      |
/// \                            ... N                              \
/// +-------------------------------+-------------------------------+
/// |                        duplicate TSN 1                        |
/// \                            ... M                              \
/// +---------------------------------------------------------------+
/// ```
///
/// The two DAC bits are reserved and zero in the RFC; CMT counts packets in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sack<'a> {
    /// Cumulative TSN ack: all TSNs up to this one arrived.
    pub cumulative_tsn_ack: Tsn,
    /// Advertised receiver window (a_rwnd), in bytes.
    pub a_rwnd: u32,
    /// Number of packets with data that this SACK acknowledges, for delayed acknowledgements under CMT (DAC):
    /// 0 if not counted, 3 for three or more.
    pub packets_since_last: u8,
    gap_count: u16,
    /// The gap blocks, then the duplicates.
    entries: &'a [[u8; 4]],
}

impl<'a> Sack<'a> {
    /// The chunk type.
    pub const TYPE: u8 = 3;
    /// Bytes before the gap blocks.
    pub const FIXED_LEN: usize = 16;

    /// The Gap Ack Blocks in the order of the chunk. They need not be [well
    /// formed](GapBlock::are_well_formed).
    #[inline]
    pub fn gap_blocks(
        &self,
    ) -> impl ExactSizeIterator<Item = GapBlock> + DoubleEndedIterator + Clone + use<'a> {
        self.entries[..usize::from(self.gap_count)].iter().map(GapBlock::decode)
    }

    /// The duplicate TSNs since the last SACK, one entry per duplicate.
    #[inline]
    pub fn duplicates(&self) -> impl ExactSizeIterator<Item = Tsn> + Clone + use<'a> {
        self.entries[usize::from(self.gap_count)..].iter().map(|bytes| Tsn(u32_at(bytes, 0)))
    }

    #[inline]
    pub(super) fn decode(flags: u8, value: &'a [u8]) -> Option<Self> {
        let (fixed, entries) = value.split_first_chunk::<{ Sack::FIXED_LEN - HEADER_LEN }>()?;
        let (entries, rest) = entries.as_chunks();
        let (gap_count, duplicates) = (u16_at(fixed, 8), u16_at(fixed, 10));
        let counted = usize::from(gap_count) + usize::from(duplicates);
        let whole = rest.is_empty() && entries.len() == counted;
        whole.then(|| Sack {
            cumulative_tsn_ack: Tsn(u32_at(fixed, 0)),
            a_rwnd: u32_at(fixed, 4),
            packets_since_last: flags >> 6,
            gap_count,
            entries,
        })
    }

    /// Appends a SACK of at most `room` bytes. `room` must be at least the length of the fixed part.
    #[inline]
    pub(crate) fn write(
        out: &mut Vec<u8>,
        room: usize,
        cumulative_tsn_ack: Tsn,
        a_rwnd: u32,
        packets_since_last: u8,
        gaps: impl Iterator<Item = GapBlock>,
        duplicates: &[Tsn],
    ) {
        let begin = out.len();
        let entries = (room - Self::FIXED_LEN) / 4;
        let most = gaps.size_hint().1.map_or(entries, |most| most.min(entries));
        out.resize(begin + Self::FIXED_LEN + most * GapBlock::LEN, 0);
        let (slots, _) = out[begin + Self::FIXED_LEN..].as_chunks_mut::<{ GapBlock::LEN }>();
        let mut free = slots.iter_mut();
        // `for_each` without `zip` is faster: a chained iterator then runs each of its parts in a
        // loop of its own.
        gaps.take(most).for_each(|gap| {
            if let Some(slot) = free.next() {
                *slot = gap.encode();
            }
        });
        let gaps = most - free.len();
        out.truncate(begin + Self::FIXED_LEN + gaps * GapBlock::LEN);
        let duplicates = &duplicates[..duplicates.len().min(entries - gaps)];
        if !duplicates.is_empty() {
            push_all(duplicates, out);
        }
        let length = out.len() - begin;
        let fixed = &mut out[begin..begin + Self::FIXED_LEN];
        fixed[..HEADER_LEN].copy_from_slice(&header(Self::TYPE, packets_since_last.min(3) << 6, length));
        fixed[4..8].copy_from_slice(&cumulative_tsn_ack.0.to_be_bytes());
        fixed[8..12].copy_from_slice(&a_rwnd.to_be_bytes());
        fixed[12..14].copy_from_slice(&(gaps as u16).to_be_bytes());
        fixed[14..16].copy_from_slice(&(duplicates.len() as u16).to_be_bytes());
    }
}

impl Encode for Sack<'_> {
    fn encoded_len(&self) -> usize {
        Self::FIXED_LEN + self.entries.as_flattened().len()
    }

    fn encode(&self, out: &mut PacketBuf) {
        let counts = [self.gap_count, self.duplicates().len() as u16];
        let flags = self.packets_since_last.min(3) << 6;
        out.head.extend_from_slice(&header(Self::TYPE, flags, self.encoded_len()));
        out.head.extend_from_slice(&self.cumulative_tsn_ack.0.to_be_bytes());
        out.head.extend_from_slice(&self.a_rwnd.to_be_bytes());
        out.head.extend_from_slice(counts.map(u16::to_be_bytes).as_flattened());
        out.head.extend_from_slice(self.entries.as_flattened());
    }
}

#[cold]
fn push_all(duplicates: &[Tsn], out: &mut Vec<u8>) {
    out.extend(duplicates.iter().flat_map(|tsn| tsn.0.to_be_bytes()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::{Chunk, ChunkError};
    use crate::packet::PacketWriter;
    use crate::testing::{ANY_HEADER, decode, encode, hex};
    use transport::Octets;

    const CAPTURE: &str = "03 80 001c  000003e7  00017700  0002 0001  0002 0002  0004 0007  000003e5";

    #[test]
    fn captured_chunk_decodes_to_its_fields() {
        let bytes = hex(CAPTURE);
        let Ok(Chunk::Sack(sack)) = decode(&bytes) else { panic!("not SACK") };
        assert_eq!(sack.cumulative_tsn_ack, Tsn(999));
        assert_eq!(sack.a_rwnd, 96_000);
        assert_eq!(sack.packets_since_last, 2);
        let gaps: Vec<_> = sack.gap_blocks().map(|gap| (gap.start, gap.end)).collect();
        assert_eq!(gaps, [(2, 2), (4, 7)]);
        assert_eq!(sack.duplicates().collect::<Vec<_>>(), [Tsn(997)]);
        assert_eq!(encode(&sack), bytes);
    }

    #[test]
    fn writer_encodes_the_captured_chunk() {
        let gaps = [(2, 2), (4, 7)].map(|(start, end)| GapBlock { start, end });
        let mut buf = PacketBuf::default();
        let mut writer = PacketWriter::new(&mut buf, ANY_HEADER, 1500);
        assert!(writer.sack(Tsn(999), 96_000, 2, gaps.into_iter(), &[Tsn(997)]));
        assert_eq!(buf.head[12..], hex(CAPTURE));
    }

    #[test]
    fn dac_count_saturates_at_three() {
        let mut buf = PacketBuf::default();
        let mut writer = PacketWriter::new(&mut buf, ANY_HEADER, 1500);
        assert!(writer.sack(Tsn(1), 0, 200, std::iter::empty(), &[]));
        assert_eq!(buf.head[13], 0xc0);
    }

    // rfc9260#section-6.2: a SACK contains the largest number of gap blocks that fits
    #[test]
    fn a_sack_that_is_too_long_drops_duplicate_tsns_before_gap_ack_blocks() {
        let gaps = || (1..4).map(|i| GapBlock { start: 2 * i, end: 2 * i });
        let counts = |room: usize| {
            let mut buf = PacketBuf::default();
            let mut writer = PacketWriter::new(&mut buf, ANY_HEADER, 12 + room);
            let written = writer.sack(Tsn(0), 0, 0, gaps(), &[Tsn(5), Tsn(6)]);
            let (_, chunk) = buf.as_octets().split_at(12);
            if !written {
                assert!(chunk.is_empty());
                return None;
            }
            let Ok((Chunk::Sack(sack), _)) = Chunk::split_first(chunk) else { panic!("not SACK") };
            assert!(sack.gap_blocks().eq(gaps().take(sack.gap_blocks().len())));
            Some((sack.gap_blocks().len(), sack.duplicates().len()))
        };
        assert_eq!(counts(36), Some((3, 2)));
        assert_eq!(counts(35), Some((3, 1)));
        assert_eq!(counts(28), Some((3, 0)));
        assert_eq!(counts(24), Some((2, 0)));
        assert_eq!(counts(16), Some((0, 0)));
        assert_eq!(counts(15), None);
    }

    #[test]
    fn counts_that_contradict_the_length_are_rejected() {
        for wrong in [
            "03 00 000c  000003e7  00017700",
            "03 00 0010  000003e7  00017700  0001 0000",
            "03 00 0014  000003e7  00017700  0000 0000  0001 0001",
            "03 00 0012  000003e7  00017700  0000 0000  0001 0000",
            "03 00 0010  000003e7  00017700  ffff ffff",
        ] {
            assert_eq!(decode(&hex(wrong)), Err(ChunkError::Value { chunk_type: 3 }), "{wrong}");
        }
    }

    #[test]
    fn control_chunk_in_unstored_zeros_is_rejected() {
        let bytes = hex("03 00 0010  000003e7  00017700  0000 0000");
        let cut = Octets::new(&bytes[..12], 4);
        assert_eq!(Chunk::split_first(cut), Err(ChunkError::ZerosInControl { chunk_type: 3 }));
    }
}
