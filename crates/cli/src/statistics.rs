//! Mean and confidence interval.

/// Mean of independent samples and the half width of its 95 % interval (Student's t); the half width is not a number for
/// fewer than two.
pub fn mean_and_half_width(samples: &[f64]) -> (f64, f64) {
    let n = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / n;
    let squares: f64 = samples.iter().map(|x| (x - mean).powi(2)).sum();
    let half = if samples.len() < 2 {
        f64::NAN
    } else {
        t_975(samples.len() - 1) * (squares / (n - 1.0) / n).sqrt()
    };
    (mean, half)
}

/// The 97.5 % quantile of Student's t: a table for few degrees of freedom, then the expansion around the normal
/// quantile (Abramowitz and Stegun, 26.7.5), which is exact to four digits there.
fn t_975(freedom: usize) -> f64 {
    const FEW: [f64; 9] = [12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622];
    if let Some(t) = FEW.get(freedom - 1) {
        return *t;
    }
    let (z, v) = (1.959_964_f64, freedom as f64);
    let g1 = (z.powi(3) + z) / 4.0;
    let g2 = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    let g3 = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0;
    z + g1 / v + g2 / v.powi(2) + g3 / v.powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (freedom, t) in
            [(1, 12.7062), (9, 2.2622), (10, 2.2281), (23, 2.0687), (31, 2.0395), (1000, 1.9623)]
        {
            assert!((t_975(freedom) - t).abs() < 2e-4, "{freedom}: {}", t_975(freedom));
        }
    }

    #[test]
    fn an_interval_worked_by_hand() {
        // Mean 4, variance 4, t(2) = 4.3027.
        let (mean, half) = mean_and_half_width(&[2.0, 4.0, 6.0]);
        assert!((mean - 4.0).abs() < 1e-12 && (half - 4.3027 * (4.0_f64 / 3.0).sqrt()).abs() < 1e-9);
        assert!(mean_and_half_width(&[1.0]).1.is_nan());
    }
}
