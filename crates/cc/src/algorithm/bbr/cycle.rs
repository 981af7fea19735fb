//! The cycle of ProbeBW, and ProbeRTT: how they change the model of a path.

use units::{ByteCount, Instant, Span};

use super::flow::{Acks, Event, Flow, LEAST_WAIT, Left, State};
use crate::RateSample;

/// Largest number of round trips between two probes: the draft's rule for coexistence with Reno and CUBIC.
const MOST_ROUNDS: u64 = 63;

/// Time for which ProbeRTT keeps few bytes in flight.
const PROBE_RTT_TIME: Span = Span::from_millis(200);

impl Flow {
    /// Advances the cycle of the states of ProbeBW after an acknowledgement.
    pub(super) fn update_cycle(&mut self, event: &Event, sample: &RateSample, limited: bool, rate: f64) {
        if !self.full.reached || self.adapt_long_term(event, sample, limited) {
            return;
        }
        match self.state {
            State::Down | State::Cruise if self.is_time_to_probe(event.now) => self.start_refill(),
            State::Down if self.may_cruise(event.inflight) => self.state = State::Cruise,
            State::Refill if self.rounds.started => self.start_up(rate),
            State::Up => self.check_up(event, rate),
            _ => {}
        }
    }

    /// Evaluates the probe and changes the long-term bound. True if the state changed.
    fn adapt_long_term(&mut self, event: &Event, sample: &RateSample, limited: bool) -> bool {
        if self.rounds.started {
            match self.cycle.acks {
                Acks::Starting => self.cycle.acks = Acks::Probe,
                Acks::Stopping => {
                    self.cycle.acks = Acks::Other;
                    self.cycle.sampling = false;
                    if self.state.is_probe_bw() && !limited {
                        self.rates.advance();
                    }
                    if self.state.is_probe_bw() && self.cycle.cautious && !self.cycle.too_high {
                        self.start_refill();
                        return true;
                    }
                }
                Acks::Other | Acks::Probe => {}
            }
        }
        if self.is_too_high(sample) {
            let before = self.state;
            if self.cycle.sampling {
                self.probed_too_high(event.now, (!limited).then_some(sample.tx_in_flight));
            }
            return self.state != before;
        }
        if self.bounds.long_term < ByteCount::MAX {
            self.bounds.long_term = self.bounds.long_term.max(sample.tx_in_flight);
            if self.state == State::Up {
                self.raise_long_term(event.acked);
            }
        }
        false
    }

    /// True if more than the fraction `loss_threshold` of the bytes in flight was lost.
    pub(super) fn is_too_high(&self, sample: &RateSample) -> bool {
        sample.lost.as_f64() > sample.tx_in_flight.as_f64() * self.knobs.loss_threshold
    }

    /// Ends a probe that lost too much. `in_flight` is the number of bytes in flight in the
    /// probe; `None` if the sender was application-limited, so that the long-term bound stays.
    pub(super) fn probed_too_high(&mut self, now: Instant, in_flight: Option<ByteCount>) {
        self.cycle.too_high = true;
        self.cycle.sampling = false;
        if let Some(in_flight) = in_flight {
            self.bounds.limit(in_flight, self.target());
        }
        if self.state == State::Up {
            self.leave_by_loss(Left::Up);
            self.start_down(now);
        }
    }

    pub(super) fn start_down(&mut self, now: Instant) {
        self.bounds.reset_signals();
        self.cycle.step = ByteCount::MAX;
        let draw = mixed(now.as_nanos() ^ self.delivered.get().rotate_left(32));
        self.cycle.rounds = draw & 1;
        self.cycle.wait = LEAST_WAIT + Span::from_nanos((draw >> 1) % 1_000_000_000);
        self.cycle.began = now;
        self.cycle.acks = Acks::Stopping;
        self.rounds.restart(self.delivered);
        self.state = State::Down;
    }

    pub(super) fn start_refill(&mut self) {
        self.bounds.reset_short_term();
        self.cycle.up_rounds = 0;
        self.cycle.up_acked = ByteCount::ZERO;
        self.cycle.cautious = false;
        self.cycle.acks = Acks::Other;
        self.rounds.restart(self.delivered);
        self.state = State::Refill;
    }

    fn start_up(&mut self, rate: f64) {
        self.cycle.sampling = true;
        self.cycle.acks = Acks::Starting;
        self.rounds.restart(self.delivered);
        self.full.reset(rate);
        self.state = State::Up;
        self.raise_slope();
    }

    fn is_time_to_probe(&self, now: Instant) -> bool {
        let segments = self.target().get() / self.segment.get().max(1);
        now > self.cycle.began + self.cycle.wait || self.cycle.rounds >= segments.min(MOST_ROUNDS)
    }

    /// True if the queue is empty and the headroom for other flows is free.
    fn may_cruise(&self, inflight: ByteCount) -> bool {
        let room = self.bounds.with_headroom(self.knobs.headroom, self.segment).max(self.least_window());
        inflight <= room && inflight <= self.inflight(self.rates.get(), 1.0)
    }

    /// Ends UP once the bandwidth stops growing, or at the long-term bound after a probe that lost too much.
    fn check_up(&mut self, event: &Event, rate: f64) {
        if self.is_time_to_go_down(event.inflight, rate) {
            self.cycle.too_high = false;
            self.start_down(event.now);
        }
    }

    fn is_time_to_go_down(&mut self, inflight: ByteCount, rate: f64) -> bool {
        if self.cycle.too_high && inflight >= self.bounds.long_term {
            self.cycle.cautious = true;
            return true;
        }
        if self.is_window_limited() && self.window >= self.bounds.long_term {
            // The long-term bound, not the path, limits the rate.
            self.full.reset(rate);
            return false;
        }
        self.full.now
    }

    /// Doubles the growth rate of the long-term bound, once per round trip of UP.
    fn raise_slope(&mut self) {
        self.cycle.step = ByteCount::new(self.window.get() >> self.cycle.up_rounds).max(self.segment);
        self.cycle.up_rounds = (self.cycle.up_rounds + 1).min(30);
    }

    fn raise_long_term(&mut self, acked: ByteCount) {
        if !self.is_window_limited() || self.window < self.bounds.long_term {
            return;
        }
        self.cycle.up_acked += acked;
        let steps = self.cycle.up_acked.get() / self.cycle.step.get().max(1);
        self.cycle.up_acked -= self.cycle.step * steps;
        self.bounds.long_term += self.segment * steps;
        if self.rounds.started {
            self.raise_slope();
        }
    }

    /// Begins, continues or ends ProbeRTT.
    pub(super) fn check_probe_rtt(&mut self, event: &Event) {
        if self.state != State::ProbeRtt && self.rtt.expired && !self.restarted {
            self.state = State::ProbeRtt;
            self.saved = Some(self.window);
            self.probe_ends = None;
            self.cycle.acks = Acks::Stopping;
            self.rounds.restart(self.delivered);
            self.slow.0 = self.delivered;
        }
        if self.state == State::ProbeRtt {
            self.slow.1 = self.delivered + event.inflight;
            if self.probe_ends.is_some() {
                self.probe_round |= self.rounds.started;
                if self.probe_round {
                    self.check_probe_end(event.now);
                }
            } else if event.inflight <= self.probe_window() {
                self.probe_ends = Some(event.now + PROBE_RTT_TIME);
                self.probe_round = false;
                self.rounds.restart(self.delivered);
            }
        }
        self.restarted = false;
    }

    /// Ends ProbeRTT once its time is over.
    pub(super) fn check_probe_end(&mut self, now: Instant) {
        if self.probe_ends.is_none_or(|end| now <= end) {
            return;
        }
        self.rtt.probed(now);
        self.bounds.reset_short_term();
        if self.full.reached {
            self.start_down(now);
            // The low rates of ProbeRTT must not end a cycle of the rate filter. Few bytes are in flight, so
            // DOWN need not drain a queue.
            self.cycle.acks = Acks::Other;
            self.cycle.sampling = false;
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }
}

/// Mixes the bits of a number (SplitMix64).
fn mixed(n: u64) -> u64 {
    let n = n.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let n = (n ^ n >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let n = (n ^ n >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ n >> 31
}
