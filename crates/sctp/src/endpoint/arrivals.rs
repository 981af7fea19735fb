//! Associations that peers have requested and that the user has not accepted or refused yet.

use crate::assoc::Cookie;
use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use transport::{Channel, Datagram};
use units::Instant;

/// The peers that may start associations with an endpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "users choose one")]
pub enum Listen {
    /// No peer: each INIT is answered with an ABORT.
    #[default]
    Off,
    /// All peers.
    Accept,
    /// The peers that the user accepts: see [`Endpoint::poll_arrival`](crate::Endpoint::poll_arrival).
    Ask {
        /// Largest number of arrivals that wait for a decision. Each keeps its packet, at most 9000 bytes.
        /// Further COOKIE ECHO chunks are not answered, and their peers retransmit them.
        waiting: usize,
    },
}

impl From<bool> for Listen {
    fn from(accept: bool) -> Self {
        if accept { Listen::Accept } else { Listen::Off }
    }
}

/// Identifies an [`Arrival`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArrivalId(pub u32);

/// A peer that has proved its address and requests an association.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Arrival {
    /// Identifier for [`accept`](crate::Endpoint::accept) and [`refuse`](crate::Endpoint::refuse).
    pub id: ArrivalId,
    /// Addresses of the peer: first the source of its packets, then the listed addresses.
    pub peer_addresses: Vec<IpAddr>,
    /// SCTP port of the peer.
    pub peer_port: u16,
    /// UDP port of the peer; 0 if it is not encapsulated.
    pub udp_port: u16,
    /// Local address to which the peer sent its packets.
    pub local_address: IpAddr,
    /// Channel of the peer's packets: the number of a peer that an encryption layer has authenticated.
    pub channel: Channel,
    /// Number of our outbound streams.
    pub outbound_streams: u16,
    /// Number of the peer's outbound streams.
    pub inbound_streams: u16,
}

/// Arrivals that wait for the user's decision, by our tag in the cookie that the peer has echoed.
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    waiting: BTreeMap<u32, Waiting>,
    /// Arrivals not yet reported to the user.
    untold: VecDeque<u32>,
    /// Before this time none of the cookies that waited at the last check is stale.
    fresh_until: Instant,
}

/// Largest packet, in bytes, that is kept whole until the user decides: a jumbo frame. It bounds the memory
/// that peers take before the user has accepted them. From a longer packet only the cookie is used; the peer
/// retransmits the data behind it.
const KEPT: usize = 9_000;

/// The cookie that a peer echoed, and the packet with the cookie: DATA chunks may follow it
/// (`rfc9260#section-5.1`).
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) cookie: Cookie,
    src: IpAddr,
    dst: IpAddr,
    udp_port: u16,
    packet: Vec<u8>,
}

impl Waiting {
    /// The packet that brought the cookie; without its bytes if it was longer than [`KEPT`].
    pub(super) fn datagram(&self) -> Datagram<'_> {
        let (udp_port, channel) = (self.udp_port, self.cookie.channel);
        Datagram { udp_port, channel, ..Datagram::new(self.src, self.dst, self.packet[..].into()) }
    }
}

impl Arrivals {
    pub(super) fn contains(&self, tag: u32) -> bool {
        self.waiting.contains_key(&tag)
    }

    /// The channel of an arrival: the number of an authenticated peer.
    pub(super) fn channel(&self, id: ArrivalId) -> Option<Channel> {
        self.waiting.get(&id.0).map(|waiting| waiting.cookie.channel)
    }

    /// Stores a cookie until the user decides; false if `limit` cookies that are not stale wait already.
    pub(super) fn push(
        &mut self,
        now: Instant,
        cookie: Cookie,
        datagram: &Datagram<'_>,
        limit: usize,
    ) -> bool {
        if self.waiting.len() >= limit && now > self.fresh_until {
            self.waiting.retain(|_, waiting| waiting.cookie.staleness(now).is_none());
            self.untold.retain(|tag| self.waiting.contains_key(tag));
            let expiries = self.waiting.values().map(|waiting| waiting.cookie.expires);
            self.fresh_until = expiries.min().unwrap_or(Instant::ZERO);
        }
        if self.waiting.len() >= limit {
            return false;
        }
        let tag = cookie.local_tag;
        let &Datagram { src, dst, udp_port, bytes, .. } = datagram;
        let packet = if bytes.len() <= KEPT { bytes.to_vec() } else { Vec::new() };
        self.waiting.insert(tag, Waiting { cookie, src, dst, udp_port, packet });
        self.untold.push_back(tag);
        true
    }

    /// The next arrival that was not reported to the user.
    pub(super) fn next(&mut self) -> Option<Arrival> {
        let tag = self.untold.pop_front()?;
        let Waiting { cookie, src, dst, udp_port, .. } = self.waiting.get(&tag)?;
        let peer = &cookie.peer;
        let listed = [peer.source].into_iter().chain(peer.addresses.iter().copied());
        Some(Arrival {
            id: ArrivalId(tag),
            peer_addresses: [*src].into_iter().chain(listed.filter(|address| address != src)).collect(),
            peer_port: peer.port,
            udp_port: *udp_port,
            local_address: *dst,
            channel: cookie.channel,
            outbound_streams: peer.outbound_streams,
            inbound_streams: peer.inbound_streams,
        })
    }

    pub(super) fn take(&mut self, id: ArrivalId) -> Option<Waiting> {
        self.untold.retain(|&tag| tag != id.0);
        self.waiting.remove(&id.0)
    }
}
