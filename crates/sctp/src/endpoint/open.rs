//! Calls of the user that begin associations, or accept those that peers request.

use super::accept::Reply;
use super::{Arrival, ArrivalId, Endpoint};
use crate::assoc::{Association, Given, Remote};
use crate::config::Config;
use crate::error::PathError;
use crate::event::AssocId;
use crate::pair::AddressPair;
use crate::path::Paths;
use std::net::IpAddr;
use std::sync::Arc;
use transport::{Channel, Checksum, ConfigError, Datagram, check, is_unicast};
use units::Instant;
use wire::{Cause, Chunk, Packet};

/// Reason why `connect` did not start an association.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// No remote address is a unicast address of a family in which the endpoint has an address.
    #[error("no remote address is a unicast address of a kind that we have, too")]
    NoUsableAddress,
    /// A pair of the list cannot be a path.
    #[error("no path can lead from {} to {}: {fault}", pair.local, pair.remote)]
    UnusablePair {
        /// The first unusable pair.
        pair: AddressPair,
        /// The reason.
        fault: PairFault,
    },
    /// The remote port is 0.
    #[error("the remote port is 0: expected 1 to 65535")]
    PortZero,
    /// An association with this address and port, and with the same channel, exists.
    #[error("there is an association with {address} at this port already")]
    Exists {
        /// The address of that association.
        address: IpAddr,
    },
    /// The number of associations has reached `max_associations`.
    #[error("the endpoint has {limit} associations, and may have no more")]
    TooManyAssociations {
        /// The value of `max_associations`.
        limit: usize,
    },
    /// An option of the association has an invalid value.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

/// Reason why a pair of addresses cannot be a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PairFault {
    /// The local address is not in [`EndpointConfig::addresses`](crate::EndpointConfig::addresses).
    #[error("the first is not an address of this endpoint")]
    UnknownLocal,
    /// The remote address is not a unicast address.
    #[error("the second is not a unicast address")]
    NotUnicast,
    /// One address is IPv4, the other IPv6.
    #[error("one is an IPv4 address and the other an IPv6 address")]
    MixedFamilies,
    /// The list contains the pair twice.
    #[error("the list has this pair twice")]
    Duplicate,
    /// The list contains more pairs than an association may have paths.
    #[error("an association has at most {} paths", Paths::LIMIT)]
    TooMany,
}

/// Reason why an [`Arrival`] did not become an association.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AcceptError {
    /// The cookie of the arrival expired, its peer aborted, or the user accepted or refused it before.
    #[error("the arrival is gone: it was accepted or refused, its peer aborted, or its cookie expired")]
    Gone,
    /// An association with the peer exists.
    #[error("there is an association with the peer already")]
    Exists {
        /// The existing association.
        of: AssocId,
    },
    /// The number of associations has reached `max_associations`.
    #[error("the endpoint has {limit} associations, and may have no more")]
    TooManyAssociations {
        /// The value of `max_associations`.
        limit: usize,
    },
    /// An option of the association has an invalid value.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

impl Endpoint {
    /// Starts an association with a peer at the given addresses. The endpoint sends the INIT to the first
    /// address. It sends the INIT to the next address after 250 ms without an answer, or at once after a
    /// refusal (`rfc8305#section-5`). The attempt ends once all addresses have refused.
    ///
    /// # Errors
    /// [`ConnectError`]; nothing changes then.
    pub fn connect(
        &mut self,
        now: Instant,
        remote_port: u16,
        remotes: &[IpAddr],
    ) -> Result<AssocId, ConnectError> {
        let config = self.local.config.clone();
        self.begin(now, remote_port, self.usable(remotes), config, Channel::NONE)
    }

    /// As [`Self::connect`], with options for this association instead of those of the endpoint, and with
    /// the channel of the peer: [`Channel::NONE`] unless an encryption layer has authenticated the peer.
    ///
    /// # Errors
    /// [`ConnectError`]; nothing changes then.
    pub fn connect_with(
        &mut self,
        now: Instant,
        remote_port: u16,
        remotes: &[IpAddr],
        config: Arc<Config>,
        channel: Channel,
    ) -> Result<AssocId, ConnectError> {
        config.check()?;
        self.begin(now, remote_port, self.usable(remotes), config, channel)
    }

    /// As [`Self::connect_with`], but over exactly these paths in this order, instead of [`Config::paths`].
    /// The INIT is sent on the first path. The first pair of each remote address may carry data at once,
    /// further pairs after a heartbeat. Pairs with an address that the peer does not list are left out; if no
    /// pair is left, [`Config::paths`] determines the paths.
    ///
    /// # Errors
    /// [`ConnectError`]; nothing changes then.
    pub fn connect_pairs(
        &mut self,
        now: Instant,
        remote_port: u16,
        pairs: &[AddressPair],
        config: Arc<Config>,
        channel: Channel,
    ) -> Result<AssocId, ConnectError> {
        config.check()?;
        let fault = |n: usize, pair: &AddressPair| match pair {
            _ if !self.local.addresses.contains(&pair.local) => Some(PairFault::UnknownLocal),
            _ if !is_unicast(pair.remote) => Some(PairFault::NotUnicast),
            _ if !pair.is_of_one_family() => Some(PairFault::MixedFamilies),
            _ if pairs[..n].contains(pair) => Some(PairFault::Duplicate),
            _ if n >= Paths::LIMIT => Some(PairFault::TooMany),
            _ => None,
        };
        let mut faults = pairs.iter().enumerate().filter_map(|(n, pair)| Some((*pair, fault(n, pair)?)));
        if let Some((pair, fault)) = faults.next() {
            return Err(ConnectError::UnusablePair { pair, fault });
        }
        self.begin(now, remote_port, Given::Pairs(pairs.to_vec()), config, channel)
    }

    /// The unicast addresses of `remotes`, each once; empty if we have no local address in any of their
    /// families. An address of another family becomes a path once we get a local address of that family.
    fn usable(&self, remotes: &[IpAddr]) -> Given {
        let mut usable: Vec<IpAddr> = Vec::new();
        for &address in remotes {
            if is_unicast(address) && !usable.contains(&address) {
                usable.push(address);
            }
        }
        if !usable.iter().any(|&address| self.local.address_towards(address).is_some()) {
            usable.clear();
        }
        Given::Remotes(usable)
    }

    fn begin(
        &mut self,
        now: Instant,
        remote_port: u16,
        given: Given,
        config: Arc<Config>,
        channel: Channel,
    ) -> Result<AssocId, ConnectError> {
        if remote_port == 0 {
            return Err(ConnectError::PortZero);
        }
        let remotes = given.remotes();
        if remotes.is_empty() {
            return Err(ConnectError::NoUsableAddress);
        }
        let udp_port = self.local.remote_udp_port;
        let known = |&&address: &&IpAddr| {
            self.addresses.owner(&Remote { channel, address, port: remote_port, udp_port }).is_some()
        };
        if let Some(&address) = remotes.iter().find(known) {
            return Err(ConnectError::Exists { address });
        }
        let limit = self.max_associations;
        if self.associations.is_full() {
            return Err(ConnectError::TooManyAssociations { limit });
        }
        let tag = self.fresh_tag();
        let random = self.secrets.random.fork();
        let local = self.local.clone();
        let at = (remote_port, channel);
        let association = Association::connect(now, local, config, tag, at, given, random);
        self.insert(now, association).ok_or(ConnectError::TooManyAssociations { limit })
    }

    /// Returns the next peer that requests an association from an endpoint that listens with
    /// [`Listen::Ask`](super::Listen::Ask); `None` if there is no further one. Each peer is returned once.
    pub fn poll_arrival(&mut self) -> Option<Arrival> {
        self.arrivals.next()
    }

    /// Accepts a peer that [`Self::poll_arrival`] returned, with the options of the endpoint.
    ///
    /// # Errors
    /// [`AcceptError`]; the arrival is gone then.
    pub fn accept(&mut self, now: Instant, id: ArrivalId) -> Result<AssocId, AcceptError> {
        let config = self.local.config.clone();
        self.accept_with(now, id, config)
    }

    /// As [`Self::accept`], with options for this association instead of those of the endpoint. The
    /// extensions and the numbers of streams stay those of the endpoint, because the INIT ACK announced them.
    /// For the same reason `receive_buffer` must not be smaller than that of the endpoint and, if the
    /// endpoint has `auth`, `auth_chunks`, `auth_hmacs` and `asconf` must equal those of the endpoint.
    ///
    /// # Errors
    /// [`AcceptError`]; the peer can then no longer be accepted, except after [`AcceptError::Config`].
    pub fn accept_with(
        &mut self,
        now: Instant,
        id: ArrivalId,
        config: Arc<Config>,
    ) -> Result<AssocId, AcceptError> {
        config.check()?;
        let (buffer, told) = (config.receive_buffer, self.local.config.receive_buffer);
        check(
            buffer.first() >= told.first(),
            "receive_buffer",
            buffer,
            "at least that of the endpoint, which the peer was told",
        )?;
        let terms = |config: &Config| (config.auth_chunks.clone(), config.auth_hmacs.clone(), config.asconf);
        check(
            !self.local.config.auth || terms(&config) == terms(&self.local.config),
            "auth_chunks",
            format_args!("{:?}", config.auth_chunks),
            "as `auth_hmacs` and `asconf` that of the endpoint, which the peer was told",
        )?;
        let waiting = self.arrivals.take(id).ok_or(AcceptError::Gone)?;
        let (cookie, datagram) = (&waiting.cookie, waiting.datagram());
        if cookie.staleness(now).is_some() || self.tags.get(cookie.local_tag).is_some() {
            return Err(AcceptError::Gone);
        }
        let existing = self.find(cookie.remotes(datagram.udp_port));
        if let Some(other) = existing.and_then(|slot| self.associations.get(slot)) {
            return Err(AcceptError::Exists { of: other.id });
        }
        let random = self.secrets.random.fork();
        let association = Association::accept(now, self.local.clone(), config, cookie, &datagram, random);
        let id = self.insert(now, association);
        let id = id.ok_or(AcceptError::TooManyAssociations { limit: self.max_associations })?;
        self.handle_behind_cookie(now, id, &datagram);
        Ok(id)
    }

    /// Processes the chunks that follow the cookie in the packet of an arrival. The packet was authenticated
    /// when it arrived.
    fn handle_behind_cookie(&mut self, now: Instant, id: AssocId, datagram: &Datagram<'_>) {
        let Ok(packet) = Packet::parse(datagram.bytes, Checksum::Offloaded) else { return };
        let mut chunks = packet.chunks();
        let has_auth = matches!(chunks.next(), Some(Ok(Chunk::Auth(_))));
        if has_auth {
            // The AUTH chunk is before the COOKIE ECHO.
            chunks.next();
        }
        let whole =
            self.change(id, |association| association.handle_behind_cookie(now, datagram, chunks, has_auth));
        self.discarded.malformed += u64::from(whole == Some(false));
    }

    /// Refuses a peer that [`Self::poll_arrival`] returned, with an ABORT that contains the reason; false if
    /// the arrival is gone.
    pub fn refuse(&mut self, id: ArrivalId, reason: &[u8]) -> bool {
        let Some(waiting) = self.arrivals.take(id) else { return false };
        let peer = &waiting.cookie.peer;
        let reply = Reply::to(&waiting.datagram(), peer.port, peer.tag);
        self.refuse_with(&reply, &Cause::UserInitiatedAbort(reason));
        true
    }

    /// Sends packets for an address of the peer to UDP port `udp_port`, until a packet from the address has
    /// another source port (`rfc6951#section-6.1`). Zero: packets are not encapsulated.
    ///
    /// # Errors
    /// [`PathError`].
    pub fn set_remote_port(&mut self, id: AssocId, address: IpAddr, udp_port: u16) -> Result<(), PathError> {
        if !self.encapsulated {
            return Err(PathError::NotEncapsulated);
        }
        self.call(id, PathError::Closed, |association| association.set_remote_port(address, udp_port))
    }

    /// Adds an association to the endpoint; none if there is no free slot.
    fn insert(&mut self, now: Instant, association: Association) -> Option<AssocId> {
        let slot = self.place(now, association)?;
        self.schedule(slot);
        self.associations.get(slot).map(|association| association.id)
    }

    /// Assigns a slot to an association, and begins its observation; `None` if all slots are used.
    pub(super) fn place(&mut self, now: Instant, association: Association) -> Option<u32> {
        let slot = self.associations.insert(association)?;
        if let (Some(observers), Some(association)) = (&mut self.observers, self.associations.get_mut(slot)) {
            association.observe(now, &mut **observers);
        }
        Some(slot)
    }
}
