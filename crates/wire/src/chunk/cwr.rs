use super::{Encode, HEADER_LEN, header};
use crate::field::u32_at;
use crate::serial::Tsn;
use transport::PacketBuf;

/// CWR, congestion window reduced: the answer to ECNE (draft-stewart-tsvwg-sctpecn-07).
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+---------------+-------------------------------+
/// |   type = 13   |  reserved |S|R|          length = 8           |
/// +---------------+---------------+-------------------------------+
/// |                        TSN of the ECNE                        |
/// +---------------------------------------------------------------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cwr {
    /// R: this CWR applies to all paths, because the sender no longer knows the path of the TSN, or because
    /// that path is not active and the CWR is sent on another path.
    pub all_paths: bool,
    /// S: the marked packet belongs to a window of data for which the sender has already reduced its cwnd.
    pub same_window: bool,
    /// This CWR answers all marks of packets up to this TSN.
    pub tsn: Tsn,
}

impl Cwr {
    /// The chunk type.
    pub const TYPE: u8 = 13;

    /// Bit R (`SCTP_CWR_REDUCE_OVERRIDE` of FreeBSD).
    const ALL_PATHS: u8 = 0x01;
    /// Bit S (`SCTP_CWR_IN_SAME_WINDOW` of FreeBSD).
    const SAME_WINDOW: u8 = 0x02;

    pub(super) fn decode(flags: u8, value: &[u8]) -> Option<Self> {
        let fixed: &[u8; 4] = value.try_into().ok()?;
        let (all_paths, same_window) = (flags & Self::ALL_PATHS != 0, flags & Self::SAME_WINDOW != 0);
        Some(Cwr { all_paths, same_window, tsn: Tsn(u32_at(fixed, 0)) })
    }
}

impl Encode for Cwr {
    fn encoded_len(&self) -> usize {
        HEADER_LEN + 4
    }

    fn encode(&self, out: &mut PacketBuf) {
        let flags =
            (u8::from(self.all_paths) * Self::ALL_PATHS) | (u8::from(self.same_window) * Self::SAME_WINDOW);
        out.head.extend_from_slice(&header(Self::TYPE, flags, self.encoded_len()));
        out.head.extend_from_slice(&self.tsn.0.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::{Chunk, ChunkError};
    use crate::testing::{decode, encode, hex};

    #[test]
    fn captured_chunk_decodes_to_its_fields() {
        for (flags, all_paths, same_window) in
            [("00", false, false), ("01", true, false), ("02", false, true), ("03", true, true)]
        {
            let bytes = hex(&format!("0d {flags} 0008 12345678"));
            let expected = Cwr { all_paths, same_window, tsn: Tsn(0x1234_5678) };
            assert_eq!(decode(&bytes), Ok(Chunk::Cwr(expected)));
            assert_eq!(encode(&expected), bytes);
        }
    }

    #[test]
    fn reserved_flags_are_ignored() {
        let expected = Cwr { all_paths: false, same_window: false, tsn: Tsn(1) };
        assert_eq!(decode(&hex("0d fc 0008 00000001")), Ok(Chunk::Cwr(expected)));
    }

    #[test]
    fn wrong_length_is_rejected() {
        for wrong in ["0d 00 0004", "0d 00 000c 12345678 00000000"] {
            assert_eq!(decode(&hex(wrong)), Err(ChunkError::Value { chunk_type: 13 }), "{wrong}");
        }
    }
}
