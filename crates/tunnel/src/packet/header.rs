use std::hash::BuildHasher;
use std::net::IpAddr;

/// Protocol number of TCP.
pub(crate) const TCP: u8 = 6;
/// Protocol number of UDP.
pub(crate) const UDP: u8 = 17;
const SCTP: u8 = 132;

/// Fields of the headers of an IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Inner {
    /// Protocol after the IP header; extension headers of IPv6 are not followed.
    pub(crate) protocol: u8,
    /// Offset of the transport header; `None` in a fragment.
    pub(crate) transport: Option<usize>,
    /// Hash of addresses, protocol and, if the packet has them, ports. Only this process can predict it.
    pub(crate) hash: u64,
}

/// Reads the headers of an IP packet; `None` if it is no IP packet, or its header states another length.
pub(crate) fn inspect(hasher: &impl BuildHasher, packet: &[u8]) -> Option<Inner> {
    let (protocol, transport, addresses) = match packet.first()? >> 4 {
        4 => ipv4(packet)?,
        6 => ipv6(packet)?,
        _ => return None,
    };
    let has_ports = matches!(protocol, TCP | UDP | SCTP);
    let ports = transport.filter(|_| has_ports).and_then(|at| packet.get(at..at + 4));
    let hash = hasher.hash_one((protocol, addresses, ports));
    Some(Inner { protocol, transport, hash })
}

/// Source and destination of a packet that [`inspect`] accepted.
pub(crate) fn addresses(packet: &[u8]) -> Option<(IpAddr, IpAddr)> {
    let v4 = |at: usize| Some(<[u8; 4]>::try_from(packet.get(at..at + 4)?).ok()?.into());
    let v6 = |at: usize| Some(<[u8; 16]>::try_from(packet.get(at..at + 16)?).ok()?.into());
    match packet.first()? >> 4 {
        4 => Some((v4(12)?, v4(16)?)),
        _ => Some((v6(8)?, v6(24)?)),
    }
}

type Headers<'a> = (u8, Option<usize>, &'a [u8]);

fn ipv4(packet: &[u8]) -> Option<Headers<'_>> {
    let header = packet.get(..20)?;
    let length = usize::from(header[0] & 15) * 4;
    let total = usize::from(u16::from_be_bytes([header[2], header[3]]));
    if length < 20 || total != packet.len() || length > total {
        return None;
    }
    let is_fragment = u16::from_be_bytes([header[6], header[7]]) & 0x3FFF != 0;
    Some((header[9], (!is_fragment).then_some(length), &header[12..20]))
}

fn ipv6(packet: &[u8]) -> Option<Headers<'_>> {
    let header = packet.get(..40)?;
    let payload = usize::from(u16::from_be_bytes([header[4], header[5]]));
    (payload + 40 == packet.len()).then_some((header[6], Some(40), &header[8..40]))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::hash::RandomState;

    /// An IPv4 packet of a protocol with these bytes after its header.
    pub fn ipv4_packet(protocol: u8, payload: &[u8]) -> Vec<u8> {
        let mut packet = vec![0x45, 0, 0, 0, 0, 1, 0, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        packet.extend(payload);
        let length = packet.len() as u16;
        packet[2..4].copy_from_slice(&length.to_be_bytes());
        packet
    }

    pub fn ipv6_packet(protocol: u8, payload: &[u8]) -> Vec<u8> {
        let mut packet = vec![0x60, 0, 0, 0];
        packet.extend((payload.len() as u16).to_be_bytes());
        packet.extend([protocol, 64]);
        packet.extend([1; 16]);
        packet.extend([2; 16]);
        packet.extend(payload);
        packet
    }

    #[test]
    fn flows_differ_by_ports_and_fragments_have_none() {
        let hasher = RandomState::new();
        for make in [ipv4_packet, ipv6_packet] {
            let of = |packet: &[u8]| inspect(&hasher, packet).expect("a packet");
            let [one, two] = [make(TCP, &[0, 1, 0, 2, 9]), make(TCP, &[0, 1, 0, 3, 9])];
            assert_eq!(of(&one), of(&make(TCP, &[0, 1, 0, 2, 7])));
            assert_ne!(of(&one).hash, of(&two).hash);
            assert_ne!(of(&one).hash, of(&make(UDP, &[0, 1, 0, 2, 9])).hash);
            // ICMP has no ports.
            assert_eq!(of(&make(1, &[0, 1, 0, 2])).hash, of(&make(1, &[0, 1, 0, 3])).hash);
        }
        let mut fragment = ipv4_packet(UDP, &[0, 1, 0, 2]);
        fragment[6] = 0x20;
        let first = inspect(&hasher, &fragment).expect("a packet");
        fragment[6..8].copy_from_slice(&[0, 1]);
        fragment[20..24].copy_from_slice(&[7; 4]);
        assert_eq!(inspect(&hasher, &fragment), Some(first));
        assert_eq!(first.transport, None);
    }

    #[test]
    fn packets_of_wrong_length_are_refused() {
        let hasher = RandomState::new();
        for packet in [ipv4_packet(TCP, &[0; 20]), ipv6_packet(TCP, &[0; 20])] {
            for length in 0..packet.len() {
                assert_eq!(inspect(&hasher, &packet[..length]), None);
            }
            let mut longer = packet.clone();
            longer.push(0);
            assert_eq!(inspect(&hasher, &longer), None);
        }
        for first in [0x44, 0x4F, 0x55, 0x00] {
            let mut packet = ipv4_packet(TCP, &[0; 20]);
            packet[0] = first;
            assert_eq!(inspect(&hasher, &packet), None, "{first:x}");
        }
    }
}
