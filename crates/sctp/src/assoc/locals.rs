//! Addresses of ours that come and go while an association lives.
//!
//! The peer knows the addresses that the endpoint had when the association began, and no others: only those can come back.

use super::Association;
use crate::path::{PathId, PathState};
use std::net::IpAddr;
use transport::nearest;
use units::Instant;

impl Association {
    /// Our address most like `remote`, of those that we have now.
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

    /// An address of ours is no more: its paths leave from another one, or end, and what was in flight there is sent again
    /// elsewhere. False, and nothing changes, if it is none of ours or no path that may carry data would be left.
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
                Some(local) => self.paths[p].local = local,
                None => self.remove_path(p),
            }
        }
        self.settle(now);
        true
    }

    /// Ends a path while others are left.
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
        self.sender.on_path_removed(p, &mut self.paths);
    }

    /// An address of ours has come back: so do its paths, each of which a heartbeat has to confirm. False if it was not
    /// removed.
    pub(crate) fn restore_local(&mut self, now: Instant, address: IpAddr) -> bool {
        let Some(n) = self.lost_locals.iter().position(|&lost| lost == address) else { return false };
        self.lost_locals.remove(n);
        for p in self.paths.ids() {
            if !self.paths.are_pairs()
                && let Some(local) = self.local_towards(self.paths[p].remote)
            {
                self.paths[p].local = local;
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
