//! Observer of the packets of an endpoint.

use std::fmt::Debug;
use transport::{Datagram, Octets, Transmit};

/// Observes each packet between an endpoint and its sockets, for example to capture it
/// ([`Builder::tap`](crate::Builder::tap)). A tap runs in the driver's thread: the stack waits while the tap
/// works.
pub trait Tap: Debug + Send {
    /// Observes a packet that the endpoint passes to its sockets, which send it from this UDP port.
    fn sent(&mut self, route: &Transmit, udp_port: u16, packet: Octets<'_>);

    /// Observes a datagram that arrived at this UDP port. Without a guard, anybody may have sent the
    /// datagram.
    fn received(&mut self, datagram: &Datagram<'_>, udp_port: u16);
}
