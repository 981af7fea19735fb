use super::Association;
use super::phase::Phase;
use super::shutdown::SHUTDOWN_GUARD;
use crate::event::CloseReason;
use units::Instant;

impl Association {
    /// The next time at which a timer of this association expires.
    #[inline(always)] // into `Endpoint::poll_transmit`, which calls it after each packet
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        let phase = self.phase.deadline();
        if !self.phase.is_open() {
            return phase;
        }
        let mut next = phase.unwrap_or(Instant::FAR);
        let heartbeats = self.phase.sends_heartbeats();
        for path in self.paths.iter() {
            next = next.min(path.t3.unwrap_or(Instant::FAR));
            next = next.min(path.liveness.deadline().unwrap_or(Instant::FAR));
            if let Some(rack) = &path.rack {
                next = next.min(rack.deadline().unwrap_or(Instant::FAR));
            }
            if heartbeats {
                next = next.min(path.heartbeat.deadline().unwrap_or(Instant::FAR));
            }
        }
        if let Some(at) = self.receiver.as_ref().and_then(|receiver| receiver.sack_deadline()) {
            next = next.min(at);
        }
        next = next.min(self.mtu_deadline().unwrap_or(Instant::FAR));
        let sender = &self.sender;
        for at in [sender.rest_ends(&self.paths), sender.copies_overdue(&self.paths)] {
            next = next.min(at.unwrap_or(Instant::FAR));
        }
        if !self.extensions.is_empty() {
            next = next.min(self.extension_deadline());
        }
        (next != Instant::FAR).then_some(next)
    }

    /// The next time at which a timer of an extension expires, or [`Instant::FAR`].
    #[inline(never)]
    fn extension_deadline(&self) -> Instant {
        let reset = self.re_config.as_ref().and_then(|config| config.deadline());
        let deadlines = [self.t4_deadline(), reset, self.sender.partial_deadline(&self.paths)];
        deadlines.into_iter().flatten().min().unwrap_or(Instant::FAR)
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        match self.phase {
            Phase::CookieWait { t1, .. } | Phase::CookieEchoed { t1, .. } if t1.deadline <= now => {
                self.on_t1(now)
            }
            Phase::ShutdownSent { t5, .. } if t5 <= now => {
                self.give_up(SHUTDOWN_GUARD, CloseReason::TooManyErrors)
            }
            Phase::ShutdownSent { t2, .. } | Phase::ShutdownAckSent { t2 } if t2.deadline <= now => {
                self.on_t2(now)
            }
            _ => {}
        }
        if self.t4_deadline().is_some_and(|at| at <= now) {
            self.on_t4(now);
        }
        if self.phase.is_open() {
            self.path_timers(now);
            if let Some(receiver) = &mut self.receiver {
                receiver.on_sack_timeout(now);
            }
            self.find_detour(now);
        }
        self.settle(now);
    }

    fn path_timers(&mut self, now: Instant) {
        for p in self.paths.ids() {
            if self.phase.is_open() && self.paths[p].t3.is_some_and(|at| at <= now) {
                self.on_t3(now, p);
            }
            if self.phase.is_open() && self.paths[p].rack.is_some() {
                self.sender.on_reordering_timeout(now, p, &mut self.paths);
            }
            if self.phase.is_open() && self.paths[p].liveness.deadline().is_some_and(|at| at <= now) {
                if self.paths[p].liveness.is_silent() {
                    self.repeat_heartbeat(now, p);
                } else {
                    self.suspect_mtu(now, p);
                    if self.sender.fall_silent(now, p, &mut self.paths) {
                        self.ask(now, p);
                    }
                }
            }
        }
        self.heartbeat_timers(now);
        self.mtu_timers(now);
        if self.phase.is_open() && self.re_config.is_some() {
            self.on_t_reconf(now);
        }
    }
}
