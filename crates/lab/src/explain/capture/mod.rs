//! What a capture of SCTP says: of any stack, raw or in UDP.
//!
//! Memory is bounded whatever a file holds: the numbers of associations, of their paths and of chunks that wait for an
//! acknowledgement have limits, beyond which packets are left out or the oldest chunks forgotten. So has what waits for packets
//! of earlier times.

mod associations;
mod in_order;
mod sending;

pub use sending::{DirectionReport, PathReport, Rtt};

use associations::Associations;
use in_order::InOrder;
use net::{CaptureError, CaptureReader, Frame, IpPacket, Protocol};
use sending::Seen;
use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead;
use std::net::IpAddr;
use transport::{Checksum, Octets};
use wire::{Chunk, CommonHeader, NrSack, Packet, Sack, crc32c};

/// What was found in a capture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CaptureReport {
    /// Packets in the file.
    pub frames: u64,
    /// Packets of SCTP, each counted at one interface only.
    pub sctp_packets: u64,
    /// Packets of SCTP that were left out because there are too many associations.
    pub left_out: u64,
    /// SACKs of which not all bytes were captured. They do not count.
    pub cut_sacks: u64,
    /// The file ends in the middle of a packet.
    pub truncated: bool,
    /// Each direction of an association in which data was sent, in the order of the first packets of the associations.
    pub directions: Vec<DirectionReport>,
}

/// The UDP port of SCTP (`rfc6951#section-5.1`).
const UDP_PORT: u16 = 9899;

/// Pairs of addresses, and UDP flows with SCTP at other ports, that are kept apart.
const MOST_ROUTES: usize = 4096;

/// Reads a capture to its end.
///
/// # Errors
/// [`CaptureError`], if it cannot be read.
pub fn read_capture(source: impl BufRead) -> Result<CaptureReport, CaptureError> {
    let mut packets = InOrder::new(CaptureReader::new(source)?);
    let mut seen = Conversations::default();
    packets.for_each(|frame| seen.take(frame))?;
    let Conversations { associations, mut report, .. } = seen;
    report.frames = packets.packets();
    report.truncated = packets.is_truncated();
    report.directions = associations.into_reports();
    Ok(report)
}

/// What was seen of a capture so far.
#[derive(Default)]
struct Conversations {
    finder: Finder,
    associations: Associations,
    report: CaptureReport,
}

impl Conversations {
    fn take(&mut self, frame: &Frame<'_>) {
        let Some(ip) = frame.ip() else { return };
        let Some(sctp) = self.finder.sctp(&ip) else { return };
        if !self.finder.is_first_sight(&ip, frame.interface) {
            return;
        }
        let Ok(packet) = Packet::parse(sctp, Checksum::Offloaded) else { return };
        self.report.sctp_packets += 1;
        self.report.cut_sacks += u64::from(ends_in_sack(sctp));
        let seen = Seen { at: frame.at, src: ip.src, dst: ip.dst, length: ip.length };
        self.report.left_out += u64::from(!self.associations.take(&seen, &packet));
    }
}

/// Finds the packets of SCTP among others.
#[derive(Default)]
struct Finder {
    /// UDP flows at other ports than that of SCTP, one of whose datagrams was a packet of SCTP.
    known: BTreeSet<(IpAddr, u16, IpAddr, u16)>,
    /// The interface at which packets between two addresses are looked at: a file may have several on their way.
    interfaces: BTreeMap<(IpAddr, IpAddr), u32>,
}

impl Finder {
    /// The packet of SCTP in an IP packet. What was not captured of it counts as zeros.
    fn sctp<'a>(&mut self, ip: &IpPacket<'a>) -> Option<Octets<'a>> {
        let octets = |bytes: &'a [u8], length: usize| Octets::new(bytes, length.saturating_sub(bytes.len()));
        if ip.protocol == Protocol::Sctp as u8 {
            return Some(octets(ip.payload, ip.payload_length));
        }
        let (&[s0, s1, d0, d1, l0, l1, _, _], bytes) = ip.payload.split_first_chunk()?;
        if ip.protocol != Protocol::Udp as u8 {
            return None;
        }
        let [source, destination, length] = [[s0, s1], [d0, d1], [l0, l1]].map(u16::from_be_bytes);
        let length = usize::from(length).checked_sub(8)?.min(ip.payload_length.saturating_sub(8));
        let packet = octets(&bytes[..bytes.len().min(length)], length);
        let flow = (ip.src, source, ip.dst, destination);
        let there = source == UDP_PORT || destination == UDP_PORT || self.known.contains(&flow);
        if there || !is_sctp(packet) || self.known.len() >= MOST_ROUTES {
            return there.then_some(packet);
        }
        self.known.insert(flow);
        self.known.insert((ip.dst, destination, ip.src, source));
        Some(packet)
    }

    /// True at the interface that was the first to show packets between these two addresses.
    fn is_first_sight(&mut self, ip: &IpPacket<'_>, interface: u32) -> bool {
        let between = (ip.src.min(ip.dst), ip.src.max(ip.dst));
        if self.interfaces.len() >= MOST_ROUTES && !self.interfaces.contains_key(&between) {
            return true;
        }
        *self.interfaces.entry(between).or_insert(interface) == interface
    }
}

/// True of a datagram whose checksum is that of SCTP.
fn is_sctp(packet: Octets<'_>) -> bool {
    const LEAST: usize = 16;
    let found = packet.head.get(8..12).and_then(|bytes| bytes.first_chunk::<4>());
    packet.zeros == 0
        && packet.len() >= LEAST
        && found.is_some_and(|&bytes| u32::from_le_bytes(bytes) == crc32c(packet))
}

/// True if only a part of a SACK was captured.
fn ends_in_sack(packet: Octets<'_>) -> bool {
    let mut rest = packet.head.get(CommonHeader::LEN..).unwrap_or_default();
    while let Some((&[kind, _, high, low], _)) = rest.split_first_chunk() {
        let length = usize::from(u16::from_be_bytes([high, low]));
        if length > rest.len() {
            return packet.zeros > 0 && [Sack::TYPE, NrSack::TYPE].contains(&kind);
        }
        rest = rest.get(length.max(4).next_multiple_of(4)..).unwrap_or_default();
    }
    false
}

/// True if a chunk is data, with its TSN and its number of user bytes.
fn data_of(chunk: &Chunk<'_>) -> Option<(wire::Tsn, usize)> {
    match chunk {
        Chunk::Data(data) => Some((data.tsn, data.payload.len())),
        Chunk::IData(data) => Some((data.tsn, data.payload.len())),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
