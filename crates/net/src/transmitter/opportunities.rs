//! A transmitter whose bytes leave at the delivery opportunities of a Mahimahi trace.

use super::Uneven;
use crate::rates::{Opportunity, Trace};
use std::sync::Arc;
use units::Instant;

#[derive(Debug)]
pub(super) struct Opportunities {
    trace: Arc<Trace>,
    /// Bytes on the wire, with framing, that can leave at an opportunity.
    capacity: u64,
    /// The opportunity at which the last transmission ended.
    current: Opportunity,
    /// Bytes of the current opportunity that are not used yet.
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
        // At 2 ms two packets of 700 bytes leave; the third uses the remaining 100 bytes. Its other 600 bytes
        // leave at 5 ms, with the 900 bytes of the fourth packet. The fifth packet leaves at 9 ms.
        let packets = [(0, 700), (0, 700), (0, 700), (0, 900), (0, 60)];
        let expected = [(2, 2), (2, 2), (2, 5), (5, 5), (9, 9)];
        assert_eq!(times(&mut transmitter("2\n5\n9\n", 0), &packets), expected);
    }

    #[test]
    fn unused_bytes_are_lost_when_no_packet_waits() {
        // The second packet arrives at 3 ms. The 1400 bytes that were left at 2 ms are lost.
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
        // 4000 bytes use 1500 bytes at 2 ms, 1500 at 5 ms and 1000 at 9 ms, where 500 remain.
        let packets = [(1, 4000), (1, 500), (1, 1)];
        assert_eq!(times(&mut transmitter("2\n5\n9\n", 0), &packets), [(2, 9), (9, 9), (11, 11)]);
    }

    #[test]
    fn an_opportunity_carries_a_full_packet_with_its_framing() {
        // As in mm-link, an opportunity has 1504 bytes and each packet 4 bytes of framing. Packets of 100 + 4
        // and 1396 + 4 bytes fill an opportunity.
        let packets = [(0, 1504), (0, 104), (0, 1400), (0, 1504)];
        assert_eq!(times(&mut transmitter("2\n5\n9\n", 4), &packets), [(2, 2), (5, 5), (5, 5), (9, 9)]);
    }
}
