//! Reads capture files of any program: pcapng and classic pcap.
//!
//! Files may be hostile. A packet takes at most [`MOST_BYTES`] of memory, and an interface takes a few bytes
//! for each of its bytes in the file. All other data of a file is only skipped.

mod fragments;
mod ip;
mod link;
mod pcap;
mod pcapng;

pub use fragments::{Fragments, Reassembled};
pub use ip::{Fragment, IpPacket};

use std::io::{self, BufRead, Read as _};
use units::Instant;

/// Maximum number of bytes of a packet that are read; no interface captures more.
const MOST_BYTES: u32 = 1 << 18;

/// Error: why a capture cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file does not begin like a pcapng or pcap file.
    #[error("not a capture: expected pcapng or pcap")]
    NotACapture,
    /// The file breaks the rules of its format.
    #[error("damaged capture: {0}")]
    Damaged(&'static str),
}

/// A captured packet with the headers of its link.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Time of capture since 1970.
    pub at: Instant,
    /// The number of the interface, from 0 in the order of the file.
    pub interface: u32,
    /// The type of the link (LINKTYPE_ of the tcpdump group).
    pub link_type: u16,
    /// The captured bytes.
    pub bytes: &'a [u8],
    /// Length of the packet in bytes, captured or not.
    pub length: u32,
}

impl<'a> Frame<'a> {
    /// The innermost IP packet in this frame, or a fragment of a packet; `None` if the protocol of the frame
    /// is not IP (for example ARP).
    ///
    /// # Errors
    /// [`Undecoded`] if the frame may hold an IP packet that cannot be found.
    pub fn ip(&self) -> Result<Option<IpPacket<'a>>, Undecoded> {
        ip::of_frame(self)
    }

    /// Identifies the place of capture: a file may hold the same packet once for each place.
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
    /// After the labels of MPLS there is no IP packet.
    Mpls,
    /// The payload is encrypted (ESP).
    Encrypted,
    /// The frame was cut within its headers.
    Cut,
    /// A header breaks the rules of its protocol.
    Malformed,
    /// The frame has too many nested headers.
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

/// Data of the current packet, without its bytes.
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

/// True if a file that begins with these bytes is a capture.
pub fn is_capture(first: [u8; 4]) -> bool {
    first == pcapng::MAGIC || pcap::Pcap::order(first).is_some()
}

impl<R: BufRead> CaptureReader<R> {
    /// Reads the beginning of a capture.
    ///
    /// # Errors
    /// [`CaptureError`] if the file is not a capture.
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

    /// The next packet; `None` at the end of the file, also if the file ends in the middle of a packet.
    ///
    /// # Errors
    /// [`CaptureError`]; then the rest of the file cannot be read.
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

/// Result of the search for the next packet in a file.
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

/// Replaces the contents of `bytes` by the next `length` bytes; false if the file ends before. Allocates no
/// more memory than the file has bytes.
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

/// The byte order of numbers.
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
