//! Headers of IP packets without options.

use crate::packet::Protocol;
use std::net::IpAddr;
use transport::Ecn;

/// Time to live, or hop limit, that a host gives its packets.
const TTL: u8 = 64;

/// The fields of the header of an IP packet.
#[derive(Clone, Copy)]
pub(crate) struct Label {
    pub src: IpAddr,
    pub dst: IpAddr,
    pub protocol: Protocol,
    pub ecn: Ecn,
}

/// Writes the header, without options, of an IP packet that has
/// `payload` bytes of payload and has crossed `hops` links.
///
/// Both addresses are of one family. IPv4 packets have the "don't fragment" bit and identification 0
/// ([RFC 6864](https://www.rfc-editor.org/rfc/rfc6864#section-4.1)).
pub(crate) fn write_header(out: &mut Vec<u8>, label: Label, payload: usize, hops: u8) {
    let Label { src, dst, protocol, ecn } = label;
    let start = out.len();
    let ttl = TTL.saturating_sub(hops);
    match (src, dst) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => {
            let length = u16::try_from(20 + payload).unwrap_or(u16::MAX).to_be_bytes();
            out.extend([0x45, ecn as u8, length[0], length[1], 0, 0, 0x40, 0, ttl, protocol as u8, 0, 0]);
            out.extend(src.octets());
            out.extend(dst.octets());
            let checksum = checksum(&out[start..]);
            out[start + 10..start + 12].copy_from_slice(&checksum.to_be_bytes());
        }
        (src, dst) => {
            let length = u16::try_from(payload).unwrap_or(u16::MAX).to_be_bytes();
            out.extend([0x60, (ecn as u8) << 4, 0, 0, length[0], length[1], protocol as u8, ttl]);
            for address in [src, dst] {
                out.extend(match address {
                    IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
                    IpAddr::V6(v6) => v6.octets(),
                });
            }
        }
    }
}

/// The Internet checksum ([RFC 1071](https://www.rfc-editor.org/rfc/rfc1071#section-1)) of an even number of
/// bytes.
pub(crate) fn checksum(bytes: &[u8]) -> u16 {
    let mut sum: u32 =
        bytes.chunks_exact(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ipv4_header_sums_to_zero_with_its_checksum() {
        let mut out = Vec::new();
        let (src, dst) = ([10, 1, 0, 1].into(), [10, 1, 0, 2].into());
        let label = Label { src, dst, protocol: Protocol::Sctp, ecn: Ecn::Capable0 };
        write_header(&mut out, label, 1480, 2);
        assert_eq!(out[..10], [0x45, 2, 0x05, 0xdc, 0, 0, 0x40, 0, 62, 132]);
        assert_eq!(out[12..], [10, 1, 0, 1, 10, 1, 0, 2]);
        assert_eq!(checksum(&out), 0);
    }

    #[test]
    fn the_checksum_example_of_rfc_1071_section_3() {
        assert_eq!(checksum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
    }

    #[test]
    fn an_ipv6_header_has_its_fixed_form() {
        let (src, dst): (IpAddr, IpAddr) = ("fd00:1::1".parse().unwrap(), "fd00:1::2".parse().unwrap());
        let mut out = Vec::new();
        let label = Label { src, dst, protocol: Protocol::Tcp, ecn: Ecn::CongestionExperienced };
        write_header(&mut out, label, 100, 0);
        assert_eq!(out[..8], [0x60, 0x30, 0, 0, 0, 100, 6, 64]);
        assert_eq!((out.len(), out[23], out[39]), (40, 1, 2));
    }
}
