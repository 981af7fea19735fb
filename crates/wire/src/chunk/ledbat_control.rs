use super::{Encode, HEADER_LEN, header};
use crate::field::u32_at;
use crate::serial::Tsn;
use transport::PacketBuf;

/// LEDBAT-CONTROL: the one-way delays of the packets since the previous LEDBAT-CONTROL. In a packet, this
/// chunk precedes the SACK that acknowledges these packets. A receiver that does not know the type skips the
/// chunk.
///
/// Anabranch defines the format: the paper on LEDBAT-MP (`papers/004_ledbat_mp`) names the chunk and leaves
/// its format open. The TSN of the first DATA chunk identifies a packet, and so the path on which the packet
/// was sent.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+---------------+-------------------------------+
/// |  type = 0xb0  |   flags = 0   |       length = 4 + 12 N       |
/// +---------------+---------------+-------------------------------+
/// |                  first TSN of packet 1                        |
/// +---------------------------------------------------------------+
/// |            arrival less departure of packet 1, in             |
/// |                microseconds, 64 bits, signed                  |
/// \                            ... N                              \
/// +---------------------------------------------------------------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LedbatControl<'a> {
    entries: &'a [[u8; PacketDelay::LEN]],
}

/// One-way delay of a packet. The clocks of sender and receiver may have different epochs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketDelay {
    /// TSN of the first DATA chunk of the packet.
    pub tsn: Tsn,
    /// Time of arrival (receiver's clock) minus time of departure (sender's clock), in microseconds.
    pub micros: i64,
}

impl PacketDelay {
    const LEN: usize = 12;

    fn decode(bytes: &[u8; Self::LEN]) -> Self {
        let micros = u64::from(u32_at(bytes, 4)) << 32 | u64::from(u32_at(bytes, 8));
        PacketDelay { tsn: Tsn(u32_at(bytes, 0)), micros: micros as i64 }
    }
}

impl<'a> LedbatControl<'a> {
    /// The chunk type.
    pub const TYPE: u8 = 0xb0;

    /// The delays in the order of the chunk.
    #[inline]
    pub fn delays(&self) -> impl ExactSizeIterator<Item = PacketDelay> + Clone + use<'a> {
        self.entries.iter().map(PacketDelay::decode)
    }

    /// Length in bytes of a chunk with `delays` delays.
    #[inline]
    pub const fn len_of(delays: usize) -> usize {
        HEADER_LEN + delays * PacketDelay::LEN
    }

    pub(super) fn decode(value: &'a [u8]) -> Option<Self> {
        let (entries, rest) = value.as_chunks();
        rest.is_empty().then_some(LedbatControl { entries })
    }

    /// Appends a chunk with these delays.
    pub(crate) fn write(out: &mut Vec<u8>, delays: &[PacketDelay]) {
        out.extend_from_slice(&header(Self::TYPE, 0, Self::len_of(delays.len())));
        for delay in delays {
            out.extend_from_slice(&delay.tsn.0.to_be_bytes());
            out.extend_from_slice(&delay.micros.to_be_bytes());
        }
    }
}

impl Encode for LedbatControl<'_> {
    fn encoded_len(&self) -> usize {
        Self::len_of(self.entries.len())
    }

    fn encode(&self, out: &mut PacketBuf) {
        out.head.extend_from_slice(&header(Self::TYPE, 0, self.encoded_len()));
        out.head.extend_from_slice(self.entries.as_flattened());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::Chunk;
    use crate::packet::PacketWriter;
    use crate::testing::{ANY_HEADER, decode, encode, hex};

    const CAPTURE: &str = "b0 00 001c  00000009 00000000000186a0  0000000b ffffffffffffffff";
    const DELAYS: [PacketDelay; 2] =
        [PacketDelay { tsn: Tsn(9), micros: 100_000 }, PacketDelay { tsn: Tsn(11), micros: -1 }];

    #[test]
    fn captured_chunk_decodes_and_encodes_to_the_same_bytes() {
        let bytes = hex(CAPTURE);
        let Ok(Chunk::LedbatControl(chunk)) = decode(&bytes) else { panic!("not LEDBAT-CONTROL") };
        assert!(chunk.delays().eq(DELAYS));
        assert_eq!(encode(&chunk), bytes);
    }

    #[test]
    fn writer_encodes_the_captured_chunk_or_nothing() {
        for (limit, fits) in [(12 + 28, true), (12 + 27, false)] {
            let mut buf = PacketBuf::default();
            let mut writer = PacketWriter::new(&mut buf, ANY_HEADER, limit);
            assert_eq!(writer.ledbat_control(&DELAYS), fits);
            assert_eq!(buf.head[12..], if fits { hex(CAPTURE) } else { Vec::new() });
        }
    }

    #[test]
    fn other_use_of_the_chunk_type_is_unknown() {
        assert!(matches!(decode(&hex("b0 00 0008 00000000")), Ok(Chunk::Unknown(_))));
    }
}
