//! CUBIC that reacts to a queue on a path as to congestion, so that packets of the tunnel do not wait in the
//! queue of an uplink.
//!
//! c is the cwnd and β CUBIC's reduction factor. b is the least round-trip time of the last 15 to 30 s, and r
//! the least one of a round trip. cwnd must cause a queueing delay of at most T:
//!
//! ```text
//! T = 10 ms + 0.4 b
//! hold    c does not grow after slow start              if r > b + T/2
//! cut     c = min(β c, max(0.9 y b, c/4))               if r > b + T, but not in the round trip after a cut
//! begin   c = min(β c, max(0.9 f b/s, c/4)), the end of slow start     if s > b + T for two samples s in a row
//! ```
//!
//! y is the rate at which bytes were acknowledged in the round trip, f the bytes in flight. The terms with
//! 0.9 empty the queue and a little more, so that b becomes the round-trip time without a queue. CUBIC treats
//! each cut as an ECN mark. HyStart++ alone would not end slow start in time: it needs eight samples in a
//! round trip, and narrow uplinks give fewer. If other flows fill the queue, cuts do not shorten it, but
//! leave the uplink to these flows. So after 6 cuts in a row only losses count for 10 s, and the delay is as
//! high as the other flows make it. After 15 s without a cut, cwnd is halved for about a round trip,
//! because b may include the delay of a queue that the tunnel itself fills.

use cc::{
    Algorithm, CongestionControl, CongestionWindow, ControlFactory, Knobs, LossKind, PathAck, PathView,
    Setup, WindowRule,
};
use units::{ByteCount, Instant, Span};

/// The part of T (the longest queueing delay) that does not depend on the path.
const SLACK: Span = Span::from_millis(10);
/// Length of a period. The least round-trip time of the current period and of the one before counts as the
/// round-trip time without a queue (b).
const MEMORY: Span = Span::from_secs(15);
/// Number of reductions of cwnd in a row after which the queue is ascribed to other flows.
const VAIN: u32 = 6;
/// Time after [`VAIN`] reductions in a row in which only losses reduce cwnd, and delays do not.
const EARLY: u32 = 2;
/// Time for which only losses count after [`VAIN`] cuts in a row.
const PAUSE: Span = Span::from_secs(10);

/// Builds the congestion controls of associations.
pub(crate) fn factory(knobs: Knobs) -> ControlFactory {
    ControlFactory::new("calm cubic", move |setup| Box::new(Calm::new(setup, &knobs)))
}

#[derive(Debug)]
struct Calm {
    control: Box<dyn CongestionControl>,
    paths: Vec<Delays>,
}

/// Round-trip times of a path, and the reductions of cwnd that follow from them.
#[derive(Debug, Default)]
struct Delays {
    /// The least RTT of the current period, and of the period before.
    least: [Option<Span>; 2],
    /// Start of the current period; `None` before the first sample.
    changed: Option<Instant>,
    round: Option<Round>,
    /// True if the last round trip ended with a reduction of cwnd: RTT samples of the current one still
    /// include the queue from before.
    settles: bool,
    /// Number of reductions of cwnd since the last round trip without a queue.
    vain: u32,
    /// Until this time only losses reduce cwnd, and delays do not.
    paused: Instant,
    /// True if delays have reduced cwnd in the current period.
    was_cut: bool,
    /// True if there was a queue in the previous round trip. Then cwnd does not grow.
    holds: bool,
    /// Number of RTT samples in a row that exceed b + T. Up to b + T, delays do not reduce cwnd.
    above: u32,
}

/// A reduction of cwnd.
#[derive(Clone, Copy, Debug)]
enum Cut {
    /// Sets cwnd to this value, with which the path builds no queue.
    To(ByteCount),
    /// Halves cwnd for about one round trip.
    Halve,
}

/// A round trip.
#[derive(Clone, Copy, Debug)]
struct Round {
    began: Instant,
    ends: Instant,
    /// Smallest RTT sample in this round trip.
    least: Span,
    /// Bytes acknowledged in the round trip.
    acked: ByteCount,
}

impl Delays {
    /// Adds an RTT sample. `view` is the state of the path before the acknowledgement.
    fn observe(&mut self, now: Instant, rtt: Span, ack: &PathAck, view: &PathView) -> Option<Cut> {
        if now.since(*self.changed.get_or_insert(now)) >= MEMORY {
            self.least = [None, self.least[0]];
            self.changed = Some(now);
            if !std::mem::take(&mut self.was_cut) {
                return Some(Cut::Halve);
            }
        }
        self.least[0] = Some(self.least[0].map_or(rtt, |least| least.min(rtt)));
        let base = self.least.into_iter().flatten().min().unwrap_or(rtt);
        let bound = base + most_queue(base);
        self.above = if rtt > bound { self.above + 1 } else { 0 };
        if view.window.ssthresh.is_none() && self.above >= EARLY {
            (self.round, self.settles, self.was_cut) = (None, true, true);
            let empty = 0.9 * ack.flight_before.as_f64() * base.as_secs_f64() / rtt.as_secs_f64();
            return Some(Cut::To(ByteCount::new(empty as u64)));
        }
        let Some(round) = &mut self.round else {
            let ends = now + view.srtt.unwrap_or(rtt);
            self.round = Some(Round { began: now, ends, least: rtt, acked: ByteCount::ZERO });
            return None;
        };
        round.least = round.least.min(rtt);
        round.acked += ack.acked;
        if now < round.ends {
            return None;
        }
        let Round { began, least, acked, .. } = *round;
        self.round = None;
        self.holds = least > base + most_queue(base) / 2 && now >= self.paused;
        if least <= bound {
            (self.settles, self.vain) = (false, 0);
            return None;
        }
        if std::mem::take(&mut self.settles) || now < self.paused {
            return None;
        }
        (self.settles, self.vain) = (true, self.vain + 1);
        if self.vain > VAIN {
            (self.vain, self.paused, self.holds) = (0, now + PAUSE, false);
            return None;
        }
        let rate = acked.as_f64() / now.since(began).as_secs_f64().max(1e-6);
        self.was_cut = true;
        Some(Cut::To(ByteCount::new((0.9 * rate * base.as_secs_f64()) as u64)))
    }
}

/// T, the longest queueing delay that this control allows on a path with this least round-trip time.
fn most_queue(base: Span) -> Span {
    SLACK + base * 2 / 5
}

impl Calm {
    fn new(setup: &Setup, knobs: &Knobs) -> Self {
        Calm { control: Algorithm::Cubic.build(setup, knobs), paths: Vec::new() }
    }
}

impl CongestionControl for Calm {
    fn name(&self) -> &'static str {
        "calm cubic"
    }

    fn on_path_added(&mut self, all: &[PathView], p: usize) -> CongestionWindow {
        self.paths.push(Delays::default());
        self.control.on_path_added(all, p)
    }

    fn on_sack(&mut self, now: Instant, before: &[PathView], acked: &[PathAck], w: &mut [CongestionWindow]) {
        self.control.on_sack(now, before, acked, w);
        for ack in acked {
            let (p, path) = (ack.path, &before[ack.path]);
            let Some(rtt) = ack.rtt.filter(|rtt| !rtt.is_zero()) else { continue };
            let held = self.paths[p].holds;
            let cut = self.paths[p].observe(now, rtt, ack, path);
            if self.paths[p].holds && path.window.ssthresh.is_some() {
                w[p].cwnd = w[p].cwnd.min(path.window.cwnd);
            } else if held {
                // Reports the time in which cwnd did not grow as idle, because CUBIC must not count this
                // time.
                self.control.on_idle(now, before, p, &mut w.to_vec());
            }
            let Some(cut) = cut else { continue };
            // In recovery, losses have reduced cwnd already. With a small flight size, this path builds no
            // queue.
            if path.in_recovery || path.flight * 2 < path.window.cwnd {
                continue;
            }
            let part = |n| ByteCount::new(path.window.cwnd.get() / n).max(path.mtu * 2);
            w[p] = match cut {
                Cut::Halve => CongestionWindow { cwnd: part(2).min(w[p].cwnd), ssthresh: Some(w[p].cwnd) },
                Cut::To(empty) => {
                    self.control.on_loss(now, before, p, LossKind::Mark, w);
                    let cwnd = w[p].cwnd.min(empty.max(part(4)));
                    CongestionWindow { cwnd, ssthresh: Some(cwnd) }
                }
            };
        }
    }

    fn on_loss(
        &mut self,
        now: Instant,
        all: &[PathView],
        p: usize,
        kind: LossKind,
        w: &mut [CongestionWindow],
    ) {
        self.control.on_loss(now, all, p, kind, w);
    }

    fn on_spurious_loss(
        &mut self,
        all: &[PathView],
        p: usize,
        window: CongestionWindow,
        w: &mut [CongestionWindow],
    ) {
        self.control.on_spurious_loss(all, p, window, w);
    }

    fn on_idle(&mut self, now: Instant, all: &[PathView], p: usize, w: &mut [CongestionWindow]) {
        self.control.on_idle(now, all, p, w);
    }

    fn on_rule(&mut self, all: &[PathView], p: usize, rule: WindowRule, w: &mut [CongestionWindow]) {
        if matches!(rule, WindowRule::Replace(_)) {
            // The route of the path changed: its delays are measured again.
            self.paths[p] = Delays::default();
        }
        self.control.on_rule(all, p, rule, w);
    }

    fn partial_bytes_acked(&self, p: usize) -> ByteCount {
        self.control.partial_bytes_acked(p)
    }

    fn inspect(&self, p: usize, show: &mut dyn FnMut(&'static str, f64)) {
        self.control.inspect(p, show);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cc::GrowthRule;

    const MTU: u64 = 1500;
    /// Round-trip time without a queue.
    const BASE: Span = Span::from_millis(40);

    /// A saturated path whose round-trip time follows from its cwnd.
    struct Model {
        control: Calm,
        window: CongestionWindow,
        now: Instant,
        /// Bytes per second.
        rate: f64,
        /// Queueing delay from other flows.
        others: Span,
    }

    impl Model {
        fn new(megabits: f64) -> Model {
            let setup = Setup::sctp(GrowthRule::Rfc9260, ByteCount::new(20), ByteCount::new(1 << 24), 1);
            let mut control = Calm::new(&setup, &Knobs::default());
            let window = CongestionWindow { cwnd: ByteCount::new(4 * MTU), ssthresh: None };
            let view = view(window, BASE);
            let window = control.on_path_added(&[view], 0);
            let now = Instant::ZERO + Span::from_secs(1000);
            Model { control, window, now, rate: megabits * 125e3, others: Span::ZERO }
        }

        fn rtt(&self) -> Span {
            let alone = Span::from_secs_f64(self.window.cwnd.as_f64() / self.rate);
            alone.max(BASE) + self.others
        }

        /// Runs one round trip, in which every second packet is acknowledged.
        fn round(&mut self) {
            let rtt = self.rtt();
            let acks = (self.window.cwnd.get() / (2 * MTU)).max(1);
            for _ in 0..acks {
                self.now += rtt * 1 / acks;
                let before = [view(self.window, rtt)];
                let ack = PathAck {
                    path: 0,
                    acked: ByteCount::new(2 * MTU),
                    advanced: true,
                    flight_before: self.window.cwnd,
                    flight_after: self.window.cwnd - ByteCount::new(2 * MTU),
                    rtt: Some(rtt),
                    owd: None,
                    lost: ByteCount::ZERO,
                    rate: None,
                };
                let mut windows = [self.window];
                self.control.on_sack(self.now, &before, &[ack], &mut windows);
                self.window = windows[0];
            }
        }
    }

    fn view(window: CongestionWindow, srtt: Span) -> PathView {
        PathView {
            window,
            flight: window.cwnd,
            mtu: ByteCount::new(MTU),
            srtt: Some(srtt),
            rto: Span::from_secs(1),
            active: true,
            group: 0,
            apart: 0,
            in_recovery: false,
        }
    }

    #[test]
    fn the_queue_stays_short_and_the_path_full() {
        for megabits in [2.0, 8.0, 50.0, 200.0] {
            let mut model = Model::new(megabits);
            let (mut rounds, mut held, mut used) = (0.0, 0.0, 0.0);
            let (mut first, mut later) = (Span::ZERO, Span::ZERO);
            let begin = model.now;
            while model.now < begin + Span::from_secs(120) {
                let last = model.window.cwnd;
                model.round();
                if model.now < begin + Span::from_secs(3) {
                    first = first.max(model.rtt());
                    continue;
                }
                rounds += 1.0;
                held += f64::from(u8::from(model.window.cwnd == last));
                later = later.max(model.rtt());
                used += (model.window.cwnd.as_f64() / (model.rate * BASE.as_secs_f64())).min(1.0);
            }
            assert!(first < (BASE + most_queue(BASE)) * 3 / 2, "{megabits} Mbit/s: {first} in slow start");
            assert!(later < BASE + SLACK + BASE * 3 / 5, "{megabits} Mbit/s: {later}");
            assert!(used / rounds > 0.99, "{megabits} Mbit/s: {}", used / rounds);
            assert!(
                held / rounds > 0.9,
                "{megabits} Mbit/s: the window changes in {held} of {rounds} rounds"
            );
        }
    }

    #[test]
    fn the_queue_of_others_is_not_yielded_to_for_long() {
        let mut model = Model::new(8.0);
        let run = |model: &mut Model, seconds| {
            let end = model.now + Span::from_secs(seconds);
            while model.now < end {
                model.round();
            }
        };
        run(&mut model, 20);
        model.others = Span::from_millis(100);
        let (mut rounds, mut used) = (0.0, 0.0);
        let end = model.now + Span::from_secs(60);
        while model.now < end {
            model.round();
            rounds += 1.0;
            used += model.window.cwnd.as_f64() / (model.rate * BASE.as_secs_f64());
        }
        assert!(used / rounds > 0.7, "{}", used / rounds);
        model.others = Span::ZERO;
        run(&mut model, 60);
        assert!(model.rtt() < BASE * 2, "{:?}", model.rtt());
    }
}
