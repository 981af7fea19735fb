use crate::tap::Tap;
use transport::{Datagram, Octets, Transmit};

/// The tap of an endpoint (it sees each packet), with the UDP port of the sockets.
#[derive(Debug)]
pub(crate) struct Tapped {
    tap: Box<dyn Tap>,
    udp_port: u16,
}

impl Tapped {
    pub(crate) fn new(tap: Box<dyn Tap>, udp_port: u16) -> Self {
        Tapped { tap, udp_port }
    }

    pub(super) fn sent(&mut self, route: &Transmit, packet: Octets<'_>) {
        self.tap.sent(route, self.udp_port, packet);
    }

    pub(super) fn received(&mut self, datagram: &Datagram<'_>) {
        self.tap.received(datagram, self.udp_port);
    }
}
