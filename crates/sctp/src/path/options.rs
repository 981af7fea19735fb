//! Options of single paths, which both ends may set.

use super::{Path, PathId, Paths};
use units::Span;
use wire::PathStatus;

/// Options of the paths from one of our addresses. The peer applies them, too, if it implements PATH-STATUS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathOptions {
    /// With CMT, a path carries no user data, no copies and no SACKs for data of other paths while a path of
    /// lower cost works and has room in its congestion window. Messages with a chosen
    /// [path](crate::Message::path) are the exception.
    pub cost: u16,
    /// Time without data after which this end sends a heartbeat. It replaces
    /// [`Config::hb_interval`](crate::Config::hb_interval), and the limit of 15 s for paths in UDP does not
    /// apply (`SCTP_PEER_ADDR_PARAMS` of RFC 6458). The peer waits at least as long; it limits this interval
    /// to 10 minutes.
    pub heartbeat_interval: Option<Span>,
}

/// Options that both ends set for a path.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Agreed {
    pub(crate) own: PathOptions,
    pub(crate) peers: PathOptions,
}

/// The longest interval between heartbeats that a peer may set, in seconds.
const LONGEST_INTERVAL: u16 = 600;

impl PathOptions {
    pub(crate) fn to_status(self) -> PathStatus {
        let seconds = |interval: Span| interval.as_secs_f64().ceil().clamp(1.0, f64::from(u16::MAX)) as u16;
        let heartbeat_interval = self.heartbeat_interval.map_or(0, seconds);
        PathStatus { cost: self.cost, heartbeat_interval }
    }

    pub(crate) fn from_status(status: &PathStatus) -> Self {
        let seconds = status.heartbeat_interval.min(LONGEST_INTERVAL);
        let heartbeat_interval = (seconds > 0).then(|| Span::from_secs(seconds.into()));
        PathOptions { cost: status.cost, heartbeat_interval }
    }
}

impl Path {
    /// Sets the options of our end. If our end never set any, `None` changes nothing.
    pub(crate) fn set_own_options(&mut self, own: Option<PathOptions>) {
        if own.is_some() || self.options.is_some() {
            self.options.get_or_insert_default().own = own.unwrap_or_default();
            self.note_cost();
        }
    }

    /// Sets the options of the peer's end; returns true if they changed.
    pub(crate) fn set_peers_options(&mut self, peers: PathOptions) -> bool {
        let before = std::mem::replace(&mut self.options.get_or_insert_default().peers, peers);
        self.note_cost();
        before != peers
    }

    fn note_cost(&mut self) {
        self.cost = self.options.as_ref().map_or(0, |options| options.own.cost.max(options.peers.cost));
    }
}

impl Paths {
    pub(crate) fn note_costs(&mut self) {
        self.has_costs = self.iter().any(|path| path.cost > 0);
    }

    /// Returns true if the paths may differ in cost.
    #[inline]
    pub(crate) fn have_costs(&self) -> bool {
        self.has_costs
    }

    /// Returns true if path `p` carries no user data because a cheaper path works and has room in its cwnd.
    #[inline]
    pub(crate) fn is_spared(&self, p: PathId) -> bool {
        self.has_costs && self.cheaper_with_room(p).is_some()
    }

    /// Returns the cheapest path that works and has room, if it is cheaper than `p`; else `p`.
    #[inline]
    pub(crate) fn or_cheaper(&self, p: PathId) -> PathId {
        if self.has_costs { self.cheaper_with_room(p).unwrap_or(p) } else { p }
    }

    #[cold]
    fn cheaper_with_room(&self, p: PathId) -> Option<PathId> {
        let cost = self[p].cost;
        let takes =
            |path: &Path| path.cost < cost && path.is_usable() && !path.timed_out && !path.space().is_zero();
        self.ids().filter(|&q| takes(&self[q])).min_by_key(|&q| self[q].cost)
    }
}
