use super::{Encode, HEADER_LEN, header};
use crate::field::{u16_at, u32_at};
use crate::serial::{Ppid, Ssn, StreamId, Tsn};
use transport::{Octets, PacketBuf};

/// DATA: a user message or a fragment of one (rfc9260#section-3.3.1).
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+-------+-+-+-+-+-------------------------------+
/// |   type = 0    |  res  |I|U|B|E|            length             |
/// +---------------+-------+-+-+-+-+-------------------------------+
/// |                              TSN                              |
/// +-------------------------------+-------------------------------+
/// |       stream identifier       |    stream sequence number     |
/// +-------------------------------+-------------------------------+
/// |                  payload protocol identifier                  |
/// +---------------------------------------------------------------+
/// \                           user data                           \
/// +---------------------------------------------------------------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data<'a> {
    /// The four flags.
    pub flags: DataFlags,
    /// Transmission sequence number.
    pub tsn: Tsn,
    /// Stream of the message.
    pub stream: StreamId,
    /// Stream sequence number of the message; not used if the message is unordered.
    pub ssn: Ssn,
    /// Payload protocol identifier.
    pub ppid: Ppid,
    /// User data. The receiver answers an empty chunk with the error "No User Data" (rfc9260#section-6.2).
    pub payload: Octets<'a>,
}

/// Flags of a DATA chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DataFlags {
    /// U: unordered delivery.
    pub unordered: bool,
    /// B: first fragment of the message.
    pub beginning: bool,
    /// E: last fragment of the message.
    pub ending: bool,
    /// I: the receiver acknowledges without delay (RFC 7053).
    pub immediate: bool,
}

impl DataFlags {
    const ENDING: u8 = 0x01;
    const BEGINNING: u8 = 0x02;
    const UNORDERED: u8 = 0x04;
    const IMMEDIATE: u8 = 0x08;

    /// Decodes the flags of a chunk header.
    #[inline]
    pub const fn from_bits(bits: u8) -> Self {
        DataFlags {
            unordered: bits & Self::UNORDERED != 0,
            beginning: bits & Self::BEGINNING != 0,
            ending: bits & Self::ENDING != 0,
            immediate: bits & Self::IMMEDIATE != 0,
        }
    }

    /// The flags as bits of a chunk header.
    #[inline]
    pub const fn to_bits(self) -> u8 {
        (self.ending as u8) * Self::ENDING
            + (self.beginning as u8) * Self::BEGINNING
            + (self.unordered as u8) * Self::UNORDERED
            + (self.immediate as u8) * Self::IMMEDIATE
    }
}

impl<'a> Data<'a> {
    /// The chunk type.
    pub const TYPE: u8 = 0;
    /// Bytes before the payload.
    pub const HEADER_LEN: usize = 16;

    #[inline]
    pub(super) fn decode(flags: u8, chunk: Octets<'a>) -> Option<Self> {
        let fixed: [u8; Data::HEADER_LEN] = chunk.first_chunk()?;
        let (_, payload) = chunk.split_at(Self::HEADER_LEN);
        Some(Data {
            flags: DataFlags::from_bits(flags),
            tsn: Tsn(u32_at(&fixed, 4)),
            stream: StreamId(u16_at(&fixed, 8)),
            ssn: Ssn(u16_at(&fixed, 10)),
            ppid: Ppid(u32_at(&fixed, 12)),
            payload,
        })
    }
}

impl Encode for Data<'_> {
    #[inline]
    fn encoded_len(&self) -> usize {
        Self::HEADER_LEN + self.payload.len()
    }

    #[inline]
    fn encode(&self, out: &mut PacketBuf) {
        let mut fixed = [0; Self::HEADER_LEN];
        fixed[..HEADER_LEN].copy_from_slice(&header(Self::TYPE, self.flags.to_bits(), self.encoded_len()));
        fixed[4..8].copy_from_slice(&self.tsn.0.to_be_bytes());
        fixed[8..10].copy_from_slice(&self.stream.0.to_be_bytes());
        fixed[10..12].copy_from_slice(&self.ssn.0.to_be_bytes());
        fixed[12..16].copy_from_slice(&self.ppid.0.to_be_bytes());
        out.head.extend_from_slice(&fixed);
        out.head.extend_from_slice(self.payload.head);
        out.zeros = self.payload.zeros;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::{Chunk, ChunkError};
    use crate::testing::{decode, encode, hex};

    #[test]
    fn captured_chunk_decodes_to_its_fields() {
        // The last fragment of a message: three bytes of user data and one byte of padding.
        let bytes = hex("00 09 0013  fffffffe  0102 0304  0000002e  616263 00");
        let flags = DataFlags { ending: true, immediate: true, ..DataFlags::default() };
        let expected = Data {
            flags,
            tsn: Tsn(u32::MAX - 1),
            stream: StreamId(0x0102),
            ssn: Ssn(0x0304),
            ppid: Ppid(46),
            payload: b"abc".into(),
        };
        assert_eq!(decode(&bytes), Ok(Chunk::Data(expected)));
        assert_eq!(encode(&expected), bytes);
    }

    #[test]
    fn each_data_flag_is_encoded_in_its_bit() {
        let of = |bits| DataFlags::from_bits(bits);
        assert_eq!(of(0x01), DataFlags { ending: true, ..DataFlags::default() });
        assert_eq!(of(0x02), DataFlags { beginning: true, ..DataFlags::default() });
        assert_eq!(of(0x04), DataFlags { unordered: true, ..DataFlags::default() });
        assert_eq!(of(0x08), DataFlags { immediate: true, ..DataFlags::default() });
        assert_eq!(of(0xf0), DataFlags::default(), "reserved bits are ignored");
        for bits in 0..16 {
            assert_eq!(of(bits).to_bits(), bits);
        }
    }

    #[test]
    fn empty_data_chunk_is_decoded() {
        let bytes = hex("00 03 0010  00000001  0000 0000  00000000");
        let Ok(Chunk::Data(data)) = decode(&bytes) else { panic!("not DATA") };
        assert!(data.payload.is_empty());
        assert_eq!(encode(&data), bytes);
    }

    #[test]
    fn chunk_shorter_than_its_fixed_part_is_rejected() {
        let bytes = hex("00 03 000c  00000001  0000 0000");
        assert_eq!(decode(&bytes), Err(ChunkError::Value { chunk_type: 0 }));
    }

    #[test]
    fn payload_may_extend_into_unstored_zeros() {
        let head = hex("00 03 0016  00000007  0000 0000  00000000  ff00");
        for stored in 13..=head.len() {
            // 22 bytes of the chunk and two bytes of padding.
            let octets = Octets::new(&head[..stored], 24 - stored);
            let whole = octets.to_vec();
            let (Chunk::Data(split), rest) = Chunk::split_first(octets).unwrap() else { panic!("not DATA") };
            assert_eq!(decode(&whole), Ok(Chunk::Data(split)), "{stored} stored");
            assert!(rest.is_empty());
        }
    }
}
