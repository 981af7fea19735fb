use super::pcapng::{Direction, PcapNg};
use crate::ip::{Label, write_header};
use crate::packet::Protocol;
use std::fmt;
use std::io::{self, Write};
use std::net::SocketAddr;
use transport::{Ecn, Octets, internet_checksum};
use units::{ByteCount, Instant};

/// Bytes of a UDP header.
const UDP_HEADER: usize = 8;

/// A capture of the SCTP packets of real sockets at one interface, in UDP or directly in IP.
///
/// A socket reports only the addresses, ports, ECN and payload of a datagram. The writer invents the other
/// header fields: a time to live of 64, no fragmentation.
pub struct DatagramCapture<W: Write> {
    file: PcapNg<W>,
    bytes: Vec<u8>,
    complete: Option<fn(&mut [u8])>,
}

impl<W: Write> fmt::Debug for DatagramCapture<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DatagramCapture").finish_non_exhaustive()
    }
}

impl<W: Write> DatagramCapture<W> {
    /// Begins a file of at most `limit` bytes. The first datagram that does not fit and all later datagrams
    /// are left out.
    ///
    /// # Errors
    /// Errors of `sink`.
    pub fn new(sink: W, interface: &str, limit: ByteCount) -> io::Result<Self> {
        let file = PcapNg::new(sink, &[interface], limit.get())?;
        Ok(DatagramCapture { file, bytes: Vec::new(), complete: None })
    }

    /// Completes the payload of each datagram in place with this function, such as a checksum that the stack
    /// leaves out.
    #[must_use]
    pub fn completed_by(self, complete: fn(&mut [u8])) -> Self {
        DatagramCapture { complete: Some(complete), ..self }
    }

    /// Records a packet in UDP, or directly in IP if a port is 0; `at` is the time since 1970.
    pub fn record(
        &mut self,
        at: Instant,
        direction: Direction,
        [src, dst]: [SocketAddr; 2],
        ecn: Ecn,
        payload: Octets<'_>,
    ) {
        if self.file.is_full() {
            return self.file.leave_out();
        }
        self.bytes.clear();
        // The sockets of crate `io` report SCTP directly in IP with a UDP port of 0.
        let in_udp = src.port() != 0 && dst.port() != 0;
        let (protocol, offset) = if in_udp { (Protocol::Udp, UDP_HEADER) } else { (Protocol::Sctp, 0) };
        let length = offset + payload.len();
        write_header(&mut self.bytes, Label { src: src.ip(), dst: dst.ip(), protocol, ecn }, length, 0);
        let header = self.bytes.len();
        if in_udp {
            for half in [src.port(), dst.port(), u16::try_from(length).unwrap_or(u16::MAX), 0] {
                self.bytes.extend(half.to_be_bytes());
            }
        }
        self.bytes.extend_from_slice(payload.head);
        self.bytes.resize(header + length, 0);
        if let Some(complete) = self.complete {
            complete(&mut self.bytes[header + offset..]);
        }
        if in_udp {
            let datagram = Octets::from(&self.bytes[header..]);
            let sum = match internet_checksum(Protocol::Udp as u8, src.ip(), dst.ip(), datagram) {
                0 => u16::MAX,
                sum => sum,
            };
            self.bytes[header + 6..header + UDP_HEADER].copy_from_slice(&sum.to_be_bytes());
        }
        self.file.packet(at, 0, direction, &self.bytes, None);
    }

    /// Writes out the buffer, and returns the number of datagrams that were left out.
    ///
    /// # Errors
    /// The first error of the sink.
    pub fn finish(self) -> io::Result<u64> {
        self.file.finish()
    }
}
