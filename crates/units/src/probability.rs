use std::fmt;

/// A probability: a number from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Probability(f64);

/// The number was below 0, above 1, or not a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NotAProbability(pub f64);

impl Probability {
    /// 0: the event never happens.
    pub const ZERO: Probability = Probability(0.0);
    /// 1: the event always happens.
    pub const ONE: Probability = Probability(1.0);

    /// Checks that `p` lies in 0..=1.
    ///
    /// # Errors
    /// [`NotAProbability`] with the offending number.
    pub fn new(p: f64) -> Result<Self, NotAProbability> {
        if (0.0..=1.0).contains(&p) { Ok(Probability(p)) } else { Err(NotAProbability(p)) }
    }

    /// The number.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// True if the event never happens.
    pub fn is_zero(self) -> bool {
        self.0 == 0.0
    }
}

impl fmt::Display for NotAProbability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is not a probability: expected a number from 0 to 1", self.0)
    }
}

impl std::error::Error for NotAProbability {}

impl fmt::Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_from_zero_to_one_pass() {
        assert!(Probability::new(0.0).is_ok() && Probability::new(1.0).is_ok());
        for bad in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            assert!(Probability::new(bad).is_err(), "{bad}");
        }
    }
}
