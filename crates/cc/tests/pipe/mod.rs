//! Flows with unlimited data over one drop-tail bottleneck. The receiver acknowledges each packet.
//!
//! A packet counts as lost once the third or a later packet after it is acknowledged, or after a second
//! without an acknowledgement. Lost packets are not retransmitted; there is always new data.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use anabranch_cc::{
    Algorithm, CongestionControl, CongestionWindow, Knobs, LossKind, Pacer, PathAck, PathView, RateEstimator,
    SendRecord, Setup, TcpRules, WindowRule,
};
use units::{BitRate, ByteCount, Instant, Span};

/// Bytes of data in a packet; the link carries nothing else.
pub const SEGMENT: ByteCount = ByteCount::new(1460);

/// A packet counts as lost once a packet sent at least this many packets later is acknowledged.
const REORDERING: u64 = 3;

const TIMEOUT: Span = Span::from_secs(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Ack { flow: usize, packet: u64 },
    Send { flow: usize },
    Timeout { flow: usize, packet: u64 },
}

pub struct Link {
    pub rate: BitRate,
    /// Capacity of the queue in bytes.
    pub queue: ByteCount,
    /// Fraction of packets that the link loses at random.
    pub loss: f64,
}

pub struct Flow {
    pub control: Box<dyn CongestionControl>,
    view: PathView,
    pub rtt: Span,
    start: Instant,
    pacer: Pacer,
    rates: RateEstimator,
    out: BTreeMap<u64, (Instant, SendRecord)>,
    next: u64,
    /// The current recovery ends when this packet or a later one is acknowledged.
    recovery: u64,
    timer: Option<Instant>,
    /// Times and bytes of the deliveries.
    pub delivered: Vec<(Instant, u64)>,
    pub lost: u64,
}

impl Flow {
    pub fn new(algorithm: Algorithm, rtt: Span, start: Instant) -> Flow {
        let rules = TcpRules {
            headers: ByteCount::new(40),
            initial_window: SEGMENT * 10,
            abc_limit: Some(2),
            grow_full_only: true,
        };
        let setup = Setup::tcp(rules, ByteCount::MAX);
        let mut view = PathView {
            window: CongestionWindow::default(),
            flight: ByteCount::ZERO,
            mtu: SEGMENT + rules.headers,
            srtt: None,
            rto: TIMEOUT,
            active: true,
            group: 0,
            apart: 0,
            in_recovery: false,
        };
        let mut control = algorithm.build(&setup, &Knobs::default());
        view.window = control.on_path_added(&[view], 0);
        Flow {
            control,
            view,
            rtt,
            start,
            pacer: Pacer::new(SEGMENT),
            rates: RateEstimator::default(),
            out: BTreeMap::new(),
            next: 0,
            recovery: 0,
            timer: None,
            delivered: Vec::new(),
            lost: 0,
        }
    }

    pub fn cwnd(&self) -> ByteCount {
        self.view.window.cwnd
    }

    /// Mean rate in bit/s from one time to another.
    pub fn rate(&self, from: Instant, to: Instant) -> f64 {
        let bytes: u64 =
            self.delivered.iter().filter(|(at, _)| (from..to).contains(at)).map(|(_, n)| n).sum();
        bytes as f64 * 8.0 / to.since(from).as_secs_f64()
    }

    fn ask(
        &mut self,
        now: Instant,
        ask: impl FnOnce(&mut dyn CongestionControl, &[PathView], &mut [CongestionWindow]),
    ) {
        let view = self.view;
        ask(&mut *self.control, &[view], std::slice::from_mut(&mut self.view.window));
        self.pacer.set_rate(now, self.control.pacing_rate(0), SEGMENT);
    }

    fn lose(&mut self, packets: &[u64]) {
        for packet in packets {
            self.out.remove(packet);
            self.view.flight -= SEGMENT;
            self.rates.on_lost(SEGMENT);
            self.lost += 1;
        }
    }

    fn acknowledge(&mut self, now: Instant, packet: u64) {
        let Some((sent_at, record)) = self.out.remove(&packet) else { return };
        let before = self.view.flight;
        self.view.flight -= SEGMENT;
        self.rates.on_delivered(now, SEGMENT, sent_at, record, false);
        self.delivered.push((now, SEGMENT.get()));
        let rtt = now.since(sent_at);
        self.view.srtt = Some(self.view.srtt.map_or(rtt, |srtt| srtt.mul_f64(0.875) + rtt.mul_f64(0.125)));
        if packet >= self.recovery {
            self.view.in_recovery = false;
        }
        let late: Vec<u64> =
            self.out.range(..packet.saturating_sub(REORDERING - 1)).map(|(&n, _)| n).collect();
        if !late.is_empty() && !self.view.in_recovery {
            let flight = self.view.flight;
            self.view.flight = before;
            self.ask(now, |control, views, w| control.on_loss(now, views, 0, LossKind::FastRetransmit, w));
            self.view.flight = flight;
            self.view.in_recovery = true;
            self.recovery = self.next;
        }
        self.lose(&late);
        let ack = PathAck {
            path: 0,
            acked: SEGMENT,
            advanced: true,
            flight_before: before,
            flight_after: self.view.flight,
            rtt: Some(rtt),
            owd: None,
            lost: self.rates.take_lost(),
            rate: self.rates.take_sample(),
        };
        self.ask(now, |control, views, w| control.on_sack(now, views, &[ack], w));
    }

    fn time_out(&mut self, now: Instant) {
        let all: Vec<u64> = self.out.keys().copied().collect();
        self.ask(now, |control, views, w| control.on_loss(now, views, 0, LossKind::Timeout, w));
        self.ask(now, |control, views, w| control.on_rule(views, 0, WindowRule::Set(SEGMENT), w));
        self.lose(&all);
        self.recovery = self.next;
        self.view.in_recovery = false;
    }
}

pub struct Pipe {
    pub link: Link,
    pub flows: Vec<Flow>,
    pub now: Instant,
    free: Instant,
    events: BinaryHeap<Reverse<(Instant, u64, Event)>>,
    count: u64,
    random: u64,
    /// Time at which each packet arrived, and the bytes that waited then.
    pub queue: Vec<(Instant, u64)>,
}

impl Pipe {
    pub fn new(link: Link, flows: Vec<Flow>) -> Pipe {
        let now = Instant::ZERO;
        let (events, queue) = (BinaryHeap::new(), Vec::new());
        let mut pipe = Pipe { link, flows, now, free: now, events, count: 0, random: 1, queue };
        for flow in 0..pipe.flows.len() {
            pipe.at(pipe.flows[flow].start, Event::Send { flow });
        }
        pipe
    }

    fn at(&mut self, time: Instant, event: Event) {
        self.count += 1;
        self.events.push(Reverse((time, self.count, event)));
    }

    pub fn run(&mut self, end: Instant) {
        while let Some(&Reverse((time, _, event))) = self.events.peek()
            && time < end
        {
            self.events.pop();
            self.now = time;
            let flow = match event {
                Event::Ack { flow, packet } => {
                    self.flows[flow].acknowledge(time, packet);
                    flow
                }
                Event::Timeout { flow, packet } => {
                    if self.flows[flow].out.contains_key(&packet) {
                        self.flows[flow].time_out(time);
                    }
                    flow
                }
                Event::Send { flow } => {
                    self.flows[flow].timer = None;
                    flow
                }
            };
            self.send(flow);
        }
        self.now = end;
    }

    fn send(&mut self, f: usize) {
        let now = self.now;
        if now < self.flows[f].start {
            return;
        }
        loop {
            let flow = &mut self.flows[f];
            let empty = flow.view.flight.is_zero();
            if !empty && flow.view.flight + SEGMENT > flow.view.window.cwnd {
                return;
            }
            if let Some(at) = flow.pacer.ready_at().filter(|&at| at > now) {
                if flow.timer.is_none_or(|timer| at < timer) {
                    flow.timer = Some(at);
                    self.at(at, Event::Send { flow: f });
                }
                return;
            }
            let record = flow.rates.on_sent(now, flow.view.flight);
            let packet = flow.next;
            flow.next += 1;
            flow.view.flight += SEGMENT;
            flow.pacer.on_sent(now, SEGMENT);
            flow.out.insert(packet, (now, record));
            if flow.control.wants_rate_samples() {
                flow.ask(now, |control, views, _| control.on_sent(now, views, 0, SEGMENT, false));
            }
            self.at(now + TIMEOUT, Event::Timeout { flow: f, packet });
            self.carry(f, packet);
        }
    }

    fn carry(&mut self, flow: usize, packet: u64) {
        let waiting = self.link.rate.bytes_in(self.free.max(self.now).since(self.now));
        self.queue.push((self.now, waiting.get()));
        self.random =
            self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let unlucky = ((self.random >> 33) as f64 / (1u64 << 31) as f64) < self.link.loss;
        if unlucky || waiting + SEGMENT > self.link.queue {
            return;
        }
        self.free = self.free.max(self.now) + self.link.rate.pace().serialise(SEGMENT, 0).0;
        let back = self.free + self.flows[flow].rtt;
        self.at(back, Event::Ack { flow, packet });
    }

    /// Mean queue in bytes that arriving packets found, from one time to another.
    pub fn mean_queue(&self, from: Instant, to: Instant) -> f64 {
        let bytes: Vec<u64> =
            self.queue.iter().filter(|(at, _)| (from..to).contains(at)).map(|&(_, n)| n).collect();
        bytes.iter().sum::<u64>() as f64 / bytes.len().max(1) as f64
    }
}
