use super::CommonHeader;
use crate::checksum::crc32c_of_unfinished;
use crate::chunk::{
    Data, Encode, ForwardTsn, GapBlock, IForwardTsn, LedbatControl, NrSack, PacketDelay, Sack, SkippedMessage,
};
use crate::field::padded;
use crate::serial::{Ssn, StreamId, Tsn};
use std::ops::Range;
use transport::{Checksum, PacketBuf};

/// Writes one packet, chunk by chunk, into a reusable buffer.
///
/// A chunk that does not fit is not written at all, and the packet stays as it was.
#[derive(Debug)]
pub struct PacketWriter<'b> {
    buf: &'b mut PacketBuf,
    limit: usize,
}

/// The longest chunk whose length fits 16 bits and is a multiple of four, so that it needs no padding.
const LONGEST_CHUNK: usize = 65_532;

impl<'b> PacketWriter<'b> {
    /// Empties `buf` and begins a packet of at most `limit` bytes, common header included.
    #[inline]
    pub fn new(buf: &'b mut PacketBuf, header: CommonHeader, limit: usize) -> Self {
        buf.clear();
        buf.head.extend_from_slice(&header.encode());
        PacketWriter { buf, limit }
    }

    /// Length of the longest chunk that still fits, its header included; a multiple of four.
    #[inline]
    pub fn room(&self) -> usize {
        (self.limit.saturating_sub(self.buf.len()) & !3).min(LONGEST_CHUNK)
    }

    /// Raises the maximum length of the packet to `limit` bytes, common header included. A lower limit has no
    /// effect.
    pub fn extend(&mut self, limit: usize) {
        self.limit = self.limit.max(limit);
    }

    /// Appends `length` zeros (a multiple of four) and returns their place, or `None` if they do not fit.
    /// [`finish_with`](Self::finish_with) fills them in. This serves a chunk whose contents depend on later
    /// chunks of the packet, such as AUTH.
    pub fn reserve(&mut self, length: usize) -> Option<Range<usize>> {
        if length > self.room() || !length.is_multiple_of(4) {
            return None;
        }
        self.buf.materialise();
        let start = self.buf.head.len();
        self.buf.head.resize(start + length, 0);
        Some(start..start + length)
    }

    /// Removes reserved bytes from the end of the packet.
    pub fn release(&mut self, place: &Range<usize>) {
        debug_assert_eq!((self.buf.head.len(), self.buf.zeros), (place.end, 0));
        self.buf.head.truncate(place.start);
    }

    /// Calls `fill` with the bytes of the whole packet, whose checksum is still zero. Then sets the checksum.
    pub fn finish_with(self, checksum: Checksum, fill: impl FnOnce(&mut [u8])) {
        self.buf.materialise();
        fill(&mut self.buf.head);
        self.finish(checksum);
    }

    /// True if the packet contains no chunk.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.buf.len() == CommonHeader::LEN
    }

    /// Appends a DATA chunk. Returns false if the chunk does not fit. Zeros at the end of its payload are not
    /// stored until another chunk is appended.
    #[inline(always)] // into the function that sends DATA
    pub fn data(&mut self, data: &Data<'_>) -> bool {
        self.push(data)
    }

    /// Appends a SACK. Returns false if the fixed part does not fit. If the rest does not fit, duplicates are
    /// left out first, then the last gap blocks (rfc9260#section-3.3.4).
    #[inline]
    pub fn sack(
        &mut self,
        cumulative_tsn_ack: Tsn,
        a_rwnd: u32,
        packets_since_last: u8,
        gaps: impl Iterator<Item = GapBlock>,
        duplicates: &[Tsn],
    ) -> bool {
        let room = self.room();
        if room < Sack::FIXED_LEN {
            return false;
        }
        self.buf.materialise();
        Sack::write(
            &mut self.buf.head,
            room,
            cumulative_tsn_ack,
            a_rwnd,
            packets_since_last,
            gaps,
            duplicates,
        );
        true
    }

    /// Appends an NR-SACK of two sorted lists. Returns false if the fixed part does not fit. If the rest does
    /// not fit, duplicates are left out first, then the highest blocks of both lists together, so that no TSN
    /// below a reported block seems to be missing.
    pub fn nr_sack(
        &mut self,
        cumulative_tsn_ack: Tsn,
        a_rwnd: u32,
        packets_since_last: u8,
        gaps: &[GapBlock],
        nr_gaps: &[GapBlock],
        duplicates: &[Tsn],
    ) -> bool {
        let room = self.room();
        if room < NrSack::FIXED_LEN {
            return false;
        }
        self.buf.materialise();
        NrSack::write(
            &mut self.buf.head,
            room,
            cumulative_tsn_ack,
            a_rwnd,
            packets_since_last,
            (gaps, nr_gaps),
            duplicates,
        );
        true
    }

    /// Appends a LEDBAT-CONTROL with these delays; false if it does not fit.
    pub fn ledbat_control(&mut self, delays: &[PacketDelay]) -> bool {
        let fits = LedbatControl::len_of(delays.len()) <= self.room();
        if fits {
            self.buf.materialise();
            LedbatControl::write(&mut self.buf.head, delays);
        }
        fits
    }

    /// Appends a FORWARD TSN that skips these streams; false if it does not fit.
    pub fn forward_tsn(&mut self, new_cumulative_tsn: Tsn, skips: &[(StreamId, Ssn)]) -> bool {
        let fits = ForwardTsn::FIXED_LEN + ForwardTsn::SKIP_LEN * skips.len() <= self.room();
        if fits {
            self.buf.materialise();
            ForwardTsn::write(&mut self.buf.head, new_cumulative_tsn, skips);
        }
        fits
    }

    /// Appends an I-FORWARD-TSN with these messages; false if it does not fit.
    pub fn i_forward_tsn(&mut self, new_cumulative_tsn: Tsn, skipped: &[SkippedMessage]) -> bool {
        let fits = IForwardTsn::len_of(skipped.len()) <= self.room();
        if fits {
            self.buf.materialise();
            IForwardTsn::write(&mut self.buf.head, new_cumulative_tsn, skipped);
        }
        fits
    }

    /// Appends any chunk; false if it does not fit.
    #[inline(always)] // into `data`
    pub fn push<C: Encode>(&mut self, chunk: &C) -> bool {
        let length = chunk.encoded_len();
        if length > self.room() {
            return false;
        }
        self.buf.materialise();
        chunk.encode(self.buf);
        let padding = padded(length) - length;
        if self.buf.zeros > 0 {
            self.buf.zeros += padding;
        } else {
            self.buf.head.extend_from_slice(&[0; 3][..padding]);
        }
        true
    }

    /// Sets the checksum and completes the packet.
    #[inline]
    pub fn finish(self, checksum: Checksum) {
        if checksum == Checksum::Computed {
            let crc = crc32c_of_unfinished(self.buf.as_octets());
            self.buf.head[8..12].copy_from_slice(&crc.to_le_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::{Auth, Chunk, CookieAck, CookieEcho, DataFlags};
    use crate::packet::Packet;
    use crate::serial::Ppid;
    use crate::testing::ANY_HEADER;
    use transport::Octets;

    fn data(payload: Octets<'_>) -> Data<'_> {
        let flags = DataFlags { beginning: true, ending: true, ..DataFlags::default() };
        Data { flags, tsn: Tsn(1), stream: StreamId(2), ssn: Ssn(3), ppid: Ppid(4), payload }
    }

    #[test]
    fn trailing_zeros_of_a_payload_are_not_stored() {
        let mut buf = PacketBuf::default();
        let mut writer = PacketWriter::new(&mut buf, ANY_HEADER, 1480);
        assert!(writer.data(&data(Octets::new(b"x", 1450))));
        writer.finish(Checksum::Computed);
        // The headers and the first byte of user data are stored. The byte of padding joins the zeros that
        // are not stored.
        assert_eq!((buf.head.len(), buf.zeros), (12 + 16 + 1, 1451));
        assert!(Packet::parse(buf.as_octets(), Checksum::Computed).is_ok());
        buf.materialise();
        assert!(Packet::parse(buf.as_octets(), Checksum::Computed).is_ok());
    }

    #[test]
    fn zeros_before_another_chunk_are_stored() {
        let mut buf = PacketBuf::default();
        let mut writer = PacketWriter::new(&mut buf, ANY_HEADER, 1480);
        let (first, second) = (data(Octets::new(b"ab", 7)), data(Octets::new(&[], 5)));
        assert!(writer.data(&first) && writer.push(&CookieAck) && writer.data(&second));
        writer.finish(Checksum::Computed);
        assert_eq!(buf.zeros, 8);
        let packet = Packet::parse(buf.as_octets(), Checksum::Computed).unwrap();
        let expected = [Chunk::Data(first), Chunk::CookieAck(CookieAck), Chunk::Data(second)];
        assert!(packet.chunks().eq(expected.map(Ok)));
    }

    #[test]
    fn chunk_that_does_not_fit_leaves_the_packet_unchanged() {
        let cookie = [7; 100];
        let mut buf = PacketBuf::default();
        let mut writer = PacketWriter::new(&mut buf, ANY_HEADER, 12 + 16 + 3);
        assert!(writer.is_empty());
        assert_eq!(writer.room(), 16);
        assert!(!writer.push(&CookieEcho { cookie: &cookie[..13] }));
        assert!(writer.is_empty());
        assert!(writer.push(&CookieEcho { cookie: &cookie[..9] }), "13 bytes and 3 of padding");
        assert!(!writer.is_empty());
        assert_eq!(writer.room(), 0);
        assert!(!writer.push(&CookieAck));
        assert_eq!(buf.len(), 28);
    }

    #[test]
    fn chunk_longer_than_the_length_field_is_not_written() {
        let mut buf = PacketBuf::default();
        let mut writer = PacketWriter::new(&mut buf, ANY_HEADER, 1 << 20);
        assert_eq!(writer.room(), 65_532);
        assert!(!writer.data(&data(Octets::new(&[], 65_517))));
        assert!(writer.data(&data(Octets::new(&[], 65_516))));
        let many = (1..30_000).map(|start| GapBlock { start, end: start });
        assert!(writer.sack(Tsn(0), 0, 0, many, &[]));
        let packet = Packet::parse(buf.as_octets(), Checksum::Offloaded).unwrap();
        let lengths: Vec<_> = packet.chunks().map(|chunk| chunk.unwrap().encoded_len()).collect();
        assert_eq!(lengths, [65_532, 65_532]);
    }

    // rfc4895#section-5.1
    #[test]
    fn a_reserved_chunk_is_filled_from_what_follows_it_before_the_checksum_is_computed() {
        let mut buf = PacketBuf::default();
        let mut writer = PacketWriter::new(&mut buf, ANY_HEADER, 12 + 4 + 8 + 16 + 8);
        assert!(writer.push(&CookieAck));
        assert_eq!((writer.reserve(6), writer.reserve(36)), (None, None));
        let place = writer.reserve(12).unwrap();
        writer.release(&place);
        assert_eq!(writer.room(), 32);
        let place = writer.reserve(8).unwrap();
        assert_eq!((place.clone(), writer.room()), (16..24, 24));
        assert!(writer.data(&data(Octets::new(&[], 8))));
        assert!(!writer.push(&CookieAck), "the packet is full");
        writer.finish_with(Checksum::Computed, |packet| {
            let covered: u8 = packet[place.start..].iter().fold(0, |sum, byte| sum.wrapping_add(*byte));
            packet[place.clone()].copy_from_slice(&[0x0f, 0, 0, 8, covered, 0, 0, 0]);
        });
        let packet = Packet::parse(buf.as_octets(), Checksum::Computed).unwrap();
        let key_id = (3 + 24 + 1 + 2 + 3 + 4) << 8;
        let auth = Auth { flags: 0, key_id, hmac_id: 0, hmac: &[] };
        assert_eq!(packet.chunks().nth(1), Some(Ok(Chunk::Auth(auth))));
    }

    #[test]
    fn a_packet_extended_takes_a_longer_chunk() {
        let mut buf = PacketBuf::default();
        let mut writer = PacketWriter::new(&mut buf, ANY_HEADER, 100);
        assert!(!writer.data(&data(Octets::new(&[], 84))));
        writer.extend(12 + 100);
        assert!(writer.data(&data(Octets::new(&[], 84))));
        writer.extend(50);
        assert_eq!(writer.room(), 0);
    }

    #[test]
    fn offloaded_checksum_is_written_as_zero() {
        let mut buf = PacketBuf::default();
        let mut writer = PacketWriter::new(&mut buf, ANY_HEADER, 100);
        assert!(writer.push(&CookieAck));
        writer.finish(Checksum::Offloaded);
        assert_eq!(buf.head[8..12], [0; 4]);
    }

    #[test]
    fn writer_reuses_its_buffer() {
        let mut buf = PacketBuf { head: vec![1; 50], zeros: 9 };
        let writer = PacketWriter::new(&mut buf, ANY_HEADER, 100);
        assert!(writer.is_empty());
        writer.finish(Checksum::Computed);
        assert_eq!(buf.len(), 12);
    }
}
