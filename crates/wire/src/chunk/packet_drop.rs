use super::{Data, Encode, HEADER_LEN, IData, header};
use crate::field::{padded, u16_at, u32_at};
use crate::serial::Tsn;
use transport::PacketBuf;

/// PKTDROP: reports that a packet from the receiver of this chunk was dropped
/// (draft-stewart-sctp-pktdrprep-16).
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+---------------+-------------------------------+
/// |  type = 0x81  | reserved|T|B|M|        length = 16 + N        |
/// +---------------+---------------+-------------------------------+
/// |                         maximum rate                          |
/// +---------------------------------------------------------------+
/// |                           on queue                            |
/// +-------------------------------+-------------------------------+
/// |       truncated length        |           reserved            |
/// +-------------------------------+-------------------------------+
/// \           the dropped packet from its common header on,       \
/// \                            N bytes                            \
/// +---------------------------------------------------------------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketDrop<'a> {
    /// M: a middlebox dropped the packet; if not set, the peer dropped it.
    pub from_middlebox: bool,
    /// B: the packet had a wrong checksum.
    pub bad_checksum: bool,
    /// T: the chunk contains only the beginning of the dropped packet.
    pub truncated: bool,
    /// From a middlebox: the rate of its link in bytes per second. From the peer: the size of its receive
    /// buffer in bytes.
    pub max_rate: u32,
    /// Bytes that are in the queue of the middlebox, or in the receive buffer of the peer.
    pub on_queue: u32,
    /// Bytes of the whole packet if it is truncated, else 0.
    pub truncated_length: u16,
    /// The dropped packet, or its beginning, as it arrived; it may be damaged.
    pub packet: &'a [u8],
}

/// Bytes of the common header of a packet.
const COMMON_HEADER: usize = 12;

/// A chunk of a dropped packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DroppedChunk<'a> {
    /// A DATA or I-DATA chunk.
    Data {
        /// TSN of the chunk.
        tsn: Tsn,
        /// The part of the payload that the report contains.
        payload: &'a [u8],
    },
    /// A chunk of any other type.
    Control {
        /// The chunk type.
        chunk_type: u8,
    },
}

impl<'a> PacketDrop<'a> {
    /// The chunk type.
    pub const TYPE: u8 = 0x81;
    /// Bytes before the dropped packet.
    pub const FIXED_LEN: usize = HEADER_LEN + 12;

    const FROM_MIDDLEBOX: u8 = 0x01;
    const BAD_CHECKSUM: u8 = 0x02;
    const TRUNCATED: u8 = 0x04;

    /// Iterates over the chunks of the dropped packet, which may be damaged. Ends at an invalid length.
    pub fn chunks(&self) -> impl Iterator<Item = DroppedChunk<'a>> + use<'a> {
        let mut rest = self.packet.get(COMMON_HEADER..).unwrap_or_default();
        std::iter::from_fn(move || {
            let &[chunk_type, _, high, low] = rest.first_chunk()?;
            let length = usize::from(u16::from_be_bytes([high, low]));
            if length < HEADER_LEN {
                return None;
            }
            let chunk = &rest[..length.min(rest.len())];
            rest = rest.get(padded(length)..).unwrap_or_default();
            let before_payload = match chunk_type {
                Data::TYPE => Data::HEADER_LEN,
                IData::TYPE => IData::HEADER_LEN,
                _ => return Some(DroppedChunk::Control { chunk_type }),
            };
            let (fixed, payload) = chunk.split_at_checked(before_payload)?;
            // The TSN is the first field of both chunk types.
            let tsn = Tsn(u32_at(fixed.first_chunk::<8>()?, HEADER_LEN));
            Some(DroppedChunk::Data { tsn, payload })
        })
    }

    pub(super) fn decode(flags: u8, value: &'a [u8]) -> Option<Self> {
        let (fixed, packet) = value.split_first_chunk::<12>()?;
        Some(PacketDrop {
            from_middlebox: flags & Self::FROM_MIDDLEBOX != 0,
            bad_checksum: flags & Self::BAD_CHECKSUM != 0,
            truncated: flags & Self::TRUNCATED != 0,
            max_rate: u32_at(fixed, 0),
            on_queue: u32_at(fixed, 4),
            truncated_length: u16_at(fixed, 8),
            packet,
        })
    }
}

impl Encode for PacketDrop<'_> {
    fn encoded_len(&self) -> usize {
        Self::FIXED_LEN + self.packet.len()
    }

    fn encode(&self, out: &mut PacketBuf) {
        let flags = (u8::from(self.from_middlebox) * Self::FROM_MIDDLEBOX)
            | (u8::from(self.bad_checksum) * Self::BAD_CHECKSUM)
            | (u8::from(self.truncated) * Self::TRUNCATED);
        out.head.extend_from_slice(&header(Self::TYPE, flags, self.encoded_len()));
        out.head.extend_from_slice(&self.max_rate.to_be_bytes());
        out.head.extend_from_slice(&self.on_queue.to_be_bytes());
        out.head.extend_from_slice(&self.truncated_length.to_be_bytes());
        out.head.extend_from_slice(&[0, 0]);
        out.head.extend_from_slice(self.packet);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::{Chunk, ChunkError};
    use crate::testing::{decode, encode, hex};

    /// Ports 5000 and 5001, tag 1, DATA with TSN 7 and four bytes: "abc" and one that was inverted to zero.
    const DAMAGED: &str = "1388 1389 00000001 29897304  00 03 0014 00000007 0000 0000 00000000 61626300";

    #[test]
    fn the_payload_of_i_data_is_found_behind_its_longer_header() {
        let i_data = "1388 1389 00000001 29897304  40 03 0018 00000007 0000 0000 00000000 00000033 61626300";
        let bytes = hex(&format!("81 02 0034 00000000 00000000 0000 0000 {i_data}"));
        let Ok(Chunk::PacketDrop(report)) = decode(&bytes) else { panic!("a report") };
        let found: Vec<DroppedChunk<'_>> = report.chunks().collect();
        assert_eq!(found, [DroppedChunk::Data { tsn: Tsn(7), payload: b"abc\0" }]);
    }

    #[test]
    fn captured_chunk_decodes_to_its_fields() {
        let damaged = hex(DAMAGED);
        let bytes = [hex("81 02 0030 00000000 00000000 0000 0000"), damaged.clone()].concat();
        let expected = PacketDrop {
            from_middlebox: false,
            bad_checksum: true,
            truncated: false,
            max_rate: 0,
            on_queue: 0,
            truncated_length: 0,
            packet: &damaged,
        };
        assert_eq!(decode(&bytes), Ok(Chunk::PacketDrop(expected)));
        assert_eq!(encode(&expected), bytes);
        let data = DroppedChunk::Data { tsn: Tsn(7), payload: b"abc\0" };
        assert!(expected.chunks().eq([data]));
    }

    #[test]
    fn encoding_and_decoding_returns_the_same_chunk() {
        for flags in 0..8 {
            let bit = |bit: u8| flags & bit != 0;
            let chunk = PacketDrop {
                from_middlebox: bit(1),
                bad_checksum: bit(2),
                truncated: bit(4),
                max_rate: 0x0102_0304,
                on_queue: 0x0506_0708,
                truncated_length: 1480,
                packet: b"abcde",
            };
            assert_eq!(decode(&encode(&chunk)), Ok(Chunk::PacketDrop(chunk)));
        }
    }

    #[test]
    fn chunks_of_a_damaged_packet_are_read_as_far_as_lengths_make_sense() {
        let chunks = |body: &str| {
            let packet = [hex("1388 1389 00000001 00000000"), hex(body)].concat();
            let report =
                PacketDrop::decode(2, &[hex("00000000 00000000 0000 0000"), packet].concat()).map(|report| {
                    report
                        .chunks()
                        .map(|chunk| match chunk {
                            DroppedChunk::Data { tsn, payload } => (0, tsn.0, payload.len()),
                            DroppedChunk::Control { chunk_type } => (chunk_type, 0, 0),
                        })
                        .collect::<Vec<_>>()
                });
            report.unwrap()
        };
        let data = "00 03 0012 00000009 0000 0000 00000000 6162 0000";
        assert_eq!(chunks(&format!("04 00 0004 {data} 05 00 0004")), [(4, 0, 0), (0, 9, 2), (5, 0, 0)]);
        // A truncated packet may end inside a chunk.
        assert_eq!(chunks("00 03 05dc 00000009 0000 0000 00000000 616263"), [(0, 9, 3)]);
        assert_eq!(chunks("00 03 05dc 00000009 0000"), []);
        assert_eq!(chunks(&format!("04 00 0003 {data}")), []);
        assert_eq!(chunks("04 00"), []);
        assert_eq!(chunks(""), []);
    }

    #[test]
    fn a_report_of_less_than_a_common_header_has_no_chunks() {
        let report = PacketDrop::decode(2, &[0; 23]).unwrap();
        assert_eq!(report.chunks().count(), 0);
    }

    #[test]
    fn wrong_length_is_rejected() {
        for wrong in ["81 00 0004", "81 00 000f 00000000 00000000 000000 00"] {
            assert_eq!(decode(&hex(wrong)), Err(ChunkError::Value { chunk_type: 0x81 }), "{wrong}");
        }
    }
}
