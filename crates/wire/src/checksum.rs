use transport::Octets;

/// The CRC takes zeros that are not stored in pieces of this size.
static ZEROS: [u8; 2048] = [0; 2048];

/// The bytes of the checksum field in the common header.
const FIELD: std::ops::Range<usize> = 8..12;

/// CRC32c of a whole packet whose checksum field counts as zero (rfc9260#appendix-A).
///
/// The packet carries it least significant byte first. A packet shorter than the common header has no checksum field.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crc32c_matches_published_vectors() {
        // RFC 3720 appendix B.4: 32 zeros. The checksum field is zero in them anyway.
        assert_eq!(crc32c(Octets::new(&[], 32)), 0x8a91_36aa);
        // The check value of the polynomial's name, too short to have a checksum field.
        assert_eq!(crc32c::crc32c(b"123456789"), 0xe306_9283);
    }

    #[test]
    fn the_checksum_is_computed_with_a_zero_checksum_field() {
        let mut packet: Vec<u8> = (0..40).collect();
        let before = crc32c(packet.as_slice().into());
        packet[FIELD].copy_from_slice(&[9, 9, 9, 9]);
        assert_eq!(crc32c(packet.as_slice().into()), before);
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
