use crate::Octets;

/// Who takes care of the packet's CRC32c (rfc9260#section-6.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksum {
    /// We do: it is computed when writing and checked when parsing.
    Computed,
    /// Somebody else does, as a network card would: written as zero, not checked.
    Offloaded,
}

/// Unstored zeros are fed to the CRC in pieces of this size.
static ZEROS: [u8; 2048] = [0; 2048];

/// Where the checksum field begins in the common header, and where it ends.
const FIELD: std::ops::Range<usize> = 8..12;

/// CRC32c of a whole packet with its checksum field taken as zero, in the number's own value; on the wire it stands
/// least significant byte first (rfc9260#appendix-A). A packet shorter than the common header is taken as it is.
pub fn crc32c(packet: Octets<'_>) -> u32 {
    let mut crc = 0;
    let mut zeros = packet.zeros;
    if packet.head.len() >= FIELD.end {
        crc = crc32c::crc32c_append(crc, &packet.head[..FIELD.start]);
        crc = crc32c::crc32c_append(crc, &[0; 4]);
        crc = crc32c::crc32c_append(crc, &packet.head[FIELD.end..]);
    } else {
        let before = FIELD.start.min(packet.head.len());
        crc = crc32c::crc32c_append(crc, &packet.head[..before]);
        zeros += packet.head.len() - before;
    }
    while zeros > 0 {
        let piece = zeros.min(ZEROS.len());
        crc = crc32c::crc32c_append(crc, &ZEROS[..piece]);
        zeros -= piece;
    }
    crc
}
