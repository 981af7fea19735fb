//! Statistics that have a value even without samples.

/// A ratio; zero if the divisor is zero.
pub(super) fn ratio(numerator: f64, denominator: f64) -> f64 {
    if denominator > 0.0 { numerator / denominator } else { 0.0 }
}
