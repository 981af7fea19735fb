//! Calls of the congestion control. TCP has one path.

use super::Sender;
use super::rate::RateControl;
use cc::{CongestionControl, CongestionWindow, LossKind, PathAck, PathView, Setup, TcpRules, WindowRule};
use units::{ByteCount, Instant, Span};

impl Sender {
    pub(super) fn begin_control(&mut self, now: Instant) {
        let rules = TcpRules {
            headers: ByteCount::new(u64::from(self.headers)),
            initial_window: ByteCount::new(u64::from(self.config.initial_window) * u64::from(self.smss)),
            abc_limit: self.config.abc,
            grow_full_only: self.config.grow_full_only,
        };
        // No initial ssthresh is set (`ByteCount::MAX`): slow start lasts until the first loss.
        let setup = Setup { paced: self.config.pacing, ..Setup::tcp(rules, ByteCount::MAX) };
        let control = self.config.control.build(&setup, &self.config.knobs);
        let control = cc::paced(control, &setup);
        self.start_control(now, control);
    }

    pub(super) fn start_control(&mut self, now: Instant, mut control: Box<dyn CongestionControl>) {
        let view = self.view(0);
        let samples = control.wants_rate_samples();
        if samples {
            self.flight.keep_records();
        }
        if control.is_paced() {
            self.rate = Some(Box::new(RateControl::new(view.mtu, samples)));
        }
        self.window = control.on_path_added(&[view], 0);
        self.control = Some(control);
        self.set_pace(now);
    }

    fn set_pace(&mut self, now: Instant) {
        if let Some(rate) = &mut self.rate
            && let Some(control) = &self.control
        {
            let mtu = ByteCount::new(u64::from(self.smss + self.headers));
            rate.pacer.set_rate(now, control.pacing_rate(0), mtu);
        }
    }

    fn view(&self, flight: u64) -> PathView {
        PathView {
            window: self.window,
            flight: ByteCount::new(flight),
            mtu: ByteCount::new(u64::from(self.smss + self.headers)),
            srtt: self.rto.srtt(),
            rto: self.rto.current(),
            active: true,
            group: 0,
            apart: 0,
            in_recovery: self.recovery.is_some(),
        }
    }

    pub(super) fn ask(
        &mut self,
        now: Instant,
        flight: u64,
        ask: impl FnOnce(&mut dyn CongestionControl, &[PathView], &mut [CongestionWindow]),
    ) {
        let view = self.view(flight);
        if let Some(control) = &mut self.control {
            ask(&mut **control, &[view], std::slice::from_mut(&mut self.window));
        }
        self.set_pace(now);
    }

    pub(crate) fn inspect(&self, show: &mut dyn FnMut(&'static str, f64)) {
        self.control.iter().for_each(|control| control.inspect(0, show));
    }

    /// Sets the window to one segment, as TCP prescribes for every algorithm.
    pub(super) fn restart_window(&mut self, now: Instant) {
        let rule = WindowRule::Set(ByteCount::new(u64::from(self.smss)));
        let flight = self.flight.in_flight();
        self.ask(now, flight, |control, views, windows| control.on_rule(views, 0, rule, windows));
    }

    /// Reports newly acknowledged data: outside recovery, or always to a control that wants rate samples.
    pub(super) fn control_ack(&mut self, now: Instant, acked: u64, flight: u64, rtt: Option<Span>) {
        self.count_lost();
        let (lost, rate) = match &mut self.rate {
            Some(rate) => (rate.estimator.take_lost(), rate.estimator.take_sample()),
            None => Default::default(),
        };
        let ack = PathAck {
            path: 0,
            acked: ByteCount::new(acked),
            advanced: true,
            flight_before: ByteCount::new(flight),
            flight_after: ByteCount::new(self.flight.in_flight()),
            rtt,
            owd: None,
            lost,
            rate,
        };
        self.ask(now, flight, |control, views, windows| control.on_sack(now, views, &[ack], windows));
    }

    /// Reports a loss, or ECE; `flight` includes the lost bytes.
    pub(super) fn control_loss(&mut self, now: Instant, flight: u64, kind: LossKind) {
        self.ask(now, flight, |control, views, windows| control.on_loss(now, views, 0, kind, windows));
    }

    /// Reports idle time before new data is sent (`rfc5681#section-4.1`).
    pub(super) fn control_idle(&mut self, now: Instant) {
        self.ask(now, 0, |control, views, windows| control.on_idle(now, views, 0, windows));
    }
}
