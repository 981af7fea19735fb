//! Local addresses that are removed and restored while an association exists.
//!
//! The peer knows only the addresses that the endpoint had at the start of the association, so only those can be
//! restored.

use super::Association;
use crate::path::{PathId, PathState};
use std::net::IpAddr;
use transport::nearest;
use units::Instant;

impl Association {
    /// The current local address that is most similar to `remote`.
    pub(super) fn local_towards(&self, remote: IpAddr) -> Option<IpAddr> {
        if self.lost_locals.is_empty() {
            return self.local.address_towards(remote);
        }
        let left: Vec<IpAddr> = self.locals().collect();
        nearest(&left, remote)
    }

    /// Our addresses now.
    pub(super) fn locals(&self) -> impl Iterator<Item = IpAddr> {
        self.local.addresses.iter().copied().filter(|address| !self.lost_locals.contains(address))
    }

    /// Removes a local address. Its paths get another source address or are removed, and their data in flight is
    /// retransmitted on other paths. False, without a change, if it is not a local address or no confirmed path would
    /// remain.
    pub(crate) fn remove_local(&mut self, now: Instant, address: IpAddr) -> bool {
        if !self.locals().any(|local| local == address) || self.phase.is_closed() {
            return false;
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
            return false;
        }
        let changes: Vec<_> = ids().map(|p| (p, instead(p))).collect();
        for &(p, instead) in &changes {
            match instead {
                Some(local) => self.take_source(now, p, local),
                None => self.remove_path(p),
            }
        }
        self.settle(now);
        true
    }

    /// Packets of path `p` leave from `local`: another address may mean another route (`rfc9260#section-7.2.5.2`).
    fn take_source(&mut self, now: Instant, p: PathId, local: IpAddr) {
        if std::mem::replace(&mut self.paths[p].local, local) != local {
            self.sender.on_route_changed(now, p, &mut self.paths);
        }
    }

    /// Removes a path; others remain.
    fn remove_path(&mut self, p: PathId) {
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
        if let Some(path) = self.re_config.as_mut().and_then(|config| config.path_mut())
            && *path == p
        {
            *path = to;
        }
        self.sender.on_path_removed(p, &mut self.paths);
    }

    /// Restores a removed local address and its paths, each of which a heartbeat must confirm. False if it was not
    /// removed.
    pub(crate) fn restore_local(&mut self, now: Instant, address: IpAddr) -> bool {
        let Some(n) = self.lost_locals.iter().position(|&lost| lost == address) else { return false };
        self.lost_locals.remove(n);
        for p in self.paths.ids() {
            if !self.paths.are_pairs()
                && let Some(local) = self.local_towards(self.paths[p].remote)
            {
                self.take_source(now, p, local);
            }
            if self.paths[p].removed && self.paths[p].local == address {
                self.paths[p].removed = false;
                self.paths[p].errors = 0;
                self.renamed = true;
                self.ask(now, p);
            }
        }
        self.settle(now);
        true
    }
}
