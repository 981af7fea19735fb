use crate::guard::{ChannelEnd, Guard, GuardError, Identity};
use crate::net::Sockets;
use sctp::Icmp;
use transport::{Channel, Datagram, Octets, Transmit};
use units::{ByteCount, Instant};

/// The guard (encryption layer) of an endpoint, with its buffers.
#[derive(Debug)]
pub(crate) struct Guarded {
    guard: Box<dyn Guard>,
    sealed: Vec<u8>,
    opened: Vec<u8>,
}

impl Guarded {
    pub(crate) fn new(guard: Box<dyn Guard>) -> Self {
        Guarded { guard, sealed: Vec::new(), opened: Vec::new() }
    }

    /// Protects a packet and passes it to the sockets.
    pub(super) fn seal(&mut self, now: Instant, route: &Transmit, packet: Octets<'_>, sockets: &mut Sockets) {
        self.sealed.clear();
        if self.guard.seal(now, route, packet, &mut self.sealed) {
            sockets.push(route, Octets::from(&self.sealed[..]));
        }
    }

    /// Passes the guard's own datagrams to the sockets.
    pub(super) fn transmit(&mut self, now: Instant, sockets: &mut Sockets) {
        self.sealed.clear();
        while let Some(route) = self.guard.poll_transmit(now, &mut self.sealed) {
            sockets.push(&route, Octets::from(&self.sealed[..]));
            self.sealed.clear();
        }
    }

    /// Opens a datagram, and returns the packet in it for the endpoint, if there is one.
    pub(super) fn open<'a>(&'a mut self, now: Instant, datagram: Datagram<'a>) -> Option<Datagram<'a>> {
        self.opened.clear();
        let channel = self.guard.open(now, &datagram, &mut self.opened)?;
        Some(Datagram { channel, bytes: Octets::from(&self.opened[..]), ..datagram })
    }

    /// The channel for a peer to connect to: it stands for one authenticated peer.
    pub(super) fn channel(&mut self, peer: Option<&Identity>) -> Result<Channel, GuardError> {
        self.guard.channel(peer)
    }

    /// The identity of the peer of an association.
    pub(super) fn identity(&self, channel: Channel) -> Option<Identity> {
        self.guard.identity(channel)
    }

    /// Returns the channel of the datagram that an ICMP message quotes, and the message
    /// for the SCTP endpoint. A reported MTU is reduced by the bytes that the guard adds.
    pub(super) fn quoted(&self, bytes: &[u8], what: Icmp) -> Option<(Channel, Icmp)> {
        let overhead = ByteCount::new(self.guard.overhead() as u64);
        let inner = match what {
            Icmp::PacketTooBig { mtu } => Icmp::PacketTooBig { mtu: mtu - overhead },
            other => other,
        };
        self.guard.quoted(bytes).map(|channel| (channel, inner))
    }

    /// The next channel (authenticated peer) that has ended, and why.
    pub(super) fn poll_end(&mut self) -> Option<(Channel, ChannelEnd)> {
        self.guard.poll_end()
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.guard.poll_timeout()
    }

    pub(super) fn run_timer(&mut self, now: Instant, sockets: &mut Sockets) {
        if self.deadline().is_some_and(|at| at <= now) {
            self.guard.handle_timeout(now);
            self.transmit(now, sockets);
        }
    }
}
