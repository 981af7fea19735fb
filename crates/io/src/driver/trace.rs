//! Events for a subscriber of `tracing`, all with the target `anabranch_io`: info for associations and the
//! states of their paths; debug for losses, expiries of T3, silent paths (no answer in time) and path MTUs.

use crate::types::Peer;
use sctp::{Arrival, AssocId, Endpoint, Event, PathId, PathInfo, PathState};
use std::collections::BTreeMap;
use std::net::IpAddr;
use tracing::{Level, debug, enabled, info};
use units::{Instant, Span};

const TARGET: &str = "anabranch_io";
/// Shortest interval between two checks of all counters. Losses of one interval are one event.
const LOOK_EVERY: Span = Span::from_millis(100);

/// The last logged states of each association. Later states are compared with them.
#[derive(Debug, Default)]
pub(super) struct Trace {
    associations: BTreeMap<AssocId, Recorded>,
    next_look: Instant,
}

#[derive(Debug, Default)]
struct Recorded {
    /// Addresses and SCTP port of the peer.
    peer: String,
    paths: BTreeMap<PathId, PathRecord>,
}

#[derive(Clone, Copy, Debug)]
struct PathRecord {
    /// The state that was logged last; `None` before the first event.
    state: Option<PathState>,
    silent: bool,
    retransmissions: u64,
    timeouts: u64,
}

impl PathRecord {
    fn of(path: &PathInfo) -> Self {
        PathRecord {
            state: None,
            silent: path.silent,
            retransmissions: path.stats.fast_retransmissions + path.stats.timer_retransmissions,
            timeouts: path.stats.timeouts,
        }
    }
}

impl Trace {
    /// Logs that this end requests an association.
    pub(super) fn on_begin(&mut self, id: AssocId, peer: &Peer) {
        if enabled!(target: TARGET, Level::INFO) {
            let peer = self.record(id, &peer.addresses, peer.port);
            info!(target: TARGET, association = id.0, peer, "association begun");
        }
    }

    pub(super) fn on_event(&mut self, endpoint: &Endpoint, id: AssocId, event: &Event) {
        if !enabled!(target: TARGET, Level::INFO) {
            return;
        }
        let association = id.0;
        match event {
            Event::Connected { peer_addresses, peer_port, .. } => {
                let peer = self.record(id, peer_addresses, *peer_port);
                info!(target: TARGET, association, peer, "association established");
                self.compare_states(endpoint, id);
            }
            Event::Closed { reason } => {
                let recorded = self.associations.remove(&id);
                let peer = recorded.map(|recorded| recorded.peer).unwrap_or_default();
                info!(target: TARGET, association, peer, %reason, "association ended");
            }
            Event::Restarted => info!(target: TARGET, association, "association restarted by the peer"),
            Event::PathChanged { .. } => self.compare_states(endpoint, id),
            Event::PeerAddressAdded { address } => {
                info!(target: TARGET, association, path = %address, "peer address added");
            }
            Event::PeerAddressRemoved { address } => {
                info!(target: TARGET, association, path = %address, "peer address removed");
            }
            Event::MtuChanged { address, mtu, .. } => {
                debug!(target: TARGET, association, path = %address, mtu = mtu.get(), "path MTU changed");
            }
            _ => {}
        }
    }

    /// Checks all paths for losses and silence, which no event of the stack reports.
    pub(super) fn look(&mut self, now: Instant, endpoint: &Endpoint) {
        if !enabled!(target: TARGET, Level::DEBUG) || now < self.next_look {
            return;
        }
        self.next_look = now + LOOK_EVERY;
        for (id, recorded) in &mut self.associations {
            for path in endpoint.paths(*id).into_iter().flatten() {
                let new = PathRecord::of(&path);
                let old = recorded.paths.entry(path.id).or_insert(new);
                let (association, peer, route) = (id.0, &recorded.peer, route(&path));
                let retransmissions = new.retransmissions - old.retransmissions;
                let timeouts = new.timeouts - old.timeouts;
                if retransmissions + timeouts > 0 {
                    debug!(target: TARGET, association, peer, path = route, retransmissions, timeouts, "losses");
                }
                if new.silent != old.silent {
                    let state = if new.silent { "silent" } else { path.state.name() };
                    debug!(target: TARGET, association, peer, path = route, state, "path state");
                }
                *old = PathRecord { state: old.state, ..new };
            }
        }
    }

    /// Records an association, and returns the text that names its peer.
    fn record(&mut self, id: AssocId, addresses: &[IpAddr], port: u16) -> &str {
        let recorded = self.associations.entry(id).or_default();
        recorded.peer = peer_text(addresses, port);
        &recorded.peer
    }

    /// Logs the paths whose state differs from the recorded one, and records the new state.
    fn compare_states(&mut self, endpoint: &Endpoint, id: AssocId) {
        let Some(recorded) = self.associations.get_mut(&id) else { return };
        for path in endpoint.paths(id).into_iter().flatten() {
            let record = recorded.paths.entry(path.id).or_insert(PathRecord::of(&path));
            if record.state.replace(path.state) != Some(path.state) {
                let (association, peer, state) = (id.0, &recorded.peer, path.state.name());
                info!(target: TARGET, association, peer, path = route(&path), state, "path state");
            }
        }
    }
}

/// Logs that an association requested by a peer is refused.
pub(super) fn refused(arrival: &Arrival, reason: &str) {
    let peer = || peer_text(&arrival.peer_addresses, arrival.peer_port);
    info!(target: TARGET, peer = peer(), reason, "association refused");
}

fn peer_text(addresses: &[IpAddr], port: u16) -> String {
    let addresses: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    format!("{} port {port}", addresses.join(" "))
}

fn route(path: &PathInfo) -> String {
    format!("{} > {}", path.local, path.remote)
}
