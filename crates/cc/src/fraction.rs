//! Fractions of a byte of a congestion window, whose whole bytes are kept separately.

use units::ByteCount;

/// Fraction of a byte of a window, in [0, 1).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fraction(f64);

impl Fraction {
    /// Adds a step and returns the whole bytes to add to the window; 0 if the step is not finite.
    pub(crate) fn add(&mut self, step: f64) -> f64 {
        let sum = self.0 + step;
        if !sum.is_finite() {
            return 0.0;
        }
        let whole = sum.floor();
        self.0 = sum - whole;
        whole
    }

    pub(crate) fn split(window: f64) -> (ByteCount, Fraction) {
        let whole = window.max(0.0).floor();
        (ByteCount::round_f64(whole), Fraction(window.max(0.0) - whole))
    }

    pub(crate) fn get(self) -> f64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_accumulate_to_whole_bytes() {
        let mut fraction = Fraction::default();
        let steps: Vec<f64> = [0.5, 0.75, -0.5, -1.0, 1.25].map(|step| fraction.add(step)).into();
        assert_eq!(steps, [0.0, 1.0, -1.0, -1.0, 2.0]);
        assert_eq!(fraction.add(f64::NAN), 0.0);
        assert_eq!(fraction.add(1.0), 1.0);
    }

    #[test]
    fn split_rounds_down_and_clamps_at_zero() {
        let (whole, fraction) = Fraction::split(1500.25);
        assert_eq!((whole, fraction.get()), (ByteCount::new(1500), 0.25));
        assert_eq!(Fraction::split(-3.0).0, ByteCount::ZERO);
    }
}
