use crate::fault::SpecFault;
use units::{BitRate, ByteCount, Instant, Span};

/// A token bucket. It gains tokens at a rate, up to a burst. A packet takes as many tokens as it has bytes on
/// the wire.
///
/// In an interval of length t at most `burst + rate * t` bytes pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenBucket {
    /// Rate at which the bucket gains tokens.
    pub rate: BitRate,
    /// Maximum number of tokens, in bytes. The bucket is full at the beginning.
    pub burst: ByteCount,
}

impl TokenBucket {
    /// Checks the parameters for packets of up to `largest` bytes on the wire.
    ///
    /// # Errors
    /// [`SpecFault`] names the parameter that is wrong.
    pub fn check(&self, largest: ByteCount) -> Result<(), SpecFault> {
        SpecFault::first([
            (self.rate.as_bps() > 0, "rate", "a rate above zero"),
            (self.burst >= largest, "burst", "at least the `mtu` of the link and its `framing`"),
        ])
    }
}

/// Units of tokens in one byte: a bucket of 1 bit/s gains one unit in a nanosecond.
const UNITS_PER_BYTE: u128 = 8_000_000_000;

/// A token bucket at work.
#[derive(Debug)]
pub(crate) struct Bucket {
    spec: TokenBucket,
    /// Tokens at the time `at`, in the units of [`UNITS_PER_BYTE`].
    tokens: u128,
    at: Instant,
}

impl Bucket {
    pub fn new(spec: TokenBucket) -> Self {
        Bucket { spec, tokens: u128::from(spec.burst.get()) * UNITS_PER_BYTE, at: Instant::ZERO }
    }

    fn fill(&mut self, now: Instant) {
        let gained = u128::from(self.spec.rate.as_bps()) * u128::from(now.since(self.at).as_nanos());
        self.tokens = (self.tokens + gained).min(u128::from(self.spec.burst.get()) * UNITS_PER_BYTE);
        self.at = self.at.max(now);
    }

    /// Takes the tokens of a packet at `now`. Returns false, and takes none, if there are too few.
    pub fn take(&mut self, now: Instant, bytes: u64) -> bool {
        self.fill(now);
        let cost = u128::from(bytes) * UNITS_PER_BYTE;
        let enough = self.tokens >= cost;
        if enough {
            self.tokens -= cost;
        }
        enough
    }

    /// Takes the tokens of a packet as soon as there are enough. Returns the time at which there are enough,
    /// `now` or later.
    pub fn wait(&mut self, now: Instant, bytes: u64) -> Instant {
        self.fill(now);
        let cost = u128::from(bytes) * UNITS_PER_BYTE;
        let missing = cost.saturating_sub(self.tokens);
        let nanos = missing.div_ceil(u128::from(self.spec.rate.as_bps().max(1)));
        // The bucket keeps tokens that it gains in the last nanosecond beyond the cost of the packet.
        self.tokens = (self.tokens + u128::from(self.spec.rate.as_bps()) * nanos).saturating_sub(cost);
        self.at += Span::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        self.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At 8 Mbit/s the bucket gains one byte per microsecond.
    fn bucket(burst: u64) -> Bucket {
        Bucket::new(TokenBucket { rate: BitRate::from_mbps(8), burst: ByteCount::new(burst) })
    }

    fn us(n: u64) -> Instant {
        Instant::ZERO + Span::from_micros(n)
    }

    #[test]
    fn a_burst_passes_at_once_and_later_bytes_at_the_rate() {
        let mut bucket = bucket(3000);
        assert!(bucket.take(us(0), 1500) && bucket.take(us(0), 1500));
        assert!(!bucket.take(us(1499), 1500), "1499 tokens");
        assert!(bucket.take(us(1500), 1500));
        // The bucket is never more than full: it has 3000 bytes after 10 ms, not 10,000.
        assert!(bucket.take(us(11_500), 3000) && !bucket.take(us(11_500), 1));
    }

    #[test]
    fn a_packet_waits_until_its_tokens_have_come() {
        let mut bucket = bucket(2000);
        let times: Vec<Instant> = (0..4).map(|_| bucket.wait(us(0), 1500)).collect();
        assert_eq!(times, [us(0), us(1000), us(2500), us(4000)]);
        assert_eq!(bucket.wait(us(10_000), 2000), us(10_000));
    }

    #[test]
    fn no_rounding_error_adds_up() {
        let mut bucket = Bucket::new(TokenBucket { rate: BitRate::from_mbps(7), burst: ByteCount::new(1) });
        let last = (0..=7000).map(|_| bucket.wait(us(0), 1)).last();
        // After the first byte, 7000 bytes at 7 Mbit/s take 8 ms.
        assert_eq!(last, Some(us(8000)));
    }

    #[test]
    fn the_check_names_the_parameter_that_is_wrong() {
        let good = TokenBucket { rate: BitRate::from_mbps(1), burst: ByteCount::new(1500) };
        let check = |bucket: TokenBucket| bucket.check(ByteCount::new(1500)).map_err(|fault| fault.field);
        assert_eq!(check(good), Ok(()));
        assert_eq!(check(TokenBucket { rate: BitRate::from_bps(0), ..good }), Err("rate"));
        assert_eq!(check(TokenBucket { burst: ByteCount::new(1499), ..good }), Err("burst"));
    }
}
