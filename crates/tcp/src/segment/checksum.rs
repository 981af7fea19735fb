use std::net::IpAddr;
use transport::Octets;

/// Protocol number of TCP in IP.
const PROTOCOL: u64 = 6;

/// The checksum of a segment and its pseudo header (`rfc9293#section-3.1`, `rfc8200#section-8.1`). The result
/// is zero for a segment with the right checksum.
pub fn checksum(segment: Octets<'_>, src: IpAddr, dst: IpAddr) -> u16 {
    let sum = match (src, dst) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => sum(&src.octets()) + sum(&dst.octets()),
        (src, dst) => sum(&v6(src)) + sum(&v6(dst)),
    };
    // Zeros add nothing at any position.
    !fold(sum + PROTOCOL + segment.len() as u64 + self::sum(segment.head))
}

fn v6(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
        IpAddr::V6(v6) => v6.octets(),
    }
}

/// The sum of all 32-bit words, which folds to the sum of the 16-bit words. If
/// the number of bytes is odd, the last byte is the upper byte of a 16-bit word.
fn sum(bytes: &[u8]) -> u64 {
    let mut words = bytes.chunks_exact(4);
    let mut sum: u64 = words.by_ref().map(|w| u64::from(u32::from_be_bytes([w[0], w[1], w[2], w[3]]))).sum();
    let rest = words.remainder();
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    sum += u64::from(u32::from_be_bytes(last));
    sum
}

fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}
