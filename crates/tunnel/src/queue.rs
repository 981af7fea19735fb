//! Packets that wait for the association: fair queueing of flows with CoDel in each (RFC 8290, RFC 8289).
//! The code does no input or output.
//!
//! The stack holds only a few packets, so that the others wait here, where the packets of a call or a game
//! overtake those of a download.

use crate::packet::mark_congestion;
use std::collections::VecDeque;
use units::{Instant, Span};

/// Number of queues, which flows share by their hashes.
const QUEUES: usize = 256;
/// Bytes that a queue may send in one turn.
const QUANTUM: i64 = 1514;
/// Largest number of bytes in all queues; above it, the longest queue drops.
const LIMIT: usize = 4 << 20;
/// Largest number of packets in all queues.
const PACKETS: usize = 10_240;
/// Queueing delay above which CoDel acts if it lasts. Twice that of RFC 8289: on an uplink of 2 Mbit/s one
/// packet takes 6 ms.
const TARGET: Span = Span::from_millis(10);
/// Time for which the delay must exceed [`TARGET`].
const INTERVAL: Span = Span::from_millis(100);
/// Lifetime of a packet in the queues and in the association; after that the packet is dropped.
pub(crate) const LIFETIME: Span = Span::from_millis(500);
/// CoDel drops no packet if fewer bytes than these wait behind it.
const LEAST: usize = 1514;

/// Counters of the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct QueueStats {
    /// Packets dropped by CoDel, because the queue was full, or after [`LIFETIME`].
    pub(crate) dropped: u64,
    /// Packets marked instead of dropped (ECN).
    pub(crate) marked: u64,
}

/// The queues of all flows.
#[derive(Debug)]
pub(crate) struct Queue {
    flows: Vec<Flow>,
    /// Queues that were empty recently, which are served first; `old`: the other queues.
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    bytes: usize,
    packets: usize,
    pub(crate) stats: QueueStats,
}

#[derive(Debug, Default)]
struct Flow {
    packets: VecDeque<(Instant, Vec<u8>)>,
    bytes: usize,
    credit: i64,
    is_listed: bool,
    codel: Codel,
}

#[derive(Debug, Default)]
struct Codel {
    /// Time at which the queue begins to drop if the delay stays above [`TARGET`] until then.
    first_above: Option<Instant>,
    /// The queue drops packets; `next` is the time of the next drop.
    dropping: bool,
    next: Instant,
    count: u32,
}

impl Default for Queue {
    fn default() -> Self {
        Queue {
            flows: (0..QUEUES).map(|_| Flow::default()).collect(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            bytes: 0,
            packets: 0,
            stats: QueueStats::default(),
        }
    }
}

impl Queue {
    /// Adds a packet of a flow.
    pub(crate) fn push(&mut self, now: Instant, hash: u64, packet: Vec<u8>) {
        let n = place(hash);
        let flow = &mut self.flows[n];
        self.bytes += packet.len();
        self.packets += 1;
        flow.bytes += packet.len();
        flow.packets.push_back((now, packet));
        if !std::mem::replace(&mut flow.is_listed, true) {
            flow.credit = QUANTUM;
            self.new.push_back(n);
        }
        if self.bytes > LIMIT || self.packets > PACKETS {
            let longest = (0..QUEUES).max_by_key(|&n| self.flows[n].bytes).unwrap_or(n);
            self.take(longest);
            self.stats.dropped += 1;
        }
    }

    /// True if a packet of this flow, or of another flow in the same queue, waits.
    pub(crate) fn holds(&self, hash: u64) -> bool {
        !self.flows[place(hash)].packets.is_empty()
    }

    /// Removes the next packet, and returns it with its arrival time.
    pub(crate) fn pop(&mut self, now: Instant) -> Option<(Instant, Vec<u8>)> {
        loop {
            let is_new = !self.new.is_empty();
            let n = *self.new.front().or(self.old.front())?;
            if self.flows[n].credit <= 0 {
                self.flows[n].credit += QUANTUM;
                self.unlist(is_new);
                self.old.push_back(n);
                continue;
            }
            if let Some((since, packet)) = self.pop_from(now, n) {
                self.flows[n].credit -= packet.len() as i64;
                return Some((since, packet));
            }
            self.unlist(is_new);
            // An empty queue waits behind the old ones, because a flow that sends little would otherwise
            // always come first.
            if is_new && !self.old.is_empty() {
                self.old.push_back(n);
            } else {
                self.flows[n].is_listed = false;
            }
        }
    }

    /// Discards all packets, which are useless after the end of their association.
    pub(crate) fn clear(&mut self) {
        *self = Queue { stats: self.stats, ..Queue::default() };
    }

    fn unlist(&mut self, is_new: bool) {
        if is_new {
            self.new.pop_front()
        } else {
            self.old.pop_front()
        };
    }

    fn take(&mut self, n: usize) -> Option<(Instant, Vec<u8>)> {
        let flow = &mut self.flows[n];
        let (since, packet) = flow.packets.pop_front()?;
        flow.bytes -= packet.len();
        self.bytes -= packet.len();
        self.packets -= 1;
        Some((since, packet))
    }

    /// Removes packets from a queue until one is neither too old nor dropped by CoDel, and returns that
    /// packet.
    fn pop_from(&mut self, now: Instant, n: usize) -> Option<(Instant, Vec<u8>)> {
        loop {
            let Some((since, mut packet)) = self.take(n) else {
                self.flows[n].codel.dropping = false;
                return None;
            };
            if now.since(since) >= LIFETIME {
                self.stats.dropped += 1;
                continue;
            }
            let flow = &mut self.flows[n];
            if !flow.codel.is_due(now, now.since(since), flow.bytes) {
                return Some((since, packet));
            }
            if mark_congestion(&mut packet) {
                self.stats.marked += 1;
                return Some((since, packet));
            }
            self.stats.dropped += 1;
        }
    }
}

/// Index of the queue of a flow.
fn place(hash: u64) -> usize {
    (hash % QUEUES as u64) as usize
}

impl Codel {
    /// True if a packet that waited for `waited` must be dropped; `left` bytes are behind it
    /// (`rfc8289#section-4`).
    fn is_due(&mut self, now: Instant, waited: Span, left: usize) -> bool {
        if waited < TARGET || left < LEAST {
            self.first_above = None;
            self.dropping = false;
            return false;
        }
        let first = *self.first_above.get_or_insert(now + INTERVAL);
        if now < first {
            self.dropping = false;
            return false;
        }
        if self.dropping {
            if now < self.next {
                return false;
            }
            self.count += 1;
            self.next += self.pause();
        } else {
            self.dropping = true;
            // If the queue dropped packets a short time ago, it continues at about the same rate.
            let again = self.count > 2 && now.since(self.next) < INTERVAL * 16;
            self.count = if again { self.count - 2 } else { 1 };
            self.next = now + self.pause();
        }
        true
    }

    fn pause(&self) -> Span {
        Span::from_secs_f64(INTERVAL.as_secs_f64() / f64::from(self.count).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Span::from_millis(ms)
    }

    fn packet(flow: u8, length: usize) -> Vec<u8> {
        let mut packet = vec![0; length];
        packet[0] = flow;
        packet
    }

    #[test]
    fn a_sparse_flow_passes_a_long_queue_and_two_long_ones_take_turns() {
        let mut queue = Queue::default();
        for _ in 0..100 {
            queue.push(at(0), 1, packet(1, 1400));
            queue.push(at(0), 2, packet(2, 700));
        }
        for _ in 0..10 {
            queue.pop(at(1));
        }
        queue.push(at(1), 3, packet(3, 100));
        let next: Vec<u8> = (0..3).filter_map(|_| queue.pop(at(1))).map(|(_, packet)| packet[0]).collect();
        assert!(next.contains(&3), "{next:?}");
        let mut bytes = [0; 3];
        for _ in 0..60 {
            let (_, packet) = queue.pop(at(2)).expect("it is long");
            bytes[usize::from(packet[0])] += packet.len();
        }
        assert!(bytes[1].abs_diff(bytes[2]) <= 4 * QUANTUM as usize, "{bytes:?}");
    }

    #[test]
    fn packets_of_a_flow_keep_their_order_and_nothing_is_lost_without_a_standing_queue() {
        let mut queue = Queue::default();
        for n in 0..200_u8 {
            queue.push(at(0), 5, packet(n, 100));
        }
        let out: Vec<u8> = std::iter::from_fn(|| queue.pop(at(5))).map(|(_, packet)| packet[0]).collect();
        assert_eq!(out, (0..200).collect::<Vec<u8>>());
        assert_eq!((queue.stats, queue.bytes, queue.packets), (QueueStats::default(), 0, 0));
    }

    #[test]
    fn packets_that_waited_for_500_ms_are_dropped_and_those_behind_them_pass() {
        let mut queue = Queue::default();
        for ms in 0..1000 {
            queue.push(at(ms), ms % 7, packet(1, 100));
        }
        let out: Vec<Instant> = std::iter::from_fn(|| queue.pop(at(1000))).map(|(since, _)| since).collect();
        assert!(out.iter().all(|&since| since > at(500)), "{:?}", out.iter().min());
        assert!(out.len() > 400, "{}", out.len());
        assert_eq!(queue.stats.dropped as usize, 1000 - out.len());
    }

    /// Queues 12 packets of a flow per 10 ms, of which 10 leave; counts drops and marks.
    fn overload(template: &[u8], seconds: u64) -> QueueStats {
        let mut queue = Queue::default();
        for ms in 0..seconds * 1000 {
            for _ in 0..if ms % 10 < 2 { 2 } else { 1 } {
                queue.push(at(ms), 1, template.to_vec());
            }
            queue.pop(at(ms));
        }
        queue.stats
    }

    #[test]
    fn a_standing_queue_is_cut_by_drops_or_by_marks_for_flows_that_take_them() {
        let plain = overload(&packet(0, 1000), 2);
        assert!(plain.dropped > 20 && plain.marked == 0, "{plain:?}");
        let mut capable = vec![0; 1000];
        (capable[0], capable[1]) = (0x45, 2);
        let marked = overload(&capable, 2);
        assert!(marked.marked > 20 && marked.dropped == 0, "{marked:?}");
    }

    #[test]
    fn a_full_queue_drops_from_the_longest_flow_and_stays_bounded() {
        let mut queue = Queue::default();
        queue.push(at(0), 9, packet(9, 100));
        for _ in 0..20_000 {
            queue.push(at(0), 1, packet(1, 1400));
            assert!(queue.bytes <= LIMIT && queue.packets <= PACKETS);
        }
        assert_eq!(queue.flows[9].packets.len(), 1);
        queue.clear();
        assert_eq!((queue.bytes, queue.pop(at(1))), (0, None));
        assert!(queue.stats.dropped > 0);
    }
}
