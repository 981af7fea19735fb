//! Whole IP packets, as TUN devices of real hosts read and write them.

use super::header::{Label, checksum, write_header};
use crate::packet::{Packet, Protocol};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::Range;
use transport::Ecn;

/// Fields of the header of a whole IP packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whole {
    /// Source address.
    pub src: IpAddr,
    /// Destination address.
    pub dst: IpAddr,
    /// ECN field.
    pub ecn: Ecn,
    /// The transport protocol; `None` if it is not TCP, UDP or SCTP, or is not known.
    pub protocol: Option<Protocol>,
    /// The range of the transport payload within the packet.
    pub payload: Range<usize>,
}

impl Whole {
    /// Reads the header; `None` if the bytes are not a whole IP packet, or have further bytes behind it.
    ///
    /// Fragments and packets with IPv6 extension headers have no known protocol.
    pub fn read(bytes: &[u8]) -> Option<Whole> {
        match bytes.first()? >> 4 {
            4 => read_ipv4(bytes),
            6 => read_ipv6(bytes),
            _ => None,
        }
    }
}

fn known(number: u8) -> Option<Protocol> {
    [Protocol::Tcp, Protocol::Udp, Protocol::Sctp].into_iter().find(|known| *known as u8 == number)
}

fn ecn(bits: u8) -> Ecn {
    match bits & 3 {
        0 => Ecn::NotCapable,
        1 => Ecn::Capable1,
        2 => Ecn::Capable0,
        _ => Ecn::CongestionExperienced,
    }
}

fn read_ipv4(bytes: &[u8]) -> Option<Whole> {
    let header: &[u8; 20] = bytes.first_chunk()?;
    let length = usize::from(header[0] & 15) * 4;
    let total = usize::from(u16::from_be_bytes([header[2], header[3]]));
    if length < 20 || length > total || total != bytes.len() {
        return None;
    }
    let address =
        |at: usize| Ipv4Addr::new(header[at], header[at + 1], header[at + 2], header[at + 3]).into();
    // True if more fragments follow, or if this fragment is not the first.
    let is_fragment = u16::from_be_bytes([header[6], header[7]]) & 0x3fff != 0;
    Some(Whole {
        src: address(12),
        dst: address(16),
        ecn: ecn(header[1]),
        protocol: known(header[9]).filter(|_| !is_fragment),
        payload: length..total,
    })
}

fn read_ipv6(bytes: &[u8]) -> Option<Whole> {
    let header: &[u8; 40] = bytes.first_chunk()?;
    if 40 + usize::from(u16::from_be_bytes([header[4], header[5]])) != bytes.len() {
        return None;
    }
    let address = |at: usize| {
        let octets: [u8; 16] = std::array::from_fn(|n| header[at + n]);
        Ipv6Addr::from(octets).into()
    };
    Some(Whole {
        src: address(8),
        dst: address(24),
        ecn: ecn(header[1] >> 4),
        protocol: known(header[6]),
        payload: 40..bytes.len(),
    })
}

impl Packet<'_> {
    /// Appends this packet as a whole IP packet, with its present ECN field.
    pub fn write_whole(&self, out: &mut Vec<u8>) {
        let start = out.len();
        if self.protocol == Protocol::Opaque {
            out.extend_from_slice(self.head);
            set_ecn(&mut out[start..], self.ecn);
            return;
        }
        let label = Label { src: self.src, dst: self.dst, protocol: self.protocol, ecn: self.ecn };
        write_header(out, label, self.head.len() + self.zeros, 0);
        out.extend_from_slice(self.head);
        out.resize(out.len() + self.zeros, 0);
    }
}

/// Sets the ECN field of a whole IP packet, and the checksum of its header.
pub(crate) fn set_ecn(packet: &mut [u8], ecn: Ecn) {
    match packet.first().map(|first| first >> 4) {
        Some(4) if packet.len() >= 20 && packet[1] & 3 != ecn as u8 => {
            packet[1] = packet[1] & !3 | ecn as u8;
            packet[10..12].fill(0);
            let length = (usize::from(packet[0] & 15) * 4).clamp(20, packet.len() & !1);
            let sum = checksum(&packet[..length]);
            packet[10..12].copy_from_slice(&sum.to_be_bytes());
        }
        Some(6) if packet.len() >= 40 => packet[1] = packet[1] & 0xcf | (ecn as u8) << 4,
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn packet(src: IpAddr, dst: IpAddr, payload: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        let label = Label { src, dst, protocol: Protocol::Udp, ecn: Ecn::Capable0 };
        write_header(&mut bytes, label, payload, 0);
        bytes.resize(bytes.len() + payload, 7);
        bytes
    }

    #[test]
    fn the_header_of_a_whole_packet_of_either_version_is_read() {
        for [src, dst] in [["10.1.0.1", "10.1.0.2"], ["fd00::1", "fd00::2"]] {
            let (src, dst): (IpAddr, IpAddr) = (src.parse().unwrap(), dst.parse().unwrap());
            let bytes = packet(src, dst, 30);
            let payload = bytes.len() - 30..bytes.len();
            let protocol = Some(Protocol::Udp);
            assert_eq!(Whole::read(&bytes), Some(Whole { src, dst, ecn: Ecn::Capable0, protocol, payload }));
            assert_eq!(Whole::read(&bytes[..bytes.len() - 1]), None, "a byte is missing");
        }
    }

    #[test]
    fn a_fragment_has_no_known_protocol() {
        let mut bytes = packet([10, 0, 0, 1].into(), [10, 0, 0, 2].into(), 8);
        bytes[6] = 0x20;
        assert_eq!(Whole::read(&bytes).expect("is a packet").protocol, None);
    }

    #[test]
    fn a_mark_changes_the_ecn_field_and_keeps_the_checksum_right() {
        let mut bytes = packet([10, 0, 0, 1].into(), [10, 0, 0, 2].into(), 8);
        set_ecn(&mut bytes, Ecn::CongestionExperienced);
        assert_eq!(Whole::read(&bytes).expect("is a packet").ecn, Ecn::CongestionExperienced);
        assert_eq!(checksum(&bytes[..20]), 0);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_and_marked_without_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..80), first in 0x40u8..0x70) {
            bytes.first_mut().into_iter().for_each(|byte| *byte = first);
            if let Some(whole) = Whole::read(&bytes) {
                prop_assert!(whole.payload.end == bytes.len() && whole.payload.start >= 20);
            }
            set_ecn(&mut bytes, Ecn::CongestionExperienced);
        }
    }
}
