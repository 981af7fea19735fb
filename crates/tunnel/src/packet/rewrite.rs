use super::{Inner, TCP};

const SYN: u8 = 2;

/// Lowers the maximum segment size of a SYN so that segments fit packets of `mtu` bytes, because routers may
/// filter the ICMP messages that hosts need (RFC 4459, 3.2). A valid checksum stays valid.
pub(crate) fn clamp_mss(packet: &mut [u8], inner: &Inner, mtu: usize) {
    let Some(tcp) = inner.transport.filter(|_| inner.protocol == TCP) else { return };
    let most = mtu.saturating_sub(tcp.max(20) + 20).min(usize::from(u16::MAX)) as u16;
    let Some(header) = packet.get_mut(tcp..).filter(|header| header.len() >= 20) else { return };
    let length = usize::from(header[12] >> 4) * 4;
    if header[13] & SYN == 0 || length < 20 || length > header.len() {
        return;
    }
    let Some(at) = mss_option(&header[..length]) else { return };
    let offered = u16::from_be_bytes([header[at], header[at + 1]]);
    if offered > most {
        replace(header, at, 16, &most.to_be_bytes());
    }
}

/// Offset of the value of the option "maximum segment size" (`rfc9293#section-3.2`).
fn mss_option(header: &[u8]) -> Option<usize> {
    let mut at = 20;
    while at < header.len() {
        at = match header[at] {
            0 => return None,
            1 => at + 1,
            kind => {
                let length = usize::from(*header.get(at + 1)?);
                if length < 2 || at + length > header.len() {
                    return None;
                }
                if kind == 2 && length == 4 {
                    return Some(at + 2);
                }
                at + length
            }
        };
    }
    None
}

/// Sets the CE codepoint of an ECN-capable packet (`rfc3168#section-5`). False if
/// the packet is not ECN-capable.
pub(crate) fn mark_congestion(packet: &mut [u8]) -> bool {
    match packet.first().map(|first| first >> 4) {
        Some(4) if packet.len() >= 20 && packet[1] & 3 != 0 => {
            let marked = packet[1] | 3;
            replace(packet, 1, 10, &[marked]);
            true
        }
        Some(6) if packet.len() >= 40 && packet[1] & 0x30 != 0 => {
            packet[1] |= 0x30;
            true
        }
        _ => false,
    }
}

/// Overwrites bytes of a header and updates its checksum (`rfc1624#section-3`).
fn replace(header: &mut [u8], at: usize, checksum: usize, bytes: &[u8]) {
    let mut sum = u32::from(!u16::from_be_bytes([header[checksum], header[checksum + 1]]));
    for (n, &new) in (at..).zip(bytes) {
        let old = std::mem::replace(&mut header[n], new);
        let weight = |byte: u8| if n % 2 == 0 { u16::from(byte) << 8 } else { u16::from(byte) };
        sum += u32::from(!weight(old)) + u32::from(weight(new));
    }
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    header[checksum..checksum + 2].copy_from_slice(&(!(sum as u16)).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::super::header::tests::{ipv4_packet, ipv6_packet};
    use super::super::inspect;
    use super::*;
    use std::hash::RandomState;

    fn sum(bytes: &[u8]) -> u16 {
        let mut sum = 0_u32;
        for pair in bytes.chunks(2) {
            sum += u32::from(u16::from_be_bytes([pair[0], *pair.get(1).unwrap_or(&0)]));
        }
        while sum > 0xFFFF {
            sum = (sum & 0xFFFF) + (sum >> 16);
        }
        sum as u16
    }

    /// A TCP SYN with these options. Its checksum does not cover the pseudo header.
    fn syn(options: &[u8]) -> Vec<u8> {
        let mut header = vec![0, 1, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, SYN, 9, 9, 0, 0, 0, 0];
        header.extend(options);
        header[12] = ((header.len() / 4) << 4) as u8;
        let check = !sum(&header);
        header[16..18].copy_from_slice(&check.to_be_bytes());
        header
    }

    fn clamped(mut packet: Vec<u8>, mtu: usize) -> Vec<u8> {
        let inner = inspect(&RandomState::new(), &packet).expect("a packet");
        clamp_mss(&mut packet, &inner, mtu);
        packet
    }

    #[test]
    fn mss_of_a_syn_is_lowered_and_its_checksum_stays_right() {
        // The MSS option is at an even offset in the first packet, and at an odd one in the second.
        for (options, at) in [([2, 4, 5, 180, 1, 1, 1, 0], 22), ([1, 2, 4, 5, 180, 1, 1, 0], 23)] {
            let packet = clamped(ipv4_packet(TCP, &syn(&options)), 1400);
            assert_eq!(packet[20 + at..22 + at], 1360_u16.to_be_bytes());
            assert_eq!(sum(&packet[20..]), 0xFFFF);
            let packet = clamped(ipv6_packet(TCP, &syn(&options)), 1400);
            assert_eq!(packet[40 + at..42 + at], 1340_u16.to_be_bytes());
            assert_eq!(sum(&packet[40..]), 0xFFFF);
        }
    }

    #[test]
    fn smaller_mss_and_other_packets_stay_as_they_are() {
        let small = ipv4_packet(TCP, &syn(&[2, 4, 2, 0]));
        assert_eq!(clamped(small.clone(), 1400), small);
        let mut data = ipv4_packet(TCP, &syn(&[2, 4, 5, 180]));
        data[33] = 16;
        assert_eq!(clamped(data.clone(), 1400), data);
        let udp = ipv4_packet(17, &syn(&[2, 4, 5, 180]));
        assert_eq!(clamped(udp.clone(), 1400), udp);
    }

    #[test]
    fn malformed_options_and_lengths_do_no_harm() {
        for options in [[2, 0, 5, 180], [2, 255, 5, 180], [3, 1, 2, 4], [1, 1, 1, 2], [2, 3, 5, 180]] {
            let packet = ipv4_packet(TCP, &syn(&options));
            assert_eq!(clamped(packet.clone(), 1400), packet, "{options:?}");
        }
        for offset in 0..16 {
            let mut packet = ipv4_packet(TCP, &syn(&[2, 4, 5, 180]));
            packet[32] = offset << 4;
            clamped(packet, 1400);
        }
        for length in 0..24 {
            clamped(ipv4_packet(TCP, &syn(&[2, 4, 5, 180])[..length]), 1400);
        }
    }

    #[test]
    fn only_packets_of_ecn_capable_flows_are_marked() {
        let mut packet = ipv4_packet(TCP, &[0; 20]);
        assert!(!mark_congestion(&mut packet));
        packet[1] = 0xB8 | 2;
        let check = !sum(&packet[..20]);
        packet[10..12].copy_from_slice(&check.to_be_bytes());
        assert!(mark_congestion(&mut packet));
        assert_eq!((packet[1], sum(&packet[..20])), (0xB8 | 3, 0xFFFF));
        let mut packet = ipv6_packet(TCP, &[0; 20]);
        assert!(!mark_congestion(&mut packet));
        packet[1] = 0x10;
        assert!(mark_congestion(&mut packet));
        assert_eq!(packet[1], 0x30);
    }
}
