//! Local addresses that appear and disappear while the endpoint exists.
//!
//! Only the user of the endpoint and the interfaces of the host change them, never a peer.

use super::Driver;
use crate::carrier::Carrier;
use crate::net::{BindSpec, Socket, is_reachable, working_addresses};
use crate::types::{AddressError, BindError};
use sctp::{AssocId, Endpoint};
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use units::{Instant, Span};

/// Configured, changed and removed local addresses, in addition to the endpoint's current ones.
#[derive(Debug)]
pub(crate) struct Locals {
    /// Addresses to which the endpoint was bound, with their interfaces. If empty, its sockets receive on all
    /// addresses.
    named: Vec<(IpAddr, Option<String>)>,
    carrier: Carrier,
    /// Requested size of each of a socket's two buffers.
    buffers: usize,
    /// Addresses that were added (true) or removed (false) while the endpoint existed. A handshake that began
    /// before a change does not contain it.
    changed: BTreeMap<IpAddr, bool>,
    /// Removed addresses with sockets, and the times to close them.
    leaving: Vec<(IpAddr, Instant)>,
    /// Time for which the socket of a removed address stays open. Meanwhile the request to delete the address
    /// may be retransmitted.
    linger: Span,
}

impl Locals {
    pub(crate) fn new(
        named: Vec<(IpAddr, Option<String>)>,
        carrier: Carrier,
        buffers: usize,
        linger: Span,
    ) -> Self {
        Locals { named, carrier, buffers, changed: BTreeMap::new(), leaving: Vec::new(), linger }
    }

    /// Notifies a new association of changes since its handshake began.
    pub(super) fn catch_up(&self, now: Instant, endpoint: &mut Endpoint, id: AssocId) {
        for (&address, &added) in &self.changed {
            // If the association refuses the change, it keeps the addresses that it has.
            let _ = match added {
                true => endpoint.add_local_address(now, id, address),
                false => endpoint.remove_local_address(now, id, address),
            };
        }
    }

    /// Time to close the next socket.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.leaving.iter().map(|&(_, at)| at).min()
    }
}

impl Driver {
    /// Adds a local address: binds a socket to it, and notifies all associations.
    pub(super) fn add_address(
        &mut self,
        now: Instant,
        address: IpAddr,
        device: Option<String>,
    ) -> Result<(), AddressError> {
        let mut addresses = self.hub.places().addresses.clone();
        if addresses.contains(&address) {
            return Err(AddressError::Known { address });
        }
        let before = addresses.clone();
        addresses.push(address);
        self.endpoint.set_addresses(addresses.clone()).map_err(|_| AddressError::Unsuitable { address })?;
        if !self.locals.named.is_empty()
            && let Err(source) = self.bind(address, device)
        {
            // The call cannot fail, because the earlier addresses were valid.
            let _ = self.endpoint.set_addresses(before);
            let address = SocketAddr::new(address, self.hub.ports.udp);
            return Err(BindError::Address { address, source }.into());
        }
        self.hub.places().addresses = addresses;
        self.locals.changed.insert(address, true);
        for id in self.connections.ids() {
            // If the association refuses the change, it keeps the addresses that it has.
            let _ = self.endpoint.add_local_address(now, id, address);
        }
        Ok(())
    }

    fn bind(&mut self, address: IpAddr, device: Option<String>) -> io::Result<()> {
        // An earlier socket may be bound to an interface that no longer exists.
        self.close_socket(address);
        let (place, carrier) = (SocketAddr::new(address, self.hub.ports.udp), self.locals.carrier);
        let spec = BindSpec { address: place, device, buffers: self.locals.buffers };
        let udp = carrier.has_udp().then(|| Socket::bind(&spec)).transpose()?;
        let counters = udp.as_ref().map(|socket| socket.counters.clone());
        let in_ip = || Socket::bind_ip(&spec, Some(self.hub.ports.sctp), counters.clone());
        let ip = carrier.has_ip().then(in_ip).transpose()?;
        let counters = counters.or_else(|| ip.as_ref().map(|socket| socket.counters.clone()));
        for socket in udp.into_iter().chain(ip) {
            self.sockets.add(socket)?;
        }
        self.hub.places().counters.extend(counters);
        Ok(())
    }

    /// Removes a local address from all associations, and closes its socket later.
    pub(super) fn remove_address(&mut self, now: Instant, address: IpAddr) -> Result<(), AddressError> {
        let mut addresses = self.hub.places().addresses.clone();
        if !addresses.contains(&address) {
            return Err(AddressError::Unknown { address });
        }
        addresses.retain(|&other| other != address);
        self.endpoint.set_addresses(addresses.clone()).map_err(|_| AddressError::Last { address })?;
        self.hub.places().addresses = addresses;
        self.locals.changed.insert(address, false);
        if !self.locals.named.is_empty() {
            self.locals.leaving.push((address, now + self.locals.linger));
        }
        for id in self.connections.ids() {
            // An association without another path refuses the call and keeps the address.
            let _ = self.endpoint.remove_local_address(now, id, address);
        }
        Ok(())
    }

    /// Closes the sockets of addresses that were removed some time ago, unless an association has no other
    /// path.
    pub(super) fn close_leaving(&mut self, now: Instant) {
        let leaving = self.locals.leaving.iter().filter(|entry| entry.1 <= now).map(|entry| entry.0);
        for address in leaving.collect::<Vec<_>>() {
            for id in self.connections.ids() {
                let _ = self.endpoint.remove_local_address(now, id, address);
            }
            let uses =
                |id| self.endpoint.paths(id).is_some_and(|mut paths| paths.any(|p| p.local == address));
            if !self.connections.ids().any(uses) {
                self.close_socket(address);
            } else if let Some(entry) = self.locals.leaving.iter_mut().find(|entry| entry.0 == address) {
                entry.1 = now + self.locals.linger;
            }
        }
    }

    fn close_socket(&mut self, address: IpAddr) {
        self.locals.leaving.retain(|&(leaving, _)| leaving != address);
        while let Some(socket) = self.sockets.remove(address) {
            let gone = |counters: &std::sync::Arc<_>| std::sync::Arc::ptr_eq(counters, &socket.counters);
            self.hub.places().counters.retain(|counters| !gone(counters));
        }
    }

    /// Adds and removes addresses to match the host's interfaces. Only the
    /// addresses to which the endpoint was bound count. If it was bound to none,
    /// all addresses count that other hosts can reach, so no loopback addresses.
    pub(super) fn follow_interfaces(&mut self, now: Instant) {
        let Ok(mut present) = working_addresses() else { return };
        let named = self.locals.named.clone();
        let is_watched = |address: IpAddr| match &named[..] {
            [] => is_reachable(address),
            named => !address.is_loopback() && named.iter().any(|(named, _)| *named == address),
        };
        present.retain(|&address| is_watched(address));
        let current = self.hub.places().addresses.clone();
        for &address in present.iter().filter(|address| !current.contains(address)) {
            let device =
                named.iter().find(|(named, _)| *named == address).and_then(|(_, device)| device.clone());
            // An IPv6 address that is still checked for duplicates cannot be bound yet. Its interface
            // changes again after the check.
            let _ = self.add_address(now, address, device);
        }
        for &address in current.iter().filter(|address| !present.contains(address)) {
            // The removal of the only address fails. This address stays, because it may return.
            if is_watched(address) {
                let _ = self.remove_address(now, address);
            }
        }
    }
}
