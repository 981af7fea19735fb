//! Queue disciplines for tests, written as any other crate would write them.

use anabranch_net as net;
use des::Random;
use net::{Admission, Backlog, Discipline, DropCause, Drops, Offered, Queue, Queued, Server, Site, Verdict};
use std::collections::{BTreeMap, VecDeque};
use units::{Instant, Probability};

/// A drop-tail queue as a server: first in, first out, with room for the given number of waiting packets.
#[derive(Clone, Debug)]
pub struct Fifo(pub usize);

#[derive(Debug)]
struct FifoQueue {
    limit: usize,
    packets: VecDeque<Queued>,
}

impl Discipline for Fifo {
    fn build(&self, _site: &Site<'_>) -> Queue {
        Queue::server(FifoQueue { limit: self.0, packets: VecDeque::new() })
    }
}

impl Server for FifoQueue {
    fn enqueue(&mut self, _now: Instant, packet: Queued, drops: &mut Drops) {
        // The network gives a server each packet, even if the free transmitter takes the packet at once.
        if self.packets.len() >= self.limit.max(1) {
            drops.push(packet, DropCause::QueueFull);
        } else {
            self.packets.push_back(packet);
        }
    }

    fn dequeue(&mut self, _now: Instant, _drops: &mut Drops) -> Option<Queued> {
        self.packets.pop_front()
    }

    fn drain(&mut self) -> Vec<Queued> {
        self.packets.drain(..).collect()
    }
}

/// Serves flows in turn, and the packets of a flow in order.
#[derive(Clone, Debug)]
pub struct RoundRobin;

#[derive(Debug, Default)]
struct RoundRobinQueue {
    flows: BTreeMap<u64, VecDeque<Queued>>,
    turns: VecDeque<u64>,
}

impl Discipline for RoundRobin {
    fn build(&self, _site: &Site<'_>) -> Queue {
        Queue::server(RoundRobinQueue::default())
    }
}

impl Server for RoundRobinQueue {
    fn enqueue(&mut self, _now: Instant, packet: Queued, _drops: &mut Drops) {
        let flow = self.flows.entry(packet.flow()).or_default();
        if flow.is_empty() {
            self.turns.push_back(packet.flow());
        }
        flow.push_back(packet);
    }

    fn dequeue(&mut self, _now: Instant, _drops: &mut Drops) -> Option<Queued> {
        let flow = self.turns.pop_front()?;
        let packets = self.flows.get_mut(&flow)?;
        let packet = packets.pop_front();
        if !packets.is_empty() {
            self.turns.push_back(flow);
        }
        packet
    }

    fn drain(&mut self) -> Vec<Queued> {
        self.turns.clear();
        std::mem::take(&mut self.flows).into_values().flatten().collect()
    }
}

/// Sends the waiting packets in random order. If the queue is full, it drops a random packet.
/// Of the packets chosen to leave, it drops a tenth at random, and marks a tenth of the others.
#[derive(Clone, Debug)]
pub struct Chance(pub usize);

#[derive(Debug)]
struct ChanceQueue {
    limit: usize,
    random: Random,
    packets: Vec<Queued>,
}

impl Discipline for Chance {
    fn build(&self, site: &Site<'_>) -> Queue {
        Queue::server(ChanceQueue { limit: self.0, random: site.random(), packets: Vec::new() })
    }
}

impl ChanceQueue {
    fn any(&mut self) -> Option<Queued> {
        let place = self.random.below(self.packets.len() as u64) as usize;
        (place < self.packets.len()).then(|| self.packets.swap_remove(place))
    }

    fn tenth(&mut self) -> bool {
        self.random.bernoulli(Probability::new(0.1).unwrap())
    }
}

impl Server for ChanceQueue {
    fn enqueue(&mut self, _now: Instant, packet: Queued, drops: &mut Drops) {
        self.packets.push(packet);
        if self.packets.len() > self.limit
            && let Some(victim) = self.any()
        {
            drops.push(victim, DropCause::QueueFull);
        }
    }

    fn dequeue(&mut self, now: Instant, drops: &mut Drops) -> Option<Queued> {
        while let Some(mut packet) = self.any() {
            assert!(packet.arrived() <= now);
            if self.tenth() {
                drops.push(packet, DropCause::QueueFull);
                continue;
            }
            if self.tenth() {
                packet.mark();
            }
            return Some(packet);
        }
        None
    }

    fn drain(&mut self) -> Vec<Queued> {
        std::mem::take(&mut self.packets)
    }
}

/// Passes a packet that finds no packet waiting. Marks other packets that are ECN-capable; drops the rest.
#[derive(Clone, Debug)]
pub struct MarkWaiting;

impl Discipline for MarkWaiting {
    fn build(&self, _site: &Site<'_>) -> Queue {
        Queue::admission(MarkWaiting)
    }
}

impl Admission for MarkWaiting {
    fn admit(&mut self, _now: Instant, backlog: Backlog, packet: Offered) -> Verdict {
        match backlog.packets {
            0 => Verdict::Pass,
            _ if packet.ecn_capable => Verdict::Mark,
            _ => Verdict::Drop(DropCause::RedEarly),
        }
    }
}
