use crate::{Octets, PacketBuf};
use std::net::IpAddr;
use units::Instant;

/// The ECN field of an IP header (`rfc3168#section-5`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Ecn {
    /// Not ECN-capable.
    #[default]
    NotCapable = 0,
    /// ECT(1).
    Capable1 = 1,
    /// ECT(0).
    Capable0 = 2,
    /// Congestion experienced.
    CongestionExperienced = 3,
}

/// A packet that arrived.
#[derive(Clone, Copy, Debug)]
pub struct Datagram<'a> {
    /// Source address.
    pub src: IpAddr,
    /// Destination address: one of ours.
    pub dst: IpAddr,
    /// Source port of the UDP header that encapsulated it (`rfc6951`); 0: not encapsulated.
    pub udp_port: u16,
    /// The ECN field of its IP header.
    pub ecn: Ecn,
    /// When its sender sent it, by that one's clock, if the network tells that beside the packet, as a
    /// simulator can. Only used where one-way delays are reported.
    pub sent_at: Option<Instant>,
    /// The packet behind the IP header, or behind the UDP header that encapsulates it.
    pub bytes: Octets<'a>,
}

impl<'a> Datagram<'a> {
    /// A packet without encapsulation, ECN or the time when it was sent.
    #[inline]
    pub fn new(src: IpAddr, dst: IpAddr, bytes: Octets<'a>) -> Self {
        Datagram { src, dst, udp_port: 0, ecn: Ecn::NotCapable, sent_at: None, bytes }
    }
}

/// How to send a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// Source address: one of ours.
    pub src: IpAddr,
    /// Destination address.
    pub dst: IpAddr,
    /// Destination port of the UDP header that is to encapsulate it (`rfc6951`); 0: none.
    pub udp_port: u16,
    /// The ECN field for its IP header.
    pub ecn: Ecn,
    /// Routers may fragment it (DF off): it holds data that was cut for a larger path MTU.
    pub may_fragment: bool,
}

impl Transmit {
    /// A packet that is not encapsulated, not ECN-capable and must not be fragmented.
    #[inline]
    pub fn new(src: IpAddr, dst: IpAddr) -> Self {
        Transmit { src, dst, udp_port: 0, ecn: Ecn::NotCapable, may_fragment: false }
    }
}

/// The sans-IO seam: what a host of the simulator, or a driver with sockets, runs.
///
/// **Change once, then call [`poll_transmit`](Self::poll_transmit) and [`poll_event`](Self::poll_event) until
/// nothing is left, then sleep until [`poll_timeout`](Self::poll_timeout).** Time must not run backwards.
pub trait Endpoint {
    /// Names a connection or association.
    type Id: Copy;
    /// Something that happened to one.
    type Event;

    /// Takes a packet from the network. Whatever its bytes, it does no harm.
    fn handle(&mut self, now: Instant, datagram: Datagram<'_>);
    /// Writes the next packet into `buf` and says where it goes; none if there is nothing to send now.
    fn poll_transmit(&mut self, now: Instant, buf: &mut PacketBuf) -> Option<Transmit>;
    /// The next event; none if nothing happened.
    fn poll_event(&mut self) -> Option<(Self::Id, Self::Event)>;
    /// When to call [`handle_timeout`](Self::handle_timeout) if nothing happens before; none if never. It may
    /// be earlier than needed.
    fn poll_timeout(&self) -> Option<Instant>;
    /// Runs the timers that are due.
    fn handle_timeout(&mut self, now: Instant);
}

/// Implements [`Endpoint`](crate::Endpoint) for a type by its own methods of the same names and signatures.
#[macro_export]
macro_rules! endpoint_by_own_methods {
    ($type:ty, $id:ty, $event:ty) => {
        impl $crate::Endpoint for $type {
            type Id = $id;
            type Event = $event;

            #[inline]
            fn handle(&mut self, now: ::units::Instant, datagram: $crate::Datagram<'_>) {
                self.handle(now, datagram);
            }

            #[inline]
            fn poll_transmit(
                &mut self,
                now: ::units::Instant,
                buf: &mut $crate::PacketBuf,
            ) -> Option<$crate::Transmit> {
                self.poll_transmit(now, buf)
            }

            #[inline]
            fn poll_event(&mut self) -> Option<($id, $event)> {
                self.poll_event()
            }

            #[inline]
            fn poll_timeout(&self) -> Option<::units::Instant> {
                self.poll_timeout()
            }

            #[inline]
            fn handle_timeout(&mut self, now: ::units::Instant) {
                self.handle_timeout(now);
            }
        }
    };
}
