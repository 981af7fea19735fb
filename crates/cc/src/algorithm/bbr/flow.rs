//! The model of one path: how acknowledgements change it, and the rate and window that result.

use units::{BitRate, ByteCount, Instant, Span};

use super::super::bbr_coupled;
use super::BbrKnobs;
use super::bounds::{Bounds, Latest};
use super::cycle::Cycle;
use super::filters::{Aggregation, MaxRate, MinRtt};
use super::rounds::{FullPipe, Rounds};
use crate::{ModelState, RateSample};

/// State of a path in the state machine of BBR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// The rate doubles each round trip.
    Startup,
    /// The queue of Startup drains.
    Drain { since: u64 },
    /// ProbeBW: the queue of UP drains.
    Down,
    /// ProbeBW: the rate equals the measured bandwidth.
    Cruise,
    /// ProbeBW: the path is filled before the rate is raised.
    Refill,
    /// ProbeBW: the rate exceeds the measured bandwidth.
    Up,
    /// The queue is drained to measure the propagation delay.
    ProbeRtt,
}

impl State {
    fn pacing_gain(self) -> f64 {
        match self {
            State::Startup => STARTUP_GAIN,
            State::Drain { .. } => 0.5,
            State::Down => 0.9,
            State::Up => 1.25,
            State::Cruise | State::Refill | State::ProbeRtt => 1.0,
        }
    }

    fn window_gain(self) -> f64 {
        match self {
            State::Up => 2.25,
            State::ProbeRtt => 0.5,
            _ => 2.0,
        }
    }

    fn model_state(self) -> ModelState {
        match self {
            State::Startup => ModelState::Startup,
            State::Drain { .. } => ModelState::Drain,
            State::Down => ModelState::Down,
            State::Cruise => ModelState::Cruise,
            State::Refill => ModelState::Refill,
            State::Up => ModelState::Up,
            State::ProbeRtt => ModelState::ProbeRtt,
        }
    }

    /// True in the states of ProbeBW.
    pub(super) fn is_probe_bw(self) -> bool {
        matches!(self, State::Down | State::Cruise | State::Refill | State::Up)
    }

    /// True in states in which losses are expected.
    fn is_probing(self) -> bool {
        matches!(self, State::Startup | State::Refill | State::Up)
    }
}

/// Pacing gain with which the rate doubles each round trip: 4 ln 2.
const STARTUP_GAIN: f64 = 2.77;

/// Fraction of the bandwidth that the pacing rate uses.
const MARGIN: f64 = 0.99;

/// RTT for the first pacing rate, until an RTT is measured.
const NOMINAL_RTT: Span = Span::from_millis(1);

/// Least window in segments.
const LEAST_SEGMENTS: u64 = 4;

/// Number of acknowledgements with losses in one round trip that ends Startup.
const STARTUP_LOSSES: u32 = 6;

/// Round trips after which Drain ends even if the queue has not drained.
const DRAIN_ROUNDS: u64 = 3;

/// Longest burst in bytes at any rate.
const LARGEST_QUANTUM: f64 = 65_536.0;

/// An acknowledgement on one path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub(super) now: Instant,
    pub(super) acked: ByteCount,
    pub(super) lost: ByteCount,
    /// Bytes in flight before and after the acknowledgement.
    pub(super) before: ByteCount,
    pub(super) inflight: ByteCount,
    pub(super) in_recovery: bool,
}

/// A state that losses ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    Startup,
    Up,
}

/// The model of one path.
#[derive(Debug)]
pub(super) struct Flow {
    pub(super) knobs: BbrKnobs,
    pub(super) segment: ByteCount,
    /// Part of the capacity of one flow (a_P); 1 unless paths are coupled.
    pub(super) part: f64,
    initial_window: ByteCount,
    pub(super) state: State,
    /// The window after the last acknowledgement.
    pub(super) window: ByteCount,
    /// Bytes delivered on the path.
    pub(super) delivered: ByteCount,
    pub(super) rounds: Rounds,
    pub(super) rates: MaxRate,
    pub(super) rtt: MinRtt,
    extra: Aggregation,
    pub(super) full: FullPipe,
    pub(super) bounds: Bounds,
    pub(super) cycle: Cycle,
    /// ProbeRTT: earliest end; `None` until the bytes in flight have fallen to the window of ProbeRTT.
    pub(super) probe_ends: Option<Instant>,
    /// ProbeRTT: a round trip has passed since `probe_ends` was set.
    pub(super) probe_round: bool,
    /// The window before ProbeRTT, until it is restored.
    pub(super) saved: Option<ByteCount>,
    /// The window before the current recovery, and the state that its losses ended.
    undo: (ByteCount, Option<Left>),
    /// Losses are being repaired: what was saved at the first one is kept.
    repairing: bool,
    /// ProbeRTT: bytes delivered at its beginning, and those that were then delivered or in flight at its
    /// end. Packets sent in between are application-limited.
    pub(super) slow: (ByteCount, ByteCount),
    /// No data was acknowledged since the last idle time.
    pub(super) restarted: bool,
    /// Whether the window was full in the current round trip, and in the last one.
    used: (bool, bool),
    /// Pacing rate in bytes/s.
    rate: f64,
    /// An RTT sample has replaced the nominal RTT in `rate`.
    timed: bool,
}

impl Flow {
    /// A path without measurements other than a smoothed RTT.
    pub(super) fn new(
        knobs: BbrKnobs,
        segment: ByteCount,
        initial_window: ByteCount,
        srtt: Option<Span>,
    ) -> Self {
        Flow {
            knobs,
            segment,
            part: 1.0,
            initial_window,
            state: State::Startup,
            window: initial_window,
            delivered: ByteCount::ZERO,
            rounds: Rounds::default(),
            rates: MaxRate::default(),
            rtt: MinRtt::default(),
            extra: Aggregation::default(),
            full: FullPipe::default(),
            bounds: Bounds::default(),
            cycle: Cycle::default(),
            probe_ends: None,
            probe_round: false,
            saved: None,
            undo: (ByteCount::ZERO, None),
            repairing: false,
            slow: (ByteCount::MAX, ByteCount::ZERO),
            restarted: false,
            used: (false, false),
            rate: first_rate(initial_window, srtt.unwrap_or(NOMINAL_RTT)),
            timed: false,
        }
    }

    /// True if the transport restarted its count of deliveries, because the path was replaced.
    pub(super) fn is_outdated(&self, sample: &RateSample) -> bool {
        sample.prior_delivered + sample.delivered < self.delivered
    }

    pub(super) fn pacing_rate(&self) -> BitRate {
        BitRate::from_bps((self.rate * 8.0) as u64)
    }

    /// Processes an acknowledgement and returns the new window.
    pub(super) fn on_ack(
        &mut self,
        event: &Event,
        sample: Option<&RateSample>,
        window: ByteCount,
    ) -> ByteCount {
        self.window = window;
        self.note_use(event.before, window);
        if let Some(sample) = sample {
            self.delivered = sample.prior_delivered + sample.delivered;
        }
        if !event.lost.is_zero() {
            self.save();
            self.bounds.note_loss(self.delivered);
        } else if !event.in_recovery {
            self.repairing = false;
        }
        if let Some(sample) = sample {
            self.take(event, sample);
        }
        self.set_rate(self.state.pacing_gain());
        self.set_window(event);
        self.window
    }

    /// Shows the model for probes.
    pub(super) fn inspect(&self, show: &mut dyn FnMut(&'static str, f64)) {
        let bound = |bytes: ByteCount| if bytes == ByteCount::MAX { f64::INFINITY } else { bytes.as_f64() };
        show("state", self.state.model_state().number());
        show("max_bw", self.rates.get() * 8.0);
        show("bw_shortterm", self.bounds.rate * 8.0);
        show("inflight_longterm", bound(self.bounds.long_term));
        show("inflight_shortterm", bound(self.bounds.short_term));
        show("extra_acked", self.extra_acked());
        self.rtt.get().into_iter().for_each(|rtt| show("min_rtt", rtt.as_secs_f64()));
        self.rtt.recent().into_iter().for_each(|rtt| show("probe_rtt_min_delay", rtt.as_secs_f64()));
        show("full_bw_count", f64::from(self.full.rounds));
        show("full_bw_reached", f64::from(u8::from(self.full.reached)));
        show("pacing_gain", self.state.pacing_gain());
        show("cwnd_gain", self.window_gain());
        show("round", self.rounds.count as f64);
        show("pacing_rate", self.rate * 8.0);
    }

    /// The largest excess of acknowledged bytes: of the last 10 round trips, in Startup of the last one.
    fn extra_acked(&self) -> f64 {
        self.extra.get(self.rounds.count, if self.full.reached { 10 } else { 1 })
    }

    /// Saves window and bounds before a recovery, in case its losses are spurious.
    fn save(&mut self) {
        if !std::mem::replace(&mut self.repairing, true) {
            self.bounds.save();
            let before_probe = self.saved.unwrap_or(ByteCount::ZERO);
            self.undo = (self.window.max(before_probe), None);
        }
    }

    /// Processes a timeout at the window `window`.
    pub(super) fn on_timeout(&mut self, window: ByteCount) {
        self.window = window;
        self.save();
    }

    /// Notes the state that losses end.
    pub(super) fn leave_by_loss(&mut self, left: Left) {
        self.undo.1 = Some(left);
    }

    /// Undoes the reaction to losses that were spurious. Returns the window before them.
    pub(super) fn undo(&mut self) -> ByteCount {
        self.bounds.restore();
        self.full.reset(0.0);
        self.repairing = false;
        // During ProbeRTT, `full.reached` chooses the state that follows it.
        match self.undo.1.take() {
            Some(Left::Startup) => {
                self.full.reached = false;
                if self.state != State::ProbeRtt {
                    self.state = State::Startup;
                }
            }
            Some(Left::Up) if !matches!(self.state, State::ProbeRtt | State::Up) => self.start_refill(),
            Some(Left::Up) | None => {}
        }
        self.undo.0
    }

    /// Updates the model and the state from a rate sample.
    fn take(&mut self, event: &Event, sample: &RateSample) {
        let rate = sample.rate.map_or(0.0, |rate| rate.as_bps() as f64 / 8.0);
        let latest = Latest { rate, delivered: sample.delivered };
        let prior = sample.prior_delivered;
        let limited = sample.app_limited || (self.slow.0..=self.slow.1).contains(&prior);
        self.bounds.take(latest, sample.prior_delivered, self.delivered);
        self.rounds.take(sample.prior_delivered, self.delivered);
        if self.rounds.started {
            self.cycle.rounds += 1;
            self.used = (false, self.used.0);
        }
        if rate >= self.rates.get() || !limited {
            self.rates.take(rate);
        }
        self.bounds.adapt(self.state.is_probing(), self.rates.get(), self.window);
        self.extra.take(event.now, event.acked, self.bandwidth(), self.window, self.rounds.count);
        if self.rounds.started && !limited && rate > 0.0 {
            self.full.check(rate);
        }
        self.check_startup(event, sample);
        self.check_drain(event);
        self.update_cycle(event, sample, limited, rate);
        self.rtt.take(event.now, sample.rtt, self.knobs.probe_rtt_interval);
        self.check_probe_rtt(event);
        self.bounds.advance(latest);
        if let Some(rtt) = self.rtt.get()
            && !self.timed
        {
            self.timed = true;
            self.rate = first_rate(self.initial_window, rtt);
        }
    }

    /// Ends Startup if the rate stops growing, or after a round trip with too many losses.
    fn check_startup(&mut self, event: &Event, sample: &RateSample) {
        if self.state != State::Startup {
            return;
        }
        let lossy = self.bounds.round_ended && self.bounds.loss_events >= STARTUP_LOSSES;
        if lossy && event.in_recovery && self.is_too_high(sample) {
            self.fill_by_loss();
        }
        if self.full.reached {
            self.state = State::Drain { since: self.rounds.count };
        }
    }

    /// Records that the path is full, because of losses.
    fn fill_by_loss(&mut self) {
        self.leave_by_loss(Left::Startup);
        self.full.reached = true;
        self.bounds.long_term = self.volume(1.0).max(self.bounds.latest_delivered());
    }

    fn check_drain(&mut self, event: &Event) {
        if let State::Drain { since } = self.state
            && (event.inflight <= self.inflight(self.bandwidth(), 1.0)
                || self.rounds.count > since + DRAIN_ROUNDS)
        {
            self.start_down(event.now);
        }
    }

    /// Processes a mark (ECN) and returns the new window.
    pub(super) fn on_mark(&mut self, now: Instant, inflight: ByteCount, window: ByteCount) -> ByteCount {
        self.window = window;
        self.bounds.note_loss(self.delivered);
        if self.state == State::Startup {
            self.fill_by_loss();
            self.state = State::Drain { since: self.rounds.count };
        } else if self.cycle.sampling {
            self.probed_too_high(now, Some(inflight));
        }
        self.bound_window();
        self.window
    }

    /// Reports that data is sent after an application-limited idle time.
    pub(super) fn on_restart(&mut self, now: Instant) {
        self.restarted = true;
        self.extra.restart(now);
        if self.state.is_probe_bw() {
            self.set_rate(1.0);
        } else if self.state == State::ProbeRtt {
            self.check_probe_end(now);
        }
    }

    /// Records whether `flight` bytes in flight fill the window.
    pub(super) fn note_use(&mut self, flight: ByteCount, window: ByteCount) {
        self.used.0 |= flight + self.segment > window;
    }

    /// True if the window was full at any time of the current or the last round trip.
    pub(super) fn is_window_limited(&self) -> bool {
        self.used.0 || self.used.1
    }

    /// Bandwidth in bytes/s, at most the short-term bound.
    pub(super) fn bandwidth(&self) -> f64 {
        self.rates.get().min(self.bounds.rate)
    }

    /// `gain` times the bandwidth-delay product.
    fn volume(&self, gain: f64) -> ByteCount {
        self.volume_at(self.bandwidth(), gain)
    }

    fn volume_at(&self, rate: f64, gain: f64) -> ByteCount {
        let Some(rtt) = self.rtt.get() else { return self.initial_window };
        ByteCount::round_f64(gain * rate * rtt.as_secs_f64())
    }

    /// `gain` times the bandwidth-delay product at `rate`, with additional room for bursts.
    pub(super) fn inflight(&self, rate: f64, gain: f64) -> ByteCount {
        self.with_burst(self.volume_at(rate, gain))
    }

    fn with_burst(&self, volume: ByteCount) -> ByteCount {
        let quantum = (self.rate / 1000.0).min(LARGEST_QUANTUM);
        let most = volume.max(ByteCount::round_f64(quantum)).max(self.least_window());
        if self.state == State::Up { most + self.segment * 2 } else { most }
    }

    /// Desired bytes in flight: the bandwidth-delay product, or the window if it is smaller.
    pub(super) fn target(&self) -> ByteCount {
        self.volume(1.0).min(self.window)
    }

    pub(super) fn least_window(&self) -> ByteCount {
        self.segment * LEAST_SEGMENTS
    }

    /// The window in bandwidth-delay products.
    fn window_gain(&self) -> f64 {
        let gain = self.state.window_gain();
        match self.state {
            State::Startup | State::ProbeRtt => gain,
            _ if self.part == 1.0 => gain,
            _ => bbr_coupled::gain(gain, self.part),
        }
    }

    /// The largest window in ProbeRTT.
    pub(super) fn probe_window(&self) -> ByteCount {
        self.volume(State::ProbeRtt.window_gain()).max(self.least_window())
    }

    /// Sets the pacing rate. Until the path is full, the rate only rises.
    fn set_rate(&mut self, gain: f64) {
        let rate = gain * self.bandwidth() * MARGIN;
        if rate > self.rate || (self.full.reached && rate > 0.0) {
            self.rate = rate;
        }
    }

    fn set_window(&mut self, event: &Event) {
        if self.state != State::ProbeRtt
            && let Some(saved) = self.saved.take()
        {
            self.window = self.window.max(saved);
        }
        let extra = ByteCount::round_f64(self.extra_acked());
        let most = self.with_burst(self.volume(self.window_gain()) + extra);
        let grown = self.window + event.acked;
        if self.full.reached {
            self.window = grown.min(most);
        } else if self.window < most || self.delivered < self.initial_window {
            self.window = grown;
        }
        self.window = self.window.max(self.least_window());
        if self.state == State::ProbeRtt {
            self.window = self.window.min(self.probe_window());
        }
        self.bound_window();
    }

    /// Applies the bounds to the window.
    fn bound_window(&mut self) {
        let long_term = match self.state {
            State::Down | State::Refill | State::Up => self.bounds.long_term,
            State::Cruise | State::ProbeRtt => self.bounds.with_headroom(self.knobs.headroom, self.segment),
            State::Startup | State::Drain { .. } => ByteCount::MAX,
        };
        let most = long_term.min(self.bounds.short_term).max(self.least_window());
        self.window = self.window.min(most);
    }
}

/// Pacing rate in bytes/s for the initial window.
fn first_rate(initial_window: ByteCount, rtt: Span) -> f64 {
    STARTUP_GAIN * initial_window.as_f64() / rtt.as_secs_f64().max(1e-6)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 MB/s and 40 ms: a bandwidth-delay product of 40 kB.
    const RATE: u64 = 1_000_000;
    const RTT: Span = Span::from_millis(40);

    fn bytes(n: u64) -> ByteCount {
        ByteCount::new(n)
    }

    /// A path in `state` that has measured rate and RTT, with a window of 80 kB and the bound h = 100 kB.
    fn flow(state: State) -> Flow {
        let mut flow = Flow::new(BbrKnobs::default(), bytes(1000), bytes(10_000), Some(RTT));
        flow.rates.take(RATE as f64);
        flow.rtt.take(Instant::ZERO, Some(RTT), Span::from_secs(5));
        flow.full.reached = state != State::Startup;
        flow.bounds.limit(bytes(100_000), ByteCount::ZERO);
        flow.cycle.sampling = state == State::Up;
        (flow.state, flow.window) = (state, bytes(80_000));
        flow
    }

    /// An acknowledgement of 2 kB that reports 2 kB lost of 50 kB: a loss rate of 4 %. `prior`: bytes
    /// delivered when its packet was sent.
    fn lose(flow: &mut Flow, prior: u64) {
        let delivered = flow.delivered + bytes(2000);
        let event = Event {
            now: Instant::ZERO + RTT,
            acked: bytes(2000),
            lost: bytes(2000),
            before: bytes(50_000),
            inflight: bytes(46_000),
            in_recovery: true,
        };
        let sample = RateSample {
            delivered: delivered - bytes(prior),
            interval: RTT,
            rate: Some(BitRate::from_bps(RATE * 8)),
            prior_delivered: bytes(prior),
            prior_at: Instant::ZERO,
            app_limited: false,
            rtt: Some(RTT),
            tx_in_flight: bytes(50_000),
            lost: bytes(2000),
        };
        let window = flow.window;
        flow.on_ack(&event, Some(&sample), window);
    }

    // draft-ietf-ccwg-bbr, "Handling a Spurious Loss Recovery"
    #[test]
    fn spurious_loss_that_ended_up_restores_window_and_bounds_and_probes_again() {
        let mut flow = flow(State::Up);
        lose(&mut flow, 0);
        // h = max(50 kB, 0.7 x 40 kB), and DOWN bounds the window by it.
        assert_eq!((flow.state, flow.bounds.long_term), (State::Down, bytes(50_000)));
        assert_eq!(flow.window, bytes(50_000));
        assert_eq!(flow.undo(), bytes(80_000));
        assert_eq!((flow.state, flow.bounds.long_term), (State::Refill, bytes(100_000)));
        flow.state = State::Cruise;
        flow.undo();
        assert_eq!(flow.state, State::Cruise, "a loss that ended no probe starts none");
    }

    #[test]
    fn spurious_losses_that_ended_startup_return_to_startup_also_after_probe_rtt() {
        for probing in [false, true] {
            let mut flow = flow(State::Startup);
            // Six acknowledgements with losses in a round trip; the next one ends it.
            for _ in 0..7 {
                assert_eq!(flow.state, State::Startup);
                let prior = flow.delivered.get();
                lose(&mut flow, if prior < 12_000 { 0 } else { prior });
            }
            assert!(matches!(flow.state, State::Drain { .. }) && flow.full.reached);
            // h = max(40 kB, the most bytes that a sample delivered).
            assert_eq!(flow.bounds.long_term, bytes(40_000));
            if probing {
                flow.state = State::ProbeRtt;
            }
            assert_eq!(flow.undo(), bytes(80_000));
            assert_eq!(flow.bounds.long_term, bytes(100_000));
            assert_eq!(flow.state, if probing { State::ProbeRtt } else { State::Startup });
            assert!(!flow.full.reached, "Startup follows ProbeRTT, too");
        }
    }

    #[test]
    fn spurious_loss_outside_a_probe_restores_the_short_term_bounds() {
        let mut flow = flow(State::Cruise);
        lose(&mut flow, 0);
        assert_eq!(flow.bounds.short_term, ByteCount::MAX, "the round trip is not over");
        let prior = flow.delivered.get();
        lose(&mut flow, prior);
        // b = max(1 MB/s, 0.7 x 1 MB/s), l = 0.7 x 82 kB: the window, and 2 kB that exceeded the rate.
        assert_eq!((flow.bounds.rate, flow.bounds.short_term), (1e6, bytes(57_400)));
        assert_eq!(flow.undo(), bytes(80_000));
        assert_eq!((flow.bounds.rate, flow.bounds.short_term), (f64::INFINITY, ByteCount::MAX));
        assert_eq!(flow.state, State::Cruise);
    }
}
