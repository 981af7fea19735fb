//! Pacing for controls that have only a window: computes the rate from the window and the RTT.
//!
//! Source: `tcp_update_pacing_rate` of Linux. The rate is g w/r: w is the larger of cwnd and the bytes in
//! flight, r the smoothed round-trip time, and g is 2 below half of ssthresh and 1.2 above. Because g exceeds
//! 1, the window still limits the throughput: pacing changes the bursts, not the share of the path.
//!
//! One rule is not in Linux. In congestion avoidance the rate is at most 5/4 of the [highest delivery
//! rate](crate::delivery) of the last round trips. With several paths, SACKs may begin to return on a faster
//! path. Then r decreases although the link is as slow as before, and a window that just filled the link
//! would overflow the queue of the link. Controls with `wants_pacing` are exempt, because they reduce and
//! refill their windows on purpose.

use units::{BitRate, ByteCount, Instant};

use crate::delivery::Delivery;
use crate::{CongestionControl, CongestionWindow, LossKind, PathAck, PathView, Setup, WindowRule};

/// Gain while the window is below half of ssthresh, because the window may double in the next round trip.
const SLOW_START_GAIN: f64 = 2.0;

/// Gain in all other cases.
const AVOIDANCE_GAIN: f64 = 1.2;

/// In congestion avoidance the rate of a path is at most this multiple of its delivery rate. If its link
/// becomes faster, the rate can grow by a quarter in each round trip.
const BEYOND: f64 = 1.25;

/// Adds pacing to `control` if `setup` or the control wants it and the control sets no pacing rates itself.
pub fn paced(control: Box<dyn CongestionControl>, setup: &Setup) -> Box<dyn CongestionControl> {
    if !(setup.paced || control.wants_pacing()) || control.is_paced() {
        return control;
    }
    Box::new(Paced {
        deliveries: (!control.wants_pacing()).then(|| Vec::with_capacity(setup.paths)),
        control,
        rates: Vec::with_capacity(setup.paths),
        initial_ssthresh: setup.initial_ssthresh,
        acks: Vec::new(),
    })
}

/// A control whose paths are paced by their windows.
#[derive(Debug)]
struct Paced {
    control: Box<dyn CongestionControl>,
    /// Delivery rate of each path; `None` if the control wants pacing.
    deliveries: Option<Vec<Delivery>>,
    /// Pacing rate of each path; `None` before its first RTT sample.
    rates: Vec<Option<BitRate>>,
    initial_ssthresh: ByteCount,
    /// The acknowledgements of the current SACK, as [`used`] changes them; kept to reuse the allocation.
    acks: Vec<PathAck>,
}

impl Paced {
    fn ssthresh(&self, p: usize, window: CongestionWindow) -> ByteCount {
        self.control.slow_start_threshold(p, window).unwrap_or(self.initial_ssthresh)
    }

    fn update(&mut self, all: &[PathView], w: &[CongestionWindow]) {
        for (p, (path, window)) in all.iter().zip(w).enumerate() {
            self.rates[p] = self.rate(p, path, *window);
        }
    }

    fn rate(&self, p: usize, path: &PathView, window: CongestionWindow) -> Option<BitRate> {
        let delivery = self.deliveries.as_ref().map(|deliveries| &deliveries[p]);
        rate_of(path, window.cwnd, self.ssthresh(p, window), delivery)
    }
}

/// The pacing rate of a path with the window `cwnd`. `delivery` is `None` if the control wants pacing.
fn rate_of(
    path: &PathView,
    cwnd: ByteCount,
    ssthresh: ByteCount,
    delivery: Option<&Delivery>,
) -> Option<BitRate> {
    let srtt = path.srtt.filter(|srtt| !srtt.is_zero())?;
    let delivery = delivery.filter(|_| cwnd >= ssthresh && !path.in_recovery);
    let doubles = cwnd < ByteCount::new(ssthresh.get() / 2);
    let gain = if doubles { SLOW_START_GAIN } else { AVOIDANCE_GAIN };
    let most = delivery.and_then(Delivery::most).map_or(f64::INFINITY, |most| most * BEYOND);
    let rate = gain * cwnd.max(path.flight).as_f64() / srtt.as_secs_f64();
    Some(BitRate::from_bps((rate.min(most) * 8.0) as u64))
}

/// Reports a window in slow start as full once half of it is in flight, as `tcp_is_cwnd_limited` of Linux
/// does. Without this the window would not grow: only full windows grow, and the pacer delays a part.
fn used(ack: &PathAck, cwnd: ByteCount, ssthresh: ByteCount) -> PathAck {
    let full = cwnd < ssthresh && ack.flight_before * 2 >= cwnd;
    let flight_before = if full { ack.flight_before.max(cwnd) } else { ack.flight_before };
    PathAck { flight_before, ..*ack }
}

impl CongestionControl for Paced {
    fn name(&self) -> &'static str {
        self.control.name()
    }

    fn on_path_added(&mut self, all: &[PathView], p: usize) -> CongestionWindow {
        let window = self.control.on_path_added(all, p);
        self.deliveries.iter_mut().for_each(|deliveries| deliveries.push(Delivery::default()));
        self.rates.push(all.get(p).and_then(|path| self.rate(p, path, window)));
        window
    }

    fn on_sack(&mut self, now: Instant, before: &[PathView], acked: &[PathAck], w: &mut [CongestionWindow]) {
        self.acks.clear();
        for ack in acked {
            let window = w[ack.path];
            if let (Some(deliveries), Some(srtt)) = (&mut self.deliveries, before[ack.path].srtt) {
                let full = ack.flight_before >= window.cwnd;
                deliveries[ack.path].acknowledged(now, ack.acked, srtt, full);
            }
            self.acks.push(used(ack, window.cwnd, self.ssthresh(ack.path, window)));
        }
        self.control.on_sack(now, before, &self.acks, w);
        self.update(before, w);
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
        self.update(all, w);
    }

    fn on_spurious_loss(
        &mut self,
        all: &[PathView],
        p: usize,
        window: CongestionWindow,
        w: &mut [CongestionWindow],
    ) {
        self.control.on_spurious_loss(all, p, window, w);
        self.update(all, w);
    }

    fn on_idle(&mut self, now: Instant, all: &[PathView], p: usize, w: &mut [CongestionWindow]) {
        self.control.on_idle(now, all, p, w);
        self.update(all, w);
    }

    fn on_rule(&mut self, all: &[PathView], p: usize, rule: WindowRule, w: &mut [CongestionWindow]) {
        self.control.on_rule(all, p, rule, w);
        self.update(all, w);
    }

    fn is_paced(&self) -> bool {
        true
    }

    fn pacing_rate(&self, p: usize) -> Option<BitRate> {
        self.rates.get(p).copied().flatten()
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
    use units::Span;

    fn rate(cwnd: u64, ssthresh: Option<u64>, flight: u64, srtt_ms: u64) -> Option<u64> {
        let path = view(cwnd, ssthresh, flight, srtt_ms);
        let ssthresh = path.window.ssthresh.unwrap_or(ByteCount::new(1_000_000));
        rate_of(&path, path.window.cwnd, ssthresh, Some(&Delivery::default())).map(BitRate::as_bps)
    }

    fn view(cwnd: u64, ssthresh: Option<u64>, flight: u64, srtt_ms: u64) -> PathView {
        PathView {
            window: CongestionWindow { cwnd: ByteCount::new(cwnd), ssthresh: ssthresh.map(ByteCount::new) },
            flight: ByteCount::new(flight),
            mtu: ByteCount::new(1500),
            srtt: (srtt_ms > 0).then(|| Span::from_millis(srtt_ms)),
            rto: Span::from_secs(1),
            active: true,
            group: 0,
            apart: 0,
            in_recovery: false,
        }
    }

    #[test]
    fn half_of_a_window_in_flight_fills_it_in_slow_start_only() {
        let full = |flight: u64, cwnd: u64, ssthresh: Option<u64>| {
            let ack = PathAck {
                path: 0,
                acked: ByteCount::new(1500),
                advanced: true,
                flight_before: ByteCount::new(flight),
                flight_after: ByteCount::new(flight - 1500),
                rtt: None,
                owd: None,
                lost: ByteCount::ZERO,
                rate: None,
            };
            let (cwnd, ssthresh) = (ByteCount::new(cwnd), ByteCount::new(ssthresh.unwrap_or(1_000_000)));
            used(&ack, cwnd, ssthresh).flight_before >= cwnd
        };
        assert!(full(5000, 10_000, None) && full(5000, 10_000, Some(20_000)));
        assert!(!full(4999, 10_000, None), "less than half");
        assert!(!full(9999, 10_000, Some(10_000)), "congestion avoidance");
    }

    // By hand: 1.2 times 10 000 bytes in 50 ms are 1.92 Mbit/s; 5/4 of 10 000 bytes in 100 ms are 1 Mbit/s.
    #[test]
    fn a_shorter_way_back_does_not_make_the_link_faster() {
        let mut delivery = Delivery::default();
        for ms in [0, 100] {
            let now = Instant::ZERO + Span::from_millis(ms);
            delivery.acknowledged(now, ByteCount::new(10_000), Span::from_millis(100), true);
        }
        let rate = |ssthresh: u64, in_recovery| {
            let path = PathView { in_recovery, ..view(10_000, Some(ssthresh), 10_000, 50) };
            rate_of(&path, path.window.cwnd, ByteCount::new(ssthresh), Some(&delivery)).map(BitRate::as_bps)
        };
        assert_eq!(rate(10_000, false), Some(1_000_000));
        assert_eq!(rate(10_001, false), Some(1_920_000), "slow start");
        assert_eq!(rate(10_000, true), Some(1_920_000), "recovery");
    }

    // By hand: 10 000 bytes in 100 ms are 0.8 Mbit/s.
    #[test]
    fn pacing_rate_is_twice_the_window_per_rtt_below_half_of_ssthresh_and_1_2_times_above() {
        assert_eq!(rate(10_000, None, 0, 100), Some(1_600_000));
        assert_eq!(rate(10_000, Some(20_002), 0, 100), Some(1_600_000));
        assert_eq!(rate(10_000, Some(20_000), 0, 100), Some(960_000));
        assert_eq!(rate(10_000, Some(10_000), 20_000, 100), Some(1_920_000), "flight above the window");
        assert_eq!(rate(10_000, Some(10_000), 0, 0), None, "no RTT yet");
    }
}
