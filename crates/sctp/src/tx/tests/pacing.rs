//! Tests a congestion control that models the rates of its paths: its inputs, and the pacing that it sets.

use super::random::{World, drain};
use super::*;
use cc::{
    Algorithm, CongestionControl, CongestionWindow, ControlChoice, LossKind, PathAck, PathView, RateSample,
    Setup, WindowRule,
};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use units::BitRate;

/// The inputs of the congestion control, by path.
#[derive(Debug, Default)]
pub(super) struct Told {
    windows: Vec<CongestionWindow>,
    pub(super) sent: Vec<u64>,
    pub(super) acked: Vec<u64>,
    lost: Vec<u64>,
    samples: Vec<(usize, RateSample)>,
    rules: usize,
}

/// A congestion control with a fixed pacing rate on each path. It checks that nothing else changes cwnd or
/// ssthresh.
#[derive(Debug)]
pub(super) struct Paced {
    inner: Box<dyn CongestionControl>,
    rates: Vec<BitRate>,
    told: Arc<Mutex<Told>>,
}

impl Paced {
    pub(super) fn install(
        rig: &mut Rig,
        control: impl Into<ControlChoice>,
        rates: Vec<BitRate>,
    ) -> Arc<Mutex<Told>> {
        let config = rig.sender.shared_config();
        let (ip_header, rwnd) = (ByteCount::new(20), ByteCount::new(1 << 20));
        let setup = Setup {
            initial_window: config.initial_window,
            ..Setup::sctp(config.growth, ip_header, rwnd, rates.len())
        };
        let told = Arc::<Mutex<Told>>::default();
        let control = Paced { inner: control.into().build(&setup, &config.knobs), rates, told: told.clone() };
        rig.sender.start_control(Instant::ZERO, Box::new(control), &mut rig.paths);
        told
    }

    fn change(
        &mut self,
        before: &[PathView],
        w: &mut [CongestionWindow],
        event: impl FnOnce(&mut dyn CongestionControl, &mut [CongestionWindow]),
    ) {
        let mut told = self.told.lock().unwrap();
        // An earlier call for this event may have changed cwnd or ssthresh: `w` contains these changes.
        assert_eq!(w, &told.windows[..], "somebody else wrote a window");
        assert!(before.len() == w.len());
        event(&mut *self.inner, w);
        told.windows.copy_from_slice(w);
    }
}

impl CongestionControl for Paced {
    fn name(&self) -> &'static str {
        "paced"
    }
    fn on_path_added(&mut self, all: &[PathView], p: usize) -> CongestionWindow {
        let window = self.inner.on_path_added(all, p);
        let mut told = self.told.lock().unwrap();
        told.windows.push(window);
        told.sent.push(0);
        told.acked.push(0);
        told.lost.push(0);
        window
    }
    fn on_sack(&mut self, now: Instant, before: &[PathView], acked: &[PathAck], w: &mut [CongestionWindow]) {
        for ack in acked {
            assert!(!ack.acked.is_zero() || !ack.lost.is_zero());
            assert_eq!(ack.rate.is_some(), !ack.acked.is_zero());
            let mut told = self.told.lock().unwrap();
            told.acked[ack.path] += ack.acked.get();
            told.lost[ack.path] += ack.lost.get();
            told.samples.extend(ack.rate.map(|rate| (ack.path, rate)));
        }
        self.change(before, w, |inner, w| inner.on_sack(now, before, acked, w));
    }
    fn on_loss(
        &mut self,
        now: Instant,
        all: &[PathView],
        p: usize,
        kind: LossKind,
        w: &mut [CongestionWindow],
    ) {
        self.change(all, w, |inner, w| inner.on_loss(now, all, p, kind, w));
    }
    fn on_spurious_loss(
        &mut self,
        all: &[PathView],
        p: usize,
        window: CongestionWindow,
        w: &mut [CongestionWindow],
    ) {
        self.change(all, w, |inner, w| inner.on_spurious_loss(all, p, window, w));
    }
    fn on_idle(&mut self, now: Instant, all: &[PathView], p: usize, w: &mut [CongestionWindow]) {
        self.change(all, w, |inner, w| inner.on_idle(now, all, p, w));
    }
    fn on_rule(&mut self, all: &[PathView], p: usize, rule: WindowRule, w: &mut [CongestionWindow]) {
        self.told.lock().unwrap().rules += 1;
        self.change(all, w, |inner, w| inner.on_rule(all, p, rule, w));
    }
    fn wants_rate_samples(&self) -> bool {
        true
    }
    fn on_sent(&mut self, _now: Instant, all: &[PathView], p: usize, bytes: ByteCount, _app_limited: bool) {
        let mut told = self.told.lock().unwrap();
        told.sent[p] += bytes.get();
        let windows: Vec<CongestionWindow> = all.iter().map(|path| path.window).collect();
        assert_eq!(windows, told.windows, "somebody else wrote a window");
    }
    fn pacing_rate(&self, p: usize) -> Option<BitRate> {
        self.rates.get(p).copied()
    }
}

/// Time and bytes of each packet that was sent on one path.
#[derive(Default)]
pub(super) struct Trace(Vec<(Instant, u64)>);

impl Trace {
    fn push(&mut self, now: Instant, bytes: u64) {
        self.0.push((now, bytes));
    }

    /// Checks that in any interval no more bytes are sent than two packets, plus the bytes that the pacing
    /// rate allows in the interval and 1 ms.
    fn check(&self, rate: BitRate, mtu: u64) {
        let burst = 2 * mtu + rate.bytes_in(Span::from_millis(1)).get();
        for (i, &(begin, _)) in self.0.iter().enumerate() {
            let mut bytes = 0;
            for &(end, size) in &self.0[i..] {
                bytes += size;
                let most = burst + rate.bytes_in(end.since(begin)).get() + 1;
                assert!(bytes <= most, "{bytes} bytes in {}, at most {most}", end.since(begin));
            }
        }
    }
}

const LINK: BitRate = BitRate::from_mbps(20);
const DELAY: Span = Span::from_millis(20);
const RATE: BitRate = BitRate::from_mbps(5);

/// Sends for the time `length` over paths with links of 20 Mbit/s and 20 ms; each packet is acknowledged at
/// once. `lost` selects the packets that do not arrive, and `feed` pushes messages.
fn transfer(
    rig: &mut Rig,
    length: Span,
    lost: impl Fn(usize) -> bool,
    mut feed: impl FnMut(&mut Rig),
) -> Vec<Trace> {
    let mut world = World::default();
    let mut traces: Vec<Trace> = rig.paths.ids().map(|_| Trace::default()).collect();
    let mut free = vec![Instant::ZERO; traces.len()];
    let mut sacks: VecDeque<(Instant, Vec<u32>)> = VecDeque::new();
    let (end, mut count) = (rig.now + length, 0);
    while rig.now < end {
        feed(rig);
        while let Some((p, tsns)) = rig.poll() {
            let bytes = CHUNK * tsns.len() as u64;
            traces[p.index()].push(rig.now, bytes);
            count += 1;
            if !lost(count) {
                let link = &mut free[p.index()];
                *link = rig.now.max(*link) + LINK.pace().serialise(ByteCount::new(bytes), 0).0;
                sacks.push_back((*link + DELAY * 2, tsns));
                sacks.make_contiguous().sort_by_key(|&(at, _)| at);
            }
        }
        let t3 = rig.paths.ids().filter_map(|p| rig.paths[p].t3.map(|at| (at, p))).min();
        let paced = rig.sender.rest_ends(&rig.paths);
        let arrival = sacks.front().map(|&(at, _)| at);
        let next = [t3.map(|(at, _)| at), paced, arrival, Some(end)].into_iter().flatten().min().unwrap();
        let waited = next.since(rig.now);
        rig.now += waited;
        if arrival == Some(next) {
            let (_, tsns) = sacks.pop_front().unwrap();
            world.arrive(&tsns);
            world.sack(rig);
        } else if let Some((at, p)) = t3
            && at == next
        {
            rig.t3(p);
        }
        rig.pass(Span::ZERO);
    }
    traces
}

/// Keeps the send queue filled with full chunks.
fn saturate(rig: &mut Rig) {
    while rig.sender.unsent_messages() < 100 {
        rig.push(Message::new(Payload::Filler(CHUNK as u32))).unwrap();
    }
}

fn config() -> Config {
    Config { initial_window: Some(200), ..cmt(Cmt { sfr: true, ..Cmt::default() }) }
}

fn bits(bytes: u64, time: Span) -> f64 {
    bytes as f64 * 8.0 / time.as_secs_f64()
}

#[test]
fn paced_transfer_has_its_rate_and_never_more() {
    let mut rig = Rig::new(&config(), 1, random::FIRST);
    let told = Paced::install(&mut rig, Algorithm::Standard, vec![RATE]);
    let length = Span::from_secs(4);
    let traces = transfer(&mut rig, length, |_| false, saturate);
    traces[0].check(RATE, 1500);
    let told = told.lock().unwrap();
    assert_eq!(told.sent[0], rig.paths[P1].stats.user_bytes.get(), "on_sent counts every byte");
    assert!((bits(told.sent[0], length) / 5e6 - 1.0).abs() < 0.01, "{}", told.sent[0]);
    assert_eq!((told.lost[0], rig.paths[P1].stats.timeouts), (0, 0));
    // The link is faster than the pacing rate, so later samples equal the pacing rate. Packets are sent in
    // pairs, so a sample errs by at most one of the 17 packets in a round trip.
    for (_, sample) in &told.samples[told.samples.len() / 2..] {
        let rate = sample.rate.unwrap().as_bps() as f64;
        assert!((rate / 5e6 - 1.0).abs() < 1.0 / 17.0 && !sample.app_limited, "{sample:?}");
        assert!(sample.rtt.unwrap() < Span::from_millis(42));
    }
}

/// After the peer's buffer was full, few chunks are in flight. With a burst limit per SACK they would remain
/// few.
#[test]
fn with_pacing_an_empty_window_is_filled_without_sacks() {
    let config = Config { pacing: true, max_burst: 4, ..config() };
    let mut rig = Rig::new(&config, 1, random::FIRST);
    Paced::install(&mut rig, Algorithm::Standard, vec![BitRate::from_mbps(600)]);
    saturate(&mut rig);
    rig.pass(Span::from_millis(1));
    let mut sent = 0;
    loop {
        sent += std::iter::from_fn(|| rig.poll()).count();
        saturate(&mut rig);
        if rig.paths[P1].space().is_zero() {
            break;
        }
        let at = rig.sender.rest_ends(&rig.paths).expect("data waits, and the window has room");
        rig.pass(at.since(rig.now));
    }
    assert!(sent >= 200, "{sent} packets");
}

#[test]
fn an_urgent_message_does_not_wait_for_the_pacer() {
    for urgent in [false, true] {
        let mut rig = Rig::new(&config(), 1, random::FIRST);
        Paced::install(&mut rig, Algorithm::Standard, vec![BitRate::from_mbps(1)]);
        rig.pass(Span::from_millis(1));
        for _ in 0..2 {
            rig.push(Message::new(Payload::Filler(CHUNK as u32))).unwrap();
        }
        assert_eq!(std::iter::from_fn(|| rig.poll()).count(), 2, "the bucket holds two packets");
        rig.push(Message { urgent, ..Message::new(Payload::Filler(100)) }).unwrap();
        assert_eq!(rig.poll().is_some(), urgent);
    }
}

#[test]
fn retransmissions_are_paced_and_counted() {
    let mut rig = Rig::new(&config(), 1, random::FIRST);
    let told = Paced::install(&mut rig, Algorithm::Standard, vec![RATE]);
    let traces = transfer(&mut rig, Span::from_secs(4), |n| n % 40 == 0, saturate);
    traces[0].check(RATE, 1500);
    let (told, stats) = (told.lock().unwrap(), rig.paths[P1].stats);
    let again = stats.fast_retransmissions + stats.timer_retransmissions;
    assert!(again > 10, "{stats:?}");
    assert_eq!(told.sent[0], stats.user_bytes.get());
    let waiting = rig.sender.peer.lost_chunks() as u64;
    assert_eq!(told.lost[0], (again + waiting) * CHUNK, "every chunk sent again was told as lost");
    // All data that was sent is acknowledged, lost or in flight.
    assert_eq!(told.sent[0], told.acked[0] + told.lost[0] + rig.paths[P1].flight.get());
}

#[test]
fn each_path_has_its_own_pacer() {
    let mut rig = Rig::new(&config(), 2, random::FIRST);
    let rates = vec![RATE, BitRate::from_mbps(2)];
    let told = Paced::install(&mut rig, Algorithm::Standard, rates.clone());
    let length = Span::from_secs(3);
    let traces = transfer(&mut rig, length, |_| false, saturate);
    for (p, (trace, rate)) in traces.iter().zip(rates).enumerate() {
        trace.check(rate, 1500);
        let told = told.lock().unwrap();
        assert!((bits(told.sent[p], length) / rate.as_bps() as f64 - 1.0).abs() < 0.02);
        assert_eq!(told.sent[p], rig.paths[PathId(p as u8)].stats.user_bytes.get());
    }
}

#[test]
fn samples_are_app_limited_while_there_is_not_enough_data() {
    let mut rig = Rig::new(&config(), 1, random::FIRST);
    let told = Paced::install(&mut rig, Algorithm::Standard, vec![BitRate::from_mbps(10)]);
    let mut next = rig.now;
    // One chunk every 10 ms: 1.2 Mbit/s.
    transfer(
        &mut rig,
        Span::from_secs(1),
        |_| false,
        |rig| {
            if rig.now >= next {
                rig.push(Message::new(Payload::Filler(CHUNK as u32))).unwrap();
                next += Span::from_millis(10);
            }
        },
    );
    let told = told.lock().unwrap();
    let samples = &told.samples[1..];
    assert!(samples.len() > 15 && samples.iter().all(|(_, sample)| sample.app_limited), "{samples:?}");
}

#[test]
fn a_path_without_pacing_rate_sets_no_timer() {
    let mut rig = Rig::new(&config(), 1, random::FIRST);
    Paced::install(&mut rig, Algorithm::Standard, Vec::new());
    saturate(&mut rig);
    while rig.poll().is_some() {}
    assert_eq!(rig.sender.rest_ends(&rig.paths), None);
}

#[test]
fn a_control_that_does_not_ask_keeps_no_records() {
    let mut rig = Rig::new(&config(), 1, random::FIRST);
    assert!(!rig.sender.out.keeps_records() && rig.paths[P1].rate.is_none());
    saturate(&mut rig);
    while rig.poll().is_some() {}
    assert!(!rig.sender.out.keeps_records() && rig.paths[P1].rate.is_none());
}

/// Largest number of chunks sent at the same time, if 50 chunks are queued whenever no data is left.
fn largest_burst(control: Algorithm, pacing: bool) -> u64 {
    let congestion_control = control.into();
    let config = Config { congestion_control, pacing, initial_window: Some(60), max_burst: 1000, ..config() };
    let mut rig = Rig::new(&config, 1, random::FIRST);
    let traces = transfer(
        &mut rig,
        Span::from_secs(1),
        |_| false,
        |rig| {
            if rig.sender.is_drained() {
                for _ in 0..50 {
                    rig.push(Message::new(Payload::Filler(CHUNK as u32))).unwrap();
                }
            }
        },
    );
    // Before the first RTT sample no rate is known, and packets are not paced.
    let later = traces[0].0.iter().filter(|(at, _)| at.as_nanos() > 1_100_000_000);
    let mut sums = std::collections::BTreeMap::<Instant, u64>::new();
    for &(at, bytes) in later {
        *sums.entry(at).or_default() += bytes;
    }
    assert!(sums.len() > 1);
    sums.into_values().max().unwrap() / CHUNK
}

// cwnd is 60 packets, and the RTT at least 40 ms. The pacing rate is at most twice cwnd in an RTT: 3 packets
// in 1 ms. So 2 + 3 packets are sent at the same time, and one more if cwnd has grown.
#[test]
fn with_the_option_pacing_every_control_spreads_its_window_over_the_round_trip() {
    for control in [Algorithm::Standard, Algorithm::Cubic, Algorithm::Lia] {
        assert_eq!(largest_burst(control, false), 50, "{control}");
    }
    for &control in Algorithm::ALL {
        let paced = largest_burst(control, true);
        assert!(paced <= 6, "{control}: {paced} packets at once");
    }
}

#[test]
fn with_the_option_pacing_a_control_without_samples_keeps_no_records() {
    let rig = Rig::new(&Config { pacing: true, ..config() }, 1, random::FIRST);
    assert!(!rig.sender.out.keeps_records() && rig.paths[P1].rate.is_some());
}

// rfc7829#section-3: a potentially failed path still carries data if no other path is active
#[test]
fn send_limit_of_a_potentially_failed_path_is_one_mtu_and_its_window_stays() {
    let mut rig = Rig::new(&config(), 1, random::FIRST);
    let told = Paced::install(&mut rig, Algorithm::Standard, Vec::new());
    let window = rig.paths[P1].window;
    rig.paths[P1].state = PathState::PotentiallyFailed;
    saturate(&mut rig);
    rig.pass(Span::from_millis(1));
    let mut world = World::default();
    drain(&mut rig, &mut world);
    assert_eq!((rig.paths[P1].flight.get(), rig.paths[P1].window), (2 * CHUNK, window));
    // A heartbeat is answered.
    rig.paths[P1].state = PathState::Active;
    rig.sender.on_path_back(rig.now, P1, &mut rig.paths);
    assert_eq!((rig.paths[P1].window.cwnd.get(), told.lock().unwrap().rules), (2 * 1500, 1));
}
