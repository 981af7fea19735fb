use std::net::IpAddr;
use transport::{Octets, PacketBuf};
use units::Instant;

/// What runs on a host of a [`crate::World`]: any SCTP, driven as ours is, packets in, packets out, time an argument.
pub trait Station {
    /// Takes a packet: an SCTP packet without its IP header.
    fn handle(&mut self, now: Instant, src: IpAddr, dst: IpAddr, packet: Octets<'_>);
    /// Writes the next packet to send, and says from where to where; none if there is none.
    fn poll_transmit(&mut self, now: Instant, packet: &mut PacketBuf) -> Option<(IpAddr, IpAddr)>;
    /// When [`Station::handle_timeout`] wants to be called.
    fn poll_timeout(&self) -> Option<Instant>;
    /// Time has come.
    fn handle_timeout(&mut self, now: Instant);
}

/// How a conversation ended, as one side sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With everything delivered.
    Graceful,
    /// By an ABORT that gives no cause. If the other side ended gracefully that is no failure: a packet overtaken by
    /// the last of its association is answered so (`rfc9260#section-8.4`), and may be all that is heard of the end if
    /// the SHUTDOWN COMPLETE is lost or late.
    Aborted,
    /// In any other way.
    Broken(String),
}

/// A station that has one association and talks over it.
pub trait Speaker: Station {
    /// Begins the handshake; the other side only listens.
    fn connect(&mut self, now: Instant);
    /// True from the end of the handshake on.
    fn is_connected(&self) -> bool;
    /// Sends a message; false if that cannot be now: the buffer is full, or the end has begun.
    fn send(&mut self, now: Instant, stream: u16, unordered: bool, message: &[u8]) -> bool;
    /// The next message that arrived, and its stream.
    fn receive(&mut self, now: Instant) -> Option<(u16, Vec<u8>)>;
    /// Begins the graceful end.
    fn shutdown(&mut self, now: Instant);
    /// How it ended, once it has.
    fn ending(&self) -> Option<Ending>;
}
