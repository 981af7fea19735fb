use super::CommonHeader;
use crate::checksum::crc32c;
use crate::chunk::{Chunk, ChunkError, Data, Sack};
use transport::{Checksum, Octets};

/// A packet with a decoded common header; [`Packet::chunks`] decodes its chunks one by one.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// The common header.
    pub header: CommonHeader,
    body: Octets<'a>,
}

/// Reason why bytes are not a packet. The receiver discards them silently (rfc9260#section-6.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PacketError {
    /// The packet is shorter than the common header.
    #[error("a packet of {0} bytes is shorter than the common header")]
    TooShort(usize),
    /// The checksum does not match the bytes.
    #[error("the checksum is {found:#010x}, the bytes give {computed:#010x}")]
    BadChecksum {
        /// The checksum the packet carries.
        found: u32,
        /// The checksum computed from the bytes.
        computed: u32,
    },
}

impl<'a> Packet<'a> {
    /// Decodes the common header. Verifies the checksum, unless verification is offloaded.
    ///
    /// # Errors
    /// [`PacketError`]. The iterator over the chunks reports errors in them.
    #[inline]
    pub fn parse(bytes: Octets<'a>, checksum: Checksum) -> Result<Packet<'a>, PacketError> {
        let fixed = bytes.first_chunk().ok_or(PacketError::TooShort(bytes.len()))?;
        let (header, found) = CommonHeader::decode(&fixed);
        if checksum == Checksum::Computed {
            let computed = crc32c(bytes);
            if computed != found {
                return Err(PacketError::BadChecksum { found, computed });
            }
        }
        let (_, body) = bytes.split_at(CommonHeader::LEN);
        Ok(Packet { header, body })
    }

    /// Iterates over the chunks in order.
    #[inline]
    pub fn chunks(&self) -> Chunks<'a> {
        Chunks { rest: self.body }
    }
}

/// Iterates over the chunks of a packet. It ends after an error, because the next chunk cannot be found.
#[derive(Clone, Debug)]
pub struct Chunks<'a> {
    rest: Octets<'a>,
}

impl<'a> Chunks<'a> {
    /// The bytes from the next chunk to the end of the packet, paddings included. To verify an AUTH chunk,
    /// call this before the chunk is decoded, because the HMAC covers these bytes (rfc4895#section-6.3).
    #[inline]
    pub fn rest(&self) -> Octets<'a> {
        self.rest
    }

    /// Decodes the next chunk if it is a well-formed DATA chunk; otherwise the iterator does not advance.
    /// Faster than [`Iterator::next`].
    #[inline]
    pub fn next_data(&mut self) -> Option<Data<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let (data, rest) = Chunk::split_data(self.rest)?;
        self.rest = rest;
        Some(data)
    }

    /// Like [`Self::next_data`], for a SACK.
    #[inline]
    pub fn next_sack(&mut self) -> Option<Sack<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let (sack, rest) = Chunk::split_sack(self.rest)?;
        self.rest = rest;
        Some(sack)
    }
}

impl<'a> Iterator for Chunks<'a> {
    type Item = Result<Chunk<'a>, ChunkError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        match Chunk::split_first(self.rest) {
            Ok((chunk, rest)) => {
                self.rest = rest;
                Some(Ok(chunk))
            }
            Err(error) => {
                self.rest = Octets::default();
                Some(Err(error))
            }
        }
    }
}

impl std::iter::FusedIterator for Chunks<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::{CookieAck, ShutdownAck, UnknownChunk};
    use crate::testing::hex;

    fn chunks(body: &[u8]) -> Vec<Result<Chunk<'_>, ChunkError>> {
        Chunks { rest: body.into() }.collect()
    }

    #[test]
    fn a_packet_with_a_changed_byte_is_rejected_by_its_checksum() {
        // A COOKIE ACK. The CRC32c of the first 8 bytes, four zeros and the chunk is 0xee632f71.
        let mut packet = hex("1388 0009 deadbeef 712f63ee  0b 00 0004");
        let parsed = Packet::parse(packet.as_slice().into(), Checksum::Computed).unwrap();
        assert_eq!(parsed.header.verification_tag, 0xdead_beef);
        assert!(parsed.chunks().eq([Ok(Chunk::CookieAck(CookieAck))]));
        packet[5] ^= 0x10;
        let damaged = Packet::parse(packet.as_slice().into(), Checksum::Computed);
        assert!(matches!(damaged, Err(PacketError::BadChecksum { found: 0xee63_2f71, .. })));
        assert!(Packet::parse(packet.as_slice().into(), Checksum::Offloaded).is_ok());
    }

    #[test]
    fn bytes_shorter_than_the_common_header_are_rejected() {
        for length in 0..12 {
            let short = Packet::parse(Octets::new(&[], length), Checksum::Offloaded);
            assert_eq!(short.err(), Some(PacketError::TooShort(length)));
        }
        let bare = Packet::parse(Octets::new(&[], 12), Checksum::Offloaded).unwrap();
        assert!(bare.chunks().next().is_none());
    }

    #[test]
    fn next_data_reads_data_chunks_as_the_iterator_does_and_nothing_else() {
        let data = "00 03 0012 00000001 0002 0003 00000004 aabb 0000";
        for body in
            [data, "00 03 0010 00000001 0002 0003 00000004", "00 03 0014 00000001 0002 0003 00000004 aabb"]
        {
            let body = hex(&format!("{body} 0b 00 0004"));
            let (mut chunks, mut fast) =
                (Chunks { rest: body.as_slice().into() }, Chunks { rest: body.as_slice().into() });
            match chunks.next() {
                Some(Ok(Chunk::Data(data))) => assert_eq!(fast.next_data(), Some(data)),
                _ => assert_eq!(fast.next_data(), None),
            }
            assert!(fast.rest() == chunks.rest() || fast.rest().len() == body.len());
        }
        let control = hex("0b 00 0004");
        let mut chunks = Chunks { rest: control.as_slice().into() };
        assert_eq!((chunks.next_data(), chunks.next()), (None, Some(Ok(Chunk::CookieAck(CookieAck)))));
        for length in 0..16 {
            assert_eq!(Chunks { rest: Octets::new(&[], length) }.next_data(), None);
        }
    }

    #[test]
    fn next_sack_reads_stored_sacks_as_the_iterator_does_and_nothing_else() {
        let fixed = "00000005 00010000";
        for (body, zeros) in [
            (format!("03 c0 0010 {fixed} 0000 0000"), 0),
            (format!("03 00 0018 {fixed} 0001 0001 00020003 00000004"), 0),
            (format!("03 00 0014 {fixed} 0001 0001 00020003"), 0), // one entry, but two are counted
            (format!("03 00 0011 {fixed} 0000 0000 00 000000"), 0),
            (format!("03 00 000c {fixed}"), 0),
            (format!("03 00 0020 {fixed} 0000 0000"), 0), // longer than the packet
            (format!("03 00 0010 {fixed}"), 4),           // some bytes not stored
            (format!("00 03 0012 {fixed} 0000 0001 aabb 0000"), 0),
        ] {
            let body = hex(&body);
            let rest = Octets::new(&body, zeros);
            let (mut chunks, mut fast) = (Chunks { rest }, Chunks { rest });
            match chunks.next() {
                Some(Ok(Chunk::Sack(sack))) => assert_eq!(fast.next_sack(), Some(sack)),
                _ => assert_eq!(fast.next_sack(), None),
            }
            assert!(fast.rest() == chunks.rest() || fast.rest().len() == rest.len());
        }
        for length in 0..16 {
            assert_eq!(Chunks { rest: Octets::new(&[], length) }.next_sack(), None);
        }
    }

    // rfc9260#section-3.2
    #[test]
    fn a_chunk_after_padding_with_any_content_is_found() {
        let body = hex("90 00 0005 aa 112233  0b 00 0004  90 00 0004  08 00 0004");
        let unknown = |bytes: &'static [u8]| UnknownChunk { chunk_type: 0x90, bytes: bytes.into() };
        assert_eq!(
            chunks(&body),
            [
                Ok(Chunk::Unknown(unknown(&[0x90, 0, 0, 5, 0xaa]))),
                Ok(Chunk::CookieAck(CookieAck)),
                Ok(Chunk::Unknown(unknown(&[0x90, 0, 0, 4]))),
                Ok(Chunk::ShutdownAck(ShutdownAck)),
            ]
        );
    }

    // rfc4895#section-6.3
    #[test]
    fn the_raw_bytes_from_a_chunk_on_are_there_before_it_is_read() {
        let body = hex("0b 00 0004  90 00 0005 aa 112233  08 00 0004");
        let mut chunks = Chunks { rest: body.as_slice().into() };
        for from in [0, 4, 12] {
            assert_eq!(chunks.rest().to_vec(), body[from..]);
            assert!(chunks.next().is_some_and(|chunk| chunk.is_ok()));
        }
        assert!(chunks.rest().is_empty());
    }

    // rfc9260#section-3.2
    #[test]
    fn a_chunk_with_a_wrong_length_ends_the_packet() {
        for length in [0u16, 1, 3, 13, 16, u16::MAX] {
            let mut body = hex("0b 00 0004  90 00 0000  0b 00 0004  0b 00 0004");
            body[6..8].copy_from_slice(&length.to_be_bytes());
            let error = ChunkError::Length { chunk_type: 0x90, length };
            assert_eq!(chunks(&body), [Ok(Chunk::CookieAck(CookieAck)), Err(error)]);
        }
    }

    #[test]
    fn a_packet_without_the_padding_of_its_last_chunk_is_rejected() {
        let body = hex("90 00 0006 aabb 00");
        assert_eq!(chunks(&body), [Err(ChunkError::Length { chunk_type: 0x90, length: 6 })]);
    }

    #[test]
    fn a_rest_shorter_than_a_chunk_header_is_an_error() {
        assert_eq!(chunks(&[0x0b, 0, 0]), [Err(ChunkError::Truncated(3))]);
    }
}
