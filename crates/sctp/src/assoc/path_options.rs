//! Options of single paths, which the user sets or the peer sends.

use super::Association;
use crate::path::{PathId, PathOptions, PathState};
use std::net::IpAddr;
use units::Instant;
use wire::PathStatus;

impl Association {
    /// The options that the user set for paths from this local address.
    pub(super) fn path_options(&self, local: IpAddr) -> Option<PathOptions> {
        self.path_options.iter().find(|(address, _)| *address == local).map(|&(_, options)| options)
    }

    /// Sets the options of all paths from `local`, including later paths. Heartbeats report them at once.
    pub(crate) fn set_path_options(&mut self, now: Instant, local: IpAddr, options: PathOptions) {
        if self.path_options(local).unwrap_or_default() == options {
            return;
        }
        self.path_options.retain(|(address, _)| *address != local);
        self.path_options.push((local, options));
        for p in self.paths.ids() {
            if self.paths[p].local == local {
                self.set_own_options(p, Some(options));
                if !self.paths[p].is_unconfirmed() {
                    self.ask(now, p);
                }
            }
        }
        self.settle(now);
    }

    pub(super) fn set_own_options(&mut self, p: PathId, options: Option<PathOptions>) {
        self.paths[p].set_own_options(options);
        self.paths.note_costs();
    }

    /// The PATH-STATUS for HEARTBEAT and HEARTBEAT ACK chunks on path `p`; none if the user set no options.
    pub(super) fn path_status(&self, p: PathId) -> Option<PathStatus> {
        self.path_options(self.paths[p].local).map(PathOptions::to_status)
    }

    /// Processes a PATH-STATUS that arrived on path `p`.
    pub(super) fn on_path_status(&mut self, now: Instant, p: PathId, status: &PathStatus) {
        let path = &mut self.paths[p];
        if path.set_peers_options(PathOptions::from_status(status)) {
            let waits = path.state != PathState::Unconfirmed && !path.heartbeat.is_awaited();
            self.paths.note_costs();
            if waits && self.phase.sends_heartbeats() {
                let period = self.idle_period(p);
                self.paths[p].heartbeat.rest(now, period);
            }
        }
    }

    /// Probes the costlier paths after path `p` failed. The probes also renew the bindings of NATs.
    pub(super) fn ask_costlier(&mut self, now: Instant, p: PathId) {
        let cost = self.paths[p].cost;
        for q in self.paths.ids() {
            if self.paths[q].cost > cost && self.paths[q].is_active() {
                self.ask(now, q);
            }
        }
    }
}
