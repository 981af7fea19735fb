//! Finds the payload of IP packets, also inside of tunnels.

use super::link::{after, ethernet, half, of_type};
use super::{Frame, Undecoded};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An IP packet, or a fragment of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpPacket<'a> {
    /// Source address.
    pub src: IpAddr,
    /// Destination address.
    pub dst: IpAddr,
    /// Number of the protocol above IP.
    pub protocol: u8,
    /// Captured part of the payload.
    pub payload: &'a [u8],
    /// Bytes of the payload, captured or not.
    pub payload_length: usize,
    /// Bytes of the packet, IP header included.
    pub length: usize,
    /// Time to live, or hop limit.
    pub ttl: u8,
    /// Identification of an IPv4 packet or of an IPv6 fragment; otherwise zero.
    pub id: u32,
    /// The part of the packet that this fragment holds; `None` for a whole packet.
    pub fragment: Option<Fragment>,
}

/// Part of the payload of an IP packet that a fragment holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// Offset of the first byte.
    pub offset: usize,
    /// More fragments follow.
    pub more: bool,
}

/// Maximum number of IPv6 extension headers, and of nested tunnels, that are skipped.
const MOST_HEADERS: usize = 8;

const IP_IN_IP: u8 = 4;
const UDP: u8 = 17;
const IPV6_IN_IP: u8 = 41;
const GRE: u8 = 47;
const ESP: u8 = 50;
const GTP_U_PORT: u16 = 2152;
const VXLAN_PORT: u16 = 4789;

/// The innermost IP packet of a frame; `None` if the protocol of the frame is not IP.
pub(super) fn of_frame<'a>(frame: &Frame<'a>) -> Result<Option<IpPacket<'a>>, Undecoded> {
    let Some(bytes) = super::link::ip_of(frame)? else { return Ok(None) };
    innermost(packet(bytes)?)
}

/// Unwraps tunnels: returns the innermost packet or, if a packet on the way to it is a fragment, that
/// fragment. `None` for a control message of a tunnel.
pub(super) fn innermost(mut ip: IpPacket<'_>) -> Result<Option<IpPacket<'_>>, Undecoded> {
    for _ in 0..MOST_HEADERS {
        if ip.fragment.is_some() {
            return Ok(Some(ip));
        }
        let inner = match ip.protocol {
            IP_IN_IP | IPV6_IN_IP => Some(ip.payload),
            GRE => gre(ip.payload)?,
            ESP => return Err(Undecoded::Encrypted),
            UDP if ip.payload.len() >= 8 => match tunnel_in_udp(ip.payload) {
                None => return Ok(Some(ip)),
                Some(inner) => inner?,
            },
            _ => return Ok(Some(ip)),
        };
        let Some(inner) = inner else { return Ok(None) };
        ip = packet(inner)?;
    }
    Err(Undecoded::Nested)
}

fn packet(ip: &[u8]) -> Result<IpPacket<'_>, Undecoded> {
    match ip.first().ok_or(Undecoded::Cut)? >> 4 {
        4 => v4(ip),
        6 => v6(ip),
        _ => Err(Undecoded::Malformed),
    }
}

fn v4(ip: &[u8]) -> Result<IpPacket<'_>, Undecoded> {
    let fixed = ip.first_chunk::<20>().ok_or(Undecoded::Cut)?;
    let header = usize::from(fixed[0] & 0x0f) * 4;
    let total = usize::from(u16::from_be_bytes([fixed[2], fixed[3]]));
    let place = u16::from_be_bytes([fixed[6], fixed[7]]);
    let (offset, more) = (usize::from(place & 0x1fff) * 8, place & 0x2000 != 0);
    // With segmentation offload, a capture at the sender shows length 0.
    let total = if total == 0 { ip.len() } else { total };
    let payload_length = total.checked_sub(header).filter(|_| header >= 20).ok_or(Undecoded::Malformed)?;
    let payload = after(ip, header)?;
    Ok(IpPacket {
        src: Ipv4Addr::from([fixed[12], fixed[13], fixed[14], fixed[15]]).into(),
        dst: Ipv4Addr::from([fixed[16], fixed[17], fixed[18], fixed[19]]).into(),
        protocol: fixed[9],
        payload: &payload[..payload.len().min(payload_length)],
        payload_length,
        length: total,
        ttl: fixed[8],
        id: u16::from_be_bytes([fixed[4], fixed[5]]).into(),
        fragment: (offset > 0 || more).then_some(Fragment { offset, more }),
    })
}

fn v6(ip: &[u8]) -> Result<IpPacket<'_>, Undecoded> {
    const HOP_BY_HOP: u8 = 0;
    const ROUTING: u8 = 43;
    const FRAGMENT: u8 = 44;
    const DESTINATION: u8 = 60;
    let (fixed, mut payload) = ip.split_first_chunk::<40>().ok_or(Undecoded::Cut)?;
    let mut payload_length = usize::from(u16::from_be_bytes([fixed[4], fixed[5]]));
    let length = 40 + payload_length;
    let mut protocol = fixed[6];
    let (mut id, mut fragment) = (0, None);
    for _ in 0..MOST_HEADERS {
        let taken = match protocol {
            HOP_BY_HOP | ROUTING | DESTINATION if fragment.is_none() => {
                8 + usize::from(*payload.get(1).ok_or(Undecoded::Cut)?) * 8
            }
            FRAGMENT if fragment.is_none() => {
                let place = half(payload, 2)?;
                let (offset, more) = (usize::from(place & 0xfff8), place & 1 != 0);
                id = u32::from(half(payload, 4)?) << 16 | u32::from(half(payload, 6)?);
                fragment = (offset > 0 || more).then_some(Fragment { offset, more });
                8
            }
            _ => break,
        };
        protocol = *payload.first().ok_or(Undecoded::Cut)?;
        payload = after(payload, taken)?;
        payload_length = payload_length.checked_sub(taken).ok_or(Undecoded::Malformed)?;
    }
    let address = |from: usize| {
        let mut octets = [0; 16];
        octets.copy_from_slice(&fixed[from..from + 16]);
        IpAddr::from(Ipv6Addr::from(octets))
    };
    Ok(IpPacket {
        src: address(8),
        dst: address(24),
        protocol,
        payload: &payload[..payload.len().min(payload_length)],
        payload_length,
        length,
        ttl: fixed[7],
        id,
        fragment,
    })
}

/// Returns the IP packet behind a header of GRE (RFC 2784 and 2890, and version 1 of PPTP).
fn gre(bytes: &[u8]) -> Result<Option<&[u8]>, Undecoded> {
    const CHECKSUM: u16 = 0x8000;
    const ROUTING: u16 = 0x4000;
    const KEY: u16 = 0x2000;
    const SEQUENCE: u16 = 0x1000;
    const ACKNOWLEDGEMENT: u16 = 0x0080;
    const VERSION: u16 = 0x0007;
    let flags = half(bytes, 0)?;
    if flags & ROUTING != 0 || flags & VERSION > 1 {
        return Err(Undecoded::Malformed);
    }
    let acknowledgement = if flags & VERSION == 1 { ACKNOWLEDGEMENT } else { 0 };
    let options = flags & (CHECKSUM | KEY | SEQUENCE | acknowledgement);
    let begin = 4 + 4 * options.count_ones() as usize;
    match bytes.get(begin..) {
        // The PPTP packet is only an acknowledgement.
        Some([]) => Ok(None),
        rest => of_type(half(bytes, 2)?, rest.ok_or(Undecoded::Cut)?),
    }
}

/// Returns the packet inside a tunnel over UDP; `None` if no port is that of a tunnel.
fn tunnel_in_udp(bytes: &[u8]) -> Option<Result<Option<&[u8]>, Undecoded>> {
    let ports = [half(bytes, 0).ok()?, half(bytes, 2).ok()?];
    let inner = bytes.get(8..)?;
    if ports.contains(&GTP_U_PORT) {
        Some(gtp_u(inner))
    } else if ports[1] == VXLAN_PORT {
        Some(after(inner, 8).and_then(ethernet))
    } else {
        None
    }
}

/// Returns the packet inside GTP-U version 1 (3GPP TS 29.281); `None` for control messages of the tunnel.
fn gtp_u(bytes: &[u8]) -> Result<Option<&[u8]>, Undecoded> {
    const PACKET: u8 = 255;
    let (&[flags, kind, ..], mut rest) = bytes.split_first_chunk::<8>().ok_or(Undecoded::Cut)?;
    if flags >> 4 != 3 {
        return Err(Undecoded::Malformed);
    }
    if kind != PACKET {
        return Ok(None);
    }
    if flags & 7 != 0 {
        let mut next = *rest.get(3).ok_or(Undecoded::Cut)?;
        rest = after(rest, 4)?;
        for _ in 0..MOST_HEADERS {
            if flags & 4 == 0 || next == 0 {
                break;
            }
            let length = 4 * usize::from(*rest.first().ok_or(Undecoded::Cut)?);
            next = *length.checked_sub(1).and_then(|last| rest.get(last)).ok_or(Undecoded::Malformed)?;
            rest = after(rest, length)?;
        }
    }
    Ok(Some(rest))
}
