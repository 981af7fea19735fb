//! Reads capture files of any program: pcapng and classic pcap.
//!
//! Files may be hostile: a packet takes at most [`MOST_BYTES`], an interface of a section costs a few bytes
//! for each of its own in the file, and whatever else a file claims is only skipped.

mod fragments;
mod ip;
mod link;
mod pcap;
mod pcapng;

pub use fragments::{Fragments, Reassembled};
pub use ip::{Fragment, IpPacket};

use std::io::{self, BufRead, Read as _};
use units::Instant;

/// Most bytes of a packet that are read; more than any interface captures.
const MOST_BYTES: u32 = 1 << 18;

/// Why a capture cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file does not begin as pcapng or pcap files do.
    #[error("not a capture: expected pcapng or pcap")]
    NotACapture,
    /// The file breaks the rules of its format.
    #[error("damaged capture: {0}")]
    Damaged(&'static str),
}

/// A captured packet with the headers of its link.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// When, since 1970.
    pub at: Instant,
    /// The interface, from 0 in the order of the file.
    pub interface: u32,
    /// The type of its link (LINKTYPE_ of the tcpdump group).
    pub link_type: u16,
    /// The bytes that were captured.
    pub bytes: &'a [u8],
    /// The bytes that the packet had.
    pub length: u32,
}

impl<'a> Frame<'a> {
    /// The innermost IP packet in it, or a fragment of one; none in a frame of a protocol beside IP, such as
    /// ARP.
    ///
    /// # Errors
    /// [`Undecoded`], if there may be one that cannot be found.
    pub fn ip(&self) -> Result<Option<IpPacket<'a>>, Undecoded> {
        ip::of_frame(self)
    }

    /// Tells frames that were captured at different places: of one packet, each place may have one.
    pub fn sight(&self) -> (u32, u64) {
        (self.interface, link::sight(self))
    }
}

/// Why the IP packet of a frame was not found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Undecoded {
    /// The link type (LINKTYPE_ of the tcpdump group) is not known.
    LinkType(u16),
    /// The EtherType, which GRE has as well, is not known.
    EtherType(u16),
    /// The protocol of PPP is not known.
    Ppp(u16),
    /// The labels of MPLS are followed by something else than IP.
    Mpls,
    /// The payload is encrypted (ESP).
    Encrypted,
    /// The frame was cut within its headers.
    Cut,
    /// A header breaks the rules of its protocol.
    Malformed,
    /// There are too many headers within each other.
    Nested,
}

impl std::fmt::Display for Undecoded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Undecoded::LinkType(kind) => write!(f, "link type {kind}, which is not supported"),
            Undecoded::EtherType(kind) => write!(f, "EtherType 0x{kind:04x}, which is not supported"),
            Undecoded::Ppp(kind) => write!(f, "PPP protocol 0x{kind:04x}, which is not supported"),
            Undecoded::Mpls => f.write_str("MPLS without IP behind the labels"),
            Undecoded::Encrypted => f.write_str("ESP, which is encrypted"),
            Undecoded::Cut => f.write_str("cut within the headers below SCTP"),
            Undecoded::Malformed => f.write_str("malformed headers below SCTP"),
            Undecoded::Nested => f.write_str("too many headers within each other"),
        }
    }
}

/// What the packet at hand is, without its bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Head {
    at: Instant,
    interface: u32,
    link_type: u16,
    length: u32,
}

/// A capture that is being read.
#[derive(Debug)]
pub struct CaptureReader<R> {
    source: R,
    format: Format,
    bytes: Vec<u8>,
    truncated: bool,
}

#[derive(Debug)]
enum Format {
    Pcap(pcap::Pcap),
    PcapNg(pcapng::PcapNg),
}

/// True if a file that begins so is a capture.
pub fn is_capture(first: [u8; 4]) -> bool {
    first == pcapng::MAGIC || pcap::Pcap::order(first).is_some()
}

impl<R: BufRead> CaptureReader<R> {
    /// Reads the beginning of a capture.
    ///
    /// # Errors
    /// [`CaptureError`], if it is none.
    pub fn new(mut source: R) -> Result<Self, CaptureError> {
        let mut first = [0; 4];
        if !fill(&mut source, &mut first)? {
            return Err(CaptureError::NotACapture);
        }
        let format = if first == pcapng::MAGIC {
            Format::PcapNg(pcapng::PcapNg::new(&mut source)?)
        } else {
            Format::Pcap(pcap::Pcap::new(first, &mut source)?)
        };
        Ok(CaptureReader { source, format, bytes: Vec::new(), truncated: false })
    }

    /// The next packet; none at the end, also at that of a file which ends in the middle of a packet.
    ///
    /// # Errors
    /// [`CaptureError`]; what follows cannot be found then.
    pub fn next_frame(&mut self) -> Result<Option<Frame<'_>>, CaptureError> {
        let CaptureReader { source, format, bytes, truncated } = self;
        let read = match format {
            Format::Pcap(pcap) => pcap.next(source, bytes),
            Format::PcapNg(pcapng) => pcapng.next(source, bytes),
        };
        match read {
            Ok(Next::Packet(head)) => {
                let Head { at, interface, link_type, length } = head;
                Ok(Some(Frame { at, interface, link_type, bytes, length }))
            }
            Ok(Next::End) => Ok(None),
            Ok(Next::Cut) => {
                *truncated = true;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// True if the file ended in the middle of a packet.
    pub fn is_truncated(&self) -> bool {
        self.truncated
    }
}

/// What follows in a file.
enum Next {
    Packet(Head),
    End,
    /// The file ends in the middle of a block or a packet.
    Cut,
}

/// Fills `bytes`; false if the file ends before.
fn fill(source: &mut impl BufRead, bytes: &mut [u8]) -> io::Result<bool> {
    match source.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// Reads `length` bytes in place of what `bytes` held; false if the file ends before. Allocates no more than
/// there is.
fn read(source: &mut impl BufRead, length: u32, bytes: &mut Vec<u8>) -> Result<bool, CaptureError> {
    if length > MOST_BYTES {
        return Err(CaptureError::Damaged("a packet of more than 256 KiB"));
    }
    bytes.clear();
    io::Read::take(source, u64::from(length)).read_to_end(bytes)?;
    Ok(bytes.len() == length as usize)
}

/// Skips bytes; false if the file ends before.
fn skip(source: &mut impl BufRead, length: u64) -> io::Result<bool> {
    Ok(io::copy(&mut io::Read::take(source, length), &mut io::sink())? == length)
}

/// The order of the bytes of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Little,
    Big,
}

impl Order {
    fn u16(self, bytes: [u8; 2]) -> u16 {
        if self == Order::Little { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) }
    }

    fn u32(self, bytes: [u8; 4]) -> u32 {
        if self == Order::Little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) }
    }
}

#[cfg(test)]
mod tests;
