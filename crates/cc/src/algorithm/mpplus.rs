//! LEDBAT-MP+, our repair of LEDBAT-MP: a background control whose paths share a bottleneck fairly.
//!
//! No path starves another, and the control does not count its own queue as base delay. Each path uses the
//! congestion avoidance of [`ledbat_pp`](super::ledbat_pp), which defines w, G and T, with five other
//! rules. c is the cwnd. P is a path of n coupled paths. q is its queueing delay, from here to the peer if
//! the peer reports one-way delays, and b is its RTT without q. x = c/r is the rate of a path, and x̄ the
//! mean rate of the n paths:
//!
//! ```text
//! growth   G_P = G/n                                              below 3/4 T_P
//!          G_P = (g + (G - g) clamp(x̄/x_P - 1, 0, 1))/n           above,   g the least G of the coupled paths
//! shrink   w (q/T_P - 1) T/(T + b)
//! target   T_P = T (1 + τ clamp(x̄/x_P - 1, -1, 1)),   τ = 0.1
//! drain    all coupled paths at once:   c = max(2 M, c/2 b/(b + q)), for three rounds, then slow start to where c was
//! pacing   2 x_P below half of the window at which slow start ends, 1.2 x_P above
//! ```
//!
//! **The targets.** A control that keeps the queue at a target does not determine the shares of the
//! paths. If the measurements of two paths differ by a millisecond, one always finds the queue too
//! long and the other too short, until the path that finds it too long is starved. So a path slower
//! than the mean has a slightly higher target and a faster path a lower one. Over one bottleneck the
//! paths then converge to nearly the same rate, if the errors of their base delays are below 2 τ T.
//! On a link of its own, every path still fills the link, with a queue from (1 - τ) T to (1 + τ) T.
//!
//! **The drains.** While all paths together keep a queue, none can measure the base delay. So all paths drain
//! at the same time. Each path reduces its window to half of the bytes that it would have in flight without a
//! queue, waits one round trip until the earlier bytes have left and two more round trips, and returns by
//! slow start. While the queue drains the link stays busy: the cost is about one and a half base round trips.
//! The next drain begins after fifty times the duration of this one, which keeps the cost below two percent
//! on any path. The first drain begins two round trips after the first slow start of any path has ended.
//!
//! **The base delay** is the least delay ever measured. It rises only after ten drains in a row whose least
//! delays differ by at most a quarter of the target: a longer route gives such delays, the varying queues of
//! other flows do not. Without one-way delays a flow in the other direction disturbs the RTTs: its queue
//! delays the acknowledgements, and the path yields although it has the link for itself.
//!
//! **The growth.** At equal rates a path settles where its decrease equals its growth of G_P segments per
//! round trip: at a queue that exceeds T_P by the fraction G_P/(x T). The G of LEDBAT++ depends on the base
//! RTT. Beside a path of 20 ms with G = 1/6, a path of 120 ms would grow by a whole segment, settle at a
//! longer queue, and take a larger share. So near their targets all coupled paths that are as fast as the
//! mean use the same gain, the least G among them. A slower path keeps more of its own gain, up to all of it
//! at half the mean rate. Otherwise a path with a large window would need too long to reach its share.
//!
//! **The pacing.** If SACKs return on the path of the data that they acknowledge, a SACK on a short path
//! overtakes the SACKs on a long path and acknowledges a part of the long path's window at once. Without
//! pacing the long path answers with a burst. The first packets of the burst wait only for the packets of
//! other flows, but a packet of the short path behind the burst waits for the whole burst, too. These delays
//! differ by more than 2 τ T, so that the short path yields until it is nearly starved. A mean over all
//! delays of a round trip does not help, because the packets of the two paths find different queues. So the
//! paths are always paced, even without the transport's option.
//!
//! **Other rules.** With G/n all paths together grow as one flow of LEDBAT++. One more segment lengthens the
//! queue by (b + T)/w. Without the factor T/(T + b), a path whose base delay exceeds its target would
//! overshoot in each round trip by more than its error, and its queue would swing between zero and twice the
//! target. Losses and timeouts are those of LEDBAT++.
//!
//! Limits: a constant standing queue, such as that of a sender faster than the link, counts as a longer route
//! after ten drains. After a change to a route longer by more than the target, the path stays at two packets
//! until ten drains are over. Two associations drain at different times: the one that began later measures
//! the base delay only while the other one drains.

use units::{ByteCount, Instant, Span};

use super::ledbat_pp::{ENOUGH, after_loss, gain, step};
use crate::OneWayDelay;
use crate::delay::{Gauge, Recent, Round};
use crate::delay_based::{DelayBased, DelayPolicy, Exact};
use crate::{CongestionControl, CongestionWindow, LossKind, PathAck, PathView, Setup, Snapshot};
use transport::options;

options! {
    /// Options of [`Algorithm::MpPlus`](crate::Algorithm::MpPlus).
    #[derive(Copy)]
    pub struct MpPlusKnobs in "mpplus" {
        /// Target queueing delay (T).
        target: Span = Span::from_millis(60), "from 1 ms to 10 s"
            if |t| (Span::from_millis(1)..=Span::from_secs(10)).contains(&t);
        /// Largest relative shift of the target of a slower or faster path (τ).
        tilt: f64 = 0.1, "a number from 0 to 0.5" if |t| (0.0..=0.5).contains(&t);
        /// Number of the latest delay samples whose minimum is the current delay.
        current_filter: u32 = 4, "at least 1, at most 100" if |n| (1..=100).contains(&n);
        /// Time between two drains, as a multiple of the duration of the first of them.
        drain_spacing: f64 = 50.0, "a number from 1 to 1000" if |n| (1.0..=1000.0).contains(&n);
        /// Number of drains in a row whose least delays must agree before the base delay rises.
        base_drains: u32 = 10, "at least 2, at most 1000" if |n| (2..=1000).contains(&n);
    }
}

pub(super) fn build(setup: &Setup, knobs: MpPlusKnobs) -> Box<dyn CongestionControl> {
    let policy = MpPlus { knobs, paths: Vec::new(), groups: Vec::new() };
    Box::new(DelayBased::new(policy, setup))
}

#[derive(Debug)]
struct MpPlus {
    knobs: MpPlusKnobs,
    paths: Vec<Memory>,
    /// Drain state of each group of coupled paths, by group number.
    groups: Vec<Group>,
}

/// The drains (times with small windows, in which the queue empties) of one group of coupled paths.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    /// Number of drains begun.
    drains: u64,
    /// Beginning and latest end of the current drain.
    draining: Option<(Instant, Instant)>,
    /// Beginning of the next drain; `None` before the first slow start has ended.
    next: Option<Instant>,
}

#[derive(Debug)]
struct Memory {
    gauge: Gauge,
    /// The base delay: the least delay measured, until [`Memory::learn`] raises it.
    base: Option<OneWayDelay>,
    recent: Recent<OneWayDelay>,
    rtts: Recent<Span>,
    round: Round,
    /// The path is in its first slow start.
    first: bool,
    /// Number of the last drain in which the path took part.
    drain: u64,
    /// Round trips that the path has waited in this drain.
    rounds: u32,
    /// The window to which the path returns after a drain.
    back: Option<f64>,
    /// The least delay in the current drain after the queue has drained.
    bottom: Option<OneWayDelay>,
    bottoms: Recent<OneWayDelay>,
}

/// Rounds of a drain: one in which the bytes in flight leave, and two with an empty queue.
const ROUNDS: u32 = 3;

/// Longest drain, in RTTs of the slowest path: one path may begin its drain a round after the others.
const PATIENCE: u64 = 5;

/// How much slower the path is than the mean of the coupled paths: x̄/x_P - 1, from -1 to 1.
fn lag(at: &Snapshot<'_>) -> f64 {
    let (mut paths, mut rates) = (0.0, 0.0);
    for path in at.coupled() {
        paths += 1.0;
        rates += path.rate();
    }
    (rates / paths / at.path().rate() - 1.0).clamp(-1.0, 1.0)
}

impl Memory {
    fn queue(&self) -> Option<Span> {
        Some(self.recent.min()?.beyond(self.base?))
    }

    /// The RTT without the queue, in seconds (b).
    fn rest(&self) -> f64 {
        let rest = self.rtts.min().unwrap_or_default() - self.queue().unwrap_or_default();
        rest.max(Span::from_nanos(1)).as_secs_f64()
    }

    /// Adds the delay of an acknowledgement; `drained`: the
    /// queue is empty, so that the delay may be the base delay.
    fn sample(&mut self, ack: &PathAck, drained: bool) {
        if let Some(rtt) = ack.rtt {
            self.rtts.push(rtt);
        }
        let Some((delay, first)) = self.gauge.read(ack) else { return };
        if first {
            (self.base, self.bottom) = (None, None);
            self.recent.clear();
            self.bottoms.clear();
        }
        self.base = Some(self.base.map_or(delay, |base| base.min(delay)));
        self.recent.push(delay);
        if drained {
            self.bottom = Some(self.bottom.map_or(delay, |bottom| bottom.min(delay)));
        }
    }

    /// Ends a drain. The base delay rises if the least delays of the latest drains agree on a longer route.
    fn learn(&mut self, target: Span) {
        let Some(bottom) = self.bottom.take() else { return };
        self.bottoms.push(bottom);
        let (Some(least), Some(most)) = (self.bottoms.min(), self.bottoms.max()) else { return };
        if self.bottoms.is_full()
            && most.beyond(least) <= target / 4
            && self.base.is_none_or(|base| base < least)
        {
            self.base = Some(least);
        }
    }
}

impl MpPlus {
    fn group(&mut self, at: &Snapshot<'_>) -> &mut Group {
        let index = usize::from(at.path().group);
        if self.groups.len() <= index {
            self.groups.resize(index + 1, Group::default());
        }
        &mut self.groups[index]
    }

    /// Ends the first slow start of a path and schedules a drain.
    fn first_ended(&mut self, at: &Snapshot<'_>) {
        self.paths[at.index()].first = false;
        let soon = at.now() + Span::from_secs_f64(2.0 * at.path().rtt());
        let group = self.group(at);
        group.next = Some(group.next.map_or(soon, |next| next.min(soon)));
    }

    /// Begins the drain of the group if it is due.
    fn begin_drain(&mut self, at: &Snapshot<'_>) {
        let now = at.now();
        let slowest = at.coupled().map(PathView::rtt).fold(0.0, f64::max);
        let group = self.group(at);
        if group.draining.is_none() && group.next.is_some_and(|next| now >= next) {
            group.drains += 1;
            group.draining = Some((now, now + Span::from_secs_f64(slowest) * PATIENCE));
        }
    }

    /// Keeps the window of a path small while its group drains; false if no drain is active.
    fn drain(&mut self, ack: &PathAck, at: &Snapshot<'_>, queue: f64, window: &mut Exact) -> bool {
        let Group { drains, draining, .. } = *self.group(at);
        let Some((began, latest)) = draining else { return false };
        let waiting = |(index, path): (usize, &PathView)| {
            let memory = &self.paths[index];
            !path.flight.is_zero() && (memory.drain != drains || memory.rounds < ROUNDS)
        };
        if at.now() >= latest || !at.coupled_with_index().any(waiting) {
            let round = (latest - began) / PATIENCE;
            let took = at.now().since(began).max(round);
            let next = at.now() + took.mul_f64(self.knobs.drain_spacing);
            *self.group(at) = Group { drains, draining: None, next: Some(next) };
            return false;
        }
        let memory = &mut self.paths[at.index()];
        if memory.drain != drains {
            let base = memory.rest();
            memory.drain = drains;
            memory.rounds = 0;
            memory.bottom = None;
            memory.round = Round::starting(ack.flight_after);
            memory.back = Some(memory.back.map_or(window.cwnd, |back| back.max(window.cwnd)));
            window.cwnd = (window.cwnd / 2.0 * base / (base + queue)).max(2.0 * at.segment().as_f64());
        }
        true
    }

    /// Target queueing delay T_P in seconds of a path with this `lag` (how much slower it is than the mean).
    fn target(&self, lag: f64) -> f64 {
        self.knobs.target.as_secs_f64() * (1.0 + self.knobs.tilt * lag)
    }

    /// The gain G of a path with this `lag`, whose queue is q = `off` · T_P. The gain is the path's own
    /// far below the target, otherwise the least gain of the coupled paths, or more if the path is slow.
    fn gain(&self, at: &Snapshot<'_>, off: f64, lag: f64) -> f64 {
        let target = self.knobs.target.as_secs_f64();
        let of = |memory: &Memory| gain(target, memory.rest());
        let own = of(&self.paths[at.index()]);
        if off < ENOUGH {
            return own;
        }
        let coupled = at.coupled_with_index().filter_map(|(index, _)| self.paths.get(index));
        let least = coupled.filter(|memory| memory.rtts.min().is_some()).map(of).fold(own, f64::min);
        least + (own - least) * lag.max(0.0)
    }

    /// Growth in bytes for each byte acknowledged; negative to reduce the window.
    fn each(&mut self, at: &Snapshot<'_>, queue: f64, window: &Exact) -> f64 {
        let target = self.knobs.target.as_secs_f64();
        let lag = lag(at);
        let off = queue / self.target(lag);
        let w = window.cwnd / at.segment().as_f64();
        let gain = self.gain(at, off, lag);
        let memory = &mut self.paths[at.index()];
        let base = memory.rest();
        if let Some(back) = memory.back {
            if window.cwnd < back && off < 1.0 {
                return ((back - window.cwnd) / at.segment().as_f64()).min(1.0);
            }
            memory.back = None;
        }
        if memory.first && off > ENOUGH {
            self.first_ended(at);
        }
        let slow_start = window.ssthresh.is_some_and(|s| window.cwnd < s.as_f64());
        if self.paths[at.index()].first || slow_start && off < ENOUGH {
            return gain;
        }
        let beyond = (off - 1.0) * target / (target + base);
        step(w, 1.0 + beyond, gain / at.coupled().count() as f64)
    }
}

impl DelayPolicy for MpPlus {
    fn name(&self) -> &'static str {
        "mpplus"
    }

    fn initial(&mut self, at: &Snapshot<'_>) -> ByteCount {
        self.paths.push(Memory {
            gauge: Gauge::default(),
            base: None,
            recent: Recent::new(self.knobs.current_filter),
            rtts: Recent::new(self.knobs.current_filter),
            round: Round::default(),
            first: true,
            drain: 0,
            rounds: 0,
            back: None,
            bottom: None,
            bottoms: Recent::new(self.knobs.base_drains),
        });
        at.initial_share()
    }

    fn measure(&mut self, ack: &PathAck, at: &Snapshot<'_>) {
        let Group { drains, draining, .. } = *self.group(at);
        let target = self.knobs.target;
        let memory = &mut self.paths[ack.path];
        let in_drain = draining.is_some() && memory.drain == drains;
        memory.sample(ack, in_drain && memory.rounds > 0);
        if memory.round.ends(ack) && in_drain {
            memory.rounds += 1;
        }
        if !in_drain {
            memory.learn(target);
        }
    }

    fn steer(&mut self, ack: &PathAck, at: &Snapshot<'_>, window: &mut Exact) {
        let Some(queue) = self.paths[ack.path].queue().map(Span::as_secs_f64) else { return };
        self.begin_drain(at);
        if self.drain(ack, at, queue, window) {
            return;
        }
        let each = self.each(at, queue, window);
        if each < 0.0 || at.was_used(ack) {
            let least = 2.0 * at.segment().as_f64();
            window.cwnd = (window.cwnd + each * ack.acked.as_f64()).max(least);
        }
    }

    fn wants_pacing(&self) -> bool {
        true
    }

    fn slow_start_threshold(&self, p: usize, window: CongestionWindow) -> Option<ByteCount> {
        let memory = &self.paths[p];
        if memory.first {
            return window.ssthresh;
        }
        let back = memory.back.map(ByteCount::round_f64);
        Some(back.or(window.ssthresh).unwrap_or(ByteCount::ZERO))
    }

    fn after_loss(&mut self, kind: LossKind, at: &Snapshot<'_>) -> CongestionWindow {
        if self.paths[at.index()].first {
            self.first_ended(at);
        }
        self.paths[at.index()].back = None;
        after_loss(kind, at)
    }
}
