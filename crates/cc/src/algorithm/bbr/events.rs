//! How acknowledgements, marks and timeouts change the model of a path.

use units::{ByteCount, Instant};

use super::bounds::Latest;
use super::flow::{Event, Flow, Left, State, first_rate};
use crate::RateSample;

/// Number of acknowledgements with losses in one round trip that ends Startup.
const STARTUP_LOSSES: u32 = 6;

/// Number of round trips after which Drain ends even if the queue has not drained.
const DRAIN_ROUNDS: u64 = 3;

impl Flow {
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

    /// Saves window and bounds before a recovery, in case its losses are spurious.
    fn save(&mut self) {
        if !std::mem::replace(&mut self.repairing, true) {
            self.bounds.save();
            let before_probe = self.saved.unwrap_or(ByteCount::ZERO);
            self.undo = (self.window.max(before_probe), None);
        }
    }

    /// Processes a retransmission timeout; `window` is the window before the timeout.
    pub(super) fn on_timeout(&mut self, window: ByteCount) {
        self.window = window;
        self.save();
    }

    /// Undoes the reaction to losses that were spurious. Returns the window before these losses.
    pub(super) fn undo(&mut self) -> ByteCount {
        self.bounds.restore();
        self.full.reset(0.0);
        self.repairing = false;
        // During ProbeRTT the state stays, and `full.reached` decides which state follows.
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
}

#[cfg(test)]
mod tests {
    use units::{BitRate, Span};

    use super::super::BbrKnobs;
    use super::*;
    use crate::algorithm::bbr::Bbr;
    use crate::{CongestionControl, CongestionWindow, LossKind, PathAck, PathView, Setup, TcpRules};

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

    /// An acknowledgement of 2 kB that reports 2 kB lost of 50 kB: a loss rate
    /// of 4 %. `prior`: bytes delivered when the acknowledged packet was sent.
    fn lose(flow: &mut Flow, prior: u64) {
        let event = Event {
            now: Instant::ZERO + RTT,
            acked: bytes(2000),
            lost: bytes(2000),
            before: bytes(50_000),
            inflight: bytes(46_000),
            in_recovery: true,
        };
        let sample = sample_of_loss(flow.delivered, prior);
        let window = flow.window;
        flow.on_ack(&event, Some(&sample), window);
    }

    /// The rate sample of the acknowledgement in [`lose`]; `delivered` bytes were delivered before it.
    fn sample_of_loss(delivered: ByteCount, prior: u64) -> RateSample {
        RateSample {
            delivered: delivered + bytes(2000) - bytes(prior),
            interval: RTT,
            rate: Some(BitRate::from_bps(RATE * 8)),
            prior_delivered: bytes(prior),
            prior_at: Instant::ZERO,
            app_limited: false,
            rtt: Some(RTT),
            tx_in_flight: bytes(50_000),
            lost: bytes(2000),
        }
    }

    /// A loss of the kind `kind` ends UP and proves spurious. Returns cwnd after the loss, after the
    /// acknowledgement of [`lose`], and after the undo.
    fn undo_in_up(kind: LossKind) -> [u64; 3] {
        let rules = TcpRules {
            headers: bytes(40),
            initial_window: bytes(10_000),
            abc_limit: None,
            grow_full_only: false,
        };
        let setup = Setup::tcp(rules, ByteCount::MAX);
        let mut bbr = Bbr {
            name: "bbr",
            knobs: BbrKnobs::default(),
            coupling: None,
            setup,
            paths: vec![flow(State::Up)],
        };
        let before = CongestionWindow { cwnd: bytes(80_000), ssthresh: None };
        let path = PathView {
            window: before,
            flight: bytes(50_000),
            mtu: bytes(1040),
            srtt: Some(RTT),
            rto: Span::from_secs(1),
            active: true,
            group: 0,
            apart: 0,
            in_recovery: kind == LossKind::FastRetransmit,
        };
        let ack = PathAck {
            path: 0,
            acked: bytes(2000),
            advanced: true,
            flight_before: bytes(50_000),
            flight_after: bytes(46_000),
            rtt: Some(RTT),
            owd: None,
            lost: bytes(2000),
            rate: Some(sample_of_loss(ByteCount::ZERO, 0)),
        };
        let (now, mut w) = (Instant::ZERO + RTT, [before]);
        bbr.on_loss(now, &[path], 0, kind, &mut w);
        let reduced = w[0].cwnd.get();
        bbr.on_sack(now, &[path], &[ack], &mut w);
        // The long-term bound h = max(50 kB in flight, 0.7 x the smaller of cwnd and B r = 40 kB).
        assert_eq!((bbr.paths[0].state, bbr.paths[0].bounds.long_term), (State::Down, bytes(50_000)));
        let acked = w[0].cwnd.get();
        // BBR restores the window that it saved, even if the transport passes a smaller one.
        bbr.on_spurious_loss(&[path], 0, CongestionWindow::default(), &mut w);
        assert_eq!((bbr.paths[0].state, bbr.paths[0].bounds.long_term), (State::Refill, bytes(100_000)));
        [reduced, acked, w[0].cwnd.get()]
    }

    // draft-ietf-ccwg-bbr, "Modulating cwnd in Loss Recovery": fast recovery itself
    // does not reduce cwnd, but the long-term bound of the bytes in flight, h, does.
    #[test]
    fn spurious_fast_recovery_restores_the_window_that_the_bound_reduced() {
        assert_eq!(undo_in_up(LossKind::FastRetransmit), [80_000, 50_000, 80_000]);
    }

    // The timeout sets cwnd to one segment of 1000 bytes; the
    // acknowledgement raises it to the minimum of four segments.
    #[test]
    fn spurious_timeout_restores_the_window_before_it() {
        assert_eq!(undo_in_up(LossKind::Timeout), [1000, 4000, 80_000]);
    }

    // draft-ietf-ccwg-bbr, "Handling a Spurious Loss Recovery"
    #[test]
    fn spurious_loss_that_ended_up_restores_window_and_bounds_and_probes_again() {
        let mut flow = flow(State::Up);
        lose(&mut flow, 0);
        // The long-term bound h = max(50 kB in flight, 0.7 x 40 kB). DOWN limits the window to h.
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
            // Six acknowledgements report losses in one round trip; the seventh ends the round trip.
            for _ in 0..7 {
                assert_eq!(flow.state, State::Startup);
                let prior = flow.delivered.get();
                lose(&mut flow, if prior < 12_000 { 0 } else { prior });
            }
            assert!(matches!(flow.state, State::Drain { .. }) && flow.full.reached);
            // The long-term bound h = max(B r = 40 kB, the largest
            // number of bytes delivered in a sample of the round trip).
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
        // Symbols as in `bbr.rs`: b = max(1 MB/s, 0.7 x 1 MB/s). l = 0.7 x 82
        // kB, because the window was 2 B r + e with B r = 40 kB and e = 2 kB.
        assert_eq!((flow.bounds.rate, flow.bounds.short_term), (1e6, bytes(57_400)));
        assert_eq!(flow.undo(), bytes(80_000));
        assert_eq!((flow.bounds.rate, flow.bounds.short_term), (f64::INFINITY, ByteCount::MAX));
        assert_eq!(flow.state, State::Cruise);
    }
}
