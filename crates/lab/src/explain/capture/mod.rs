//! Reads captures of SCTP of any implementation, directly over IP or in UDP.
//!
//! Memory is bounded for every file: the numbers of associations, of their paths and of unacknowledged chunks
//! have limits. Beyond a limit, packets are left out or the oldest chunks are dropped. The buffer for sorting
//! has a limit, too.

mod associations;
mod in_order;
mod life;
mod missed;
mod sending;
mod sightings;
mod verdict;

pub use life::{AssociationReport, End, Handshake};
pub use missed::{Missed, NotDecoded};
pub use sending::{DirectionReport, PathReport, Rtt};
pub use verdict::Verdict;

use associations::Associations;
use in_order::InOrder;
use net::{CaptureError, CaptureReader, Fragments, Frame, IpPacket, Protocol};
use sending::Seen;
use sightings::Sightings;
use std::collections::BTreeSet;
use std::io::BufRead;
use std::net::IpAddr;
use transport::{Checksum, Octets};
use wire::{Chunk, CommonHeader, NrSack, Packet, Sack, crc32c};

/// Findings in a capture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CaptureReport {
    /// Packets in the file.
    pub frames: u64,
    /// SCTP packets, each counted once.
    pub sctp_packets: u64,
    /// Everything that was not decoded, by reason.
    pub not_decoded: NotDecoded,
    /// True if the file ends in the middle of a packet.
    pub truncated: bool,
    /// All associations, in the order of their first packets.
    pub associations: Vec<AssociationReport>,
    /// All directions of associations in which data was sent, in the order of the first packets of the
    /// associations.
    pub directions: Vec<DirectionReport>,
}

/// The UDP port of SCTP (`rfc6951#section-5.1`).
const UDP_PORT: u16 = 9899;

/// Largest number of entries of [`Finder::known`]: two for each UDP flow that carries SCTP at ports other
/// than 9899.
const MOST_ROUTES: usize = 4096;

/// Reads a capture to its end.
///
/// # Errors
/// [`CaptureError`], if it cannot be read.
pub fn read_capture(source: impl BufRead) -> Result<CaptureReport, CaptureError> {
    let mut packets = InOrder::new(CaptureReader::new(source)?);
    let mut seen = Conversations::default();
    packets.for_each(&mut seen, Conversations::read, Conversations::take)?;
    let Conversations { associations, mut report, fragments, .. } = seen;
    report.not_decoded.add(Missed::Fragment, fragments.left_over());
    report.frames = packets.packets();
    report.truncated = packets.is_truncated();
    (report.associations, report.directions) = associations.into_reports();
    Ok(report)
}

/// State of reading a capture.
#[derive(Default)]
struct Conversations {
    finder: Finder,
    sightings: Sightings,
    fragments: Fragments,
    associations: Associations,
    report: CaptureReport,
}

/// True if an IP packet may contain SCTP.
fn may_be_sctp(ip: &IpPacket<'_>) -> bool {
    [Protocol::Sctp as u8, Protocol::Udp as u8].contains(&ip.protocol) || ip.fragment.is_some()
}

impl Conversations {
    fn read(&mut self, frame: &Frame<'_>) {
        if let Ok(Some(ip)) = frame.ip()
            && may_be_sctp(&ip)
        {
            self.sightings.read(frame, &ip);
        }
    }

    fn take(&mut self, frame: &Frame<'_>) {
        match frame.ip() {
            Err(why) => self.report.not_decoded.add(Missed::Packet(why), 1),
            Ok(Some(ip)) if ip.fragment.is_some() => self.take_fragment(frame, &ip),
            Ok(Some(ip)) if may_be_sctp(&ip) => self.take_packet(frame, &ip, |seen| seen.is_new(frame, &ip)),
            Ok(_) => {}
        }
    }

    fn take_fragment(&mut self, frame: &Frame<'_>, ip: &IpPacket<'_>) {
        if !self.sightings.is_new(frame, ip) {
            let is_sctp = ip.protocol == Protocol::Sctp as u8;
            return self.report.not_decoded.add(Missed::SeenAgain, is_sctp.into());
        }
        let Some(whole) = self.fragments.take(ip) else { return };
        match whole.ip() {
            Err(why) => self.report.not_decoded.add(Missed::Packet(why), 1),
            Ok(Some(ip)) => self.take_packet(frame, &ip, |_| true),
            Ok(None) => {}
        }
    }

    fn take_packet(
        &mut self,
        frame: &Frame<'_>,
        ip: &IpPacket<'_>,
        is_new: impl FnOnce(&mut Sightings) -> bool,
    ) {
        let Some(sctp) = self.finder.sctp(ip) else { return };
        let missed = &mut self.report.not_decoded;
        if !is_new(&mut self.sightings) {
            return missed.add(Missed::SeenAgain, 1);
        }
        self.report.sctp_packets += 1;
        let Ok(packet) = Packet::parse(sctp, Checksum::Offloaded) else {
            return missed.add(Missed::Header, 1);
        };
        for why in cut_or_wrong(sctp, &packet) {
            missed.add(why, 1);
        }
        let seen = Seen { at: frame.at, src: ip.src, dst: ip.dst, length: ip.length };
        let taken = self.associations.take(&seen, &packet);
        missed.add(Missed::Association, (!taken).into());
    }
}

/// Finds the packets of SCTP among others.
#[derive(Default)]
struct Finder {
    /// UDP flows that do not use the UDP port of SCTP, but in which a datagram contained a valid SCTP packet.
    known: BTreeSet<(IpAddr, u16, IpAddr, u16)>,
}

impl Finder {
    /// The SCTP packet in an IP packet. Bytes that were not captured count as zeros.
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
}

/// True if the datagram has a valid SCTP checksum.
fn is_sctp(packet: Octets<'_>) -> bool {
    const LEAST: usize = 16;
    let found = packet.head.get(8..12).and_then(|bytes| bytes.first_chunk::<4>());
    packet.zeros == 0
        && packet.len() >= LEAST
        && found.is_some_and(|&bytes| u32::from_le_bytes(bytes) == crc32c(packet))
}

/// Reasons why parts of a packet were not decoded.
fn cut_or_wrong(octets: Octets<'_>, packet: &Packet<'_>) -> impl Iterator<Item = Missed> {
    let mut found = [None; 2];
    let mut rest = octets.head.get(CommonHeader::LEN..).unwrap_or_default();
    let mut behind = octets.len().saturating_sub(CommonHeader::LEN);
    let mut is_cut = false;
    while let Some((&[kind, _, high, low], _)) = rest.split_first_chunk() {
        let length = usize::from(u16::from_be_bytes([high, low]));
        is_cut = length > rest.len() && octets.zeros > 0;
        if is_cut && [Sack::TYPE, NrSack::TYPE].contains(&kind) {
            found[0] = Some(Missed::CutSack);
        }
        let taken = length.max(4).next_multiple_of(4);
        behind = behind.saturating_sub(taken);
        rest = rest.get(taken..).unwrap_or_default();
    }
    if octets.zeros > 0 && behind >= 4 {
        found[1] = Some(Missed::CutPacket);
    } else if !is_cut && packet.chunks().any(|chunk| chunk.is_err()) {
        found[1] = Some(Missed::Chunk);
    }
    found.into_iter().flatten()
}

/// TSN and number of user bytes of a chunk, if it is a DATA or I-DATA chunk.
fn data_of(chunk: &Chunk<'_>) -> Option<(wire::Tsn, usize)> {
    match chunk {
        Chunk::Data(data) => Some((data.tsn, data.payload.len())),
        Chunk::IData(data) => Some((data.tsn, data.payload.len())),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
