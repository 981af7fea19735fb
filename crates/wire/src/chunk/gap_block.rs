use crate::field::u16_at;

/// A Gap Ack Block: a run of TSNs that arrived above the cumulative TSN ack (rfc9260#section-3.3.4).
///
/// Both offsets are counted from the cumulative TSN ack, and both ends belong to the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GapBlock {
    /// Offset of the first TSN.
    pub start: u16,
    /// Offset of the last TSN.
    pub end: u16,
}

impl GapBlock {
    /// Bytes of a block.
    pub const LEN: usize = 4;

    #[inline]
    pub(super) fn decode(bytes: &[u8; Self::LEN]) -> Self {
        GapBlock { start: u16_at(bytes, 0), end: u16_at(bytes, 2) }
    }

    #[inline]
    pub(super) fn encode(self) -> [u8; Self::LEN] {
        let (start, end) = (self.start.to_be_bytes(), self.end.to_be_bytes());
        [start[0], start[1], end[0], end[1]]
    }

    /// True if all offsets are at least 1, no block ends before its start, and the blocks are ascending and
    /// disjoint.
    #[inline]
    pub fn are_well_formed(blocks: impl IntoIterator<Item = GapBlock>) -> bool {
        let mut last = 0;
        blocks.into_iter().all(|block| {
            let fits = block.start > last && block.end >= block.start;
            last = block.end;
            fits
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn well_formed(blocks: &[(u16, u16)]) -> bool {
        GapBlock::are_well_formed(blocks.iter().map(|&(start, end)| GapBlock { start, end }))
    }

    #[test]
    fn well_formed_gap_ack_blocks_are_recognised() {
        assert!(well_formed(&[]));
        assert!(well_formed(&[(1, 1), (3, 9), (11, 65_535)]));
        assert!(!well_formed(&[(0, 4)]), "the cumulative TSN itself");
        assert!(!well_formed(&[(5, 4)]), "backwards");
        assert!(!well_formed(&[(2, 6), (6, 8)]), "overlapping");
        assert!(!well_formed(&[(7, 8), (2, 3)]), "descending");
        assert!(!well_formed(&[(1, 65_535), (1, 2)]), "after the last offset there is none");
    }
}
