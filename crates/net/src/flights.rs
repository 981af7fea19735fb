use crate::packet::PacketId;
use crate::parcel::Parcel;
use crate::queue::Backlog;
use units::{ByteCount, Instant};

/// One packet between the entrance of the queue and the far end of a channel.
///
/// The flight holds all data that a router needs, so that forwarding does not read the stored packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flight {
    /// The time at which the packet leaves the queue and its transmission starts.
    pub start: Instant,
    pub arrival: Instant,
    /// `None` if this entry only counts as a packet in the queue: the packet is lost on the wire, or may
    /// arrive out of order and has an event of its own.
    pub packet: Option<PacketId>,
    pub parcel: Parcel,
}

/// The packets of a channel in the order of their departure: first the packets on the wire, then those that
/// wait.
///
/// The start times show which packets still wait, so that the end of a transmission needs no event.
#[derive(Debug)]
pub(crate) struct Flights {
    ring: Vec<Flight>,
    /// Numbers of the first entry, of the first entry whose packet still waits, and of the
    /// next entry to be added. Entries are numbered in the order in which they are added,
    /// and the numbers wrap around. The low bits of a number are its index in `ring`.
    head: u32,
    waiting: u32,
    tail: u32,
    waiting_bytes: u64,
}

const NOTHING: Flight =
    Flight { start: Instant::ZERO, arrival: Instant::ZERO, packet: None, parcel: Parcel::NONE };

impl Flights {
    pub fn new() -> Self {
        Flights { ring: vec![NOTHING; 4], head: 0, waiting: 0, tail: 0, waiting_bytes: 0 }
    }

    #[inline]
    fn slot(&self, counter: u32) -> &Flight {
        &self.ring[counter as usize & (self.ring.len() - 1)]
    }

    /// Records that no packet waits any more; faster than [`Self::backlog`], which examines each packet.
    #[inline]
    pub fn all_started(&mut self) {
        self.waiting = self.tail;
        self.waiting_bytes = 0;
    }

    /// The packets that wait at `now`.
    #[inline]
    pub fn backlog(&mut self, now: Instant) -> Backlog {
        while self.waiting != self.tail {
            let flight = self.slot(self.waiting);
            if flight.start > now {
                break;
            }
            self.waiting_bytes -= u64::from(flight.parcel.size());
            self.waiting = self.waiting.wrapping_add(1);
        }
        Backlog {
            packets: u64::from(self.tail.wrapping_sub(self.waiting)),
            bytes: ByteCount::new(self.waiting_bytes),
        }
    }

    #[inline]
    pub fn push(&mut self, flight: Flight) {
        if self.tail.wrapping_sub(self.head) as usize == self.ring.len() {
            self.grow();
        }
        let mask = self.ring.len() - 1;
        self.ring[self.tail as usize & mask] = flight;
        self.tail = self.tail.wrapping_add(1);
        self.waiting_bytes += u64::from(flight.parcel.size());
    }

    #[cold]
    fn grow(&mut self) {
        let mut larger = vec![NOTHING; self.ring.len() * 2];
        let mask = larger.len() - 1;
        let mut counter = self.head;
        while counter != self.tail {
            larger[counter as usize & mask] = *self.slot(counter);
            counter = counter.wrapping_add(1);
        }
        self.ring = larger;
    }

    pub fn iter(&self) -> impl Iterator<Item = &Flight> {
        (0..self.tail.wrapping_sub(self.head)).map(|place| self.slot(self.head.wrapping_add(place)))
    }

    #[inline]
    pub fn front(&self) -> Option<&Flight> {
        (self.head != self.tail).then(|| self.slot(self.head))
    }

    #[inline]
    pub fn pop(&mut self) -> Option<Flight> {
        let flight = *self.front()?;
        // No branch here, because the CPU could not predict it.
        let started_now = u32::from(self.waiting == self.head);
        self.waiting_bytes -= u64::from(flight.parcel.size() * started_now);
        self.waiting = self.waiting.wrapping_add(started_now);
        self.head = self.head.wrapping_add(1);
        Some(flight)
    }

    /// Removes entries without a packet from the front, as far as they have left the queue.
    pub fn pop_shadows(&mut self) {
        while self.head != self.waiting && self.slot(self.head).packet.is_none() {
            self.head = self.head.wrapping_add(1);
        }
    }

    /// Arrival time of the first entry that has a packet.
    #[inline]
    pub fn next_arrival(&self) -> Option<Instant> {
        let mut counter = self.head;
        while counter != self.tail {
            let flight = self.slot(counter);
            if flight.packet.is_some() {
                return Some(flight.arrival);
            }
            counter = counter.wrapping_add(1);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    fn flight(start: u64, size: u32, packet: u32) -> Flight {
        let at = Instant::from_nanos(start);
        Flight {
            start: at,
            arrival: at,
            packet: Some(PacketId::new(packet as usize)),
            parcel: Parcel::new(0, size, 0, transport::Ecn::NotCapable),
        }
    }

    proptest! {
        /// Compares with a plain list, while the storage grows and the counters wrap.
        #[test]
        fn order_and_backlog_match_a_plain_list(steps in prop::collection::vec((0u8..3, 0u64..5, 1u32..2000), 1..400)) {
            let mut flights = Flights::new();
            (flights.head, flights.waiting, flights.tail) = (u32::MAX - 20, u32::MAX - 20, u32::MAX - 20);
            let mut model: VecDeque<Flight> = VecDeque::new();
            let (mut now, mut last_start) = (0, 0);
            for (id, (kind, step, size)) in steps.into_iter().enumerate() {
                if kind < 2 {
                    last_start = now.max(last_start) + step;
                    let flight = flight(last_start, size, id as u32);
                    flights.push(flight);
                    model.push_back(flight);
                } else {
                    now += step;
                    let popped = flights.pop().and_then(|flight| flight.packet);
                    prop_assert_eq!(popped, model.pop_front().and_then(|flight| flight.packet));
                }
                // While the transmitter is idle, `all_started` must give the same result.
                if last_start <= now {
                    flights.all_started();
                }
                let waits = |flight: &&Flight| flight.start.as_nanos() > now;
                let backlog = flights.backlog(Instant::from_nanos(now));
                prop_assert_eq!(backlog.packets, model.iter().filter(waits).count() as u64);
                let bytes = model.iter().filter(waits).map(|flight| u64::from(flight.parcel.size())).sum();
                prop_assert_eq!(backlog.bytes, ByteCount::new(bytes));
            }
        }
    }
}
