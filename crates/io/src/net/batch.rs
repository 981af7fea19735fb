//! Outgoing packets, gathered for one send call with segmentation offload.

use std::collections::VecDeque;
use transport::{Octets, Transmit};

/// Largest number of segments of a send call: the limit of `UDP_SEGMENT` in Linux.
const SEGMENTS: usize = 64;
/// Largest number of bytes of a send call: the largest UDP payload over IPv4 is 65,507 bytes.
const BYTES: usize = 65_000;
/// Number of the newest batches to which packets may still be added.
const OPEN: usize = 16;
/// Largest number of buffers kept for reuse.
const SPARE: usize = 64;

/// Packets for one send call. All have the same length, except the last one, which may be shorter.
#[derive(Debug)]
pub(super) struct Batch {
    /// Addressing of all packets of the batch.
    pub(super) route: Transmit,
    /// The packets, one after the other.
    pub(super) bytes: Vec<u8>,
    /// Length of each packet but the last.
    pub(super) segment: usize,
    /// Number of packets.
    pub(super) packets: usize,
    /// True if the batch accepts no more packets.
    full: bool,
}

impl Batch {
    fn new(route: Transmit, mut bytes: Vec<u8>, packet: Octets<'_>) -> Self {
        bytes.clear();
        packet.append_to(&mut bytes);
        Batch { route, segment: packet.len(), bytes, packets: 1, full: false }
    }

    /// Removes the first packets, which were sent.
    pub(super) fn skip(&mut self, packets: usize) {
        self.bytes.drain(..packets * self.segment);
        self.packets -= packets;
    }

    /// Appends a packet if it fits after the others.
    fn push(&mut self, packet: Octets<'_>) -> bool {
        let length = packet.len();
        if self.full || length > self.segment || self.bytes.len() + length > BYTES {
            return false;
        }
        packet.append_to(&mut self.bytes);
        self.packets += 1;
        self.full = length < self.segment || self.packets == SEGMENTS;
        true
    }
}

/// The batches of all routes. Packets of one route leave in the order of arrival.
#[derive(Debug, Default)]
pub(super) struct Batches {
    /// Batches in the order of their first packets. Of each route, only the last batch may accept more
    /// packets.
    queue: VecDeque<Batch>,
    /// Buffers for reuse.
    spare: Vec<Vec<u8>>,
}

impl Batches {
    /// Adds a packet.
    pub(super) fn push(&mut self, route: &Transmit, packet: Octets<'_>) {
        let last = self.queue.iter_mut().rev().take(OPEN).find(|batch| batch.route == *route);
        if last.is_some_and(|batch| batch.push(packet)) {
            return;
        }
        let memory = self.spare.pop().unwrap_or_default();
        self.queue.push_back(Batch::new(*route, memory, packet));
    }

    /// Number of batches.
    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    /// Removes the oldest batch.
    pub(super) fn pop(&mut self) -> Option<Batch> {
        self.queue.pop_front()
    }

    /// Puts back a batch that the kernel does not accept now.
    pub(super) fn put_back(&mut self, batch: Batch) {
        self.queue.push_front(batch);
    }

    /// Keeps the memory of a batch that was sent.
    pub(super) fn recycle(&mut self, batch: Batch) {
        if self.spare.len() < SPARE {
            self.spare.push(batch.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::IpAddr;

    fn route(last: u8) -> Transmit {
        let plain = Transmit::new([127, 0, 0, 1].into(), [127, 0, 0, last].into());
        Transmit { udp_port: 9899, ..plain }
    }

    fn push(batches: &mut Batches, last: u8, length: usize) {
        batches.push(&route(last), Octets::new(&[7; 4], length - 4));
    }

    /// Destination, segment length and number of packets of each batch.
    fn drained(batches: &mut Batches) -> Vec<(u8, usize, usize)> {
        std::iter::from_fn(|| batches.pop())
            .map(|batch| match batch.route.dst {
                IpAddr::V4(address) => (address.octets()[3], batch.segment, batch.packets),
                IpAddr::V6(_) => unreachable!("the tests use IPv4"),
            })
            .collect()
    }

    #[test]
    fn packets_of_two_routes_share_two_batches() {
        let mut batches = Batches::default();
        for n in 0..10 {
            push(&mut batches, 1 + n % 2, 1400);
        }
        assert_eq!(drained(&mut batches), [(1, 1400, 5), (2, 1400, 5)]);
    }

    #[test]
    fn a_shorter_packet_ends_a_batch_and_a_longer_one_begins_the_next() {
        let mut batches = Batches::default();
        for length in [1400, 1400, 100, 100, 1400] {
            push(&mut batches, 1, length);
        }
        assert_eq!(drained(&mut batches), [(1, 1400, 3), (1, 100, 1), (1, 1400, 1)]);
    }

    #[test]
    fn a_batch_has_at_most_64_packets_and_65000_bytes() {
        let mut batches = Batches::default();
        for _ in 0..130 {
            push(&mut batches, 1, 28);
        }
        assert_eq!(drained(&mut batches), [(1, 28, 64), (1, 28, 64), (1, 28, 2)]);
        for _ in 0..50 {
            push(&mut batches, 1, 1472);
        }
        assert_eq!(drained(&mut batches), [(1, 1472, 44), (1, 1472, 6)]);
    }

    #[test]
    fn bytes_are_those_of_the_packets_in_order() {
        let mut batches = Batches::default();
        batches.push(&route(1), Octets::new(&[1, 2], 2));
        batches.push(&route(1), Octets::new(&[3], 0));
        let batch = batches.pop().expect("one batch");
        assert_eq!(batch.bytes, [1, 2, 0, 0, 3]);
        batches.recycle(batch);
        batches.push(&route(2), Octets::new(&[9], 0));
        assert_eq!(batches.pop().expect("one batch").bytes, [9]);
    }
}
