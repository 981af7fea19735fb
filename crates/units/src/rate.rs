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

    /// Time to serialise `bytes`, and the remainder in units of 1/rate nanoseconds that the caller carries into
    /// the next packet (`carry` is what the last call returned), so that no rate error adds up.
    ///
    /// The rate must not be zero.
    pub fn serialise(self, bytes: ByteCount, carry: u64) -> (Span, u64) {
        let exact = u128::from(bytes.get()) * 8_000_000_000 + u128::from(carry);
        let rate = u128::from(self.0);
        match u64::try_from(exact) {
            Ok(exact) => (Span::from_nanos(exact / self.0), exact % self.0),
            Err(_) => {
                let ns = u64::try_from(exact / rate).unwrap_or(u64::MAX);
                (Span::from_nanos(ns), (exact % rate) as u64)
            }
        }
    }

    /// Bytes this rate carries in `time`, rounded down.
    pub fn bytes_in(self, time: Span) -> ByteCount {
        let bits = u128::from(self.0) * u128::from(time.as_nanos()) / 1_000_000_000;
        ByteCount::new(u64::try_from(bits / 8).unwrap_or(u64::MAX))
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

    #[test]
    fn serialisation_carries_the_sub_nanosecond_remainder() {
        let rate = BitRate::from_mbps(7);
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
        let (span, carry) = BitRate::from_mbps(100).serialise(ByteCount::new(1500), 0);
        assert_eq!((span, carry), (Span::from_micros(120), 0));
        assert_eq!(BitRate::from_mbps(100).bytes_in(span), ByteCount::new(1500));
    }
}
