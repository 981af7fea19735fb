use std::net::IpAddr;
use transport::{Octets, PacketBuf};
use units::Instant;

/// A transport stack on a host of a [`World`](crate::World). Its interface does no I/O.
pub trait Station {
    /// Processes an arriving SCTP packet, without its IP header.
    fn handle(&mut self, now: Instant, src: IpAddr, dst: IpAddr, packet: Octets<'_>);
    /// Writes the next packet to send into `packet` and returns the source and destination addresses; `None`
    /// if no packet is ready.
    fn poll_transmit(&mut self, now: Instant, packet: &mut PacketBuf) -> Option<(IpAddr, IpAddr)>;
    /// The time at which [`Station::handle_timeout`] must be called.
    fn poll_timeout(&self) -> Option<Instant>;
    /// Processes the timers that have expired.
    fn handle_timeout(&mut self, now: Instant);
}

/// The end of an association, as one side sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// By SHUTDOWN, with all data delivered.
    Graceful,
    /// By an ABORT without a cause. This is no failure if the other side ended gracefully: an ABORT answers a
    /// packet that arrives after the association has ended (`rfc9260#section-8.4`), and may arrive in place
    /// of a lost or delayed SHUTDOWN COMPLETE.
    Aborted,
    /// The association ended in another way, which the text describes.
    Broken(String),
}

/// A station that exchanges messages over one association.
pub trait Speaker: Station {
    /// Starts the handshake. The other side listens.
    fn connect(&mut self, now: Instant);
    /// True after the handshake has been completed.
    fn is_connected(&self) -> bool;
    /// Sends a message. Returns false if the message is not accepted, because the send buffer is full or the
    /// shutdown has begun.
    fn send(&mut self, now: Instant, stream: u16, unordered: bool, message: &[u8]) -> bool;
    /// Returns the stream and the bytes of the next received message.
    fn receive(&mut self, now: Instant) -> Option<(u16, Vec<u8>)>;
    /// Begins a graceful shutdown.
    fn shutdown(&mut self, now: Instant);
    /// How the association ended; `None` if it has not ended.
    fn ending(&self) -> Option<Ending>;
}
