use super::{Encode, GapBlock, HEADER_LEN, header};
use crate::field::{u16_at, u32_at};
use crate::serial::Tsn;
use transport::PacketBuf;

/// NR-SACK: a SACK that also lists chunks on which the receiver never reneges
/// (draft-natarajan-tsvwg-sctp-nrsack).
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+---+-----------+-------------------------------+
/// |  type = 0x10  |DAC| reserved  |            length             |
/// +---------------+---+-----------+-------------------------------+
/// |                      cumulative TSN ack                       |
/// +---------------------------------------------------------------+
/// |            advertised receiver window credit                  |
/// +-------------------------------+-------------------------------+
/// |   renegable gap blocks = N    |  non-renegable gap blocks = K |
/// +-------------------------------+-------------------------------+
/// |      duplicate TSNs = M       |           reserved            |
/// +-------------------------------+-------------------------------+
/// |    start of gap block 1       |       end of gap block 1      |
/// \                      ... N, then K                            \
/// +-------------------------------+-------------------------------+
/// |                        duplicate TSN 1                        |
/// \                            ... M                              \
/// +---------------------------------------------------------------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NrSack<'a> {
    /// All TSNs up to this one arrived, and the receiver never reneges on them.
    pub cumulative_tsn_ack: Tsn,
    /// Free bytes in the receive buffer (a_rwnd).
    pub a_rwnd: u32,
    /// Number of packets, as in [`Sack::packets_since_last`](crate::Sack::packets_since_last).
    pub packets_since_last: u8,
    gap_count: u16,
    nr_gap_count: u16,
    /// The renegable gap blocks, then the non-renegable ones, then the duplicates.
    entries: &'a [[u8; 4]],
}

impl<'a> NrSack<'a> {
    /// The chunk type.
    pub const TYPE: u8 = 0x10;
    /// Bytes before the gap blocks.
    pub const FIXED_LEN: usize = 20;

    /// The blocks of chunks on which the receiver may renege, in the order of the chunk.
    #[inline]
    pub fn gap_blocks(
        &self,
    ) -> impl ExactSizeIterator<Item = GapBlock> + DoubleEndedIterator + Clone + use<'a> {
        self.entries[..usize::from(self.gap_count)].iter().map(GapBlock::decode)
    }

    /// The blocks of chunks on which the receiver never reneges, in the order of the chunk. A correct peer
    /// sends no TSN in blocks of both kinds.
    #[inline]
    pub fn nr_gap_blocks(
        &self,
    ) -> impl ExactSizeIterator<Item = GapBlock> + DoubleEndedIterator + Clone + use<'a> {
        self.entries[usize::from(self.gap_count)..self.all_gaps()].iter().map(GapBlock::decode)
    }

    /// The duplicate TSNs since the last SACK, one entry per duplicate.
    #[inline]
    pub fn duplicates(&self) -> impl ExactSizeIterator<Item = Tsn> + Clone + use<'a> {
        self.entries[self.all_gaps()..].iter().map(|bytes| Tsn(u32_at(bytes, 0)))
    }

    #[inline]
    fn all_gaps(&self) -> usize {
        usize::from(self.gap_count) + usize::from(self.nr_gap_count)
    }

    #[inline]
    pub(super) fn decode(flags: u8, value: &'a [u8]) -> Option<Self> {
        let (fixed, entries) = value.split_first_chunk::<{ NrSack::FIXED_LEN - HEADER_LEN }>()?;
        let (entries, rest) = entries.as_chunks();
        let [gap_count, nr_gap_count, duplicates] = [8, 10, 12].map(|at| u16_at(fixed, at));
        let counted = [gap_count, nr_gap_count, duplicates].map(usize::from).iter().sum::<usize>();
        let whole = rest.is_empty() && entries.len() == counted;
        whole.then(|| NrSack {
            cumulative_tsn_ack: Tsn(u32_at(fixed, 0)),
            a_rwnd: u32_at(fixed, 4),
            packets_since_last: flags >> 6,
            gap_count,
            nr_gap_count,
            entries,
        })
    }

    /// Appends an NR-SACK of at most `room` bytes, which must hold the fixed part.
    pub(crate) fn write(
        out: &mut Vec<u8>,
        room: usize,
        cumulative_tsn_ack: Tsn,
        a_rwnd: u32,
        packets_since_last: u8,
        (gaps, nr_gaps): (&[GapBlock], &[GapBlock]),
        duplicates: &[Tsn],
    ) {
        let begin = out.len();
        let entries = (room - Self::FIXED_LEN) / 4;
        let (gap_count, nr_count) = lowest(gaps, nr_gaps, entries);
        let duplicates = &duplicates[..duplicates.len().min(entries - nr_count - gap_count)];
        out.extend_from_slice(&[0; Self::FIXED_LEN]);
        for gap in gaps[..gap_count].iter().chain(&nr_gaps[..nr_count]) {
            out.extend_from_slice(&gap.encode());
        }
        for tsn in duplicates {
            out.extend_from_slice(&tsn.0.to_be_bytes());
        }
        let length = out.len() - begin;
        let fixed = &mut out[begin..begin + Self::FIXED_LEN];
        fixed[..HEADER_LEN].copy_from_slice(&header(Self::TYPE, packets_since_last.min(3) << 6, length));
        fixed[4..8].copy_from_slice(&cumulative_tsn_ack.0.to_be_bytes());
        fixed[8..12].copy_from_slice(&a_rwnd.to_be_bytes());
        fixed[12..14].copy_from_slice(&(gap_count as u16).to_be_bytes());
        fixed[14..16].copy_from_slice(&(nr_count as u16).to_be_bytes());
        fixed[16..18].copy_from_slice(&(duplicates.len() as u16).to_be_bytes());
    }
}

/// Of the `most` lowest blocks of two sorted lists together, returns how many are in each list.
fn lowest(gaps: &[GapBlock], nr_gaps: &[GapBlock], most: usize) -> (usize, usize) {
    let (mut n, mut k) = (gaps.len(), nr_gaps.len());
    while n + k > most {
        let nr_is_higher = match (gaps[..n].last(), nr_gaps[..k].last()) {
            (Some(gap), Some(nr)) => nr.start > gap.start,
            (gap, _) => gap.is_none(),
        };
        if nr_is_higher { k -= 1 } else { n -= 1 }
    }
    (n, k)
}

impl Encode for NrSack<'_> {
    fn encoded_len(&self) -> usize {
        Self::FIXED_LEN + self.entries.as_flattened().len()
    }

    fn encode(&self, out: &mut PacketBuf) {
        let reserved = 0;
        let counts = [self.gap_count, self.nr_gap_count, self.duplicates().len() as u16, reserved];
        let flags = self.packets_since_last.min(3) << 6;
        out.head.extend_from_slice(&header(Self::TYPE, flags, self.encoded_len()));
        out.head.extend_from_slice(&self.cumulative_tsn_ack.0.to_be_bytes());
        out.head.extend_from_slice(&self.a_rwnd.to_be_bytes());
        out.head.extend_from_slice(counts.map(u16::to_be_bytes).as_flattened());
        out.head.extend_from_slice(self.entries.as_flattened());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::{Chunk, ChunkError};
    use crate::packet::PacketWriter;
    use crate::testing::{ANY_HEADER, decode, encode, hex};

    const CAPTURE: &str =
        "10 40 0024  0000000a  00010000  0001 0002  0001 0000  0002 0002  0004 0004  0006 0009  00000008";

    fn blocks<const N: usize>(bounds: [(u16, u16); N]) -> [GapBlock; N] {
        bounds.map(|(start, end)| GapBlock { start, end })
    }

    #[test]
    fn captured_chunk_decodes_to_its_fields() {
        let bytes = hex(CAPTURE);
        let Ok(Chunk::NrSack(sack)) = decode(&bytes) else { panic!("not NR-SACK") };
        assert_eq!(sack.cumulative_tsn_ack, Tsn(10));
        assert_eq!(sack.a_rwnd, 65_536);
        assert_eq!(sack.packets_since_last, 1);
        assert!(sack.gap_blocks().eq(blocks([(2, 2)])));
        assert!(sack.nr_gap_blocks().eq(blocks([(4, 4), (6, 9)])));
        assert!(sack.duplicates().eq([Tsn(8)]));
        assert_eq!(encode(&sack), bytes);
    }

    #[test]
    fn writer_encodes_the_captured_chunk() {
        let mut buf = PacketBuf::default();
        let mut writer = PacketWriter::new(&mut buf, ANY_HEADER, 1500);
        let (gaps, nr_gaps) = (blocks([(2, 2)]), blocks([(4, 4), (6, 9)]));
        assert!(writer.nr_sack(Tsn(10), 65_536, 1, &gaps, &nr_gaps, &[Tsn(8)]));
        assert_eq!(buf.head[12..], hex(CAPTURE));
    }

    #[test]
    fn highest_blocks_are_dropped_first() {
        // Renegable blocks at 2, 6, 10 and so on; non-renegable blocks at 4, 8, 12.
        let counts = |entries: usize, gaps: u16, nr_gaps: u16| {
            let list = |first: u16, n: u16| -> Vec<GapBlock> {
                (0..n).map(|k| GapBlock { start: first + 4 * k, end: first + 4 * k }).collect()
            };
            let mut buf = PacketBuf::default();
            let mut writer = PacketWriter::new(&mut buf, ANY_HEADER, 12 + 20 + 4 * entries);
            assert!(writer.nr_sack(Tsn(0), 0, 0, &list(2, gaps), &list(4, nr_gaps), &[Tsn(1); 2]));
            let (_, chunk) = buf.as_octets().split_at(12);
            let Ok((Chunk::NrSack(sack), _)) = Chunk::split_first(chunk) else { panic!("not NR-SACK") };
            (sack.gap_blocks().len(), sack.nr_gap_blocks().len(), sack.duplicates().len())
        };
        assert_eq!(counts(9, 3, 4), (3, 4, 2));
        assert_eq!(counts(8, 3, 4), (3, 4, 1));
        assert_eq!(counts(6, 3, 4), (3, 3, 0));
        assert_eq!(counts(5, 3, 4), (3, 2, 0));
        assert_eq!(counts(6, 1, 9), (1, 5, 0));
        assert_eq!(counts(6, 9, 1), (5, 1, 0));
        assert_eq!(counts(0, 9, 9), (0, 0, 0));
    }

    #[test]
    fn counts_that_contradict_the_length_are_rejected() {
        for wrong in [
            "10 00 0010  0000000a  00010000  0000 0000",
            "10 00 0014  0000000a  00010000  0000 0001  0000 0000",
            "10 00 0018  0000000a  00010000  0000 0000  0000 0000  0001 0001",
        ] {
            assert_eq!(decode(&hex(wrong)), Err(ChunkError::Value { chunk_type: 0x10 }), "{wrong}");
        }
    }
}
