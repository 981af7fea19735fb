//! Local addresses that are removed and restored while an association exists.
//!
//! Without ASCONF the peer knows only the addresses that the endpoint had at the start of the association, so
//! only those addresses can be restored.

use super::Association;
use crate::error::AddressError;
use crate::ext::Ext;
use crate::path::{PathId, PathState};
use std::net::IpAddr;
use transport::nearest;
use units::Instant;

impl Association {
    /// The current local address that shares the longest prefix with `remote`.
    pub(super) fn local_towards(&self, remote: IpAddr) -> Option<IpAddr> {
        if self.lost_locals.is_empty() && self.gained_locals.is_empty() {
            return self.local.address_towards(remote);
        }
        let left: Vec<IpAddr> = self.locals().collect();
        nearest(&left, remote)
    }

    /// The current local addresses.
    pub(super) fn locals(&self) -> impl Iterator<Item = IpAddr> {
        self.local
            .addresses
            .iter()
            .chain(&self.gained_locals)
            .copied()
            .filter(|address| !self.lost_locals.contains(address))
    }

    /// Removes a local address. Its paths get another source address or are removed, and their data in flight
    /// is retransmitted on other paths. Fails if no confirmed path would remain.
    pub(super) fn drop_local(&mut self, now: Instant, address: IpAddr) -> Result<(), AddressError> {
        if !self.locals().any(|local| local == address) {
            return Err(AddressError::Unknown { address });
        }
        self.lost_locals.push(address);
        let ids = || self.paths.ids().filter(|&p| !self.paths[p].removed);
        let instead = |p: PathId| match self.paths[p].local {
            local if local != address => Some(local),
            _ if self.paths.are_pairs() => None,
            _ => self.local_towards(self.paths[p].remote),
        };
        if !ids().any(|p| instead(p).is_some() && !self.paths[p].is_unconfirmed()) {
            self.lost_locals.pop();
            return Err(AddressError::LastPath { address });
        }
        let changes: Vec<_> = ids().map(|p| (p, instead(p))).collect();
        for &(p, instead) in &changes {
            match instead {
                Some(local) => self.take_source(now, p, local),
                None => self.remove_path(now, p),
            }
        }
        Ok(())
    }

    /// Sets the source address of path `p`. A new source address may mean a new route
    /// (`rfc9260#section-7.2.5.2`).
    fn take_source(&mut self, now: Instant, p: PathId, local: IpAddr) {
        if std::mem::replace(&mut self.paths[p].local, local) != local {
            self.set_own_options(p, self.path_options(local));
            self.sender.on_route_changed(now, p, &mut self.paths);
        }
    }

    /// Removes a path while others remain.
    pub(super) fn remove_path(&mut self, now: Instant, p: PathId) {
        self.set_path_state(p, PathState::Inactive);
        let path = &mut self.paths[p];
        (path.state, path.removed) = (PathState::Unconfirmed, true);
        path.heartbeat = Default::default();
        self.renamed = true;
        if self.paths.primary == p {
            let other = self.paths.next_active(p).unwrap_or_else(|| self.paths.default_path());
            self.make_primary(other);
        }
        let to = self.paths.default_path();
        self.control.redirect(p, to);
        self.phase.redirect(p, to);
        self.redirect_t4(p, to);
        if let Some(path) = self.re_config.as_mut().and_then(|config| config.path_mut())
            && *path == p
        {
            *path = to;
        }
        self.sender.on_path_removed(now, p, &mut self.paths);
    }

    /// Restores a removed local address and its paths, each of which a heartbeat must confirm. With ASCONF,
    /// the peer has to add the address first.
    pub(crate) fn restore_local(&mut self, now: Instant, address: IpAddr) -> Result<(), AddressError> {
        if !self.lost_locals.contains(&address) {
            return Err(AddressError::NotRemoved { address });
        }
        if self.extensions.has(Ext::Asconf) {
            return self.add_local(now, address);
        }
        self.use_local(now, address);
        self.settle(now);
        Ok(())
    }

    /// Starts to use a local address that the peer knows: restores removed paths, or adds new ones.
    pub(super) fn use_local(&mut self, now: Instant, address: IpAddr) {
        self.lost_locals.retain(|&lost| lost != address);
        if !self.local.addresses.contains(&address) && !self.gained_locals.contains(&address) {
            self.gained_locals.push(address);
        }
        for p in self.paths.ids() {
            if self.has_departed(self.paths[p].remote) {
                continue;
            }
            if !self.paths.are_pairs()
                && let Some(local) = self.local_towards(self.paths[p].remote)
            {
                self.take_source(now, p, local);
            }
            if self.paths[p].removed && self.paths[p].local == address {
                self.paths[p].removed = false;
                self.paths[p].errors = 0;
                self.renamed = true;
                self.sender.resume(now, p, &mut self.paths);
                self.ask(now, p);
            }
        }
        if self.paths.are_pairs() {
            let mut asked = false;
            for pair in self.pairs_for(Some(address), None) {
                let known = self.paths.find(pair.remote).map(|p| self.paths[p].udp_port);
                let udp_port = known.unwrap_or(self.local.remote_udp_port);
                let added = self.add_path(now, self.new_path(pair, udp_port));
                if let Some(p) = added.filter(|_| !asked) {
                    self.ask_first(now, p);
                    asked = true;
                }
            }
        }
    }

    /// True if the peer was asked to delete this local address, or was never asked to add it.
    pub(super) fn has_left(&self, address: IpAddr) -> bool {
        self.extensions.has(Ext::Asconf) && !self.locals().any(|local| local == address)
    }

    /// Forgets a removed local address that was added by ASCONF: the peer has deleted it, or cannot
    /// be asked to.
    pub(super) fn forget_local(&mut self, address: IpAddr) {
        if self.gained_locals.contains(&address) && self.lost_locals.contains(&address) {
            self.gained_locals.retain(|&gained| gained != address);
            self.lost_locals.retain(|&lost| lost != address);
        }
    }

    /// True if the peer deleted this address of its own from the association.
    pub(super) fn has_departed(&self, address: IpAddr) -> bool {
        self.asconf.as_ref().is_some_and(|asconf| asconf.has_departed(address))
    }
}
