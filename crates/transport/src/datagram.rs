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

/// The number of an authenticated peer, given by an encryption layer between an endpoint and its sockets.
///
/// An association has one channel for its whole life, and gets no packet of another channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Channel(pub u32);

impl Channel {
    /// No authenticated peer: the channel of all packets without an encryption layer.
    pub const NONE: Channel = Channel(0);
}

/// A packet that arrived.
#[derive(Clone, Copy, Debug)]
pub struct Datagram<'a> {
    /// Source address.
    pub src: IpAddr,
    /// Destination address: a local address.
    pub dst: IpAddr,
    /// Source UDP port of the encapsulation (`rfc6951`); 0: not encapsulated.
    pub udp_port: u16,
    /// The ECN field of the IP header.
    pub ecn: Ecn,
    /// Send time by the sender's clock, if the network reports it beside the packet, as a simulator can. Used
    /// only to report one-way delays.
    pub sent_at: Option<Instant>,
    /// The peer that sent the packet, if an encryption layer authenticated the peer.
    pub channel: Channel,
    /// The packet after the IP header, or after the UDP header that encapsulates it.
    pub bytes: Octets<'a>,
}

impl<'a> Datagram<'a> {
    /// A packet without encapsulation, ECN, send time and encryption layer.
    #[inline]
    pub fn new(src: IpAddr, dst: IpAddr, bytes: Octets<'a>) -> Self {
        Datagram { src, dst, udp_port: 0, ecn: Ecn::NotCapable, sent_at: None, channel: Channel::NONE, bytes }
    }
}

/// Addressing and IP header fields of a packet to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// Source address: a local address.
    pub src: IpAddr,
    /// Destination address.
    pub dst: IpAddr,
    /// Destination UDP port of the encapsulation (`rfc6951`); 0: no encapsulation.
    pub udp_port: u16,
    /// The ECN field of the IP header.
    pub ecn: Ecn,
    /// Routers may fragment the packet (DF off), because its data was fragmented for a larger path MTU.
    pub may_fragment: bool,
    /// The peer for which the encryption layer protects the packet.
    pub channel: Channel,
}

impl Transmit {
    /// A packet without encapsulation, ECN and encryption layer, which must not be fragmented.
    #[inline]
    pub fn new(src: IpAddr, dst: IpAddr) -> Self {
        Transmit { src, dst, udp_port: 0, ecn: Ecn::NotCapable, may_fragment: false, channel: Channel::NONE }
    }
}

/// The sans-IO interface of a transport to a host of the simulator, or to a driver with sockets.
///
/// **After each call that changes the endpoint, call [`poll_transmit`](Self::poll_transmit) and
/// [`poll_event`](Self::poll_event) until nothing is left, then sleep until
/// [`poll_timeout`](Self::poll_timeout).** Time must not run backwards.
pub trait Endpoint {
    /// Identifies a connection or association.
    type Id: Copy;
    /// An event of a connection or association.
    type Event;

    /// Processes a packet from the network, which may hold any bytes.
    fn handle(&mut self, now: Instant, datagram: Datagram<'_>);
    /// Writes the next packet into `buf` and returns its addresses; `None` if there is nothing to send now.
    fn poll_transmit(&mut self, now: Instant, buf: &mut PacketBuf) -> Option<Transmit>;
    /// Returns the next event; `None` if there is none.
    fn poll_event(&mut self) -> Option<(Self::Id, Self::Event)>;
    /// Time of the next call of [`handle_timeout`](Self::handle_timeout) if nothing happens before; `None` if
    /// never. The time may be earlier than needed.
    fn poll_timeout(&self) -> Option<Instant>;
    /// Runs the expired timers.
    fn handle_timeout(&mut self, now: Instant);
}

/// Implements [`Endpoint`](crate::Endpoint) for a type through its own methods of the same names and
/// signatures.
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
