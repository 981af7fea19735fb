//! SCTP packets in UDP (`rfc6951`), as hosts send them: the UDP header precedes the SCTP packet.

use super::datagram;
use net::{Packet, Protocol};
use transport::{Datagram, PacketBuf};

/// The UDP port of both ends. A NAT may change the source port.
pub(crate) const PORT: u16 = ::sctp::Encapsulation::PORT;

/// Bytes of the UDP header.
pub(crate) const HEADER: usize = 8;

/// Prepends a UDP header without checksum. [`unwrap`] drops packets with a bit error.
pub(super) fn wrap(packet: &mut PacketBuf, udp_port: u16) {
    let length = (HEADER + packet.head.len() + packet.zeros) as u16;
    let fields = [PORT, udp_port, length, 0].map(u16::to_be_bytes);
    packet.head.splice(0..0, fields.into_iter().flatten());
}

/// The SCTP packet in a UDP datagram; `None` if the datagram is not for [`PORT`], or is corrupted, as the UDP
/// checksum would show.
pub(super) fn unwrap<'a>(packet: &Packet<'a>) -> Option<Datagram<'a>> {
    let (header, head) = packet.head.split_first_chunk::<HEADER>()?;
    let [s0, s1, d0, d1, ..] = *header;
    if packet.protocol != Protocol::Udp || u16::from_be_bytes([d0, d1]) != PORT || packet.corrupted {
        return None;
    }
    let udp_port = u16::from_be_bytes([s0, s1]);
    Some(Datagram { udp_port, ..datagram(&Packet { head, ..*packet }) })
}
