//! Observer of the packets of an endpoint.

use std::fmt::Debug;
use transport::{Datagram, Octets, Transmit};

/// Observes each packet between an endpoint and its sockets, for example to capture it. It runs in the
/// driver's thread, so the stack waits for it.
pub trait Tap: Debug + Send {
    /// Observes a packet that the endpoint passes to its sockets, which send it from this UDP port.
    fn sent(&mut self, route: &Transmit, udp_port: u16, packet: Octets<'_>);

    /// Observes a datagram that arrived at this UDP port, from any sender.
    fn received(&mut self, datagram: &Datagram<'_>, udp_port: u16);
}
