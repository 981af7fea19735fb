//! Observer of the packets of an endpoint.

use std::fmt::Debug;
use transport::{Datagram, Octets, Transmit};

/// Sees each packet between an endpoint and its sockets, such as to capture it
/// ([`Builder::tap`](crate::Builder::tap)). It runs in the driver's thread, so that the stack waits while it
/// works.
pub trait Tap: Debug + Send {
    /// Observes a packet that the endpoint passes to its sockets, which send it from this UDP port.
    fn sent(&mut self, route: &Transmit, udp_port: u16, packet: Octets<'_>);

    /// A datagram arrived at this UDP port. Without a guard it may be of anybody.
    fn received(&mut self, datagram: &Datagram<'_>, udp_port: u16);
}
