//! A token bucket that spreads transmissions over time.

use units::{BitRate, ByteCount, Instant, Span};

/// A token bucket that lets the packets of a path leave in pairs.
///
/// Linux sends pairs as well (`tcp_min_tso_segs`), and so does an unpaced TCP whose receiver acknowledges
/// every second segment. Single packets would find more room in full queues than the pairs of other flows.
///
/// A pair leaves once the bucket holds two MTU. The capacity of the bucket is a pair plus the bytes of 1 ms,
/// so that a late timer costs no throughput. Bytes are counted as the congestion window counts them: smaller
/// packets leave in runs of two MTU.
#[derive(Clone, Debug)]
pub struct Pacer {
    /// `None`: packets are not delayed.
    rate: Option<BitRate>,
    mtu: ByteCount,
    /// Tokens at `filled_at`, in units of 10^-9 bit. Negative after a packet larger than the MTU.
    tokens: i128,
    filled_at: Instant,
    /// A pair has begun to leave: one MTU in the bucket is enough for the next packet.
    leaving: bool,
}

/// Tokens in a byte: at 1 bit/s the bucket gains one token each nanosecond.
const PER_BYTE: i128 = 8_000_000_000;

/// Number of packets of one MTU that leave together.
const PAIR: u64 = 2;

/// The bucket holds a pair and the bytes of this time, because a host's timer may be late by as much.
const SLACK: Span = Span::from_millis(1);

impl Pacer {
    /// A pacer that delays no packet until it has a rate.
    pub fn new(mtu: ByteCount) -> Self {
        Pacer { rate: None, mtu, tokens: 0, filled_at: Instant::ZERO, leaving: false }
    }

    /// Sets the rate from `now` on; a rate of zero becomes 1 bit/s. If no rate was set before, the bucket
    /// starts full.
    pub fn set_rate(&mut self, now: Instant, rate: Option<BitRate>, mtu: ByteCount) {
        let had_rate = self.rate.is_some();
        self.fill(now);
        self.rate = rate.map(|rate| BitRate::from_bps(rate.as_bps().max(1)));
        self.mtu = mtu;
        let most = self.capacity();
        self.tokens = if had_rate { self.tokens.min(most) } else { most };
    }

    /// Removes the tokens of a packet of `bytes` that left at `now`.
    pub fn on_sent(&mut self, now: Instant, bytes: ByteCount) {
        if self.rate.is_some() {
            self.fill(now);
            self.tokens -= i128::from(bytes.get()) * PER_BYTE;
            self.leaving = self.tokens >= tokens_of(self.mtu);
        }
    }

    /// True if a rate is set.
    pub fn has_rate(&self) -> bool {
        self.rate.is_some()
    }

    /// Time from which the next packet may leave; `None` if it may leave now.
    pub fn ready_at(&self) -> Option<Instant> {
        let rate = i128::from(self.rate?.as_bps());
        let wanted = if self.leaving { tokens_of(self.mtu) } else { self.pair() };
        let missing = wanted - self.tokens;
        if missing <= 0 {
            return None;
        }
        let nanos = (missing + rate - 1) / rate;
        Some(self.filled_at + Span::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)))
    }

    fn pair(&self) -> i128 {
        tokens_of(self.mtu * PAIR)
    }

    /// Capacity of the bucket in tokens.
    fn capacity(&self) -> i128 {
        self.pair() + tokens_of(self.rate.map_or(ByteCount::ZERO, |rate| rate.bytes_in(SLACK)))
    }

    fn fill(&mut self, now: Instant) {
        let gained = self
            .rate
            .map_or(0, |rate| i128::from(rate.as_bps()) * i128::from(now.since(self.filled_at).as_nanos()));
        self.tokens = (self.tokens + gained).min(self.capacity());
        self.filled_at = self.filled_at.max(now);
    }
}

fn tokens_of(bytes: ByteCount) -> i128 {
    i128::from(bytes.get()) * PER_BYTE
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

    /// Sends `count` packets, each as early as the pacer allows; returns the times.
    fn times(pacer: &mut Pacer, count: usize) -> Vec<Instant> {
        let mut now = Instant::ZERO;
        let send = |_| {
            now = now.max(pacer.ready_at().unwrap_or(now));
            pacer.on_sent(now, MTU);
            now
        };
        (0..count).map(send).collect()
    }

    #[test]
    fn packets_leave_in_pairs_after_a_pair_and_what_goes_in_a_millisecond() {
        let mut pacer = pacer(BitRate::from_mbps(12)); // 1 ms for 1500 bytes
        assert_eq!(times(&mut pacer, 7), [us(0), us(0), us(0), us(2000), us(2000), us(4000), us(4000)]);
    }

    /// 150 bytes in 1 us. The bucket holds 153,000 bytes, 102 packets.
    #[test]
    fn at_high_rates_what_goes_in_a_millisecond_leaves_at_once_after_a_pause() {
        let mut pacer = pacer(BitRate::from_mbps(1200));
        let times = times(&mut pacer, 105);
        assert_eq!((times[101], times[102], times[103], times[104]), (us(0), us(20), us(20), us(40)));
    }

    #[test]
    fn a_timer_that_is_a_millisecond_late_costs_no_throughput() {
        for mbps in [1, 12, 300, 2000] {
            let rate = BitRate::from_mbps(mbps);
            let mut pacer = pacer(rate);
            let (mut now, mut sent) = (Instant::ZERO, ByteCount::ZERO);
            while now < us(1_000_000) {
                now = pacer.ready_at().map_or(now, |at| at.max(now) + Span::from_millis(1));
                pacer.on_sent(now, MTU);
                sent += MTU;
            }
            assert!(sent >= rate.bytes_in(now.since(Instant::ZERO)), "{sent} at {rate}");
        }
    }

    #[test]
    fn without_a_rate_nothing_waits_and_with_the_rate_zero_nothing_panics() {
        let mut pacer = Pacer::new(MTU);
        pacer.on_sent(us(0), MTU * 1_000_000);
        assert_eq!(pacer.ready_at(), None);
        pacer.set_rate(us(1), Some(BitRate::from_bps(0)), MTU);
        pacer.on_sent(us(1), MTU * 2);
        assert_eq!(pacer.ready_at(), Some(us(1) + Span::from_secs(24_000)));
        pacer.set_rate(us(2), None, MTU);
        assert_eq!(pacer.ready_at(), None);
    }

    #[test]
    fn a_new_rate_counts_from_its_own_time_on() {
        let mut pacer = pacer(BitRate::from_mbps(12));
        pacer.on_sent(us(0), MTU * 3);
        // The bucket gains half a packet at 12 Mbit/s, and then three halves at 6 Mbit/s.
        pacer.set_rate(us(500), Some(BitRate::from_mbps(6)), MTU);
        assert_eq!(pacer.ready_at(), Some(us(3500)));
    }

    proptest! {
        /// The sender wakes at random times and sends packets of random sizes while the pacer allows it.
        #[test]
        fn no_interval_sees_more_than_the_bucket_plus_rate_times_length(
            mbps in 1u64..2000,
            wakes in prop::collection::vec((0u64..5_000_000, prop::collection::vec(1u64..=1500, 0..150)), 1..60),
        ) {
            let rate = BitRate::from_mbps(mbps);
            let mut pacer = pacer(rate);
            let bucket = (MTU * 2 + rate.bytes_in(Span::from_millis(1))).get();
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
                    let most = bucket + rate.bytes_in(end.since(begin)).get() + 1;
                    prop_assert!(bytes <= most, "{bytes} bytes of at most {most}");
                }
            }
        }
    }
}
