//! A transmitter whose bytes leave at the delivery opportunities of a trace.

use super::Uneven;
use crate::rates::{Opportunity, Trace};
use std::sync::Arc;
use units::Instant;

#[derive(Debug)]
pub(super) struct Opportunities {
    trace: Arc<Trace>,
    /// Bytes on the wire of an opportunity.
    capacity: u64,
    /// The opportunity at which the last transmission ended.
    current: Opportunity,
    /// Bytes it has left.
    left: u64,
}

impl Opportunities {
    pub fn new(trace: Arc<Trace>, framing: u32) -> Self {
        let capacity = Trace::BYTES + u64::from(framing);
        Opportunities { trace, capacity, current: Opportunity::default(), left: 0 }
    }
}

impl Uneven for Opportunities {
    fn start(&mut self, now: Instant) {
        self.current = self.trace.first_after(now);
        self.left = self.capacity;
    }

    fn next_start(&mut self) -> Instant {
        if self.left == 0 {
            self.current = self.trace.behind(self.current, 1);
            self.left = self.capacity;
        }
        self.trace.time(self.current)
    }

    fn send(&mut self, bytes: u64) -> Instant {
        let further = bytes.saturating_sub(self.left).div_ceil(self.capacity);
        self.current = self.trace.behind(self.current, further as usize);
        self.left = self.left + further * self.capacity - bytes;
        self.trace.time(self.current)
    }

    fn reset(&mut self, _now: Instant) {}
}

#[cfg(test)]
mod tests {
    use super::super::{Transmitter, TransmitterSpec};
    use super::*;
    use des::Streams;
    use units::{ByteCount, Span};

    fn transmitter(trace: &str, framing: u32) -> Transmitter {
        let trace = Arc::new(Trace::parse(trace).unwrap());
        Transmitter::new(&TransmitterSpec::Trace(trace), framing, &Streams::new(1, 0), "a-b")
    }

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Span::from_millis(n)
    }

    /// Start and end of the transmission of each packet in ms. A packet is given by its arrival in ms and its
    /// bytes with framing.
    fn times(transmitter: &mut Transmitter, packets: &[(u64, u64)]) -> Vec<(u64, u64)> {
        let millis = |at: Instant| at.as_nanos() / 1_000_000;
        let take = |&(at, bytes): &(u64, u64)| {
            let (start, end) = transmitter.take(ms(at), ByteCount::new(bytes));
            (millis(start), millis(end))
        };
        packets.iter().map(take).collect()
    }

    #[test]
    fn small_packets_share_an_opportunity_and_one_that_does_not_fit_ends_at_the_next() {
        // 700 + 700 of 1500 leave at 2 ms; the third starts with the last 100 bytes and leaves with 600 at 5
        // ms; the fourth with the next 900; the fifth finds none left and leaves at 9 ms.
        let packets = [(0, 700), (0, 700), (0, 700), (0, 900), (0, 60)];
        let expected = [(2, 2), (2, 2), (2, 5), (5, 5), (9, 9)];
        assert_eq!(times(&mut transmitter("2\n5\n9\n", 0), &packets), expected);
    }

    #[test]
    fn unused_bytes_are_lost_when_no_packet_waits() {
        // The second arrives at 3 ms, after the opportunity of 2 ms with its 1400 bytes left.
        assert_eq!(times(&mut transmitter("2\n5\n9\n", 0), &[(0, 100), (3, 1500)]), [(2, 2), (5, 5)]);
    }

    #[test]
    fn a_packet_that_arrives_at_the_instant_of_an_opportunity_waits_for_a_later_one() {
        assert_eq!(times(&mut transmitter("2\n2\n5\n", 0), &[(2, 100), (5, 100)]), [(5, 5), (7, 7)]);
    }

    #[test]
    fn several_opportunities_of_one_instant_send_several_packets() {
        let packets = [(0, 1500), (0, 1500), (0, 1500), (0, 1500)];
        assert_eq!(times(&mut transmitter("2\n2\n5\n", 0), &packets), [(2, 2), (2, 2), (5, 5), (7, 7)]);
    }

    #[test]
    fn a_packet_larger_than_an_opportunity_takes_several() {
        // 4000 bytes: 1500 at 2 ms, 1500 at 5 ms, 1000 at 9 ms, where 500 are left.
        let packets = [(1, 4000), (1, 500), (1, 1)];
        assert_eq!(times(&mut transmitter("2\n5\n9\n", 0), &packets), [(2, 9), (9, 9), (11, 11)]);
    }

    #[test]
    fn an_opportunity_carries_a_full_packet_with_its_framing() {
        // As mm-link: 1504 bytes with 4 of each packet; 100 + 4 and 1396 + 4 fill it.
        let packets = [(0, 1504), (0, 104), (0, 1400), (0, 1504)];
        assert_eq!(times(&mut transmitter("2\n5\n9\n", 4), &packets), [(2, 2), (5, 5), (5, 5), (9, 9)]);
    }
}
