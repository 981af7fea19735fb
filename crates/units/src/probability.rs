use std::fmt;

/// A probability: a number from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Probability(f64);

/// Error: the number is below 0, above 1, or not a number.
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

    /// Reads a number such as `0.05`, or a percentage such as `5 %`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let Some(percent) = text.strip_suffix('%').map(str::trim_end) else {
            return Probability::new(text.parse().ok()?).ok();
        };
        // `5e-2` is parsed with one rounding; 5.0 * 0.01 would round twice.
        let value = match percent.contains(['e', 'E']) {
            true => percent.parse::<f64>().ok()? / 100.0,
            false => format!("{percent}e-2").parse().ok()?,
        };
        Probability::new(value).ok()
    }

    /// Describes the valid values for an error message. A number above 1 is probably meant as a percentage.
    pub fn expected(given: Option<f64>) -> String {
        let percent = given.filter(|given| *given > 1.0 && *given <= 100.0).unwrap_or(5.0);
        format!("a number from 0 to 1, such as {}, or a percentage, such as \"{percent} %\"", percent / 100.0)
    }

    /// The probability as a number.
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
    fn a_percentage_is_the_number_that_is_written_with_two_more_places() {
        let read = |text| Probability::parse(text).map(Probability::get);
        for (text, value) in [
            ("0.05", 0.05),
            ("5 %", 0.05),
            (" 7% ", 0.07),
            ("0.1 %", 0.001),
            ("29 %", 0.29),
            ("100 %", 1.0),
            ("1e-6", 1e-6),
            ("1e-4 %", 1e-6),
        ] {
            assert_eq!(read(text), Some(value), "{text}");
        }
        for wrong in ["5", "101 %", "-1 %", "0,5", "%", "", "NaN", "5 percent"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_expected_notation_has_the_number_that_was_probably_meant() {
        let told = Probability::expected(Some(20.0));
        assert_eq!(told, "a number from 0 to 1, such as 0.2, or a percentage, such as \"20 %\"");
        assert_eq!(Probability::expected(Some(-1.0)), Probability::expected(Some(5.0)));
    }

    #[test]
    fn only_numbers_from_zero_to_one_pass() {
        assert!(Probability::new(0.0).is_ok() && Probability::new(1.0).is_ok());
        for bad in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            assert!(Probability::new(bad).is_err(), "{bad}");
        }
    }
}
