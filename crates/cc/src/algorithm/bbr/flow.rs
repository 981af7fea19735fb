//! The model of one path, and the rate and window that follow from it.

use units::{BitRate, ByteCount, Instant, Span};

use super::BbrKnobs;
use super::bounds::Bounds;
use super::coupling;
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
    pub(super) fn pacing_gain(self) -> f64 {
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
    pub(super) fn is_probing(self) -> bool {
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

/// The packets that the current acknowledgements cover, in relation to a probe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Acks {
    #[default]
    Other,
    /// Packets sent before the probe. They are acknowledged during the first round trip of the probe.
    Starting,
    /// Packets that the probe sent.
    Probe,
    /// Packets that the probe sent; the probe has ended before their acknowledgement.
    Stopping,
}

/// State of the cycle in which a path probes for bandwidth.
#[derive(Debug)]
pub(super) struct Cycle {
    pub(super) acks: Acks,
    /// A probe caused the losses that are reported now: they may end the probe or lower the long-term bound.
    pub(super) sampling: bool,
    /// Time at which DOWN began.
    pub(super) began: Instant,
    /// Time from the beginning of DOWN to the next probe.
    pub(super) wait: Span,
    /// Round trips since the beginning of DOWN, counted from 0 or 1 at random.
    pub(super) rounds: u64,
    /// The last probe lost too much.
    pub(super) too_high: bool,
    /// The last probe ended early, at the long-term bound.
    pub(super) cautious: bool,
    /// Number of round trips of UP in which the long-term bound grew.
    pub(super) up_rounds: u32,
    /// Bytes acknowledged since the long-term bound last grew.
    pub(super) up_acked: ByteCount,
    /// Bytes acknowledged for each segment by which the long-term bound grows.
    pub(super) step: ByteCount,
}

impl Default for Cycle {
    fn default() -> Self {
        Cycle {
            acks: Acks::Other,
            sampling: false,
            began: Instant::ZERO,
            wait: LEAST_WAIT,
            rounds: 0,
            too_high: false,
            cautious: false,
            up_rounds: 0,
            up_acked: ByteCount::ZERO,
            step: ByteCount::MAX,
        }
    }
}

/// Least time between two probes; up to one second is added at random.
pub(super) const LEAST_WAIT: Span = Span::from_secs(2);

/// The model of one path.
#[derive(Debug)]
pub(super) struct Flow {
    pub(super) knobs: BbrKnobs,
    pub(super) segment: ByteCount,
    /// Fraction of one flow's capacity that the path takes (a_P); 1 unless paths are coupled.
    pub(super) part: f64,
    pub(super) initial_window: ByteCount,
    pub(super) state: State,
    /// The window after the last acknowledgement.
    pub(super) window: ByteCount,
    /// Bytes delivered on the path.
    pub(super) delivered: ByteCount,
    pub(super) rounds: Rounds,
    pub(super) rates: MaxRate,
    pub(super) rtt: MinRtt,
    pub(super) extra: Aggregation,
    pub(super) full: FullPipe,
    pub(super) bounds: Bounds,
    pub(super) cycle: Cycle,
    /// ProbeRTT: earliest end; `None` until the bytes in flight have fallen to the window of ProbeRTT.
    pub(super) probe_ends: Option<Instant>,
    /// ProbeRTT: a round trip has passed since `probe_ends` was set.
    pub(super) probe_round: bool,
    /// The window before ProbeRTT, until it is restored.
    pub(super) saved: Option<ByteCount>,
    /// The window before the current recovery, and the state of the model that ended because of the losses.
    pub(super) undo: (ByteCount, Option<Left>),
    /// Losses are being repaired. The values for an undo were saved at the first of these losses.
    pub(super) repairing: bool,
    /// ProbeRTT: bytes delivered at its beginning, and bytes delivered or in flight at its end. Packets sent
    /// between the two are application-limited.
    pub(super) slow: (ByteCount, ByteCount),
    /// No data was acknowledged since the last idle time.
    pub(super) restarted: bool,
    /// Whether the window was full in the current round trip, and in the last one.
    pub(super) used: (bool, bool),
    /// Pacing rate in bytes/s.
    pub(super) rate: f64,
    /// An RTT sample has replaced the nominal RTT in `rate`.
    pub(super) timed: bool,
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

    /// Calls `show` with the name and the value of each
    /// quantity of the model: see `CongestionControl::inspect`.
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

    /// The largest excess of acknowledged bytes in the last 10 round trips; in Startup, in the current one.
    pub(super) fn extra_acked(&self) -> f64 {
        self.extra.get(self.rounds.count, if self.full.reached { 10 } else { 1 })
    }

    /// Records that losses ended the state `left`. An undo
    /// then repeats Startup, or the probe that UP belongs to.
    pub(super) fn leave_by_loss(&mut self, left: Left) {
        self.undo.1 = Some(left);
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
    pub(super) fn volume(&self, gain: f64) -> ByteCount {
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

    /// The window gain: the window divided by the bandwidth-delay product. Coupling reduces this gain.
    fn window_gain(&self) -> f64 {
        let gain = self.state.window_gain();
        match self.state {
            State::Startup | State::ProbeRtt => gain,
            _ if self.part == 1.0 => gain,
            _ => coupling::gain(gain, self.part),
        }
    }

    /// The largest window in ProbeRTT.
    pub(super) fn probe_window(&self) -> ByteCount {
        self.volume(State::ProbeRtt.window_gain()).max(self.least_window())
    }

    /// Sets the pacing rate. Until the path is full, the rate only rises.
    pub(super) fn set_rate(&mut self, gain: f64) {
        let rate = gain * self.bandwidth() * MARGIN;
        if rate > self.rate || (self.full.reached && rate > 0.0) {
            self.rate = rate;
        }
    }

    pub(super) fn set_window(&mut self, event: &Event) {
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

    pub(super) fn bound_window(&mut self) {
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
pub(super) fn first_rate(initial_window: ByteCount, rtt: Span) -> f64 {
    STARTUP_GAIN * initial_window.as_f64() / rtt.as_secs_f64().max(1e-6)
}
