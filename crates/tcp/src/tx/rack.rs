//! RACK-TLP (`rfc8985`): detects losses by time, and probes the tail of the flight.

use super::flight::{DUP_THRESHOLD, Sent};
use super::{Forced, Sender};
use cc::LossKind;
use transport::LeastRtt;
use units::{Instant, Span};

/// State of RACK (`rfc8985#section-5.2`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rack {
    /// Send time and end of the latest-sent delivered segment (RACK.xmit_ts, RACK.end_seq).
    latest: Option<(Instant, u64)>,
    rtt: Span,
    min_rtt: LeastRtt,
    /// Highest position delivered (RACK.fack).
    highest: u64,
    reordering: bool,
    /// Factor of the reordering window, and number of recoveries until the factor is reset to one.
    multiplier: u32,
    persist: u32,
    /// Once SND.UNA has reached this position, the multiplier of the
    /// reordering window may grow again: at most once per round trip.
    round: Option<u64>,
}

/// A tail loss probe in flight (`rfc8985#section-7.1`).
#[derive(Clone, Copy, Debug)]
pub(super) struct TailLossProbe {
    /// SND.NXT when the probe was sent.
    pub(super) end: u64,
    /// The probe was a retransmission.
    pub(super) again: bool,
}

/// Number of recoveries for which a larger reordering window is kept (`rfc8985#section-6.2`).
const PERSIST: u32 = 16;

/// Longest delay of an acknowledgement that a peer may use (`rfc8985#section-7.2`).
const MAX_ACK_DELAY: Span = Span::from_millis(200);

impl Rack {
    /// Processes the delivery of a segment (`rfc8985#section-6.2`, steps 1 to 3). `echoed`: whether the
    /// timestamp shows that the last transmission was acknowledged.
    pub(super) fn delivered(&mut self, now: Instant, sent: &Sent, echoed: Option<bool>) {
        let rtt = now.since(sent.sent_at);
        if sent.retransmitted {
            let too_early = self.min_rtt.get().is_some_and(|least| rtt < least);
            if echoed == Some(false) || too_early {
                return;
            }
        }
        self.min_rtt.sample(now, rtt);
        let this = (sent.sent_at, sent.end());
        if self.latest.is_none_or(|latest| latest < this) {
            self.latest = Some(this);
            self.rtt = rtt;
        }
        if sent.end() > self.highest {
            self.highest = sent.end();
        } else if !sent.retransmitted {
            self.reordering = true;
        }
    }

    /// The reordering window (`rfc8985#section-6.2`, step 4).
    fn window(&self, srtt: Option<Span>, loss_expected: bool) -> Span {
        if !self.reordering && loss_expected {
            return Span::ZERO;
        }
        let window = self.min_rtt.get().unwrap_or(Span::ZERO) * u64::from(self.multiplier.max(1)) / 4;
        srtt.map_or(window, |srtt| window.min(srtt))
    }

    /// Processes a D-SACK, which shows that the reordering window was too small.
    pub(super) fn duplicate(&mut self, una: u64, nxt: u64) {
        if self.round.is_none_or(|round| una >= round) {
            self.round = Some(nxt);
            self.multiplier = self.multiplier.max(1) + 1;
            self.persist = PERSIST;
        }
    }

    pub(super) fn recovery_ended(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.multiplier = 1;
        }
    }

    /// True if a segment counts as lost when the retransmission timer expires (`rfc8985#section-6.3`).
    pub(super) fn is_late(&self, srtt: Option<Span>, now: Instant, sent: &Sent) -> bool {
        sent.sent_at + self.rtt + self.window(srtt, true) <= now
    }

    /// Time from which a segment counts as lost; `None` if no later transmission was delivered.
    fn deadline(&self, sent: &Sent, window: Span) -> Option<Instant> {
        let latest = self.latest?;
        (latest > (sent.sent_at, sent.end())).then(|| sent.sent_at + self.rtt + window)
    }
}

impl Sender {
    /// Marks late segments as lost, and sets the reordering timer for the oldest other segment
    /// (`rfc8985#section-6.2`, step 5).
    pub(super) fn detect_by_time(&mut self, now: Instant) -> bool {
        let Some(rack) = self.rack else { return false };
        let expected = self.recovery.is_some() || self.flight.sacked_segments() >= DUP_THRESHOLD;
        let window = rack.window(self.rto.srtt(), expected);
        let mut next = None;
        let lost = self.flight.lose_by_time(|sent| {
            let deadline = rack.deadline(sent, window);
            next = deadline.filter(|&at| at > now);
            deadline.is_some_and(|at| at <= now)
        });
        self.timers.reorder = next;
        lost
    }

    /// Sets the probe timer if a tail loss probe may be needed (`rfc8985#section-7.2`).
    pub(super) fn arm_probe(&mut self, now: Instant) {
        self.timers.probe = None;
        let open = self.rack.is_some() && self.probe.is_none() && self.recovery.is_none();
        if !open
            || self.flight.is_empty()
            || self.flight.sacked_segments() > 0
            || self.flight.next_lost().is_some()
        {
            return;
        }
        let mut timeout = self.rto.srtt().map_or(Span::from_secs(1), |srtt| srtt * 2);
        if self.flight.in_flight() <= u64::from(self.smss) {
            timeout += MAX_ACK_DELAY;
        }
        self.timers.probe = self.timers.rto.map(|rto| rto.min(now + timeout));
    }

    /// Sends a tail loss probe at the expiry of the probe timer (`rfc8985#section-7.3`).
    pub(super) fn on_probe_timer(&mut self, now: Instant) {
        self.timers.probe = None;
        let new = self.unsent() > 0 && self.flight.nxt() + self.next_len() <= self.peer.edge;
        if !new && self.flight.last_hole().is_none() {
            return;
        }
        self.forced = Some(Forced::TailProbe);
        self.stats.loss_probes += 1;
        self.timers.rto = Some(self.rto.deadline(now));
    }

    /// Decides from an acknowledgement whether the probe repaired a loss (`rfc8985#section-7.4.2`).
    pub(super) fn judge_probe(&mut self, now: Instant, to: u64, duplicate: bool, dsack: Option<u64>) {
        let Some(probe) = self.probe.filter(|probe| to >= probe.end) else { return };
        let harmless = !probe.again || dsack == Some(probe.end);
        if harmless || to > probe.end || duplicate {
            self.probe = None;
        }
        if !harmless && to > probe.end && self.recovery.is_none() {
            // The probe repaired the loss, and no recovery will reduce the window.
            self.stats.recoveries += 1;
            self.control_loss(now, self.flight.size(), LossKind::FastRetransmit);
        }
    }
}
