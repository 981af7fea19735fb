//! A shaper: a token bucket in front of a transmitter.

use super::{Transmitter, Uneven};
use crate::bucket::{Bucket, TokenBucket};
use units::{ByteCount, Instant};

/// A shaper with its transmitter.
///
/// The shaper takes one packet at a time out of the queue, delays it until the bucket has enough tokens, and
/// passes it to the transmitter.
#[derive(Debug)]
pub(super) struct Shaped {
    spec: TokenBucket,
    bucket: Bucket,
    line: Transmitter,
    /// Time at which the shaper can take the next packet out of the queue.
    free_at: Instant,
}

impl Shaped {
    pub fn new(spec: TokenBucket, line: Transmitter) -> Self {
        Shaped { spec, bucket: Bucket::new(spec), line, free_at: Instant::ZERO }
    }
}

impl Uneven for Shaped {
    fn start(&mut self, now: Instant) {
        self.free_at = self.line.start(now);
    }

    fn next_start(&mut self) -> Instant {
        self.free_at
    }

    fn send(&mut self, bytes: u64) -> Instant {
        let ready = self.bucket.wait(self.free_at, bytes);
        // While the bucket has enough tokens, packets follow one another as without the shaper.
        if ready > self.free_at {
            self.line.start(ready);
        }
        let end = self.line.send(ByteCount::new(bytes));
        self.free_at = self.line.next_start();
        end
    }

    fn reset(&mut self, now: Instant) {
        self.line.reset(now);
        (self.bucket, self.free_at) = (Bucket::new(self.spec), now);
    }
}

#[cfg(test)]
mod tests {
    use super::super::TransmitterSpec;
    use super::*;
    use crate::rates::Trace;
    use des::Streams;
    use std::sync::Arc;
    use units::{BitRate, Span};

    fn us(n: u64) -> Instant {
        Instant::ZERO + Span::from_micros(n)
    }

    /// A shaper of 8 Mbit/s with bursts of `burst` bytes before the transmitter
    /// `line`. At 80 Mbit/s a packet of 1000 bytes takes 100 us; its tokens take 1 ms.
    fn shaped(line: &TransmitterSpec, burst: u64) -> Transmitter {
        let shaper = TokenBucket { rate: BitRate::from_mbps(8), burst: ByteCount::new(burst) };
        Transmitter::new(line, 0, &Streams::new(1, 0), "a-b").shaped(shaper)
    }

    fn times(transmitter: &mut Transmitter, packets: &[(u64, u64)]) -> Vec<(u64, u64)> {
        let micros = |at: Instant| at.as_nanos() / 1000;
        let take = |&(at, bytes): &(u64, u64)| {
            let (start, end) = transmitter.take(us(at), ByteCount::new(bytes));
            (micros(start), micros(end))
        };
        packets.iter().map(take).collect()
    }

    #[test]
    fn a_burst_leaves_at_the_rate_of_the_line_and_what_follows_at_that_of_the_bucket() {
        let mut shaper = shaped(&BitRate::from_mbps(80).into(), 3000);
        let packets = [(0, 1000); 6];
        // The first three packets have tokens. During their 300 us the bucket gains 300 tokens, so the fourth
        // packet waits for 700. A packet leaves the queue when the shaper can take it.
        let expected = [(0, 100), (100, 200), (200, 300), (300, 1100), (1100, 2100), (2100, 3100)];
        assert_eq!(times(&mut shaper, &packets), expected);
        // After 5 ms without packets the bucket is full again, with 3000 tokens.
        let packets = [(8100, 1000); 4];
        assert_eq!(times(&mut shaper, &packets), [(8100, 8200), (8200, 8300), (8300, 8400), (8400, 9200)]);
    }

    #[test]
    fn a_failure_of_the_link_fills_the_bucket() {
        let mut shaper = shaped(&BitRate::from_mbps(80).into(), 1000);
        assert_eq!(times(&mut shaper, &[(0, 1000), (0, 1000)]), [(0, 100), (100, 1100)]);
        shaper.reset(us(200));
        assert_eq!(times(&mut shaper, &[(200, 1000), (200, 1000)]), [(200, 300), (300, 1300)]);
    }

    #[test]
    fn with_enough_tokens_a_trace_behind_the_shaper_shares_its_opportunities_as_before() {
        let trace = TransmitterSpec::Trace(Arc::new(Trace::parse("2\n5\n9\n").unwrap()));
        let packets = [(0, 700), (0, 700), (0, 700), (0, 900), (0, 60)];
        let mut alone = Transmitter::new(&trace, 0, &Streams::new(1, 0), "a-b");
        assert_eq!(times(&mut shaped(&trace, 10_000), &packets), times(&mut alone, &packets));
        // The third packet gets its tokens at 2.7 ms. So it cannot use the
        // bytes of the opportunity at 2 ms that the other packets left.
        let late = times(&mut shaped(&trace, 1400), &packets[..3]);
        assert_eq!(late, [(2000, 2000), (2000, 2000), (2000, 5000)]);
    }
}
