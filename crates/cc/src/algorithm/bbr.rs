//! BBR, version 3. Each path has its own model of bandwidth and delay, which sets pacing rate and window.
//!
//! Source: draft-ietf-ccwg-bbr-06. The model of a path has these values:
//!
//! - B: the largest delivery rate of the last two probing cycles; b: the short-term bound of the rate.
//! - r: the least RTT of the last 10 s.
//! - e: the allowance for aggregated acknowledgements. In the last 10 round trips, the bytes acknowledged in
//!   a time t exceeded B t by at most e.
//! - h and l: the long-term and the short-term bound of the bytes in flight.
//! - x: the bytes in flight when the acknowledged packet was sent; d: the bytes lost since then.
//! - M: a segment. g: the pacing gain. k: the window gain.
//!
//! ```text
//! rate    = 0.99 g min(B, b)
//! window  = k r min(B, b) + e, no more than h and l, no less than 4 M
//!           Startup    g = 2.77   k = 2      until B grows by less than 25 % in 3 round trips, or d > 0.02 x
//!           Drain      g = 0.5    k = 2      until B r bytes are in flight
//!           DOWN       g = 0.9    k = 2      until no more than B r and 0.85 h bytes are in flight
//!           CRUISE     g = 1      k = 2      for 2 to 3 s or min(B r/M, 63) round trips; window ≤ 0.85 h
//!           REFILL     g = 1      k = 2      for a round trip; b and l are forgotten
//!           UP         g = 1.25   k = 2.25   until the rate no longer grows or d > 0.02 x; h grows by M, 2 M, 4 M ...
//!           ProbeRTT   g = 1      k = 0.5    for 200 ms, every 5 s
//! loss    h = max(x, 0.7 min(B r, window))   if d > 0.02 x for a packet sent in REFILL or UP
//!         b = max(rate of the last round trip, 0.7 b)     after a round trip with loss in other states
//!         l = max(bytes of the last round trip, 0.7 l)
//! undo    spurious losses: window, b, l and h as before them; back to Startup, or to REFILL, if they ended
//!         Startup or UP
//! ```
//!
//! After a probe with d > 0.02 x, the next UP ends as soon as h bytes are in flight. If this UP has d ≤ 0.02
//! x, the next REFILL begins when the packets of this UP are acknowledged.
//!
//! Deviations from the draft:
//!
//! - The loss rate d/x is computed for acknowledged packets, not for each lost packet.
//! - An acknowledgement that reports losses is one loss event.
//! - A mark (ECN) has the effect of a loss rate above the threshold.
//! - After a timeout the window grows from one segment by the bytes acknowledged. The window from
//!   before the timeout is restored only if the transport finds that the timeout was spurious.
//! - The values that an undo restores are saved at the first loss of a recovery; the draft saves them in
//!   each round trip.
//! - Hashes of the time and of the bytes delivered replace random numbers.

mod bounds;
mod coupling;
mod cycle;
mod events;
mod filters;
mod flow;
mod rounds;

use units::{BitRate, ByteCount, Instant, Span};

pub(super) use self::coupling::Coupling;
use self::flow::{Event, Flow};
use crate::{CongestionControl, CongestionWindow, LossKind, PathAck, PathView, Setup, Snapshot, WindowRule};
use transport::options;

options! {
    /// Options of [`Algorithm::Bbr`](crate::Algorithm::Bbr).
    #[derive(Copy)]
    pub struct BbrKnobs in "bbr" {
        /// Loss rate (d/x) above which a probe has sent more than the path can carry.
        loss_threshold: f64 = 0.02, "a number above 0, at most 0.5" if |part| part > 0.0 && part <= 0.5;
        /// Fraction of the long-term bound of the bytes in
        /// flight (h) that CRUISE leaves free for other flows.
        headroom: f64 = 0.15, "a number from 0 to 0.9" if |part| (0.0..=0.9).contains(&part);
        /// Time without a lower RTT after which ProbeRTT begins.
        probe_rtt_interval: Span = Span::from_secs(5), "from 1 s to 1000 s"
            if |time| (Span::from_secs(1)..=Span::from_secs(1000)).contains(&time);
    }
}

pub(super) fn build(setup: &Setup, knobs: BbrKnobs) -> Box<dyn CongestionControl> {
    build_as("bbr", None, setup, knobs)
}

/// Builds BBR under the name `name`; with a `coupling` its paths are coupled.
pub(super) fn build_as(
    name: &'static str,
    coupling: Option<Coupling>,
    setup: &Setup,
    knobs: BbrKnobs,
) -> Box<dyn CongestionControl> {
    Box::new(Bbr { name, coupling, knobs, setup: *setup, paths: Vec::with_capacity(setup.paths) })
}

/// BBR of an association, with a model for each path.
#[derive(Debug)]
struct Bbr {
    name: &'static str,
    coupling: Option<Coupling>,
    knobs: BbrKnobs,
    setup: Setup,
    paths: Vec<Flow>,
}

impl Bbr {
    /// A new model of a path without measurements.
    fn fresh(&self, path: &PathView) -> Flow {
        let segment = self.setup.segment(path.mtu);
        Flow::new(self.knobs, segment, self.setup.initial_window(path.mtu), path.srtt)
    }

    /// Sets `part` of path `p`: the fraction that the path
    /// takes of the capacity that one BBR flow would take.
    fn couple(&mut self, coupling: Coupling, now: Instant, before: &[PathView], p: usize) {
        let at = Snapshot::new(&self.setup, now, before, p);
        let flow = &self.paths[p];
        let (Some(srtt), Some(least)) = (at.path().srtt, flow.rtt.get()) else { return };
        let all = at.coupled_with_index().map(|(p, _)| self.paths[p].rates.get());
        let part = coupling.part(flow.rates.get(), all, srtt.as_secs_f64(), least.as_secs_f64());
        self.paths[p].part = part;
    }
}

impl CongestionControl for Bbr {
    fn name(&self) -> &'static str {
        self.name
    }

    fn on_path_added(&mut self, all: &[PathView], p: usize) -> CongestionWindow {
        assert_eq!(p, self.paths.len(), "paths are numbered in the order they are added");
        self.paths.push(self.fresh(&all[p]));
        CongestionWindow { cwnd: self.setup.initial_window(all[p].mtu), ssthresh: None }
    }

    fn on_sack(&mut self, now: Instant, before: &[PathView], acked: &[PathAck], w: &mut [CongestionWindow]) {
        if let Some(coupling) = self.coupling {
            for ack in acked {
                self.couple(coupling, now, before, ack.path);
            }
        }
        for ack in acked {
            let path = &before[ack.path];
            if ack.rate.is_some_and(|sample| self.paths[ack.path].is_outdated(&sample)) {
                self.paths[ack.path] = self.fresh(path);
            }
            let flow = &mut self.paths[ack.path];
            flow.segment = self.setup.segment(path.mtu);
            let event = Event {
                now,
                acked: ack.acked,
                lost: ack.lost,
                before: ack.flight_before,
                inflight: ack.flight_after,
                in_recovery: path.in_recovery,
            };
            let window = &mut w[ack.path].cwnd;
            *window = flow.on_ack(&event, ack.rate.as_ref(), *window);
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
        match kind {
            // Nothing to do: `on_sack` receives the lost bytes with the acknowledgements.
            LossKind::FastRetransmit => {}
            LossKind::Mark => w[p].cwnd = self.paths[p].on_mark(now, all[p].flight, w[p].cwnd),
            LossKind::Timeout => {
                self.paths[p].on_timeout(w[p].cwnd);
                w[p].cwnd = self.setup.segment(all[p].mtu);
            }
        }
    }

    fn on_spurious_loss(
        &mut self,
        _all: &[PathView],
        p: usize,
        window: CongestionWindow,
        w: &mut [CongestionWindow],
    ) {
        let before = self.paths[p].undo();
        w[p].cwnd = w[p].cwnd.max(window.cwnd).max(before);
    }

    /// Idle time does not change the model.
    fn on_idle(&mut self, _now: Instant, _all: &[PathView], _p: usize, _w: &mut [CongestionWindow]) {}

    fn on_rule(&mut self, all: &[PathView], p: usize, rule: WindowRule, w: &mut [CongestionWindow]) {
        w[p] = rule.apply(w[p]);
        if matches!(rule, WindowRule::Replace(_)) {
            self.paths[p] = self.fresh(&all[p]);
        }
    }

    fn wants_rate_samples(&self) -> bool {
        true
    }

    fn on_sent(&mut self, now: Instant, all: &[PathView], p: usize, bytes: ByteCount, app_limited: bool) {
        let path = &all[p];
        let flow = &mut self.paths[p];
        if path.flight <= bytes && app_limited {
            flow.on_restart(now);
        }
        flow.note_use(path.flight, path.window.cwnd);
    }

    fn pacing_rate(&self, p: usize) -> Option<BitRate> {
        self.paths.get(p).map(Flow::pacing_rate)
    }

    fn inspect(&self, p: usize, show: &mut dyn FnMut(&'static str, f64)) {
        if let Some(flow) = self.paths.get(p) {
            flow.inspect(show);
        }
    }
}
