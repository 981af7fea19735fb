use super::{Discipline, Drops, Queue, Queued, Server, Site};
use crate::counters::DropCause;
use crate::fault::SpecFault;
use std::collections::VecDeque;
use units::{ByteCount, Instant, Span};

/// CoDel ([RFC 8289](https://www.rfc-editor.org/rfc/rfc8289)): drops packets at the head of the queue while
/// the queueing delay is above a target; the longer this lasts, the more often it drops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CodelSpec {
    /// Queueing delay that is always acceptable (section 4.3).
    pub target: Span,
    /// Time for which the delay may exceed the target, about one RTT of the connections (section 4.2).
    pub interval: Span,
    /// Maximum number of packets in the queue.
    pub limit: u32,
    /// Marks ECN-capable packets instead of dropping them.
    pub ecn: bool,
}

impl Default for CodelSpec {
    /// Target 5 ms, interval 100 ms, 1000 packets, without ECN.
    fn default() -> Self {
        let (target, interval) = (Span::from_millis(5), Span::from_millis(100));
        CodelSpec { target, interval, limit: 1000, ecn: false }
    }
}

impl CodelSpec {
    pub(super) fn faults(&self) -> [(bool, &'static str, &'static str); 3] {
        [
            (!self.target.is_zero(), "target", "more than 0 s"),
            (self.interval > self.target, "interval", "more than `target`"),
            (self.limit > 0, "packets", "at least 1"),
        ]
    }
}

impl Discipline for CodelSpec {
    fn check(&self) -> Result<(), SpecFault> {
        SpecFault::first(self.faults())
    }

    fn build(&self, _site: &Site<'_>) -> Queue {
        Queue::server(Codel { spec: *self, queue: Waiting::default(), control: Control::default() })
    }
}

/// One queue under CoDel.
#[derive(Debug)]
struct Codel {
    spec: CodelSpec,
    queue: Waiting,
    control: Control,
}

impl Server for Codel {
    fn enqueue(&mut self, _now: Instant, packet: Queued, drops: &mut Drops) {
        if self.queue.packets.len() >= self.spec.limit as usize {
            drops.push(packet, DropCause::QueueFull);
        } else {
            self.queue.push(packet);
        }
    }

    fn dequeue(&mut self, now: Instant, drops: &mut Drops) -> Option<Queued> {
        self.control.dequeue(&self.spec, &mut self.queue, now, drops)
    }

    fn drain(&mut self) -> Vec<Queued> {
        self.control = Control::default();
        std::mem::take(&mut self.queue).packets.into()
    }
}

/// Waiting packets in the order of their arrival.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    packets: VecDeque<Queued>,
    pub bytes: ByteCount,
    /// The largest packet so far. CoDel never drops while at most this many bytes wait.
    largest: ByteCount,
}

impl Waiting {
    pub fn push(&mut self, packet: Queued) {
        self.bytes += packet.size();
        self.largest = self.largest.max(packet.size());
        self.packets.push_back(packet);
    }

    pub fn pop(&mut self) -> Option<Queued> {
        let packet = self.packets.pop_front()?;
        self.bytes -= packet.size();
        Some(packet)
    }

    pub fn len(&self) -> usize {
        self.packets.len()
    }

    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }
}

/// The state of CoDel for one queue; names as in `rfc8289#section-5`.
#[derive(Debug, Default)]
pub(super) struct Control {
    /// Time at which the delay will have exceeded the target for an interval; `None` while the delay is
    /// acceptable.
    first_above: Option<Instant>,
    /// Time of the next drop, while `dropping`.
    drop_next: Instant,
    /// Packets dropped or marked in the dropping state. A
    /// dropping state may continue the count of the previous one.
    count: u32,
    /// `count` when the dropping state began.
    last_count: u32,
    dropping: bool,
}

/// The next packet of a queue.
struct Head {
    packet: Option<Queued>,
    /// The delay has exceeded the target for an interval: CoDel may drop the packet.
    late: bool,
}

impl Control {
    /// Returns the next packet to send. Packets that CoDel drops before it are added to `drops`.
    pub fn dequeue(
        &mut self,
        spec: &CodelSpec,
        queue: &mut Waiting,
        now: Instant,
        drops: &mut Drops,
    ) -> Option<Queued> {
        let mut head = self.head(spec, queue, now);
        if self.dropping {
            self.dropping = head.late;
            while self.dropping && now >= self.drop_next {
                self.count += 1;
                let marked = give_up(spec, &mut head, drops);
                if !marked {
                    head = self.head(spec, queue, now);
                }
                if head.late {
                    self.drop_next = spec.next_drop(self.drop_next, self.count);
                } else {
                    self.dropping = false;
                }
                if marked {
                    break;
                }
            }
        } else if head.late {
            if !give_up(spec, &mut head, drops) {
                head = self.head(spec, queue, now);
            }
            self.begin_to_drop(spec, now);
        }
        head.packet
    }

    /// The function `dodequeue` of the RFC.
    fn head(&mut self, spec: &CodelSpec, queue: &mut Waiting, now: Instant) -> Head {
        let Some(packet) = queue.pop() else {
            self.first_above = None;
            return Head { packet: None, late: false };
        };
        let delay = now.since(packet.arrived());
        if delay < spec.target || queue.bytes <= queue.largest {
            self.first_above = None;
            return Head { packet: Some(packet), late: false };
        }
        let since = *self.first_above.get_or_insert(now + spec.interval);
        Head { packet: Some(packet), late: now >= since }
    }

    /// Enters the dropping state. If the last dropping state ended a short time ago, its drop frequency
    /// continues; otherwise the frequency begins at its lowest value.
    fn begin_to_drop(&mut self, spec: &CodelSpec, now: Instant) {
        self.dropping = true;
        let delta = self.count - self.last_count;
        let recent = now.since(self.drop_next) < spec.interval * 16;
        self.count = if delta > 1 && recent { delta } else { 1 };
        self.last_count = self.count;
        self.drop_next = spec.next_drop(now, self.count);
    }
}

impl CodelSpec {
    /// The function `control_law` of the RFC: with these intervals the rate of a TCP connection falls
    /// linearly.
    fn next_drop(&self, at: Instant, count: u32) -> Instant {
        let apart = self.interval.as_nanos() as f64 / libm::sqrt(f64::from(count));
        at + Span::from_nanos(apart as u64)
    }
}

/// Marks the packet if possible, otherwise drops it. Returns true if the packet is marked.
fn give_up(spec: &CodelSpec, head: &mut Head, drops: &mut Drops) -> bool {
    if let Some(packet) = head.packet.as_mut().filter(|packet| spec.ecn && packet.is_ecn_capable()) {
        packet.mark();
        return true;
    }
    if let Some(packet) = head.packet.take() {
        drops.push(packet, DropCause::Delayed);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::testing::run;
    use super::*;
    use transport::Ecn;

    const MILLI: Span = Span::from_millis(1);

    fn server(spec: CodelSpec) -> Codel {
        Codel { spec, queue: Waiting::default(), control: Control::default() }
    }

    /// Lets `packets` packets arrive at once; the transmission of each takes 1 ms.
    fn burst(spec: CodelSpec, packets: usize, ecn: Ecn) -> super::super::testing::Record {
        run(&mut server(spec), (0..packets).map(|_| (Instant::ZERO, 1500, 0)), MILLI, ecn)
    }

    fn millis(at: Instant) -> u64 {
        at.as_nanos() / 1_000_000
    }

    // rfc8289#section-5: the delay reaches 5 ms at 5 ms, and the first drop follows an interval later. Then
    // drops are 100/sqrt(n) ms apart.
    #[test]
    fn drops_begin_an_interval_after_the_delay_exceeds_the_target_and_come_by_the_square_root() {
        let record = burst(CodelSpec::default(), 500, Ecn::NotCapable);
        let times: Vec<u64> = record.late.iter().map(|&(_, at)| millis(at)).collect();
        // 105 ms, then + 100, + 70.7, + 57.7, + 50, + 44.7, + 40.8; each drop is at the next end of a
        // transmission of 1 ms.
        assert_eq!(times, [105, 205, 276, 334, 384, 429, 469]);
        assert_eq!(record.sent.len() + record.late.len(), 500);
        assert!(record.full.is_empty());
    }

    #[test]
    fn ecn_capable_packets_are_marked_instead_where_that_is_asked_for() {
        let spec = CodelSpec { ecn: true, ..CodelSpec::default() };
        let record = burst(spec, 500, Ecn::Capable0);
        assert!(record.late.is_empty());
        let marked: Vec<u64> =
            record.sent.iter().filter(|(.., marked)| *marked).map(|&(_, at, _)| millis(at)).collect();
        assert_eq!(marked, [105, 205, 276, 334, 384, 429, 469]);
        assert!(burst(CodelSpec::default(), 500, Ecn::Capable0).sent.iter().all(|(.., marked)| !marked));
        assert_eq!(burst(spec, 500, Ecn::NotCapable).late.len(), 7);
    }

    #[test]
    fn a_queue_of_no_more_than_one_packet_is_never_too_long() {
        // The link needs 20 ms for a packet. Packets arrive every 20 ms, after `first` packets at once. The
        // next packet arrives 10 ms before the link is free, so that the delay is always above the target.
        let late = |first: usize, delay: u64| {
            let at_once = (0..first).map(|_| (Instant::ZERO, 1500, 0));
            let others = (0..1000).map(|n| (Instant::ZERO + MILLI * (10 + 20 * n), 1500, 0));
            let mut server = server(CodelSpec::default());
            let record = run(&mut server, at_once.chain(others), MILLI * 20, Ecn::NotCapable);
            assert_eq!(record.delay[0], MILLI * delay, "in the first second");
            record.late.len()
        };
        assert_eq!(late(1, 10), 0, "no packet is left");
        assert_eq!(late(2, 30), 0, "one packet is left");
        assert!(late(3, 50) > 0, "two packets are left");
    }

    #[test]
    fn a_steady_overload_of_a_tenth_is_dropped_in_the_end() {
        // The arrival rate is 1.1 times the link rate: the rate of drops rises until a tenth is dropped.
        let arrivals = (0..220_000).map(|n| (Instant::from_nanos(n * 909_091), 1500, 0));
        let record = run(&mut server(CodelSpec::default()), arrivals, MILLI, Ecn::NotCapable);
        let end = record.delay.len();
        let (early, late) = (record.delay[20], record.delay[end - 5]);
        assert!(late < early, "the delay falls: {early} to {late}");
    }

    #[test]
    fn packets_beyond_the_limit_are_refused() {
        let record = burst(CodelSpec { limit: 10, ..CodelSpec::default() }, 25, Ecn::NotCapable);
        assert_eq!((record.sent.len(), record.full.len()), (11, 14), "the first one leaves at once");
    }

    #[test]
    fn the_check_names_the_parameter_that_is_wrong() {
        let good = CodelSpec::default();
        assert_eq!(good.check(), Ok(()));
        for (wrong, field) in [
            (CodelSpec { target: Span::ZERO, ..good }, "target"),
            (CodelSpec { interval: good.target, ..good }, "interval"),
            (CodelSpec { limit: 0, ..good }, "packets"),
        ] {
            assert_eq!(wrong.check().map_err(|fault| fault.field), Err(field));
        }
    }
}
