//! Statistics that are defined for no values, too.

/// A ratio; zero if the divisor is zero.
pub(super) fn ratio(numerator: f64, denominator: f64) -> f64 {
    if denominator > 0.0 { numerator / denominator } else { 0.0 }
}

/// A percentile of sorted values: the least value that at least this percentage of the values does not
/// exceed. Zero if there are no values.
pub(super) fn quantile(sorted: &[f64], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_of_the_sample() {
        let values: Vec<f64> = (1..=20).map(f64::from).collect();
        assert_eq!([50, 95, 96, 100].map(|percent| quantile(&values, percent)), [10.0, 19.0, 20.0, 20.0]);
        assert_eq!((quantile(&[7.0], 50), quantile(&[], 95)), (7.0, 0.0));
    }
}
