use crate::field::{u16_at, u32_at};

/// The common header of every SCTP packet, without its checksum (rfc9260#section-3.1).
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-------------------------------+-------------------------------+
/// |          source port          |       destination port        |
/// +-------------------------------+-------------------------------+
/// |                        verification tag                       |
/// +---------------------------------------------------------------+
/// |                      checksum (CRC32c)                        |
/// +---------------------------------------------------------------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommonHeader {
    /// The sender's port.
    pub source_port: u16,
    /// The receiver's port.
    pub destination_port: u16,
    /// The receiver's verification tag; 0 in a packet with INIT.
    pub verification_tag: u32,
}

impl CommonHeader {
    /// Bytes of the header, checksum included.
    pub const LEN: usize = 12;

    /// Decodes the header. Also returns its checksum.
    #[inline]
    pub(super) fn decode(bytes: &[u8; Self::LEN]) -> (Self, u32) {
        let header = CommonHeader {
            source_port: u16_at(bytes, 0),
            destination_port: u16_at(bytes, 2),
            verification_tag: u32_at(bytes, 4),
        };
        // The CRC is the only little-endian number in a packet.
        (header, u32_at(bytes, 8).swap_bytes())
    }

    /// Encodes the header with a checksum of zero.
    #[inline]
    pub(super) fn encode(&self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[0..2].copy_from_slice(&self.source_port.to_be_bytes());
        bytes[2..4].copy_from_slice(&self.destination_port.to_be_bytes());
        bytes[4..8].copy_from_slice(&self.verification_tag.to_be_bytes());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // rfc9260#section-3.1
    #[test]
    fn captured_common_header_decodes_to_its_fields() {
        let bytes = [0x13, 0x88, 0x00, 0x09, 0xde, 0xad, 0xbe, 0xef, 0x01, 0x02, 0x03, 0x04];
        let (header, checksum) = CommonHeader::decode(&bytes);
        let expected = CommonHeader { source_port: 5000, destination_port: 9, verification_tag: 0xdead_beef };
        assert_eq!(header, expected);
        assert_eq!(checksum, 0x0403_0201, "least significant byte first");
        assert_eq!(header.encode()[..8], bytes[..8]);
    }
}
