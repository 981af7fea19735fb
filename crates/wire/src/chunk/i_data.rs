use super::{DataFlags, Encode, HEADER_LEN, header};
use crate::field::{u16_at, u32_at};
use crate::serial::{Mid, Ppid, StreamId, Tsn};
use transport::{Octets, PacketBuf};

/// I-DATA: a user message or a fragment of one, which may be interleaved with fragments of other messages
/// (rfc8260#section-2.1).
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+-------+-+-+-+-+-------------------------------+
/// |  type = 0x40  |  res  |I|U|B|E|            length             |
/// +---------------+-------+-+-+-+-+-------------------------------+
/// |                              TSN                              |
/// +-------------------------------+-------------------------------+
/// |       stream identifier       |           reserved            |
/// +-------------------------------+-------------------------------+
/// |                      message identifier                       |
/// +---------------------------------------------------------------+
/// |  payload protocol identifier, or fragment sequence number     |
/// +---------------------------------------------------------------+
/// \                           user data                           \
/// +---------------------------------------------------------------+
/// ```
///
/// The first fragment (B) has the payload protocol identifier and, implicitly, fragment sequence number 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IData<'a> {
    /// The four flags.
    pub flags: DataFlags,
    /// Transmission sequence number.
    pub tsn: Tsn,
    /// Stream of the message.
    pub stream: StreamId,
    /// Message identifier. The ordered and the unordered messages of a stream are numbered separately.
    pub mid: Mid,
    /// Payload protocol identifier; 0 unless this is the first fragment.
    pub ppid: Ppid,
    /// Fragment sequence number; 0 in the first fragment.
    pub fsn: u32,
    /// User data. The receiver answers an empty chunk with the error "No User Data" (rfc9260#section-6.2).
    pub payload: Octets<'a>,
}

impl<'a> IData<'a> {
    /// The chunk type.
    pub const TYPE: u8 = 0x40;
    /// Bytes before the payload.
    pub const HEADER_LEN: usize = 20;

    #[inline]
    pub(super) fn decode(flags: u8, chunk: Octets<'a>) -> Option<Self> {
        let fixed: [u8; IData::HEADER_LEN] = chunk.first_chunk()?;
        let (_, payload) = chunk.split_at(Self::HEADER_LEN);
        let (flags, last) = (DataFlags::from_bits(flags), u32_at(&fixed, 16));
        Some(IData {
            flags,
            tsn: Tsn(u32_at(&fixed, 4)),
            stream: StreamId(u16_at(&fixed, 8)),
            mid: Mid(u32_at(&fixed, 12)),
            ppid: Ppid(if flags.beginning { last } else { 0 }),
            fsn: if flags.beginning { 0 } else { last },
            payload,
        })
    }
}

impl Encode for IData<'_> {
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
        fixed[12..16].copy_from_slice(&self.mid.0.to_be_bytes());
        let last = if self.flags.beginning { self.ppid.0 } else { self.fsn };
        fixed[16..20].copy_from_slice(&last.to_be_bytes());
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

    const FIRST: &str = "40020018 00000064 0001 0000 00000003 00000033 61626364";
    const LAST: &str = "40010016 00000065 0001 0000 00000003 00000001 6566 0000";

    // rfc8260#section-2.1: the vector of the specification, a message in two fragments
    #[test]
    fn a_message_in_two_fragments_decodes_to_its_fields() {
        let begins = DataFlags { beginning: true, ..DataFlags::default() };
        let ends = DataFlags { ending: true, ..DataFlags::default() };
        let first = IData {
            flags: begins,
            tsn: Tsn(100),
            stream: StreamId(1),
            mid: Mid(3),
            ppid: Ppid(51),
            fsn: 0,
            payload: b"abcd".into(),
        };
        let last =
            IData { flags: ends, tsn: Tsn(101), ppid: Ppid(0), fsn: 1, payload: b"ef".into(), ..first };
        for (bytes, chunk) in [(hex(FIRST), first), (hex(LAST), last)] {
            assert_eq!(decode(&bytes), Ok(Chunk::IData(chunk)));
            assert_eq!(encode(&chunk), bytes);
        }
    }

    #[test]
    fn reserved_bits_are_ignored_and_written_as_zero() {
        let bytes = hex("40f20018 00000064 0001 ffff 00000003 00000033 61626364");
        let Ok(Chunk::IData(chunk)) = decode(&bytes) else { panic!("not I-DATA") };
        assert_eq!(encode(&chunk), hex(FIRST));
    }

    #[test]
    fn empty_i_data_chunk_is_decoded() {
        let bytes = hex("40030014 00000001 0000 0000 00000000 00000000");
        let Ok(Chunk::IData(chunk)) = decode(&bytes) else { panic!("not I-DATA") };
        assert!(chunk.payload.is_empty());
        assert_eq!(encode(&chunk), bytes);
    }

    #[test]
    fn chunk_shorter_than_its_fixed_part_is_rejected() {
        let bytes = hex("40030010 00000001 0000 0000 00000000");
        assert_eq!(decode(&bytes), Err(ChunkError::Value { chunk_type: 0x40 }));
    }

    #[test]
    fn payload_may_extend_into_unstored_zeros() {
        let head = hex("4003001a 00000007 0000 0000 00000000 00000000 ff00");
        let octets = Octets::new(&head, 28 - head.len() + 4);
        let whole = octets.to_vec();
        let (Chunk::IData(split), rest) = Chunk::split_first(octets).unwrap() else { panic!("not I-DATA") };
        let Ok((Chunk::IData(stored), _)) = Chunk::split_first(Octets::from(&whole[..])) else {
            panic!("not I-DATA")
        };
        assert_eq!((split.payload.to_vec(), rest.len()), (stored.payload.to_vec(), 4));
    }
}
