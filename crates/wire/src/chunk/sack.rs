use super::{Encode, GapBlock, HEADER_LEN, header};
use crate::field::{u16_at, u32_at};
use crate::octets::PacketBuf;
use crate::serial::Tsn;

/// SACK: what has arrived (rfc9260#section-3.3.4).
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
/// The two DAC bits are reserved in the RFC and 0 there; concurrent multipath transfer counts packets in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sack<'a> {
    /// Everything up to here has arrived.
    pub cumulative_tsn_ack: Tsn,
    /// Bytes the receiver still has room for.
    pub a_rwnd: u32,
    /// Packets with data that this SACK acknowledges, for delayed acks under CMT (DAC): 0 if not counted, 3 for
    /// three or more.
    pub packets_since_last: u8,
    gaps: &'a [[u8; GapBlock::LEN]],
    duplicates: &'a [[u8; 4]],
}

impl<'a> Sack<'a> {
    /// The chunk type.
    pub const TYPE: u8 = 3;
    /// Bytes before the gap blocks.
    pub const FIXED_LEN: usize = 16;

    /// The gap blocks as sent: nothing says that they are [well formed](GapBlock::are_well_formed).
    #[inline]
    pub fn gap_blocks(
        &self,
    ) -> impl ExactSizeIterator<Item = GapBlock> + DoubleEndedIterator + Clone + use<'a> {
        self.gaps.iter().map(GapBlock::decode)
    }

    /// The TSNs that arrived more than once since the last SACK, each once for every surplus arrival.
    #[inline]
    pub fn duplicates(&self) -> impl ExactSizeIterator<Item = Tsn> + Clone + use<'a> {
        self.duplicates.iter().map(|bytes| Tsn(u32_at(bytes, 0)))
    }

    #[inline]
    pub(super) fn decode(flags: u8, value: &'a [u8]) -> Option<Self> {
        let (fixed, lists) = value.split_first_chunk::<{ Sack::FIXED_LEN - HEADER_LEN }>()?;
        let (lists, rest) = lists.as_chunks::<4>();
        let (gaps, duplicates) = (usize::from(u16_at(fixed, 8)), usize::from(u16_at(fixed, 10)));
        if !rest.is_empty() || lists.len() != gaps + duplicates {
            return None;
        }
        let (gaps, duplicates) = lists.split_at(gaps);
        Some(Sack {
            cumulative_tsn_ack: Tsn(u32_at(fixed, 0)),
            a_rwnd: u32_at(fixed, 4),
            packets_since_last: flags >> 6,
            gaps,
            duplicates,
        })
    }

    /// Appends a SACK of at most `room` bytes, which must hold the fixed part.
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
        out.extend_from_slice(&[0; Self::FIXED_LEN]);
        for gap in gaps.take(entries) {
            out.extend_from_slice(&gap.encode());
        }
        let gaps = (out.len() - begin - Self::FIXED_LEN) / GapBlock::LEN;
        let duplicates = &duplicates[..duplicates.len().min(entries - gaps)];
        for tsn in duplicates {
            out.extend_from_slice(&tsn.0.to_be_bytes());
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
        Self::FIXED_LEN + self.gaps.as_flattened().len() + self.duplicates.as_flattened().len()
    }

    fn encode(&self, out: &mut PacketBuf) {
        let counts = [self.gaps.len() as u16, self.duplicates.len() as u16];
        let flags = self.packets_since_last.min(3) << 6;
        out.head.extend_from_slice(&header(Self::TYPE, flags, self.encoded_len()));
        out.head.extend_from_slice(&self.cumulative_tsn_ack.0.to_be_bytes());
        out.head.extend_from_slice(&self.a_rwnd.to_be_bytes());
        out.head.extend_from_slice(counts.map(u16::to_be_bytes).as_flattened());
        out.head.extend_from_slice(self.gaps.as_flattened());
        out.head.extend_from_slice(self.duplicates.as_flattened());
    }
}
