//! Captures of the packets at interfaces, in files that Wireshark and tshark read.

mod datagrams;
mod pcapng;
mod read;

use crate::address::AddressTable;
use crate::counters::DropCause;
use crate::ip::{Label, set_ecn, write_header};
use crate::packet::{Protocol, Stored};
use pcapng::{Direction, PcapNg};
use std::io::{self, Write};
use std::net::IpAddr;
use units::{ByteCount, Instant};

pub use datagrams::DatagramCapture;
pub use pcapng::Direction as CaptureDirection;
pub use read::{
    CaptureError, CaptureReader, Fragment, Fragments, Frame, IpPacket, Reassembled, Undecoded, is_capture,
};

/// Completes the IP payload of a captured packet in place.
///
/// For a stack with offloaded checksums, this function computes the checksum.
pub type FinishPacket = fn(protocol: Protocol, src: IpAddr, dst: IpAddr, payload: &mut [u8]);

/// Options of a capture.
#[derive(Clone, Copy, Debug, Default)]
pub struct CaptureOptions {
    /// Completes the IP payload of packets that are not corrupted.
    pub finish: Option<FinishPacket>,
    /// Maximum size of the file. The first packet that does not fit and all later packets are left out.
    pub limit: Option<ByteCount>,
}

/// An interface of a capture file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tap {
    pub capture: u16,
    pub interface: u32,
}

/// One capture file.
pub(crate) struct Capture {
    file: PcapNg<Box<dyn Write + Send>>,
    finish: Option<FinishPacket>,
    bytes: Vec<u8>,
}

impl std::fmt::Debug for Capture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Capture").finish_non_exhaustive()
    }
}

/// Event of a packet at an interface.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sighting {
    Sent,
    Received,
    Dropped(DropCause),
}

impl Capture {
    pub fn new(
        sink: Box<dyn Write + Send>,
        interfaces: &[&str],
        options: CaptureOptions,
    ) -> io::Result<Self> {
        let limit = options.limit.map_or(u64::MAX, ByteCount::get);
        let file = PcapNg::new(sink, interfaces, limit)?;
        Ok(Capture { file, finish: options.finish, bytes: Vec::new() })
    }

    /// Records a packet that has crossed `hops` links.
    pub fn record(
        &mut self,
        now: Instant,
        interface: u32,
        sighting: Sighting,
        addresses: &AddressTable,
        (packet, head): (&Stored, &[u8]),
        hops: u8,
    ) {
        if self.file.is_full() {
            return self.file.leave_out();
        }
        let (src, dst) = (addresses.address(packet.src), addresses.address(packet.dst));
        let payload = head.len() + packet.zeros as usize;
        self.bytes.clear();
        let label = Label { src, dst, protocol: packet.protocol, ecn: packet.ecn };
        let whole = packet.protocol == Protocol::Opaque;
        if !whole {
            write_header(&mut self.bytes, label, payload, hops);
        }
        let header = self.bytes.len();
        self.bytes.extend_from_slice(head);
        self.bytes.resize(header + payload, 0);
        if whole {
            set_ecn(&mut self.bytes, packet.ecn);
        }
        // The checksum of a corrupted packet must stay wrong.
        if let Some(finish) = self.finish
            && !packet.corrupted
        {
            finish(packet.protocol, src, dst, &mut self.bytes[header..]);
        }
        let (direction, comment) = match sighting {
            Sighting::Sent => (Direction::Outbound, None),
            Sighting::Received => (Direction::Inbound, None),
            Sighting::Dropped(cause) => (Direction::Outbound, Some(format!("dropped: {cause}"))),
        };
        self.file.packet(now, interface, direction, &self.bytes, comment.as_deref());
    }

    /// Writes out the buffer, and returns the number of packets that were left out.
    pub fn finish(self) -> io::Result<u64> {
        self.file.finish()
    }
}
