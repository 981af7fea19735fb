use crate::trace::{Opportunity, Trace};
use std::sync::Arc;
use units::{BitRate, ByteCount, Instant, Pace};

/// A transmitter: when the bytes of packets leave.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum TransmitterSpec {
    /// A transmission takes no time, so that no packet ever waits.
    #[default]
    Unlimited,
    /// Bytes leave at a constant rate, which must not be zero.
    Rate(BitRate),
    /// Bytes leave at the delivery opportunities of a trace.
    Trace(Arc<Trace>),
}

impl TransmitterSpec {
    /// The rate, or the mean rate of a trace; `None` if a transmission takes no time.
    pub fn mean_rate(&self) -> Option<BitRate> {
        match self {
            TransmitterSpec::Unlimited => None,
            TransmitterSpec::Rate(rate) => Some(*rate),
            TransmitterSpec::Trace(trace) => Some(trace.mean_rate()),
        }
    }
}

impl From<BitRate> for TransmitterSpec {
    fn from(rate: BitRate) -> Self {
        TransmitterSpec::Rate(rate)
    }
}

/// A transmitter at work. It sends one packet after the other.
#[derive(Debug)]
pub(crate) struct Transmitter {
    pace: Pace,
    /// End of the last transmission.
    busy_until: Instant,
    /// What [`Pace::serialise`] carries into the next packet.
    carry: u64,
    trace: Option<Box<TraceTransmitter>>,
}

#[derive(Debug)]
struct TraceTransmitter {
    trace: Arc<Trace>,
    /// Bytes on the wire of an opportunity.
    capacity: u64,
    /// The opportunity at which the last transmission ended.
    current: Opportunity,
    /// Bytes it has left.
    left: u64,
}

impl Transmitter {
    /// A transmitter of a link that adds `framing` bytes to each packet.
    pub fn new(spec: &TransmitterSpec, framing: u32) -> Self {
        let (pace, trace) = match spec {
            TransmitterSpec::Unlimited => (Pace::UNLIMITED, None),
            TransmitterSpec::Rate(rate) => (rate.pace(), None),
            TransmitterSpec::Trace(trace) => (
                Pace::UNLIMITED,
                Some(Box::new(TraceTransmitter {
                    trace: trace.clone(),
                    capacity: Trace::BYTES + u64::from(framing),
                    current: Opportunity::default(),
                    left: 0,
                })),
            ),
        };
        Transmitter { pace, busy_until: Instant::ZERO, carry: 0, trace }
    }

    /// True if all transmissions have ended.
    #[inline]
    pub fn is_idle(&self, now: Instant) -> bool {
        self.busy_until <= now
    }

    /// Start and end of the transmission of a packet that arrives at `now`, behind all that came before.
    #[inline]
    pub fn take(&mut self, now: Instant, bytes: ByteCount) -> (Instant, Instant) {
        let start = self.start(now);
        (start, self.send(bytes))
    }

    /// When the transmission of a packet can start that arrives at `now` and finds none waiting.
    #[inline]
    pub fn start(&mut self, now: Instant) -> Instant {
        if self.trace.is_some() {
            return self.start_of_trace(now);
        }
        if now > self.busy_until {
            self.busy_until = now;
            self.carry = 0;
        }
        self.busy_until
    }

    #[cold]
    fn start_of_trace(&mut self, now: Instant) -> Instant {
        if self.busy_until <= now
            && let Some(trace) = &mut self.trace
        {
            trace.current = trace.trace.first_after(now);
            trace.left = trace.capacity;
        }
        self.next_start()
    }

    /// When the transmission of a packet can start that waits behind the one sent last.
    pub fn next_start(&mut self) -> Instant {
        match &mut self.trace {
            None => self.busy_until,
            Some(trace) => trace.next_start(),
        }
    }

    /// End of a transmission that begins at the start determined last.
    #[inline]
    pub fn send(&mut self, bytes: ByteCount) -> Instant {
        if let Some(trace) = &mut self.trace {
            self.busy_until = trace.send(bytes.get());
        } else {
            let (time, carry) = self.pace.serialise(bytes, self.carry);
            self.carry = carry;
            self.busy_until += time;
        }
        self.busy_until
    }

    /// Ends the transmission that is under way.
    pub fn reset(&mut self, now: Instant) {
        (self.busy_until, self.carry) = (now, 0);
    }
}

impl TraceTransmitter {
    fn next_start(&mut self) -> Instant {
        if self.left == 0 {
            self.current = self.trace.behind(self.current, 1);
            self.left = self.capacity;
        }
        self.trace.time(self.current)
    }

    #[cold]
    fn send(&mut self, bytes: u64) -> Instant {
        let further = bytes.saturating_sub(self.left).div_ceil(self.capacity);
        self.current = self.trace.behind(self.current, further as usize);
        self.left = self.left + further * self.capacity - bytes;
        self.trace.time(self.current)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Span;

    fn transmitter(trace: &str, framing: u32) -> Transmitter {
        let trace = Arc::new(Trace::parse(trace).unwrap());
        Transmitter::new(&TransmitterSpec::Trace(trace), framing)
    }

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Span::from_millis(n)
    }

    /// Start and end of the transmission of each packet in ms. A packet is given by its arrival in ms and its bytes
    /// with framing.
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
        // 700 + 700 of 1500 leave at 2 ms; the third starts with the last 100 bytes and leaves with 600 at 5 ms; the
        // fourth with the next 900; the fifth finds none left and leaves at 9 ms.
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
