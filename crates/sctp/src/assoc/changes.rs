//! Processes the ASCONF requests of the peer about its addresses (`rfc5061#section-5.2`).

use super::control::Pending;
use super::{Association, Remote};
use crate::event::Event;
use crate::ext::Ext;
use crate::ext::asconf::Verdict;
use crate::path::{Path, PathId, PathState};
use std::net::IpAddr;
use transport::{Datagram, is_unicast};
use units::Instant;
use wire::asconf::{AddressChange, NoRequest, Request, Response};
use wire::{Asconf, Cause, CauseList, Chunk, Chunks, Parameters, UnknownAction};

/// Reason why a request fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    Last,
    Resources,
    Source,
    Unauthorized,
    Invalid,
    Unrecognized,
}

impl Association {
    /// Records the addresses that a packet requests to add but that belong to another association, according
    /// to `is_taken` (`rfc5062#section-2.1`). Called before the chunks of the packet are processed.
    #[cold]
    pub(crate) fn note_taken(
        &mut self,
        datagram: &Datagram<'_>,
        chunks: Chunks<'_>,
        is_taken: impl Fn(&Remote) -> bool,
    ) {
        let port = self.peer_port;
        let Some(asconf) = self.asconf.as_mut().filter(|_| self.extensions.has(Ext::Asconf)) else { return };
        asconf.taken.clear();
        for chunk in chunks.flatten() {
            let Chunk::Asconf(chunk) = chunk else { continue };
            let added =
                chunk.requests.iter().flatten().filter(|request| request.change == AddressChange::Add);
            for address in added.map(|request| named(&request, datagram)) {
                if is_taken(&Remote { address, ..Remote::of(datagram, port) }) {
                    asconf.taken.push(address);
                }
            }
        }
    }

    /// True if a packet from an unknown address may be an ASCONF that adds this address.
    pub(super) fn may_be_peer(&self, mut chunks: Chunks<'_>) -> bool {
        self.extensions.has(Ext::Asconf)
            && matches!(chunks.next(), Some(Ok(Chunk::Auth(_))))
            && matches!(chunks.next(), Some(Ok(Chunk::Asconf(_))))
    }

    /// Processes an authenticated ASCONF. The answer is sent to the source if a path leads there.
    pub(super) fn on_asconf(
        &mut self,
        now: Instant,
        datagram: &Datagram<'_>,
        answer: PathId,
        chunk: &Asconf<'_>,
    ) {
        let Some(asconf) = self.asconf.as_ref().filter(|_| self.phase.is_open()) else { return };
        let responses = match asconf.answered.judge(chunk.serial) {
            Verdict::Discard => return,
            Verdict::Again(responses) => responses,
            Verdict::New => {
                let responses = self.carry_out(now, datagram, chunk);
                if let Some(asconf) = &mut self.asconf {
                    asconf.answered.keep(responses.clone());
                }
                responses
            }
        };
        let path = self
            .paths
            .of(datagram)
            .unwrap_or_else(|| if self.paths[answer].removed { self.paths.default_path() } else { answer });
        self.control.push(path, Pending::AsconfAck { serial: chunk.serial, responses });
    }

    /// Carries out the requests of an ASCONF until one fails. Only the failed request gets a response.
    fn carry_out(&mut self, now: Instant, datagram: &Datagram<'_>, chunk: &Asconf<'_>) -> Vec<u8> {
        let mut responses = Vec::new();
        for request in chunk.requests.iter() {
            let done = match request {
                Ok(request) => self.carry_out_one(now, datagram, &request),
                Err(NoRequest::Unknown { correlation, parameter }) => match parameter.action() {
                    UnknownAction::SkipDiscard => Ok(()),
                    UnknownAction::StopDiscard => break,
                    UnknownAction::SkipReport | UnknownAction::StopReport => {
                        Err((correlation, Refusal::Unrecognized, parameter.bytes().to_vec()))
                    }
                },
                // The request has no correlation ID for the response.
                Err(NoRequest::Malformed(_)) => Err((0, Refusal::Invalid, Vec::new())),
            };
            let Err((correlation, refusal, copy)) = done else { continue };
            let mut causes = CauseList::new();
            causes.push(&match refusal {
                Refusal::Last => Cause::DeleteLastAddress(&copy),
                Refusal::Resources => Cause::ResourceShortage(&copy),
                Refusal::Source => Cause::DeleteSourceAddress(&copy),
                Refusal::Unauthorized => Cause::NoAuthorization(&copy),
                Refusal::Invalid => Cause::InvalidMandatoryParameter,
                // rfc5061#section-5.2, rule V2
                Refusal::Unrecognized => Cause::UnrecognizedParameters(Parameters::from_bytes(&copy)),
            });
            Response::Failed { correlation, causes: causes.as_causes() }.append_to(&mut responses);
            break;
        }
        responses
    }

    /// Carries out a request. A failure returns the correlation ID, the reason and the bytes of the request.
    fn carry_out_one(
        &mut self,
        now: Instant,
        datagram: &Datagram<'_>,
        request: &Request,
    ) -> Result<(), (u32, Refusal, Vec<u8>)> {
        let done = match request.change {
            AddressChange::Add => self.add_remote(now, datagram, named(request, datagram)),
            AddressChange::Delete => self.delete_remote(now, datagram, request),
            AddressChange::SetPrimary => self.prefer_remote(named(request, datagram)),
        };
        done.map_err(|refusal| {
            let mut copy = Vec::new();
            request.append_to(&mut copy);
            (request.correlation, refusal, copy)
        })
    }

    /// Adds an address of the peer.
    fn add_remote(&mut self, now: Instant, datagram: &Datagram<'_>, address: IpAddr) -> Result<(), Refusal> {
        if !is_unicast(address) {
            return Err(Refusal::Invalid);
        }
        if self.paths.find(address).is_some() {
            // The address may now lead to another interface behind the NAT: failed paths may work again.
            for p in self.paths.ids() {
                let path = &self.paths[p];
                if path.remote == address && !path.removed && !path.is_usable() {
                    self.ask(now, p);
                }
            }
            return Ok(());
        }
        if self.asconf.as_ref().is_some_and(|asconf| asconf.taken.contains(&address)) {
            return Err(Refusal::Unauthorized);
        }
        if !self.add_paths_to(now, datagram, address) {
            // A host behind a NAT cannot name its old addresses: a failed one is deleted to make room.
            let dead = self.failed_remote().ok_or(Refusal::Resources)?;
            self.delete_address(now, dead);
            if !self.add_paths_to(now, datagram, address) {
                return Err(Refusal::Resources);
            }
        }
        self.unused.retain(|&unused| unused != address);
        if let Some(asconf) = &mut self.asconf {
            asconf.arrive(address);
        }
        self.events.push(Event::PeerAddressAdded { address });
        Ok(())
    }

    /// Adds paths to an address of the peer that is not in use; false if none could be added.
    fn add_paths_to(&mut self, now: Instant, datagram: &Datagram<'_>, address: IpAddr) -> bool {
        let mut added = false;
        for pair in self.pairs_for(None, Some(address)) {
            let path = self.new_path(pair, datagram.udp_port);
            added |= self.add_path(now, path).is_some();
        }
        if let Some(p) = self.paths.of(datagram).filter(|_| added) {
            self.ask_first(now, p);
        }
        added
    }

    /// The address of the peer with the most consecutive errors, among those without an active path.
    fn failed_remote(&self) -> Option<IpAddr> {
        let failed = |path: &&Path| {
            !path.removed && path.errors > 0 && self.paths.state_of(path.remote) != PathState::Active
        };
        self.paths.iter().filter(failed).max_by_key(|path| path.errors).map(|path| path.remote)
    }

    /// Deletes an address of the peer. The wildcard address deletes all except the source of the packet.
    fn delete_remote(
        &mut self,
        now: Instant,
        datagram: &Datagram<'_>,
        request: &Request,
    ) -> Result<(), Refusal> {
        let known = |address: IpAddr| self.paths.find(address).is_some();
        if request.address.is_unspecified() {
            if !known(datagram.src) {
                return Err(Refusal::Last);
            }
            let others = self.paths.iter().filter(|path| !path.removed && path.remote != datagram.src);
            let others: Vec<IpAddr> = others.map(|path| path.remote).collect();
            others.into_iter().for_each(|address| self.delete_address(now, address));
            return Ok(());
        }
        let address = request.address;
        if !known(address) {
            self.unused.retain(|&unused| unused != address);
            return Ok(());
        }
        if !self.paths.iter().any(|path| !path.removed && path.remote != address) {
            return Err(Refusal::Last);
        }
        if address == datagram.src {
            return Err(Refusal::Source);
        }
        self.delete_address(now, address);
        Ok(())
    }

    /// Deletes one of several addresses of the peer. Chunks in flight to this address are retransmitted to
    /// the other addresses.
    fn delete_address(&mut self, now: Instant, address: IpAddr) {
        if self.paths[self.paths.primary].remote == address {
            let others =
                || self.paths.ids().filter(|&p| !self.paths[p].removed && self.paths[p].remote != address);
            let active = others().find(|&p| self.paths[p].is_active());
            if let Some(other) = active.or_else(|| others().next()) {
                self.make_primary(other);
            }
        }
        for p in self.paths.ids() {
            if self.paths[p].remote == address && !self.paths[p].removed {
                self.remove_path(now, p);
            }
        }
        if let Some(asconf) = &mut self.asconf {
            asconf.depart(address);
            asconf.preferred = asconf.preferred.filter(|&preferred| preferred != address);
        }
        self.events.push(Event::PeerAddressRemoved { address });
    }

    /// Makes an address of the peer the primary one, once it is confirmed (`rfc5061#section-5.4`).
    fn prefer_remote(&mut self, address: IpAddr) -> Result<(), Refusal> {
        if self.paths.find(address).is_none() {
            return Err(Refusal::Unauthorized);
        }
        if let Some(asconf) = &mut self.asconf {
            asconf.preferred = Some(address);
        }
        Ok(())
    }
}

/// The address of a request: the source of the packet if the request holds the wildcard address.
fn named(request: &Request, datagram: &Datagram<'_>) -> IpAddr {
    if request.address.is_unspecified() { datagram.src } else { request.address }
}
