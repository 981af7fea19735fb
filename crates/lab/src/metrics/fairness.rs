//! Fairness among flows.

/// Jain's fairness index (Σx)² / (n Σx²) (R. Jain, D. Chiu and W. Hawe, DEC-TR-301, 1984): 1 if all values
/// are equal, 1/n if one flow has everything. The index is 1 if all values are zero or there are no flows.
pub(super) fn fairness(rates: &[f64]) -> f64 {
    let (sum, squares) = rates.iter().fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
    if squares > 0.0 { sum * sum / (rates.len() as f64 * squares) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_agrees_with_values_computed_by_hand() {
        for (rates, expected) in [
            (&[5.0, 5.0][..], 1.0),
            // Jain's index by hand: (1 + 3)^2 / (2 * (1^2 + 3^2)) = 16/20.
            (&[1.0, 3.0], 0.8),
            (&[7.0, 0.0, 0.0, 0.0], 0.25),
            // Two flows at a ratio of 1.36, as in table 2 of paper 003.
            (&[1.36, 1.0], 2.36 * 2.36 / (2.0 * (1.0 + 1.36 * 1.36))),
            (&[0.0, 0.0], 1.0),
            (&[], 1.0),
        ] {
            assert!((fairness(rates) - expected).abs() < 1e-12, "{rates:?}");
        }
        assert!((fairness(&[1.36, 1.0]) - 0.977).abs() < 5e-4);
        assert!((fairness(&[1.41, 1.0]) - 0.972).abs() < 5e-4);
    }
}
