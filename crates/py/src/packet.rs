//! Packets to send, and messages received, as Python sees them.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::net::IpAddr;
use transport::PacketBuf;

/// A packet to send, and what its IP and UDP headers must say.
#[pyclass(frozen, get_all, module = "anabranch.endpoint")]
pub struct Transmit {
    /// Source address: an address of the endpoint.
    source: IpAddr,
    /// Destination address.
    destination: IpAddr,
    /// Destination port of the UDP header that encapsulates the packet; 0: no UDP header.
    udp_port: u16,
    /// ECN field of the IP header, 0 to 3.
    ecn: u8,
    /// Whether routers may fragment the packet (DF off).
    may_fragment: bool,
    /// The SCTP packet.
    data: Py<PyBytes>,
}

impl Transmit {
    pub fn new(py: Python<'_>, way: &sctp::Transmit, packet: &PacketBuf) -> PyResult<Self> {
        let octets = packet.as_octets();
        let fill = |bytes: &mut [u8]| {
            bytes[..octets.head.len()].copy_from_slice(octets.head);
            Ok(())
        };
        Ok(Transmit {
            source: way.src,
            destination: way.dst,
            udp_port: way.udp_port,
            ecn: way.ecn as u8,
            may_fragment: way.may_fragment,
            data: PyBytes::new_with(py, octets.len(), fill)?.unbind(),
        })
    }
}

#[pymethods]
impl Transmit {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let Transmit { source, destination, udp_port, .. } = self;
        let udp = if *udp_port == 0 { String::new() } else { format!(" UDP port {udp_port}") };
        Ok(format!("<Transmit from {source} to {destination}{udp}: {} bytes>", self.data.bind(py).len()?))
    }
}

/// A message received, or the next part of one.
#[pyclass(frozen, get_all, module = "anabranch.endpoint")]
pub struct Received {
    /// The bytes.
    data: Py<PyBytes>,
    /// Number of the stream.
    stream: u16,
    /// Stream sequence number; 0 if unordered.
    ssn: u16,
    /// Number of the message among the ordered or among the unordered messages of its stream; 0 if unordered
    /// and not interleaved.
    mid: u32,
    /// TSN of the first fragment.
    tsn: u32,
    /// Payload protocol identifier as the peer set it.
    ppid: u32,
    /// Whether the message was sent outside the order of its stream.
    unordered: bool,
    /// Whether ``data`` ends the message; false: more of it can be read.
    end_of_record: bool,
    /// Whether the message ends here, incomplete, because the peer abandoned it after parts of it were read.
    aborted: bool,
}

impl Received {
    pub fn new(py: Python<'_>, message: &sctp::Received) -> Self {
        Received {
            data: PyBytes::new(py, &message.payload.to_bytes()).unbind(),
            stream: message.stream.0,
            ssn: message.ssn.0,
            mid: message.mid.0,
            tsn: message.tsn.0,
            ppid: message.ppid.0,
            unordered: message.unordered,
            end_of_record: message.end_of_record,
            aborted: message.aborted,
        }
    }
}

#[pymethods]
impl Received {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let part = if self.end_of_record { "" } else { " of an unfinished message" };
        Ok(format!("<Received on stream {}: {} bytes{part}>", self.stream, self.data.bind(py).len()?))
    }
}
