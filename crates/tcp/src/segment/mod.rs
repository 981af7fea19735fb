//! The wire format of TCP (`rfc9293#section-3.1`): a stateless codec.
//!
//! Parsing never panics and never allocates.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-------------------------------+-------------------------------+
//! |          Source Port          |       Destination Port        |
//! +-------------------------------+-------------------------------+
//! |                        Sequence Number                        |
//! +---------------------------------------------------------------+
//! |                    Acknowledgment Number                      |
//! +-------+-------+-+-+-+-+-+-+-+-+-------------------------------+
//! |  Data |       |C|E|U|A|P|R|S|F|                               |
//! | Offset| Rsrvd |W|C|R|C|S|S|Y|I|            Window             |
//! |       |       |R|E|G|K|H|T|N|N|                               |
//! +-------+-------+-+-+-+-+-+-+-+-+-------------------------------+
//! |           Checksum            |         Urgent Pointer        |
//! +-------------------------------+-------------------------------+
//! |                           Options                             |
//! +---------------------------------------------------------------+
//! ```

mod checksum;
mod flags;
mod options;

pub use checksum::checksum;
pub use flags::Flags;
pub use options::{Options, SackBlock, SackBlocks, Timestamps};

use crate::sequence::Seq;
use std::net::IpAddr;
use transport::{Checksum, Octets, PacketBuf};

/// The fields of the fixed header that do not follow from the rest of the segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Port of the sender.
    pub source_port: u16,
    /// Port of the receiver.
    pub destination_port: u16,
    /// Sequence number of the first data byte, or of the SYN.
    pub seq: Seq,
    /// The next sequence number that the sender expects, if the ACK flag is set.
    pub ack: Seq,
    /// The flags.
    pub flags: Flags,
    /// The window, not scaled.
    pub window: u16,
    /// The urgent pointer, which this stack ignores.
    pub urgent: u16,
}

/// A parsed segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment<'a> {
    /// Header of the segment.
    pub header: Header,
    /// The known options of the segment.
    pub options: Options,
    /// Data of the segment.
    pub data: Octets<'a>,
}

/// Error: why bytes are not a valid segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SegmentError {
    /// There are fewer bytes than the header needs.
    #[error("shorter than its header")]
    Truncated,
    /// The data offset is less than 5.
    #[error("a data offset below 5")]
    DataOffset,
    /// The length of an option is below 2, wrong for its kind, or reaches beyond the header.
    #[error("an option of an impossible length")]
    Option,
    /// The checksum is wrong.
    #[error("a wrong checksum")]
    Checksum,
}

impl Header {
    /// Length of a header without options.
    pub const LEN: usize = 20;
    /// Largest length of a header with options.
    pub const MAX_LEN: usize = 60;
    /// Offset of the checksum.
    const CHECKSUM: usize = 16;
}

impl<'a> Segment<'a> {
    /// Parses a segment from `src` to `dst`. Options of an unknown kind are skipped.
    ///
    /// # Errors
    /// [`SegmentError`].
    #[inline(always)] // into `Endpoint::handle`: a segment is too large to be returned in registers
    pub fn parse(
        bytes: Octets<'a>,
        src: IpAddr,
        dst: IpAddr,
        mode: Checksum,
    ) -> Result<Segment<'a>, SegmentError> {
        let fixed: [u8; Header::LEN] = bytes.first_chunk().ok_or(SegmentError::Truncated)?;
        let length = usize::from(fixed[12] >> 4) * 4;
        if length < Header::LEN {
            return Err(SegmentError::DataOffset);
        }
        if bytes.len() < length {
            return Err(SegmentError::Truncated);
        }
        if mode == Checksum::Computed && checksum(bytes, src, dst) != 0 {
            return Err(SegmentError::Checksum);
        }
        let (header, data) = bytes.split_at(length);
        let mut stored = [0; Header::MAX_LEN];
        let options = if header.zeros == 0 {
            &header.head[Header::LEN..]
        } else {
            stored[..header.head.len()].copy_from_slice(header.head);
            &stored[Header::LEN..length]
        };
        Ok(Segment { header: Header::decode(&fixed), options: Options::parse(options)?, data })
    }

    /// Length in sequence numbers: data, SYN and FIN (`rfc9293#section-3.4`).
    pub fn sequence_len(&self) -> u32 {
        let flags = self.header.flags;
        let ends = u32::from(flags.has(Flags::SYN)) + u32::from(flags.has(Flags::FIN));
        self.data.len() as u32 + ends
    }
}

impl Header {
    fn decode(b: &[u8; Header::LEN]) -> Header {
        let u16_at = |at: usize| u16::from_be_bytes([b[at], b[at + 1]]);
        let u32_at = |at: usize| u32::from_be_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]]);
        Header {
            source_port: u16_at(0),
            destination_port: u16_at(2),
            seq: Seq(u32_at(4)),
            ack: Seq(u32_at(8)),
            flags: Flags(b[13]),
            window: u16_at(14),
            urgent: u16_at(18),
        }
    }

    /// Clears `buf` and begins a segment in it. The caller may append data, then [`seal`] completes it.
    pub fn write(&self, buf: &mut PacketBuf, options: &Options) {
        buf.clear();
        let mut b = [0; Header::LEN];
        b[0..2].copy_from_slice(&self.source_port.to_be_bytes());
        b[2..4].copy_from_slice(&self.destination_port.to_be_bytes());
        b[4..8].copy_from_slice(&self.seq.0.to_be_bytes());
        b[8..12].copy_from_slice(&self.ack.0.to_be_bytes());
        b[12] = (((Header::LEN + options.len()) / 4) << 4) as u8;
        b[13] = self.flags.0;
        b[14..16].copy_from_slice(&self.window.to_be_bytes());
        b[18..20].copy_from_slice(&self.urgent.to_be_bytes());
        buf.head.extend_from_slice(&b);
        options.write(&mut buf.head);
    }
}

/// Completes a segment from `src` to `dst`: writes the checksum, or zero if the checksum is offloaded.
pub fn seal(buf: &mut PacketBuf, src: IpAddr, dst: IpAddr, mode: Checksum) {
    if mode == Checksum::Computed {
        let sum = checksum(buf.as_octets(), src, dst);
        buf.head[Header::CHECKSUM..][..2].copy_from_slice(&sum.to_be_bytes());
    }
}

#[cfg(test)]
mod tests;
