use crate::{ByteCount, Span};
use std::fmt;

/// A data rate in bit/s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BitRate(u64);

impl BitRate {
    /// `bps` bit/s.
    pub const fn from_bps(bps: u64) -> Self {
        BitRate(bps)
    }

    /// `mbps` Mbit/s (10^6 bit/s).
    pub const fn from_mbps(mbps: u64) -> Self {
        BitRate(mbps * 1_000_000)
    }

    /// The rate in bit/s.
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// The time per byte at this rate. The rate must not be zero.
    pub const fn pace(self) -> Pace {
        let (mut divisor, mut rest) = (NANOS_PER_BYTE_AT_1_BPS, self.0);
        while rest != 0 {
            (divisor, rest) = (rest, divisor % rest);
        }
        Pace { nanos: NANOS_PER_BYTE_AT_1_BPS / divisor, bytes: self.0 / divisor }
    }

    /// Bytes that this rate carries in `time`, rounded down.
    pub fn bytes_in(self, time: Span) -> ByteCount {
        let bits = u128::from(self.0) * u128::from(time.as_nanos()) / 1_000_000_000;
        ByteCount::new(u64::try_from(bits / 8).unwrap_or(u64::MAX))
    }
}

const NANOS_PER_BYTE_AT_1_BPS: u64 = 8_000_000_000;

/// The time per byte of a transmitter, as a reduced fraction of nanoseconds over bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    nanos: u64,
    bytes: u64,
}

impl Pace {
    /// Transmissions take no time.
    pub const UNLIMITED: Pace = Pace { nanos: 0, bytes: 1 };

    /// Time to serialise `bytes` in whole nanoseconds, and the remainder of the division.
    ///
    /// The caller passes the remainder of the last call as `carry`, so that rounding errors do not add up.
    #[inline]
    pub fn serialise(self, bytes: ByteCount, carry: u64) -> (Span, u64) {
        // This does not overflow for packets of at most 2 GB.
        let exact = bytes.get().saturating_mul(self.nanos).saturating_add(carry);
        if self.bytes == 1 {
            return (Span::from_nanos(exact), 0); // most rates divide 8 Gbit/s and need no division
        }
        (Span::from_nanos(exact / self.bytes), exact % self.bytes)
    }
}

impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            bps if bps >= 1_000_000_000 => write!(f, "{} Gbit/s", bps as f64 / 1e9),
            bps if bps >= 1_000_000 => write!(f, "{} Mbit/s", bps as f64 / 1e6),
            bps if bps >= 1_000 => write!(f, "{} kbit/s", bps as f64 / 1e3),
            bps => write!(f, "{bps} bit/s"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn serialisation_carries_the_sub_nanosecond_remainder() {
        let rate = BitRate::from_mbps(7).pace();
        let mut carry = 0;
        let mut total = 0;
        for _ in 0..7 {
            let (span, left) = rate.serialise(ByteCount::new(1), carry);
            total += span.as_nanos();
            carry = left;
        }
        // 56 bits at 7 Mbit/s are exactly 8 us.
        assert_eq!((total, carry), (8_000, 0));
    }

    #[test]
    fn a_full_packet_at_100_mbps_takes_120_us() {
        let (span, carry) = BitRate::from_mbps(100).pace().serialise(ByteCount::new(1500), 0);
        assert_eq!((span, carry), (Span::from_micros(120), 0));
        assert_eq!(BitRate::from_mbps(100).bytes_in(span), ByteCount::new(1500));
    }

    proptest! {
        /// Compares with the same computation in 128 bits, without a reduced fraction.
        #[test]
        fn no_rate_error_adds_up(bps in 1u64..500_000_000_000, sizes in prop::collection::vec(1u64..100_000, 1..50)) {
            let (pace, mut carry, mut total) = (BitRate::from_bps(bps).pace(), 0, 0);
            for &size in &sizes {
                let (span, left) = pace.serialise(ByteCount::new(size), carry);
                carry = left;
                total += span.as_nanos();
            }
            let bits = u128::from(sizes.iter().sum::<u64>()) * 8;
            prop_assert_eq!(u128::from(total), bits * 1_000_000_000 / u128::from(bps));
        }
    }
}
