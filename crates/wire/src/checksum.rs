use crc_fast::{CrcAlgorithm, Digest};
use transport::Octets;

/// Zeros at the end of a packet that are not stored enter the CRC in pieces of this size.
static ZEROS: [u8; 2048] = [0; 2048];

/// The bytes of the checksum field in the common header.
const FIELD: std::ops::Range<usize> = 8..12;

/// CRC32c of a whole packet whose checksum field counts as zero (rfc9260#appendix-A).
///
/// The checksum field holds the CRC with the least significant byte first. A packet shorter than the common
/// header has no checksum field.
pub fn crc32c(packet: Octets<'_>) -> u32 {
    let Some((header, rest)) = packet.head.split_first_chunk::<{ FIELD.end }>() else {
        let before = FIELD.start.min(packet.head.len());
        let zeros = packet.zeros + packet.head.len() - before;
        return crc32c_of_unfinished(Octets::new(&packet.head[..before], zeros));
    };
    let mut header = *header;
    header[FIELD].fill(0);
    let mut digest = Digest::new(CrcAlgorithm::Crc32Iscsi);
    digest.update(&header);
    digest.update(rest);
    finish(digest, packet.zeros)
}

/// CRC32c of a whole packet whose checksum field is zero.
pub(crate) fn crc32c_of_unfinished(packet: Octets<'_>) -> u32 {
    if packet.zeros == 0 {
        return crc_fast::crc32_iscsi(packet.head);
    }
    let mut digest = Digest::new(CrcAlgorithm::Crc32Iscsi);
    digest.update(packet.head);
    finish(digest, packet.zeros)
}

/// Adds `zeros` bytes of zero to the CRC and returns the result.
fn finish(mut digest: Digest, mut zeros: usize) -> u32 {
    while zeros > 0 {
        let piece = zeros.min(ZEROS.len());
        digest.update(&ZEROS[..piece]);
        zeros -= piece;
    }
    // The `u64` contains a CRC of 32 bits.
    digest.finalize() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crc32c_matches_published_vectors() {
        // RFC 3720 appendix B.4: 32 zeros, in which the checksum field is zero, too.
        assert_eq!(crc32c(Octets::new(&[], 32)), 0x8a91_36aa);
        // The usual check value of CRC32c: the CRC of these nine digits, too few for a checksum field.
        assert_eq!(crc32c_of_unfinished(b"123456789".into()), 0xe306_9283);
    }

    #[test]
    fn the_checksum_is_computed_with_a_zero_checksum_field() {
        let mut packet: Vec<u8> = (0..40).collect();
        let before = crc32c(packet.as_slice().into());
        packet[FIELD].copy_from_slice(&[9, 9, 9, 9]);
        assert_eq!(crc32c(packet.as_slice().into()), before);
        packet[FIELD].fill(0);
        assert_eq!(crc32c_of_unfinished(packet.as_slice().into()), before);
    }

    #[test]
    fn checksum_is_the_same_for_stored_and_unstored_zeros() {
        let mut stored: Vec<u8> = (1..=20).collect();
        stored.resize(20 + 5_000, 0);
        let whole = crc32c(stored.as_slice().into());
        for head in [20, 21, 2_068, 5_020] {
            assert_eq!(crc32c(Octets::new(&stored[..head], 5_020 - head)), whole, "{head} stored");
        }
        for head in 0..12 {
            let cut = Octets::new(&stored[..head], 30);
            assert_eq!(crc32c(cut), crc32c(cut.to_vec().as_slice().into()), "{head} stored");
        }
    }
}
