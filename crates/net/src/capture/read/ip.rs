//! From the frame of a link to the payload of IP.

use super::Frame;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpPacket<'a> {
    /// Source address.
    pub src: IpAddr,
    /// Destination address.
    pub dst: IpAddr,
    /// Number of the protocol above IP.
    pub protocol: u8,
    /// What was captured of the payload.
    pub payload: &'a [u8],
    /// Bytes of the payload, captured or not.
    pub payload_length: usize,
    /// Bytes of the packet, IP header included.
    pub length: usize,
}

/// Link types: <https://www.tcpdump.org/linktypes.html>
mod link_type {
    pub(super) const NULL: u16 = 0;
    pub(super) const ETHERNET: u16 = 1;
    pub(super) const RAW: [u16; 5] = [12, 14, 101, 228, 229];
    pub(super) const LOOP: u16 = 108;
    pub(super) const LINUX_COOKED: u16 = 113;
    pub(super) const LINUX_COOKED_2: u16 = 276;
}

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const VLAN: [u16; 2] = [0x8100, 0x88a8];

/// VLAN tags, and IPv6 extension headers, of a packet that are looked behind.
const MOST_HEADERS: usize = 8;

/// The IP packet of a frame; none if it has another protocol or is a later fragment.
pub(super) fn of_frame<'a>(frame: &Frame<'a>) -> Option<IpPacket<'a>> {
    let bytes = frame.bytes;
    let ip = match frame.link_type {
        link_type::ETHERNET => behind_ethernet(bytes)?,
        link_type::LINUX_COOKED => behind_type(bytes, 14, 16)?,
        link_type::LINUX_COOKED_2 => behind_type(bytes, 0, 20)?,
        link_type::NULL | link_type::LOOP => bytes.get(4..)?,
        kind if link_type::RAW.contains(&kind) => bytes,
        _ => return None,
    };
    match ip.first()? >> 4 {
        4 => v4(ip),
        6 => v6(ip),
        _ => None,
    }
}

/// The bytes from `begin` on, if those at `place` are the type of IP.
fn behind_type(bytes: &[u8], place: usize, begin: usize) -> Option<&[u8]> {
    let kind = half(bytes, place)?;
    if kind == IPV4 || kind == IPV6 { bytes.get(begin..) } else { None }
}

fn behind_ethernet(bytes: &[u8]) -> Option<&[u8]> {
    let mut place = 12;
    for _ in 0..MOST_HEADERS {
        if !VLAN.contains(&half(bytes, place)?) {
            break;
        }
        place += 4;
    }
    behind_type(bytes, place, place + 2)
}

fn half(bytes: &[u8], place: usize) -> Option<u16> {
    bytes.get(place..)?.first_chunk().map(|pair| u16::from_be_bytes(*pair))
}

fn v4(ip: &[u8]) -> Option<IpPacket<'_>> {
    let fixed = ip.first_chunk::<20>()?;
    let header = usize::from(fixed[0] & 0x0f) * 4;
    let total = usize::from(u16::from_be_bytes([fixed[2], fixed[3]]));
    let fragment = u16::from_be_bytes([fixed[6], fixed[7]]);
    if fragment & 0x1fff != 0 {
        return None;
    }
    // A sender that leaves the division to its interface is seen with length 0.
    let total = if total == 0 { ip.len() } else { total };
    let payload_length = total.checked_sub(header).filter(|_| header >= 20)?;
    let payload = ip.get(header..)?;
    Some(IpPacket {
        src: Ipv4Addr::from([fixed[12], fixed[13], fixed[14], fixed[15]]).into(),
        dst: Ipv4Addr::from([fixed[16], fixed[17], fixed[18], fixed[19]]).into(),
        protocol: fixed[9],
        payload: &payload[..payload.len().min(payload_length)],
        payload_length,
        length: total,
    })
}

fn v6(ip: &[u8]) -> Option<IpPacket<'_>> {
    const HOP_BY_HOP: u8 = 0;
    const ROUTING: u8 = 43;
    const FRAGMENT: u8 = 44;
    const DESTINATION: u8 = 60;
    let (fixed, mut payload) = ip.split_first_chunk::<40>()?;
    let mut payload_length = usize::from(u16::from_be_bytes([fixed[4], fixed[5]]));
    let length = 40 + payload_length;
    let mut protocol = fixed[6];
    for _ in 0..MOST_HEADERS {
        let taken = match protocol {
            HOP_BY_HOP | ROUTING | DESTINATION => 8 + usize::from(*payload.get(1)?) * 8,
            FRAGMENT if half(payload, 2)? & 0xfff8 != 0 => return None,
            FRAGMENT => 8,
            _ => break,
        };
        protocol = *payload.first()?;
        payload = payload.get(taken..)?;
        payload_length = payload_length.checked_sub(taken)?;
    }
    let address = |from: usize| {
        let mut octets = [0; 16];
        octets.copy_from_slice(&fixed[from..from + 16]);
        IpAddr::from(Ipv6Addr::from(octets))
    };
    Some(IpPacket {
        src: address(8),
        dst: address(24),
        protocol,
        payload: &payload[..payload.len().min(payload_length)],
        payload_length,
        length,
    })
}
