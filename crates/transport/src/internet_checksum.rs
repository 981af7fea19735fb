use crate::Octets;
use std::net::IpAddr;

/// The Internet checksum ([RFC 1071](https://www.rfc-editor.org/rfc/rfc1071)) of a TCP segment or UDP
/// datagram and its pseudo header (`rfc9293#section-3.1`, for IPv6 `rfc8200#section-8.1`). `protocol` is the
/// protocol number of the IP header.
///
/// If the checksum field is zero, the result is the value for the field; if the field is correct, the result
/// is zero. A UDP sender writes 0xffff if the result is zero (`rfc768`).
pub fn internet_checksum(protocol: u8, src: IpAddr, dst: IpAddr, segment: Octets<'_>) -> u16 {
    let mut sum = u64::from(protocol) + segment.len() as u64;
    for address in [src, dst] {
        sum += match address {
            IpAddr::V4(v4) => words(&v4.octets()),
            IpAddr::V6(v6) => words(&v6.octets()),
        };
    }
    // The zeros that are not stored stand at the end, and add nothing to the sum.
    sum += words(segment.head);
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// The sum of the 16-bit words; an odd last byte is the upper byte of a word.
fn words(bytes: &[u8]) -> u64 {
    let pairs = bytes.chunks_exact(2);
    let odd = pairs.remainder().first().map_or(0, |&byte| u64::from(byte) << 8);
    pairs.map(|pair| u64::from(u16::from_be_bytes([pair[0], pair[1]]))).sum::<u64>() + odd
}

#[cfg(test)]
mod tests {
    use super::*;

    const SRC: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(152, 1, 51, 27));
    const DST: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(152, 14, 94, 75));

    #[test]
    fn a_datagram_summed_by_hand() {
        // Words of 16 bits in hex. Addresses: 9801 + 331b + 980e + 5e4b = 1c175. With protocol 0011 and
        // length 000a: 1c190. With the words of the datagram, a08f + 2694 + 000a + 6262: 2eb1f. The upper 2
        // added to the lower 16 bits: eb21.
        let datagram = [0xa0, 0x8f, 0x26, 0x94, 0, 10, 0, 0, 0x62, 0x62];
        assert_eq!(internet_checksum(17, SRC, DST, (&datagram).into()), 0x14de);
        let right = [0xa0, 0x8f, 0x26, 0x94, 0, 10, 0x14, 0xde, 0x62, 0x62];
        assert_eq!(internet_checksum(17, SRC, DST, (&right).into()), 0);
    }

    #[test]
    fn zeros_count_in_the_length_only_and_an_odd_byte_is_a_high_one() {
        let (stored, meant) = ([1, 2, 3], [1, 2, 3, 0, 0, 0]);
        let of = |octets| internet_checksum(6, SRC, DST, octets);
        assert_eq!(of(Octets::new(&stored, 3)), of((&meant).into()));
        assert_ne!(of(Octets::new(&stored, 3)), of(Octets::new(&stored, 2)));
    }
}
