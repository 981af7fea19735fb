//! Tests with a congestion control that models the rate: its inputs, and the effect of its pacing.

use super::super::{Ack, Negotiated, Sender};
use crate::sequence::ORIGIN;
use crate::{Config, Variant};
use cc::{CongestionControl, CongestionWindow, LossKind, PathAck, PathView, RateSample, WindowRule};
use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex};
use transport::Payload;
use units::{BitRate, ByteCount, Instant, Span};

const SMSS: u64 = 1460;
const LINK: BitRate = BitRate::from_mbps(20);
const DELAY: Span = Span::from_millis(20);
const RATE: BitRate = BitRate::from_mbps(5);
/// A window above the bandwidth-delay product.
const WINDOW: u64 = 200_000;

/// Recorded calls of the congestion control.
#[derive(Debug, Default)]
struct Told {
    window: CongestionWindow,
    sent: u64,
    acked: u64,
    lost: u64,
    samples: Vec<RateSample>,
}

/// A control that paces at a fixed rate. Its window is [`WINDOW`], and
/// half of that after a loss. Checks that nothing else changes the window.
#[derive(Debug)]
struct Paced {
    rate: Option<BitRate>,
    told: Arc<Mutex<Told>>,
}

impl Paced {
    fn put(&mut self, w: &mut [CongestionWindow], window: CongestionWindow) {
        let mut told = self.told.lock().unwrap();
        assert_eq!(w[0], told.window, "somebody else wrote the window");
        (w[0], told.window) = (window, window);
    }
}

impl CongestionControl for Paced {
    fn name(&self) -> &'static str {
        "paced"
    }
    fn on_path_added(&mut self, _all: &[PathView], _p: usize) -> CongestionWindow {
        let window = CongestionWindow { cwnd: ByteCount::new(WINDOW), ssthresh: None };
        self.told.lock().unwrap().window = window;
        window
    }
    fn on_sack(&mut self, _now: Instant, before: &[PathView], acked: &[PathAck], w: &mut [CongestionWindow]) {
        let [ack] = acked else { panic!("one path") };
        assert_eq!(ack.rate.is_some(), !ack.acked.is_zero());
        {
            let mut told = self.told.lock().unwrap();
            told.acked += ack.acked.get();
            told.lost += ack.lost.get();
            told.samples.extend(ack.rate);
        }
        let cwnd = if before[0].in_recovery { w[0].cwnd } else { ByteCount::new(WINDOW) };
        self.put(w, CongestionWindow { cwnd, ..w[0] });
    }
    fn on_loss(
        &mut self,
        _now: Instant,
        _all: &[PathView],
        _p: usize,
        _kind: LossKind,
        w: &mut [CongestionWindow],
    ) {
        let half = ByteCount::new(WINDOW / 2);
        self.put(w, CongestionWindow { cwnd: half, ssthresh: Some(half) });
    }
    fn on_idle(&mut self, _now: Instant, _all: &[PathView], _p: usize, w: &mut [CongestionWindow]) {
        self.put(w, w[0]);
    }
    fn on_rule(&mut self, _all: &[PathView], _p: usize, rule: WindowRule, w: &mut [CongestionWindow]) {
        self.put(w, rule.apply(w[0]));
    }
    fn wants_rate_samples(&self) -> bool {
        true
    }
    fn on_sent(&mut self, _now: Instant, all: &[PathView], _p: usize, bytes: ByteCount, _app_limited: bool) {
        let mut told = self.told.lock().unwrap();
        told.sent += bytes.get();
        assert_eq!(all[0].window, told.window, "somebody else wrote the window");
    }
    fn pacing_rate(&self, _p: usize) -> Option<BitRate> {
        self.rate
    }
}

/// A sender on a link of 20 Mbit/s and 20 ms, and a receiver that acknowledges each segment at once.
struct Rig {
    sender: Sender,
    told: Arc<Mutex<Told>>,
    now: Instant,
    /// Send time and bytes of each segment.
    trace: Vec<(Instant, u64)>,
    free: Instant,
    arrivals: VecDeque<(Instant, u64, u64)>,
    /// Positions of segments that arrived out of order, and the next position expected.
    held: BTreeSet<(u64, u64)>,
    next: u64,
}

impl Rig {
    fn new(config: Config, rate: Option<BitRate>) -> Rig {
        let mut rig = Rig::with_own_control(config);
        let told = rig.told.clone();
        rig.sender.start_control(rig.now, Box::new(Paced { rate, told }));
        rig
    }

    /// A rig with the congestion control that the options name.
    fn with_own_control(config: Config) -> Rig {
        let mut sender = Sender::new(&Arc::new(config), &Arc::default());
        let now = Instant::ZERO + Span::from_secs(1);
        let found = Negotiated { smss: SMSS as u32, headers: 40, sack: true, ecn: false, syn_lost: false };
        sender.establish(now, found);
        sender.take_first_window(ORIGIN, 1 << 30);
        let told = Arc::<Mutex<Told>>::default();
        let (trace, arrivals, held) = (Vec::new(), VecDeque::new(), BTreeSet::new());
        Rig { sender, told, now, trace, free: now, arrivals, held, next: ORIGIN + 1 }
    }

    fn run(
        &mut self,
        length: Span,
        lost: impl Fn(usize) -> bool,
        mut feed: impl FnMut(&mut Sender, Instant),
    ) {
        let end = self.now + length;
        while self.now < end {
            feed(&mut self.sender, self.now);
            while let Some(plan) = self.sender.next(self.now, SMSS as u32) {
                let len = u64::from(plan.len);
                self.trace.push((self.now, len));
                if !lost(self.trace.len()) {
                    let bytes = ByteCount::new(len + 40);
                    self.free = self.now.max(self.free) + LINK.pace().serialise(bytes, 0).0;
                    self.arrivals.push_back((self.free + DELAY * 2, plan.start, plan.start + len));
                }
            }
            let arrival = self.arrivals.front().map_or(Instant::FAR, |&(at, ..)| at);
            self.now = self.sender.deadline().min(arrival).min(end).max(self.now);
            if arrival == self.now {
                self.arrive();
            } else {
                assert!(self.sender.on_timeout(self.now));
            }
        }
    }

    /// Delivers the next segment, and passes its acknowledgement to the sender.
    fn arrive(&mut self) {
        let Some((_, start, end)) = self.arrivals.pop_front() else { return };
        self.held.insert((start, end));
        while let Some(&(start, end)) = self.held.first()
            && start <= self.next
        {
            self.next = self.next.max(end);
            self.held.pop_first();
        }
        let mut blocks: Vec<(u64, u64)> = Vec::new();
        for &(start, end) in &self.held {
            match blocks.last_mut() {
                Some((_, last)) if *last >= start => *last = end,
                _ => blocks.push((start, end)),
            }
        }
        let blocks = blocks.into_iter().rev().take(4).collect();
        let (to, from) = (self.next, ORIGIN + 1);
        let ack = Ack { to, from, window: 1 << 30, blocks, echo: None, bare: true, congestion: false };
        self.sender.on_ack(self.now, &ack);
    }

    /// Checks that no interval of time contains more bytes than one
    /// burst plus the bytes that `rate` carries in this interval.
    fn check_pacing(&self, rate: BitRate) {
        let burst = 2 * (SMSS + 40) + rate.bytes_in(Span::from_millis(1)).get();
        for (i, &(begin, _)) in self.trace.iter().enumerate() {
            let mut bytes = 0;
            for &(end, size) in &self.trace[i..] {
                bytes += size;
                let most = burst + rate.bytes_in(end.since(begin)).get() + 1;
                assert!(bytes <= most, "{bytes} bytes in {}, at most {most}", end.since(begin));
            }
        }
    }
}

fn saturate(sender: &mut Sender, _now: Instant) {
    if sender.unsent() < 100_000 {
        sender.push(Payload::Filler(100_000));
    }
}

fn configs() -> [Config; 2] {
    let modern = Config { send_buffer: ByteCount::new(1 << 20).into(), ..Config::modern() };
    let newreno = Config { variant: Variant::NewReno, rack_tlp: false, ..modern.clone() };
    [modern, newreno]
}

#[test]
fn paced_transfer_has_its_rate_and_never_more() {
    for config in configs() {
        let mut rig = Rig::new(config, Some(RATE));
        rig.run(Span::from_secs(4), |_| false, saturate);
        rig.check_pacing(RATE);
        let told = rig.told.lock().unwrap();
        let expected = RATE.bytes_in(Span::from_secs(4)).get();
        assert!(told.sent.abs_diff(expected) < expected / 100, "{} of {expected} bytes", told.sent);
        assert_eq!(told.sent, rig.sender.stats.user_bytes_sent.get(), "on_sent counts every byte");
        assert_eq!((told.lost, rig.sender.stats.timeouts), (0, 0));
        // A sample is wrong by at most one of the 17 segments in a round trip, since segments leave in pairs.
        for sample in &told.samples[told.samples.len() / 2..] {
            let rate = sample.rate.unwrap().as_bps() as f64;
            assert!((rate / 5e6 - 1.0).abs() < 1.0 / 17.0 && !sample.app_limited, "{sample:?}");
        }
    }
}

#[test]
fn retransmissions_are_paced_and_counted() {
    for (config, sack) in configs().into_iter().zip([true, false]) {
        let mut rig = Rig::new(config, Some(RATE));
        rig.run(Span::from_secs(4), |n| n % 40 == 0, saturate);
        rig.check_pacing(RATE);
        let told = rig.told.lock().unwrap();
        let stats = rig.sender.stats;
        assert!(stats.fast_retransmissions > 10, "{stats:?}");
        assert_eq!(told.sent, stats.user_bytes_sent.get(), "on_sent counts every byte");
        assert_eq!(told.sent, rig.trace.iter().map(|(_, len)| len).sum::<u64>());
        if sack {
            // Each byte sent is acknowledged, lost or in flight.
            let flight = rig.sender.flight().get();
            rig.sender.count_lost();
            let untold = rig.sender.rate.as_mut().map_or(0, |rate| rate.estimator.take_lost().get());
            assert_eq!(told.sent, told.acked + told.lost + untold + flight);
        }
    }
}

#[test]
fn samples_are_app_limited_while_there_is_not_enough_data() {
    let [config, _] = configs();
    let mut rig = Rig::new(config, Some(BitRate::from_mbps(10)));
    let mut next = rig.now;
    // One segment per 10 ms: 1.2 Mbit/s.
    rig.run(
        Span::from_secs(1),
        |_| false,
        |sender, now| {
            if now >= next {
                sender.push(Payload::Filler(SMSS as u32));
                next += Span::from_millis(10);
            }
        },
    );
    let told = rig.told.lock().unwrap();
    let samples = &told.samples[1..];
    assert!(samples.len() > 15 && samples.iter().all(|sample| sample.app_limited), "{samples:?}");
}

#[test]
fn after_a_timeout_the_window_is_one_segment_by_a_rule() {
    let [config, _] = configs();
    let mut rig = Rig::new(config, None);
    rig.run(Span::from_secs(2), |_| true, saturate);
    assert!(rig.sender.stats.timeouts > 0);
    assert_eq!(rig.told.lock().unwrap().window.cwnd.get(), SMSS);
}

#[test]
fn without_a_pacing_rate_there_is_no_pacing_timer() {
    let [config, _] = configs();
    let mut rig = Rig::new(config, None);
    saturate(&mut rig.sender, rig.now);
    while rig.sender.next(rig.now, SMSS as u32).is_some() {}
    assert_eq!(rig.sender.timers.pacing, None);
}

/// Largest number of segments sent at one time. The user sends 50 segments when all earlier are acknowledged.
fn largest_burst(pacing: bool) -> u64 {
    let [config, _] = configs();
    let mut rig = Rig::with_own_control(Config { pacing, initial_window: 60, ..config });
    rig.run(
        Span::from_secs(1),
        |_| false,
        |sender, _| {
            if sender.flight.is_empty() && sender.unsent() == 0 {
                sender.push(Payload::Filler(50 * SMSS as u32));
            }
        },
    );
    // No rate is known before the first RTT sample.
    let later = Instant::ZERO + Span::from_millis(1100);
    let mut sums = std::collections::BTreeMap::<Instant, u64>::new();
    for &(at, bytes) in rig.trace.iter().filter(|(at, _)| *at > later) {
        *sums.entry(at).or_default() += bytes;
    }
    assert!(sums.len() > 1);
    sums.into_values().max().unwrap() / SMSS
}

// 60 segments in a round trip of at least 40 ms, at twice that rate: a pair and the 3 segments of 1 ms may
// leave at once.
#[test]
fn with_the_option_pacing_a_window_is_spread_over_the_round_trip() {
    assert_eq!(largest_burst(false), 50);
    let paced = largest_burst(true);
    assert!(paced <= 5, "{paced} segments at once");
}
