//! A token bucket that spreads transmissions over time.

use units::{BitRate, ByteCount, Instant, Span};

/// Delays packets so that at most burst + rate * t bytes leave in any interval of length t.
///
/// The burst is the larger of 2 MTU and the bytes of 1 ms at the pacing rate. A packet may leave once the
/// bucket holds one MTU. Bytes are counted as the congestion window counts them.
#[derive(Clone, Debug)]
pub struct Pacer {
    /// `None`: packets are not delayed.
    rate: Option<BitRate>,
    mtu: ByteCount,
    /// Tokens at `filled_at`, in units of 10^-9 bit. Negative after a packet larger than the MTU.
    tokens: i128,
    filled_at: Instant,
}

/// Tokens in a byte: at 1 bit/s the bucket gains one token each nanosecond.
const PER_BYTE: i128 = 8_000_000_000;

/// Least capacity of the bucket in time at the pacing rate: the resolution of host timers.
const BURST_TIME: Span = Span::from_millis(1);

/// Least capacity of the bucket in packets of one MTU.
const BURST_PACKETS: u64 = 2;

impl Pacer {
    /// A pacer that delays no packet until it has a rate.
    pub fn new(mtu: ByteCount) -> Self {
        Pacer { rate: None, mtu, tokens: 0, filled_at: Instant::ZERO }
    }

    /// Sets the rate from `now` on; a rate of zero becomes 1 bit/s. If no rate was set before, the bucket
    /// starts full.
    pub fn set_rate(&mut self, now: Instant, rate: Option<BitRate>, mtu: ByteCount) {
        let had_rate = self.rate.is_some();
        self.fill(now);
        self.rate = rate.map(|rate| BitRate::from_bps(rate.as_bps().max(1)));
        self.mtu = mtu;
        let burst = self.burst();
        self.tokens = if had_rate { self.tokens.min(burst) } else { burst };
    }

    /// Removes the tokens of a packet of `bytes` that left at `now`.
    pub fn on_sent(&mut self, now: Instant, bytes: ByteCount) {
        if self.rate.is_some() {
            self.fill(now);
            self.tokens -= i128::from(bytes.get()) * PER_BYTE;
        }
    }

    /// True if a rate is set.
    pub fn has_rate(&self) -> bool {
        self.rate.is_some()
    }

    /// Time from which the next packet may leave; `None` if it may leave now.
    pub fn ready_at(&self) -> Option<Instant> {
        let rate = i128::from(self.rate?.as_bps());
        let missing = i128::from(self.mtu.get()) * PER_BYTE - self.tokens;
        if missing <= 0 {
            return None;
        }
        let nanos = (missing + rate - 1) / rate;
        Some(self.filled_at + Span::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)))
    }

    /// Capacity of the bucket in tokens.
    fn burst(&self) -> i128 {
        let by_time = self.rate.map_or(ByteCount::ZERO, |rate| rate.bytes_in(BURST_TIME));
        i128::from((self.mtu * BURST_PACKETS).max(by_time).get()) * PER_BYTE
    }

    fn fill(&mut self, now: Instant) {
        let gained = self
            .rate
            .map_or(0, |rate| i128::from(rate.as_bps()) * i128::from(now.since(self.filled_at).as_nanos()));
        self.tokens = (self.tokens + gained).min(self.burst());
        self.filled_at = self.filled_at.max(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MTU: ByteCount = ByteCount::new(1500);

    fn pacer(rate: BitRate) -> Pacer {
        let mut pacer = Pacer::new(MTU);
        pacer.set_rate(Instant::ZERO, Some(rate), MTU);
        pacer
    }

    fn us(n: u64) -> Instant {
        Instant::ZERO + Span::from_micros(n)
    }

    #[test]
    fn after_a_burst_of_two_packets_one_leaves_each_serialisation_time() {
        let mut pacer = pacer(BitRate::from_mbps(12)); // 1 ms for 1500 bytes
        let mut times = Vec::new();
        let mut now = Instant::ZERO;
        for _ in 0..5 {
            now = now.max(pacer.ready_at().unwrap_or(now));
            times.push(now);
            pacer.on_sent(now, MTU);
        }
        assert_eq!(times, [us(0), us(0), us(1000), us(2000), us(3000)]);
    }

    #[test]
    fn at_high_rates_the_burst_is_what_the_rate_gives_in_a_millisecond() {
        let mut pacer = pacer(BitRate::from_mbps(1200)); // 150 000 bytes in 1 ms
        for _ in 0..100 {
            assert_eq!(pacer.ready_at(), None);
            pacer.on_sent(us(0), MTU);
        }
        assert_eq!(pacer.ready_at(), Some(us(10)));
    }

    #[test]
    fn without_a_rate_nothing_waits_and_with_the_rate_zero_nothing_panics() {
        let mut pacer = Pacer::new(MTU);
        pacer.on_sent(us(0), MTU * 1_000_000);
        assert_eq!(pacer.ready_at(), None);
        pacer.set_rate(us(1), Some(BitRate::from_bps(0)), MTU);
        pacer.on_sent(us(1), MTU * 2);
        assert_eq!(pacer.ready_at(), Some(us(1) + Span::from_secs(12_000)));
        pacer.set_rate(us(2), None, MTU);
        assert_eq!(pacer.ready_at(), None);
    }

    #[test]
    fn a_new_rate_counts_from_its_own_time_on() {
        let mut pacer = pacer(BitRate::from_mbps(12));
        pacer.on_sent(us(0), MTU * 2);
        // Half a packet at 12 Mbit/s, and the other half at 6 Mbit/s.
        pacer.set_rate(us(500), Some(BitRate::from_mbps(6)), MTU);
        assert_eq!(pacer.ready_at(), Some(us(1500)));
    }

    proptest! {
        /// The sender wakes at random times and sends packets of random sizes while the pacer allows it.
        #[test]
        fn no_interval_sees_more_than_burst_plus_rate_times_length(
            mbps in 1u64..2000,
            wakes in prop::collection::vec((0u64..5_000_000, prop::collection::vec(1u64..=1500, 0..150)), 1..60),
        ) {
            let rate = BitRate::from_mbps(mbps);
            let mut pacer = pacer(rate);
            let burst = (MTU * 2).max(rate.bytes_in(Span::from_millis(1))).get();
            let (mut now, mut sent) = (Instant::ZERO, Vec::new());
            for (wait, sizes) in wakes {
                now += Span::from_nanos(wait);
                for size in sizes {
                    if pacer.ready_at().is_none_or(|at| at <= now) {
                        pacer.on_sent(now, ByteCount::new(size));
                        sent.push((now, size));
                    }
                }
                // Setting the same rate changes nothing.
                pacer.set_rate(now, Some(rate), MTU);
            }
            for (i, &(begin, _)) in sent.iter().enumerate() {
                let mut bytes = 0;
                for &(end, size) in &sent[i..] {
                    bytes += size;
                    let most = burst + rate.bytes_in(end.since(begin)).get() + 1;
                    prop_assert!(bytes <= most, "{bytes} bytes of at most {most}");
                }
            }
        }
    }
}
