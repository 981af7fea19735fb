//! Windows are whole bytes, formulas are not.

use units::ByteCount;

/// What a window is beyond whole bytes: at least 0, less than 1.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fraction(f64);

impl Fraction {
    /// Adds a step and answers the whole bytes to move the window by, up or down; not-a-number moves nothing.
    pub(crate) fn add(&mut self, step: f64) -> f64 {
        let sum = self.0 + step;
        if !sum.is_finite() {
            return 0.0;
        }
        let whole = sum.floor();
        self.0 = sum - whole;
        whole
    }

    /// The whole bytes of a window, and what it is beyond them.
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
    fn fractions_add_up_to_whole_bytes_in_both_directions() {
        let mut fraction = Fraction::default();
        let steps: Vec<f64> = [0.5, 0.75, -0.5, -1.0, 1.25].map(|step| fraction.add(step)).into();
        assert_eq!(steps, [0.0, 1.0, -1.0, -1.0, 2.0]);
        assert_eq!(fraction.add(f64::NAN), 0.0);
        assert_eq!(fraction.add(1.0), 1.0);
    }

    #[test]
    fn a_window_is_whole_bytes_and_a_fraction() {
        let (whole, fraction) = Fraction::split(1500.25);
        assert_eq!((whole, fraction.get()), (ByteCount::new(1500), 0.25));
        assert_eq!(Fraction::split(-3.0).0, ByteCount::ZERO);
    }
}
