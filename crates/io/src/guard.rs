//! Guard between an endpoint and its sockets, which may change or drop packets.

use std::fmt::Debug;
use transport::{Datagram, Octets, Transmit};
use units::Instant;

/// Protects datagrams between the endpoint and its sockets, such as by encryption
/// ([`Builder::guard`](crate::Builder::guard)). A guard does no input or output, and reads no clock.
///
/// After each other call, the driver calls [`poll_transmit`](Self::poll_transmit) until it returns `None`.
pub trait Guard: Debug + Send {
    /// Bytes that the guard adds to each packet.
    fn overhead(&self) -> usize;

    /// Protects a packet of the endpoint: writes the datagram to `out`, which is empty. Returns false if
    /// there is no datagram to send now; the guard may keep the packet for
    /// [`poll_transmit`](Self::poll_transmit).
    fn seal(&mut self, now: Instant, route: &Transmit, packet: Octets<'_>, out: &mut Vec<u8>) -> bool;

    /// Opens a datagram from the network: writes the packet to `out`, which is empty. Returns false if there
    /// is no packet for the endpoint: the datagram is not authentic, or is for the guard itself. Must accept
    /// any bytes.
    fn open(&mut self, now: Instant, datagram: &Datagram<'_>, out: &mut Vec<u8>) -> bool;

    /// Writes the next datagram of the guard itself to `out`, which is empty, and returns its route; `None`
    /// if there is nothing to send.
    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit>;

    /// Time of the next call of [`handle_timeout`](Self::handle_timeout); `None` if no timer runs.
    fn poll_timeout(&self) -> Option<Instant>;

    /// Runs the expired timers.
    fn handle_timeout(&mut self, now: Instant);
}
