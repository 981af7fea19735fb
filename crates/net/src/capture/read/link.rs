//! Finds the IP packet in the frame of a link: Ethernet with headers before IP, PPP, Linux cooked, loopback
//! and raw IP.

use super::{Frame, Undecoded};

/// Link types: <https://www.tcpdump.org/linktypes.html>
mod link_type {
    pub(super) const NULL: u16 = 0;
    pub(super) const ETHERNET: u16 = 1;
    pub(super) const PPP: [u16; 3] = [9, 50, 166];
    pub(super) const PPP_ETHERNET: u16 = 51;
    pub(super) const RAW: [u16; 5] = [12, 14, 101, 228, 229];
    pub(super) const CISCO_HDLC: u16 = 104;
    pub(super) const LOOP: u16 = 108;
    pub(super) const LINUX_COOKED: u16 = 113;
    pub(super) const LINUX_COOKED_2: u16 = 276;
}

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const VLAN: [u16; 3] = [0x8100, 0x88a8, 0x9100];
const MPLS: [u16; 2] = [0x8847, 0x8848];
const PPPOE_SESSION: u16 = 0x8864;
const PPP: u16 = 0x880b;
const BRIDGED: u16 = 0x6558;
/// EtherTypes below this value are lengths, for example in frames of the spanning tree protocol.
const LEAST_ETHERTYPE: u16 = 0x600;
/// Frames that never hold IP: ARP, RARP, PPPoE discovery, 802.1X, LLDP, loop tests.
const NO_IP: [u16; 6] = [0x0806, 0x8035, 0x8863, 0x888e, 0x88cc, 0x9000];

/// Maximum number of VLAN tags and MPLS labels that are skipped in a frame.
const MOST_TAGS: usize = 8;

/// The IP packet of a frame; `None` if the protocol of the frame is not IP.
type Begin<'a> = Result<Option<&'a [u8]>, Undecoded>;

/// The IP packet in a frame.
pub(super) fn ip_of<'a>(frame: &Frame<'a>) -> Begin<'a> {
    let bytes = frame.bytes;
    match frame.link_type {
        link_type::ETHERNET => ethernet(bytes),
        link_type::LINUX_COOKED => of_type(half(bytes, 14)?, after(bytes, 16)?),
        link_type::LINUX_COOKED_2 => of_type(half(bytes, 0)?, after(bytes, 20)?),
        link_type::CISCO_HDLC => of_type(half(bytes, 2)?, after(bytes, 4)?),
        link_type::PPP_ETHERNET => pppoe(bytes),
        link_type::NULL | link_type::LOOP => after(bytes, 4).map(Some),
        kind if link_type::PPP.contains(&kind) => ppp(bytes),
        kind if link_type::RAW.contains(&kind) => Ok(Some(bytes)),
        kind => Err(Undecoded::LinkType(kind)),
    }
}

/// A number that distinguishes places of capture with the same interface number: a cooked capture of all
/// interfaces has only one interface in the file.
pub(super) fn sight(frame: &Frame<'_>) -> u64 {
    match frame.link_type {
        // The kind of packet (to this host, to others, sent), and the address of the sender.
        link_type::LINUX_COOKED => number(frame.bytes, 0, 2) << 48 | number(frame.bytes, 6, 6),
        // The index that the host gave to the interface.
        link_type::LINUX_COOKED_2 => number(frame.bytes, 4, 4),
        _ => 0,
    }
}

fn number(bytes: &[u8], from: usize, length: usize) -> u64 {
    let bytes = bytes.get(from..from + length).unwrap_or_default();
    bytes.iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte))
}

pub(super) fn ethernet(bytes: &[u8]) -> Begin<'_> {
    of_type(half(bytes, 12)?, after(bytes, 14)?)
}

/// Returns the IP packet behind an EtherType.
pub(super) fn of_type(mut kind: u16, mut bytes: &[u8]) -> Begin<'_> {
    for _ in 0..MOST_TAGS {
        if !VLAN.contains(&kind) {
            break;
        }
        (kind, bytes) = (half(bytes, 2)?, after(bytes, 4)?);
    }
    match kind {
        IPV4 | IPV6 => Ok(Some(bytes)),
        PPPOE_SESSION => pppoe(bytes),
        PPP => ppp(bytes),
        BRIDGED => ethernet(bytes),
        _ if MPLS.contains(&kind) => mpls(bytes),
        _ if NO_IP.contains(&kind) || kind < LEAST_ETHERTYPE => Ok(None),
        _ => Err(Undecoded::EtherType(kind)),
    }
}

/// PPP behind a header of PPPoE.
fn pppoe(bytes: &[u8]) -> Begin<'_> {
    const DISCOVERY: u16 = 0x1100;
    if half(bytes, 0)? & 0xff != 0 && half(bytes, 0)? & 0xff00 == DISCOVERY {
        return Ok(None);
    }
    ppp(after(bytes, 6)?)
}

fn ppp(bytes: &[u8]) -> Begin<'_> {
    const ADDRESS_AND_CONTROL: u16 = 0xff03;
    const IPV4: u16 = 0x0021;
    const IPV6: u16 = 0x0057;
    const MPLS: u16 = 0x0281;
    /// Protocols from this number on control the link or the network: for example LCP and IPCP.
    const CONTROL: u16 = 0x8000;
    let bytes = if half(bytes, 0)? == ADDRESS_AND_CONTROL { after(bytes, 2)? } else { bytes };
    // PPP may compress a protocol number below 256 to one byte. That byte is an odd number; the first byte of
    // an uncompressed protocol field is even.
    let first = *bytes.first().ok_or(Undecoded::Cut)?;
    let (kind, rest) =
        if first & 1 == 1 { (u16::from(first), &bytes[1..]) } else { (half(bytes, 0)?, after(bytes, 2)?) };
    match kind {
        IPV4 | IPV6 => Ok(Some(rest)),
        MPLS => mpls(rest),
        CONTROL.. => Ok(None),
        _ => Err(Undecoded::Ppp(kind)),
    }
}

fn mpls(mut bytes: &[u8]) -> Begin<'_> {
    for _ in 0..MOST_TAGS {
        let last = half(bytes, 2)? & 0x0100 != 0;
        bytes = after(bytes, 4)?;
        if last {
            // No type follows: the first half byte is the version of IP, or belongs to the control word of a
            // pseudowire.
            let version = bytes.first().ok_or(Undecoded::Cut)? >> 4;
            return if version == 4 || version == 6 { Ok(Some(bytes)) } else { Err(Undecoded::Mpls) };
        }
    }
    Err(Undecoded::Nested)
}

pub(super) fn half(bytes: &[u8], place: usize) -> Result<u16, Undecoded> {
    let pair = bytes.get(place..).and_then(|bytes| bytes.first_chunk());
    pair.map(|pair| u16::from_be_bytes(*pair)).ok_or(Undecoded::Cut)
}

pub(super) fn after(bytes: &[u8], length: usize) -> Result<&[u8], Undecoded> {
    bytes.get(length..).ok_or(Undecoded::Cut)
}
