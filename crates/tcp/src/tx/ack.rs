//! Processing of an acknowledgement: the same steps in the same order for Tahoe, Reno, NewReno and SACK.

use super::Sender;
use super::recovery::AckDelta;
use arrayvec::ArrayVec;
use cc::LossKind;
use units::{Instant, Span};

/// A valid acknowledgement, in positions (unwrapped sequence numbers).
#[derive(Clone, Debug)]
pub(crate) struct Ack {
    /// Cumulative acknowledgement (SEG.ACK).
    pub(crate) to: u64,
    /// First position of the segment (SEG.SEQ).
    pub(crate) from: u64,
    /// Advertised window in bytes.
    pub(crate) window: u64,
    /// SACK blocks of the segment, as positions of the first byte and of the byte after the last.
    pub(crate) blocks: ArrayVec<(u64, u64), 4>,
    /// Echoed timestamp (TSecr), in milliseconds since [`Instant::ZERO`].
    pub(crate) echo: Option<u64>,
    /// The segment has neither data nor a FIN.
    pub(crate) bare: bool,
    /// The segment has ECE (`rfc3168#section-6.1.2`).
    pub(crate) congestion: bool,
}

/// Send times of the newly acknowledged segments.
#[derive(Clone, Copy, Debug, Default)]
struct Timing {
    /// Send time of the oldest segment.
    first: Option<Instant>,
    /// One of the segments was retransmitted (Karn's rule, `rfc6298#section-3`).
    ambiguous: bool,
}

impl Sender {
    /// Processes an acknowledgement between SND.UNA and SND.NXT.
    pub(crate) fn on_ack(&mut self, now: Instant, ack: &Ack) {
        let una = self.flight.una();
        let mut delta =
            AckDelta { acked: ack.to - una, flight_before: self.flight.size(), ..AckDelta::default() };
        self.expiries = 0;
        let timing = self.take_cumulative(now, ack, &mut delta);
        let sacked = self.take_blocks(now, ack, &mut delta);
        let rtt = self.take_time(now, ack, timing, delta.acked > 0);
        let quiet = ack.bare && delta.acked == 0 && ack.window == self.peer.size;
        delta.duplicate = match self.variant {
            crate::Variant::Sack => sacked > 0,
            _ => quiet && !self.flight.is_empty() && self.timers.persist.is_none(),
        };
        self.take_window(ack);
        let cut = self.take_congestion(now, ack, &delta);
        let in_recovery = self.recover(now, &delta);
        if delta.acked > 0 {
            self.stats.bytes_acked += units::ByteCount::new(ack.to.min(self.end) - una.min(self.end));
            self.data.forget_below(ack.to.min(self.end));
            if ack.to >= self.recover {
                self.timed_out = None;
            }
            if !in_recovery {
                if !cut && !self.models_rate() {
                    self.control_ack(now, delta.acked, delta.flight_before, rtt);
                }
                self.restart_rto(now);
            }
        }
        if self.models_rate() && (delta.delivered > 0 || self.has_losses_to_tell()) {
            self.control_ack(now, delta.delivered, delta.flight_before, rtt);
        }
        let dsack = duplicate_report(ack);
        if let Some(rack) = &mut self.rack
            && dsack.is_some()
        {
            rack.duplicate(ack.to, self.flight.nxt());
        }
        self.check_undo(now, ack);
        self.judge_probe(now, ack.to, quiet && ack.blocks.is_empty(), dsack);
        if delta.acked > 0 || delta.delivered > 0 {
            self.arm_probe(now);
        }
    }

    fn take_cumulative(&mut self, now: Instant, ack: &Ack, delta: &mut AckDelta) -> Timing {
        let mut timing = Timing::default();
        let (rack, rate) = (&mut self.rack, &mut self.rate);
        self.flight.acknowledge(ack.to, |sent, record| {
            timing.first.get_or_insert(sent.sent_at);
            timing.ambiguous |= sent.retransmitted;
            delta.delivered += u64::from(sent.len);
            if let Some(rack) = rack {
                rack.delivered(now, sent, ack.answers(sent.sent_at));
            }
            if let (Some(rate), Some(record)) = (&mut *rate, record) {
                rate.on_delivered(now, sent, record);
            }
        });
        timing
    }

    /// Processes the SACK blocks and returns the newly reported bytes.
    fn take_blocks(&mut self, now: Instant, ack: &Ack, delta: &mut AckDelta) -> u64 {
        let (rack, rate) = (&mut self.rack, &mut self.rate);
        let mut bytes = 0;
        for &(left, right) in &ack.blocks {
            bytes += self.flight.sack(left, right, |sent, record| {
                if let Some(rack) = &mut *rack {
                    rack.delivered(now, sent, ack.answers(sent.sent_at));
                }
                if let (Some(rate), Some(record)) = (&mut *rate, record) {
                    rate.on_delivered(now, sent, record);
                }
            });
        }
        delta.delivered += bytes;
        bytes
    }

    /// Takes an RTT sample from the send time, or, if that is ambiguous, from the echoed timestamp
    /// (`rfc7323#section-4.1`).
    fn take_time(&mut self, now: Instant, ack: &Ack, timing: Timing, advanced: bool) -> Option<Span> {
        if !advanced {
            return None;
        }
        let own = timing.first.filter(|_| !timing.ambiguous);
        let echoed = || ack.echo.map(|ms| Instant::from_nanos(ms.saturating_mul(1_000_000)));
        let rtt = now.since(own.or_else(echoed)?);
        self.rto.sample(rtt);
        Some(rtt)
    }

    /// Updates the window, unless the segment is older than the segment of the latest update
    /// (`rfc9293#section-3.10.7.4`).
    fn take_window(&mut self, ack: &Ack) {
        let peer = &mut self.peer;
        if (ack.from, ack.to) >= peer.from {
            peer.from = (ack.from, ack.to);
            peer.size = ack.window;
            peer.largest = peer.largest.max(ack.window);
            peer.edge = ack.to + ack.window;
        }
        if self.timers.persist.is_some() && self.peer.edge > self.flight.una() {
            self.end_persist();
        }
    }

    /// Reduces the window for ECE once a round trip (`rfc3168#section-6.1.2`). Returns true if the window
    /// must not grow.
    fn take_congestion(&mut self, now: Instant, ack: &Ack, delta: &AckDelta) -> bool {
        if !self.ecn.enabled || !ack.congestion {
            return false;
        }
        if self.recovery.is_none() && ack.to > self.ecn.answered {
            self.stats.ecn_reductions += 1;
            self.control_loss(now, delta.flight_before, LossKind::Mark);
            self.ecn.answered = self.flight.nxt();
            self.ecn.tell = true;
        }
        true
    }

    /// Sets the first window of the connection, from the peer's SYN or from the ACK of our SYN.
    pub(crate) fn take_first_window(&mut self, from: u64, window: u64) {
        let una = self.flight.una();
        self.peer.from = (from, una);
        self.peer.size = window;
        self.peer.largest = window;
        self.peer.edge = una + window;
    }
}

impl Ack {
    /// False if the echoed timestamp is older than `sent_at`: then an earlier transmission is acknowledged.
    pub(super) fn answers(&self, sent_at: Instant) -> Option<bool> {
        self.echo.map(|ms| ms >= sent_at.as_nanos() / 1_000_000)
    }
}

/// End of the duplicate data that a D-SACK block reports (`rfc2883#section-4`).
fn duplicate_report(ack: &Ack) -> Option<u64> {
    let &(left, right) = ack.blocks.first()?;
    let within = ack.blocks.get(1).is_some_and(|&(l, r)| l <= left && right <= r);
    (right <= ack.to || within).then_some(right)
}
