//! Sends the INIT to several addresses of the peer: to the next one after [`ATTEMPT_DELAY`] without an
//! answer, and at once after a refusal, as TCP clients do (`rfc8305#section-5`).
//!
//! All INITs have the same tag and are retransmissions of the first INIT (`rfc9260#section-5.1`); the
//! first INIT ACK counts. In COOKIE-WAIT an address without a timely answer is silent, and an address
//! that refused the INIT is inactive. The handshake goes on with the address that answered. The other
//! addresses get only heartbeats until they answer.

use super::Association;
use super::control::Pending;
use super::phase::Phase;
use crate::path::{Path, PathId, PathState};
use std::net::IpAddr;
use units::{Instant, Span};

/// Time without an answer after which the INIT is also sent to another address (`rfc8305#section-8`).
const ATTEMPT_DELAY: Span = Span::from_millis(250);

impl Association {
    /// The next address that got no INIT; none if all got one, or if the INIT may not be retransmitted.
    fn untried(&self) -> Option<PathId> {
        // After a Stale Cookie error (`has_peer`) the address of the INIT is known to answer.
        let Phase::CookieWait { t1, .. } = self.phase else { return None };
        let may_retransmit = t1.count < self.config().max_init_retransmits && !self.has_peer();
        self.paths.next_usable(t1.path).filter(|&p| p != t1.path && may_retransmit)
    }

    /// Limits T1-init to [`ATTEMPT_DELAY`] while an address is left to try.
    pub(super) fn shorten_t1_init(&mut self, now: Instant) {
        if self.untried().is_some()
            && let Phase::CookieWait { t1, .. } = &mut self.phase
        {
            t1.deadline = t1.deadline.min(now + ATTEMPT_DELAY);
        }
    }

    /// Marks the last tried address as silent and tries another. Returns false if none is left, or if
    /// the RTO of the last tried address is at most [`ATTEMPT_DELAY`]: then T1-init expired as usual.
    pub(super) fn try_next_address(&mut self, now: Instant) -> bool {
        let next = self.untried();
        let Phase::CookieWait { t1, .. } = self.phase else { return false };
        let path = &mut self.paths[t1.path];
        path.liveness.distrust();
        match next.filter(|_| path.rto.current() > ATTEMPT_DELAY) {
            Some(next) => {
                self.retransmit_init(now, next);
                true
            }
            None => false,
        }
    }

    /// Sends the INIT to another address before the RTO has passed.
    fn retransmit_init(&mut self, now: Instant, p: PathId) {
        let Phase::CookieWait { t1, .. } = &mut self.phase else { return };
        t1.redirect_init(now, p, &self.paths, self.sender.config());
        self.control.push_first(p, Pending::Init);
        self.shorten_t1_init(now);
    }

    /// Handles a refusal of the INIT on path `p`. True if the attempt goes on at another address.
    pub(super) fn refused_at(&mut self, now: Instant, p: PathId) -> bool {
        let Phase::CookieWait { t1, .. } = self.phase else { return false };
        if self.has_peer() {
            return false;
        }
        let p = self.paths.find(self.paths[p].remote).unwrap_or(p);
        self.paths[p].state = PathState::Inactive;
        match self.untried() {
            Some(next) if p == t1.path => self.retransmit_init(now, next),
            Some(_) => {}
            None => {
                let awaited = |q: PathId| {
                    self.paths[q].is_active() && (self.paths[q].liveness.is_silent() || q == t1.path)
                };
                return self.paths.ids().any(awaited);
            }
        }
        true
    }

    /// The addresses that did not answer our INIT, when the INIT ACK came from `source`. If no INIT was sent
    /// to `source`, the INIT ACK may answer the last INIT, so the address of the last INIT is left out.
    pub(super) fn unanswered_addresses(&self, source: IpAddr) -> Vec<IpAddr> {
        let Phase::CookieWait { t1, .. } = self.phase else { return Vec::new() };
        let last = self.paths.find(source).is_none().then_some(t1.path);
        let ids = self.paths.ids().filter(|&p| {
            let path = &self.paths[p];
            path.state == PathState::Inactive || (path.liveness.is_silent() && Some(p) != last)
        });
        ids.map(|p| self.paths[p].remote).filter(|&remote| remote != source).collect()
    }

    /// Marks addresses without an answer as silent: other paths carry data until these addresses answer
    /// heartbeats. The last usable path is never silent.
    pub(super) fn distrust(&mut self, addresses: &[IpAddr]) {
        let doubtful = |path: &&mut Path| path.is_active() && addresses.contains(&path.remote);
        self.paths.iter_mut().filter(doubtful).for_each(|path| path.liveness.distrust());
        match self.paths.next_usable(self.paths.primary) {
            _ if self.paths[self.paths.primary].is_usable() => {}
            Some(p) => self.paths.primary = p,
            None => {
                let primary = self.paths.primary;
                self.paths[primary].liveness.trust();
            }
        }
    }
}
