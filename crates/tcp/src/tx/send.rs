//! Selection of the next segment: lost segments, then new data, then NextSeg rules 3 and 4 of RFC 6675.

use super::rack::TailLossProbe;
use super::{Forced, Sender};
use crate::Variant;
use crate::sequence::ORIGIN;
use units::{ByteCount, Instant};

/// A segment that the caller must write and send now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Position of the first byte.
    pub(crate) start: u64,
    /// Number of user bytes.
    pub(crate) len: u32,
    pub(crate) fin: bool,
    /// The segment empties the send buffer, or ends a train (PSH).
    pub(crate) push: bool,
    /// The segment is ECN-capable (`rfc3168#section-6.1.5`: new data only).
    pub(crate) markable: bool,
    /// The segment has CWR, because the window was reduced.
    pub(crate) reduced: bool,
}

impl Sender {
    /// Selects the next segment, which the caller must send now; `None` if the windows or the pacer allow
    /// none. A segment of new data has at most `limit` bytes.
    #[inline]
    pub(crate) fn next(&mut self, now: Instant, limit: u32) -> Option<Plan> {
        self.control.as_ref()?;
        if self.end == ORIGIN + 1 && !self.closing && self.rate.is_none() {
            return None; // this side only receives
        }
        let limit = u64::from(limit.min(self.smss));
        let held = self.is_held(now);
        // The pacer does not delay probes.
        let plan = match self.forced.take_if(|forced| !held || *forced != Forced::Lost) {
            Some(forced) => self.next_forced(now, forced, limit),
            None => None,
        };
        let plan = plan.or_else(|| if held { None } else { self.next_by_window(now, limit) });
        if plan.is_none() {
            self.account(now);
            if self.rate.is_some() {
                self.note_limit(now);
            }
        }
        if plan.is_none()
            && !held
            && self.flight.is_empty()
            && self.unsent() > 0
            && self.timers.persist.is_none()
        {
            self.start_persist(now);
        }
        plan
    }

    fn next_forced(&mut self, now: Instant, forced: Forced, limit: u64) -> Option<Plan> {
        match forced {
            Forced::Lost => self.flight.next_lost().map(|i| self.resend(now, i)),
            Forced::TailProbe => {
                let len = self.next_len();
                let new = len > 0 && self.flight.nxt() + len <= self.peer.edge;
                let plan = if new {
                    self.new_segment(now, len)
                } else {
                    let last = self.flight.last_hole()?;
                    self.resend(now, last)
                };
                self.probe = Some(TailLossProbe { end: self.flight.nxt(), again: !new });
                Some(plan)
            }
            Forced::WindowProbe => {
                if !self.flight.is_empty() {
                    return Some(self.resend(now, self.flight.first_index()));
                }
                // A zero window is probed with one byte (rfc9293#section-3.8.6.1).
                let usable = self.peer.edge.saturating_sub(self.flight.nxt()).max(1);
                let len = self.unsent().min(usable).min(limit);
                (len > 0).then(|| self.new_segment(now, len))
            }
        }
    }

    fn next_by_window(&mut self, now: Instant, limit: u64) -> Option<Plan> {
        if let Some(i) = self.flight.next_lost() {
            let fits = self.fits(u64::from(self.flight[i].data_len()), 0);
            return fits.then(|| self.resend(now, i));
        }
        if let Some(len) = self.sendable(now, limit) {
            let before = self.last_sent;
            let mut plan = self.new_segment(now, len);
            plan.push |= self.config.push_trains && self.ends_train(now, before, limit);
            return Some(plan);
        }
        self.next_doubtful(now)
    }

    /// User bytes of the next new segment, without regard to windows.
    pub(super) fn next_len(&self) -> u64 {
        self.unsent().min(u64::from(self.smss))
    }

    /// True if cwnd plus `extra` bytes allows a segment of `len` more
    /// bytes in flight. If nothing is in flight, any segment is allowed.
    #[inline]
    pub(super) fn fits(&self, len: u64, extra: u64) -> bool {
        // Without limited transmit, SACKed bytes count as in flight until a loss is detected.
        let pipe = self.recovery.is_some() || self.timed_out.is_some() || self.config.limited_transmit;
        let flight = if pipe { self.flight.in_flight() } else { self.flight.size() };
        flight == 0 || flight + len <= self.cwnd() + extra
    }

    /// User bytes of a new segment that all windows, Nagle's rule and silly window avoidance allow
    /// (`rfc9293#section-3.8.6.2.1`). Zero for a FIN alone.
    #[inline(always)] // into `next_by_window`: the other caller is rare
    pub(super) fn sendable(&mut self, now: Instant, limit: u64) -> Option<u64> {
        let unsent = self.unsent();
        if unsent == 0 {
            return (self.closing && !self.fin_sent()).then_some(0);
        }
        let usable = self.peer.edge.saturating_sub(self.flight.nxt());
        let len = unsent.min(usable).min(limit);
        let idle = self.flight.is_empty();
        let patient = !self.config.nagle || idle || self.closing;
        let worth = len == limit || patient && (len == unsent || 2 * len >= self.peer.largest);
        if len == 0 || !worth {
            return None;
        }
        if idle && now.since(self.last_sent) > self.rto.current() {
            self.control_idle(now);
            self.last_sent = now;
        }
        self.fits(len, self.limited()).then_some(len)
    }

    /// Bytes beyond the window that limited transmit allows (`rfc3042#section-2`); 0 with SACK, where pipe
    /// shrinks instead.
    fn limited(&self) -> u64 {
        if self.config.limited_transmit && self.variant != Variant::Sack && self.recovery.is_none() {
            u64::from(self.dup_acks.min(2)) * u64::from(self.smss)
        } else {
            0
        }
    }

    /// Selects a segment by rules 3 and 4 of `rfc6675#section-4`, NextSeg.
    fn next_doubtful(&mut self, now: Instant) -> Option<Plan> {
        if self.variant != Variant::Sack || self.rack.is_some() {
            return None;
        }
        let mut recovery = self.recovery.take()?;
        let una = self.flight.una();
        let rescue = recovery.rescue.is_none_or(|position| una > position);
        let hole = self.flight.next_hole(&mut recovery.hole);
        let next = hole.or_else(|| self.flight.last_hole().filter(|_| rescue));
        self.recovery = Some(recovery);
        let i = next?;
        if !self.fits(u64::from(self.flight[i].data_len()), 0) {
            return None;
        }
        if let Some(recovery) = &mut self.recovery
            && hole.is_none()
        {
            recovery.rescue = Some(recovery.point);
        }
        Some(self.resend(now, i))
    }

    /// Plans a segment of new data. The segment has the FIN if its data is the last that the user sends.
    fn new_segment(&mut self, now: Instant, len: u64) -> Plan {
        let start = self.flight.nxt();
        let last = start + len == self.end;
        let fin = last && self.closing;
        let flight = self.flight.in_flight();
        let i = self.flight.push(len as u32 + u32::from(fin), fin, now);
        self.count_sent(now, i, len as u32, flight);
        let reduced = len > 0 && std::mem::take(&mut self.ecn.tell);
        let plan =
            Plan { start, len: len as u32, fin, push: last, markable: self.ecn.enabled && len > 0, reduced };
        self.count(now, &plan);
        self.arm_probe(now);
        plan
    }

    fn resend(&mut self, now: Instant, i: u64) -> Plan {
        let flight = self.flight.in_flight();
        self.flight.resend(i, now);
        self.note_resent(now);
        let sent = self.flight[i];
        self.count_sent(now, i, sent.data_len(), flight);
        let push = sent.start + u64::from(sent.data_len()) == self.end;
        let plan = Plan {
            start: sent.start,
            len: sent.data_len(),
            fin: sent.fin,
            push,
            markable: false,
            reduced: false,
        };
        self.stats.user_bytes_retransmitted += ByteCount::new(u64::from(plan.len));
        if self.timed_out.is_some() {
            self.stats.timeout_retransmissions += 1;
        } else {
            self.stats.fast_retransmissions += 1;
        }
        self.count(now, &plan);
        plan
    }

    fn count(&mut self, now: Instant, plan: &Plan) {
        let bytes = u64::from(plan.len);
        self.last_sent = now;
        self.stats.user_bytes_sent += ByteCount::new(bytes);
        self.stats.data_segments_sent += u64::from(plan.len > 0);
        if let Some(prr) = self.recovery.as_mut().and_then(|recovery| recovery.prr.as_mut()) {
            prr.sent(bytes);
        }
        if self.peer.edge > plan.start {
            self.timers.persist = None;
        }
        if self.timers.persist.is_none() {
            self.timers.rto.get_or_insert(self.rto.deadline(now));
        }
    }
}
