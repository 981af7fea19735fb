//! Fault management: detects whether the peer is reachable, and on which paths (`rfc9260#section-8`).

use super::Association;
use super::control::Pending;
use super::heartbeat_info::{HeartbeatInfo, Kind};
use super::phase::Phase;
use crate::error::PathError;
use crate::event::{CloseReason, Event};
use crate::path::{HeartbeatTimer, Path, PathId, PathState};
use crate::tx::SackOutcome;
use std::net::IpAddr;
use units::{Instant, Span};

/// Reason in the ABORT to a peer that no longer answers.
const TOO_MANY_ERRORS: &[u8] = b"too many transmissions without an answer";

/// Longest interval between heartbeats on a path in UDP, because a NAT removes the mapping of an idle port
/// (draft-tuexen-tsvwg-sctp-udp-encaps-cons-10).
const UDP_HB_INTERVAL: Span = Span::from_secs(15);

/// Limits heartbeats to one within an RTO (`HB.Max.Burst` of `rfc9260#section-5.4`).
#[derive(Debug, Default)]
pub(super) struct Probes {
    /// Earliest time of the next heartbeat.
    until: Instant,
    /// The path that is checked first for a due heartbeat.
    turn: usize,
}

impl Association {
    /// Counts an error of path `p` and, with `of_association`, of the association (`rfc9260#section-8.1`).
    pub(super) fn path_error(&mut self, now: Instant, p: PathId, of_association: bool) {
        self.paths[p].errors = self.paths[p].errors.saturating_add(1);
        self.judge(now, p);
        if of_association {
            self.errors += 1;
            if self.errors > self.config().association_max_retrans {
                self.give_up(TOO_MANY_ERRORS, CloseReason::TooManyErrors);
            }
        }
    }

    /// Updates the state of path `p` from its error counter (`rfc9260#section-8.2`, `rfc7829#section-3`).
    fn judge(&mut self, now: Instant, p: PathId) {
        let config = self.config();
        let (errors, state) = (self.paths[p].errors, self.paths[p].state);
        let beyond = |limit: Option<u32>| limit.is_some_and(|limit| errors > limit);
        let failing = beyond(config.potentially_failed);
        let given_up = beyond(config.primary_switchover) && p == self.paths.primary;
        match state {
            PathState::Active | PathState::PotentiallyFailed if errors > config.path_max_retrans => {
                let was_active = state == PathState::Active;
                self.set_path_state(p, PathState::Inactive);
                if was_active {
                    self.ask_costlier(now, p);
                }
            }
            PathState::Active if failing => {
                self.paths[p].failing_since = now;
                self.set_path_state(p, PathState::PotentiallyFailed);
                self.ask_costlier(now, p);
                if self.phase.sends_heartbeats() {
                    self.probe_failing(now, p);
                }
            }
            _ => {}
        }
        if given_up && let Some(other) = self.paths.next_active(p) {
            self.make_primary(other);
        }
    }

    pub(super) fn set_path_state(&mut self, p: PathId, state: PathState) {
        let confirms = self.paths[p].is_unconfirmed();
        self.renamed |= confirms;
        let address = self.paths[p].remote;
        let before = self.paths.state_of(address);
        if self.paths[p].state == PathState::Active {
            self.failures += 1;
            self.paths[p].failed = self.failures;
        }
        self.paths[p].state = state;
        if confirms && self.paths[p].pmtud.is_some() {
            self.sender.fit_fragments(&self.paths);
        }
        let after = self.paths.state_of(address);
        if before != after {
            self.events.path_changed(address, after);
        }
    }

    /// Clears the errors of path `p` and of the association after an answer of the peer.
    fn path_works(&mut self, p: PathId) {
        self.errors = 0;
        self.paths[p].errors = 0;
        // Acknowledged data may have been sent on a path that has been removed.
        if self.paths[p].state != PathState::Active && !self.paths[p].removed {
            self.set_path_state(p, PathState::Active);
        }
    }

    /// Clears the errors of the paths whose data was acknowledged (`rfc9260#section-8.2`).
    #[inline]
    pub(super) fn acknowledged(&mut self, outcome: &SackOutcome) {
        let mut paths = outcome.acked_paths;
        while paths != 0 {
            let p = PathId(paths.trailing_zeros() as u8);
            // rfc7829#section-3: it is unknown which transmission of a retransmitted chunk arrived. A chunk
            // sent before the path failed may have arrived before the failure, with its first SACK lost.
            let path = &self.paths[p];
            let proven = outcome.timed_paths & 1 << p.0 != 0 && path.liveness.proof() > path.failing_since;
            if !proven && path.state == PathState::PotentiallyFailed {
                self.errors = 0;
            } else {
                self.path_works(p);
            }
            paths &= paths - 1;
        }
    }

    /// Starts the heartbeats after the handshake: unconfirmed and silent paths are probed at once.
    pub(super) fn start_heartbeats(&mut self, now: Instant) {
        for p in self.paths.ids() {
            if self.paths[p].is_unconfirmed() || self.paths[p].liveness.is_silent() {
                self.paths[p].heartbeat.defer(now);
                self.on_heartbeat_timer(now, p);
            } else {
                let period = self.idle_period(p);
                self.paths[p].heartbeat.rest(now, period);
            }
        }
    }

    /// Probes path `p` as soon as the limit on heartbeats permits.
    pub(super) fn verify(&mut self, now: Instant, p: PathId) {
        if self.phase.sends_heartbeats() {
            self.paths[p].heartbeat.defer(now);
            self.on_heartbeat_timer(now, p);
        }
    }

    /// Starts a new idle period on all paths that are not being probed, after the interval changed.
    pub(super) fn restart_heartbeats(&mut self, now: Instant) {
        if !self.phase.sends_heartbeats() {
            return;
        }
        for p in self.paths.ids() {
            if self.paths[p].state != PathState::Unconfirmed && !self.paths[p].heartbeat.is_awaited() {
                let period = self.idle_period(p);
                self.paths[p].heartbeat.rest(now, period);
            }
        }
    }

    /// Time that path `p` may be idle: the heartbeat interval plus 0.5 to 1.5 RTO, at random.
    pub(super) fn idle_period(&mut self, p: PathId) -> Option<Span> {
        let rto = self.paths[p].rto.current();
        let jittered = rto.mul_f64(0.5 + self.random.unit());
        match self.heartbeat_interval(p) {
            Some(interval) => Some(interval + jittered),
            None => (self.paths[p].state == PathState::Unconfirmed).then_some(jittered),
        }
    }

    /// The heartbeat interval that our user set for the path; otherwise the longer of `hb_interval`
    /// and the interval that the peer set for the path.
    fn heartbeat_interval(&self, p: PathId) -> Option<Span> {
        let path = &self.paths[p];
        let options = path.options.as_deref().copied().unwrap_or_default();
        let general = self.config().hb_interval.map(|interval| {
            let interval = if path.udp_port == 0 { interval } else { interval.min(UDP_HB_INTERVAL) };
            interval.max(options.peers.heartbeat_interval.unwrap_or(Span::ZERO))
        });
        options.own.heartbeat_interval.or(general)
    }

    fn on_heartbeat_timer(&mut self, now: Instant, p: PathId) {
        // Two iterations, because the next heartbeat may follow an unanswered one immediately.
        for _ in 0..2 {
            let path = &mut self.paths[p];
            match path.heartbeat.expire(now, path.last_data) {
                None => return,
                Some(HeartbeatTimer::Send) => {
                    if let Some(receiver) = &mut self.receiver {
                        receiver.rest(now);
                    }
                    return self.probe_if_allowed(now, p);
                }
                Some(HeartbeatTimer::Unanswered) => self.heartbeat_unanswered(now, p),
            }
        }
    }

    fn heartbeat_unanswered(&mut self, now: Instant, p: PathId) {
        let sent = self.paths[p].heartbeat.unanswered_since().unwrap_or(now);
        let verifying = self.paths[p].state == PathState::Unconfirmed;
        // rfc9260#section-8.1: the lost heartbeat is an error of the association only on the path for data.
        let of_association = !verifying && p == self.paths.default_path();
        self.paths[p].rto.back_off(self.sender.config());
        self.path_error(now, p, of_association);
        if self.paths[p].is_active() && self.paths[p].liveness.is_silent() {
            self.probe(now, p);
        } else if self.paths[p].state == PathState::PotentiallyFailed {
            self.probe_failing(now, p);
        } else if verifying && self.paths[p].errors <= self.config().path_max_retrans {
            self.paths[p].heartbeat.defer(now);
        } else {
            let period = self.idle_period(p);
            self.paths[p].heartbeat.rest(sent, period);
        }
    }

    /// Checks the heartbeat timers of all paths, beginning after the path that last sent a heartbeat.
    pub(super) fn heartbeat_timers(&mut self, now: Instant) {
        let n = self.paths.len();
        let first = self.probes.turn;
        for k in 0..n {
            if self.phase.sends_heartbeats() {
                self.on_heartbeat_timer(now, PathId(((first + k) % n) as u8));
            }
        }
    }

    fn probe_if_allowed(&mut self, now: Instant, p: PathId) {
        if now < self.probes.until {
            return self.paths[p].heartbeat.defer(self.probes.until);
        }
        self.probes.until = now + self.paths[p].rto.current();
        self.probes.turn = p.index() + 1;
        self.probe(now, p);
    }

    /// Probes the potentially failed path `p` with a heartbeat per RTO, even if heartbeats are disabled. If
    /// no other path is active and data is in flight on `p`, that data probes the path, too; the heartbeat
    /// then waits until an RTO after the last data (`rfc7829#section-3`).
    fn probe_failing(&mut self, now: Instant, p: PathId) {
        let none_active = !self.paths.iter().any(Path::is_active);
        let path = &mut self.paths[p];
        if none_active && !path.flight.is_zero() {
            path.heartbeat.rest(now, Some(path.rto.current()));
        } else {
            self.probe(now, p);
        }
    }

    pub(super) fn probe(&mut self, now: Instant, p: PathId) {
        let nonce = self.random.number();
        let path = &mut self.paths[p];
        path.heartbeat.sent(now, nonce, path.rto.current());
        path.await_answer(now, now);
        self.control.push(p, Pending::Heartbeat);
    }

    /// Repeats the heartbeat to the silent path `p` while SACKs arrive on other paths, until an answer, or
    /// until the next heartbeat after an RTO. With one heartbeat per RTO, a path would stay unused for
    /// seconds after a short outage.
    pub(super) fn repeat_heartbeat(&mut self, now: Instant, p: PathId) {
        let path = &mut self.paths[p];
        path.liveness.await_nothing();
        if let Some(first) = path.heartbeat.unanswered_since()
            && self.sender.heard_since(first)
            && path.heartbeat.sent_again(now)
        {
            path.await_answer(now, first);
            self.control.push(p, Pending::Heartbeat);
        }
    }

    /// Probes the new path `p` now if [`Self::verify`] would wait for longer than the RTO of `p`.
    pub(super) fn ask_first(&mut self, now: Instant, p: PathId) {
        if !self.paths[p].heartbeat.is_awaited() && self.probes.until > now + self.paths[p].rto.current() {
            self.ask(now, p);
        }
    }

    /// Sends a heartbeat on path `p` without waiting for the limit on heartbeats, if the association is in a
    /// state in which heartbeats are sent.
    pub(super) fn ask(&mut self, now: Instant, p: PathId) {
        if self.phase.sends_heartbeats() {
            self.probe(now, p);
        }
    }

    /// Sends a heartbeat on request of the user (`rfc9260#section-11.1`).
    pub(crate) fn heartbeat(&mut self, now: Instant, address: IpAddr) -> Result<(), PathError> {
        let p = self.paths.find(address).ok_or(PathError::NoSuchPath { address })?;
        if !self.phase.sends_heartbeats() {
            return Err(PathError::NotEstablished);
        }
        self.probe(now, p);
        self.paths[p].heartbeat.ask();
        self.settle(now);
        Ok(())
    }

    /// The Heartbeat Info of the HEARTBEAT to which path `p` awaits an answer.
    pub(super) fn heartbeat_info(&self, p: PathId) -> Option<HeartbeatInfo> {
        let (nonce, repeats) = self.paths[p].heartbeat.nonce()?;
        Some(HeartbeatInfo { path: p, kind: Kind::Path, repeats, nonce })
    }

    /// Processes a HEARTBEAT ACK. The chunk contains the path of the heartbeat, which may differ from the
    /// path on which the HEARTBEAT ACK arrived.
    pub(super) fn on_heartbeat_ack(&mut self, now: Instant, info: &[u8]) {
        let Some(HeartbeatInfo { path: p, kind, repeats, nonce }) = HeartbeatInfo::parse(info) else {
            return;
        };
        if p.index() >= self.paths.len() {
            return;
        }
        match kind {
            Kind::Path => self.on_path_answer(now, p, repeats, nonce),
            Kind::Mtu => self.on_probe_ack(now, p, nonce),
            Kind::Return => self.paths[p].returns.iter_mut().for_each(|way| way.answered(now, nonce)),
        }
    }

    /// Processes the answer to a HEARTBEAT of fault management on path `p`.
    fn on_path_answer(&mut self, now: Instant, p: PathId, repeats: u16, nonce: u64) {
        let Some(answer) = self.paths[p].heartbeat.answered(now, nonce, repeats) else { return };
        if let Some(rtt) = answer.rtt {
            if let Some(way) = &mut self.paths[p].returns {
                way.observe(now, rtt);
            }
            self.paths[p].rto.sample(now, rtt, self.sender.config());
        }
        if self.paths[p].heartbeat.take_asked() {
            self.events.push(Event::HeartbeatAnswered { address: self.paths[p].remote, rtt: answer.after });
        }
        self.sender.end_silence(now, &mut self.paths[p]);
        let before = self.paths[p].state;
        self.path_works(p);
        if before == PathState::PotentiallyFailed {
            self.sender.on_path_back(now, p, &mut self.paths);
        }
        if matches!(before, PathState::PotentiallyFailed | PathState::Inactive) {
            self.sender.on_return(now, p, &mut self.paths);
        }
        let period = self.idle_period(p);
        self.paths[p].heartbeat.rest(now, period);
    }

    /// Handles the expiry of T3-rtx of path `p` (`rfc9260#section-6.3.3`).
    pub(super) fn on_t3(&mut self, now: Instant, p: PathId) {
        self.suspect_mtu(now, p);
        if self.sender.on_t3(now, p, &mut self.paths).counts_as_error {
            self.path_error(now, p, true);
        }
    }

    /// On expiry of T2, repeats SHUTDOWN or SHUTDOWN ACK, on another path if possible
    /// (`rfc9260#section-9.2`).
    pub(super) fn on_t2(&mut self, now: Instant) {
        let limit = self.config().association_max_retrans;
        let (Phase::ShutdownSent { t2, .. } | Phase::ShutdownAckSent { t2 }) = self.phase else { return };
        if t2.count >= limit {
            return self.give_up(TOO_MANY_ERRORS, CloseReason::TooManyErrors);
        }
        // This error may make the path inactive, so the next path is chosen only afterwards.
        self.path_error(now, t2.path, true);
        let (t2, chunk) = match &mut self.phase {
            Phase::ShutdownSent { t2, .. } => (t2, Pending::Shutdown),
            Phase::ShutdownAckSent { t2 } => (t2, Pending::ShutdownAck),
            _ => return,
        };
        t2.expired(now, &mut self.paths, self.sender.config());
        self.control.push(t2.path, chunk);
    }
}
