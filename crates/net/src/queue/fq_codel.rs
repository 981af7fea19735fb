use super::codel::{CodelSpec, Control, Waiting};
use super::{Discipline, Drops, Queue, Queued, Server, Site};
use crate::counters::DropCause;
use crate::fault::SpecFault;
use std::collections::VecDeque;
use units::{ByteCount, Instant};

/// FQ-CoDel ([RFC 8290](https://www.rfc-editor.org/rfc/rfc8290)): a queue under CoDel for each flow. The
/// queues send equal numbers of bytes in turn; flows that send little go first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FqCodelSpec {
    /// CoDel of each queue; `limit` is the maximum number of packets in all queues together.
    pub codel: CodelSpec,
    /// Number of queues; a hash assigns flows to queues.
    pub flows: u32,
    /// Bytes that a queue may send before the next queue sends.
    pub quantum: ByteCount,
}

impl Default for FqCodelSpec {
    /// 1024 queues, 1514 bytes, 10,240 packets, ECN on, as in section 5.2.
    fn default() -> Self {
        let codel = CodelSpec { limit: 10_240, ecn: true, ..CodelSpec::default() };
        FqCodelSpec { codel, flows: 1024, quantum: ByteCount::new(1514) }
    }
}

impl Discipline for FqCodelSpec {
    fn check(&self) -> Result<(), SpecFault> {
        let own = [
            ((1..=65_536).contains(&self.flows), "flows", "a number from 1 to 65536"),
            ((256..=1 << 20).contains(&self.quantum.get()), "quantum", "from 256 B to 1 MiB"),
        ];
        SpecFault::first(self.codel.faults().into_iter().chain(own))
    }

    fn build(&self, site: &Site<'_>) -> Queue {
        Queue::server(FqCodel::new(*self, site.random().word()))
    }
}

/// Maximum number of packets dropped at once when the limit is reached (section 4.1).
const BATCH: usize = 64;

/// The list, of new or of old queues, that holds a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum List {
    #[default]
    None,
    New,
    Old,
}

#[derive(Debug, Default)]
struct Flow {
    queue: Waiting,
    control: Control,
    /// Bytes that this queue may still send before the next queue sends.
    credit: i64,
    list: List,
}

#[derive(Debug)]
struct FqCodel {
    spec: FqCodelSpec,
    /// Mixed into the hash of flows. So the seed decides which flows share a queue.
    perturbation: u64,
    flows: Vec<Flow>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    packets: usize,
}

impl FqCodel {
    fn new(spec: FqCodelSpec, perturbation: u64) -> Self {
        FqCodel {
            spec,
            perturbation,
            flows: (0..spec.flows).map(|_| Flow::default()).collect(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            packets: 0,
        }
    }

    fn place(&self, packet: &Queued) -> u32 {
        // Multiplication by an odd number spreads the bits upwards; the upper bits choose the queue.
        let mixed = (packet.flow() ^ self.perturbation).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((u128::from(mixed) * u128::from(self.spec.flows)) >> 64) as u32
    }

    /// Drops half of the packets of the longest queue from its head, at most [`BATCH`] (section 4.1).
    fn make_room(&mut self, drops: &mut Drops) {
        let Some(fattest) = self.flows.iter_mut().max_by_key(|flow| flow.queue.bytes) else { return };
        let number = fattest.queue.len().div_ceil(2).min(BATCH);
        for packet in std::iter::from_fn(|| fattest.queue.pop()).take(number) {
            self.packets -= 1;
            drops.push(packet, DropCause::QueueFull);
        }
    }

    /// The queue that may send now, and whether it is on the list of new queues.
    fn turn(&mut self) -> Option<(u32, bool)> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let place = *list.front()?;
            let flow = &mut self.flows[place as usize];
            if flow.credit > 0 {
                return Some((place, is_new));
            }
            flow.credit += self.spec.quantum.get() as i64;
            flow.list = List::Old;
            list.pop_front();
            self.old.push_back(place);
        }
    }

    /// Removes an empty queue from its list. A new queue moves to the end of the old queues, so that it
    /// cannot be new again at once (section 4.2).
    fn leave(&mut self, place: u32, is_new: bool) {
        let flow = &mut self.flows[place as usize];
        if is_new {
            self.new.pop_front();
            flow.list = List::Old;
            self.old.push_back(place);
        } else {
            self.old.pop_front();
            flow.list = List::None;
        }
    }
}

impl Server for FqCodel {
    fn enqueue(&mut self, _now: Instant, packet: Queued, drops: &mut Drops) {
        let place = self.place(&packet);
        let flow = &mut self.flows[place as usize];
        flow.queue.push(packet);
        self.packets += 1;
        if flow.list == List::None {
            flow.list = List::New;
            flow.credit = self.spec.quantum.get() as i64;
            self.new.push_back(place);
        }
        if self.packets > self.spec.codel.limit as usize {
            self.make_room(drops);
        }
    }

    fn dequeue(&mut self, now: Instant, drops: &mut Drops) -> Option<Queued> {
        loop {
            let (place, is_new) = self.turn()?;
            let flow = &mut self.flows[place as usize];
            let before = flow.queue.len();
            let next = flow.control.dequeue(&self.spec.codel, &mut flow.queue, now, drops);
            self.packets -= before - flow.queue.len();
            if let Some(packet) = next {
                flow.credit -= packet.size().get() as i64;
                return Some(packet);
            }
            self.leave(place, is_new);
        }
    }

    fn drain(&mut self) -> Vec<Queued> {
        let flows = std::mem::replace(self, FqCodel::new(self.spec, self.perturbation)).flows;
        flows.into_iter().flat_map(|mut flow| std::iter::from_fn(move || flow.queue.pop())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::run;
    use super::*;
    use transport::Ecn;
    use units::Span;

    const MILLI: Span = Span::from_millis(1);

    fn server(spec: FqCodelSpec) -> FqCodel {
        FqCodel::new(spec, 0)
    }

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn flows_share_a_link_by_bytes_whatever_the_sizes_of_their_packets() {
        // 300 packets of 1500 bytes of one flow, and 1500 packets of 300 bytes of another, arrive together.
        let big = (0..300).map(|_| (Instant::ZERO, 1500, 1));
        let small = (0..1500).map(|_| (Instant::ZERO, 300, 2));
        let codel =
            CodelSpec { target: Span::from_secs(10), interval: Span::from_secs(20), ..CodelSpec::default() };
        let spec = FqCodelSpec { codel: CodelSpec { limit: 10_000, ..codel }, ..FqCodelSpec::default() };
        let record = run(&mut server(spec), big.chain(small), MILLI, Ecn::NotCapable);
        let half = record.sent.iter().take(600);
        let big = half.clone().filter(|(number, ..)| *number < 300).count() * 1500;
        let small = half.filter(|(number, ..)| *number >= 300).count() * 300;
        assert!(big.abs_diff(small) <= 2 * 1514, "{big} and {small} bytes");
    }

    // rfc8290#section-4.2.2: CoDel acts once the delay has been above the target for 100 ms (tested in
    // `codel.rs`).
    #[test]
    fn ecn_capable_packets_of_a_long_queue_are_marked_and_not_dropped() {
        let burst = |ecn| {
            run(&mut server(FqCodelSpec::default()), (0..500).map(|_| (Instant::ZERO, 1500, 1)), MILLI, ecn)
        };
        let capable = burst(Ecn::Capable0);
        let marked = capable.sent.iter().filter(|(.., marked)| *marked).count();
        assert!(capable.late.is_empty() && marked > 0, "{marked} marked");
        let others = burst(Ecn::NotCapable);
        assert_eq!(others.late.len(), marked);
        assert!(others.sent.iter().all(|(.., marked)| !marked));
    }

    #[test]
    fn a_flow_that_sends_little_goes_first() {
        let bulk = (0..100).map(|_| (Instant::ZERO, 1500, 1));
        let record =
            run(&mut server(FqCodelSpec::default()), bulk.chain([(at(20), 100, 7)]), MILLI, Ecn::NotCapable);
        let (_, sent, _) = record.sent[record.sent.iter().position(|(number, ..)| *number == 100).unwrap()];
        assert!(sent.since(at(20)) <= MILLI, "sent at {sent}");
    }

    #[test]
    fn a_flow_that_comes_back_at_once_is_not_new_again() {
        // Flow 7 sends its next packet as soon as its last packet left; flow 1 must still get its share.
        let bulk = (0..50).map(|_| (Instant::ZERO, 1500, 1));
        let eager = (0..100).map(|n| (Instant::from_nanos(n * 1_000_000 + 500_000), 1500, 7));
        let mut arrivals: Vec<_> = bulk.chain(eager).collect();
        arrivals.sort_by_key(|(at, ..)| *at);
        let record = run(&mut server(FqCodelSpec::default()), arrivals, MILLI, Ecn::NotCapable);
        let bulk_done = record.sent.iter().rposition(|(number, ..)| *number < 50).unwrap();
        assert!((95..=110).contains(&bulk_done), "flow 1 has half of the link: {bulk_done}");
    }

    #[test]
    fn a_full_queue_costs_the_longest_flow_half_of_its_packets() {
        let codel = CodelSpec { limit: 100, ..CodelSpec::default() };
        let spec = FqCodelSpec { codel, ..FqCodelSpec::default() };
        // The first packet leaves at once, so that 90 packets of flow 1 and 10 of flow 2 fill the queue.
        let long = (0..91).map(|_| (Instant::ZERO, 1500, 1));
        let short = (0..11).map(|_| (Instant::ZERO, 1500, 2));
        let record = run(&mut server(spec), long.chain(short), MILLI, Ecn::NotCapable);
        assert_eq!(record.full, (1..46).collect::<Vec<_>>());
    }

    #[test]
    fn codel_works_in_each_flow_alone() {
        let bulk = (0..400).map(|_| (Instant::ZERO, 1500, 1));
        let thin = (0..100).map(|n| (at(4 * n), 100, 2));
        let mut arrivals: Vec<_> = bulk.chain(thin).collect();
        arrivals.sort_by_key(|(at, ..)| *at);
        let record = run(&mut server(FqCodelSpec::default()), arrivals.clone(), MILLI, Ecn::NotCapable);
        assert!(record.late.len() >= 4, "{:?}", record.late);
        assert!(record.late.iter().all(|&(number, _)| arrivals[number].2 == 1));
    }

    #[test]
    fn the_check_names_the_parameter_that_is_wrong() {
        let good = FqCodelSpec::default();
        assert_eq!(good.check(), Ok(()));
        for (wrong, field) in [
            (FqCodelSpec { flows: 0, ..good }, "flows"),
            (FqCodelSpec { quantum: ByteCount::new(10), ..good }, "quantum"),
            (FqCodelSpec { codel: CodelSpec { limit: 0, ..good.codel }, ..good }, "packets"),
        ] {
            assert_eq!(wrong.check().map_err(|fault| fault.field), Err(field));
        }
    }
}
