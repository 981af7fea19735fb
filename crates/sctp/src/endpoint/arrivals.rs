//! Associations that peers ask for and that the user has not yet accepted or refused.

use crate::assoc::Cookie;
use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use transport::{Datagram, Octets};
use units::Instant;

/// Who may begin associations with an endpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Listen {
    /// Nobody: an INIT is answered with ABORT.
    #[default]
    Off,
    /// Everybody.
    Accept,
    /// Those that the user accepts: see [`Endpoint::poll_arrival`](crate::Endpoint::poll_arrival).
    Ask {
        /// Most arrivals that wait for a decision; what comes beyond is not answered, and the peer asks again.
        waiting: usize,
    },
}

impl From<bool> for Listen {
    fn from(accept: bool) -> Self {
        if accept { Listen::Accept } else { Listen::Off }
    }
}

/// Names an [`Arrival`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArrivalId(pub u32);

/// A peer that has proved its address and asks for an association.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// For [`Endpoint::accept`](crate::Endpoint::accept) and [`Endpoint::refuse`](crate::Endpoint::refuse).
    pub id: ArrivalId,
    /// Its addresses: the one it writes from first, then those it listed.
    pub peer_addresses: Vec<IpAddr>,
    /// Its SCTP port.
    pub peer_port: u16,
    /// Its UDP port; 0: not encapsulated.
    pub udp_port: u16,
    /// The address of ours that it wrote to.
    pub local_address: IpAddr,
    /// Streams we may use.
    pub outbound_streams: u16,
    /// Streams the peer may use.
    pub inbound_streams: u16,
}

/// What waits for a decision, by our tag in its cookie. It costs memory only of peers that echoed a cookie.
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    waiting: BTreeMap<u32, Waiting>,
    /// Those the user was not told of yet.
    untold: VecDeque<u32>,
    /// No cookie is stale before.
    fresh_until: Instant,
}

/// The cookie and where it came from.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) cookie: Cookie,
    src: IpAddr,
    dst: IpAddr,
    udp_port: u16,
}

impl Waiting {
    /// The packet that brought the cookie, without its bytes.
    pub(super) fn datagram(&self) -> Datagram<'static> {
        Datagram { udp_port: self.udp_port, ..Datagram::new(self.src, self.dst, Octets::default()) }
    }
}

impl Arrivals {
    pub(super) fn contains(&self, tag: u32) -> bool {
        self.waiting.contains_key(&tag)
    }

    /// Keeps a cookie, unless so many wait already whose cookies are not stale; false then.
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
        let &Datagram { src, dst, udp_port, .. } = datagram;
        self.waiting.insert(tag, Waiting { cookie, src, dst, udp_port });
        self.untold.push_back(tag);
        true
    }

    /// The next one that the user was not told of.
    pub(super) fn next(&mut self) -> Option<Arrival> {
        let tag = self.untold.pop_front()?;
        let Waiting { cookie, src, dst, udp_port } = self.waiting.get(&tag)?;
        let peer = &cookie.peer;
        let listed = [peer.source].into_iter().chain(peer.addresses.iter().copied());
        Some(Arrival {
            id: ArrivalId(tag),
            peer_addresses: [*src].into_iter().chain(listed.filter(|address| address != src)).collect(),
            peer_port: peer.port,
            udp_port: *udp_port,
            local_address: *dst,
            outbound_streams: peer.outbound_streams,
            inbound_streams: peer.inbound_streams,
        })
    }

    pub(super) fn take(&mut self, id: ArrivalId) -> Option<Waiting> {
        self.untold.retain(|&tag| tag != id.0);
        self.waiting.remove(&id.0)
    }
}
