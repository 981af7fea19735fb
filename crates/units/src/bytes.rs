use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub, SubAssign};

/// A number of bytes, never negative. If a subtraction would be negative, its result is zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteCount(u64);

impl ByteCount {
    /// 0 bytes.
    pub const ZERO: ByteCount = ByteCount(0);
    /// The largest count.
    pub const MAX: ByteCount = ByteCount(u64::MAX);

    /// `n` bytes.
    pub const fn new(n: u64) -> Self {
        ByteCount(n)
    }

    /// The count as an integer.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The count as a float, for formulas.
    pub fn as_f64(self) -> f64 {
        self.0 as f64
    }

    /// The smallest count that is not below `bytes`. Negative numbers and NaN become zero.
    pub fn ceil_f64(bytes: f64) -> Self {
        ByteCount(bytes.ceil() as u64)
    }

    /// The nearest count. Negative numbers and NaN become zero.
    pub fn round_f64(bytes: f64) -> Self {
        ByteCount(bytes.round() as u64)
    }

    /// True for 0 bytes.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl From<usize> for ByteCount {
    fn from(n: usize) -> Self {
        ByteCount(n as u64)
    }
}

impl Add for ByteCount {
    type Output = ByteCount;
    fn add(self, other: ByteCount) -> ByteCount {
        ByteCount(self.0.saturating_add(other.0))
    }
}

impl AddAssign for ByteCount {
    fn add_assign(&mut self, other: ByteCount) {
        *self = *self + other;
    }
}

impl Sub for ByteCount {
    type Output = ByteCount;
    fn sub(self, other: ByteCount) -> ByteCount {
        ByteCount(self.0.saturating_sub(other.0))
    }
}

impl SubAssign for ByteCount {
    fn sub_assign(&mut self, other: ByteCount) {
        *self = *self - other;
    }
}

impl Mul<u64> for ByteCount {
    type Output = ByteCount;
    fn mul(self, factor: u64) -> ByteCount {
        ByteCount(self.0.saturating_mul(factor))
    }
}

impl Sum for ByteCount {
    fn sum<I: Iterator<Item = ByteCount>>(iter: I) -> ByteCount {
        iter.fold(ByteCount::ZERO, Add::add)
    }
}

impl fmt::Display for ByteCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} B", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subtraction_stops_at_zero() {
        assert_eq!(ByteCount::new(3) - ByteCount::new(5), ByteCount::ZERO);
    }

    #[test]
    fn rounding_from_formulas() {
        assert_eq!(ByteCount::ceil_f64(374.01), ByteCount::new(375));
        assert_eq!(ByteCount::round_f64(-2.0), ByteCount::ZERO);
    }
}
