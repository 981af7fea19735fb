//! Mean and confidence interval of independent samples, percentiles, and the grade of a latency, also for the
//! command line, the measuring tool and the Python package.

use std::f64::consts::{FRAC_PI_2, PI};

/// Mean of independent samples and half width of its 95 % confidence
/// interval (Student's t). The half width is NaN for fewer than two samples.
pub fn mean_and_half_width(samples: &[f64]) -> (f64, f64) {
    let n = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / n;
    let squares: f64 = samples.iter().map(|x| (x - mean).powi(2)).sum();
    let half = match samples.len() {
        0 | 1 => f64::NAN,
        n => student_t(n as u32 - 1, 0.95) * (squares / (n - 1) as f64 / n as f64).sqrt(),
    };
    (mean, half)
}

/// Returns t such that the fraction `confidence` (between 0 and 1) of Student's distribution is between -t
/// and t.
///
/// Computed by bisection of the closed form for whole degrees of freedom. `degrees` must be at least one.
pub fn student_t(degrees: u32, confidence: f64) -> f64 {
    let (mut low, mut high) = (0.0, FRAC_PI_2);
    loop {
        let theta = f64::midpoint(low, high);
        if theta == low || theta == high {
            return f64::from(degrees).sqrt() * theta.tan();
        }
        if within(theta, degrees) < confidence {
            low = theta;
        } else {
            high = theta;
        }
    }
}

/// Probability that |t| < sqrt(degrees) tan(theta): Abramowitz and Stegun, 26.7.3 (odd degrees) and 26.7.4
/// (even).
fn within(theta: f64, degrees: u32) -> f64 {
    let (sin, cos) = theta.sin_cos();
    if degrees == 1 {
        return 2.0 * theta / PI;
    }
    let odd = degrees % 2;
    let mut term = if odd == 1 { cos } else { 1.0 };
    let mut sum = term;
    for k in (2 + odd..degrees - 1).step_by(2) {
        let k = f64::from(k);
        term *= (k - 1.0) / k * cos * cos;
        sum += term;
    }
    if odd == 1 { 2.0 / PI * (theta + sin * sum) } else { sin * sum }
}

/// A percentile of sorted values: the least value that at least this percentage of the values does not
/// exceed. Zero if there are no values.
pub fn quantile(sorted: &[f64], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
}

/// The grade of the latency in seconds that a load adds.
pub fn grade(added: f64) -> &'static str {
    let grades = [(0.005, "A+"), (0.03, "A"), (0.06, "B"), (0.2, "C"), (0.4, "D")];
    grades.iter().find(|(limit, _)| added < *limit).map_or("F", |(_, grade)| grade)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_printed_tables() {
        let table = [
            (1, 12.7062),
            (2, 4.3027),
            (9, 2.2622),
            (10, 2.2281),
            (23, 2.0687),
            (31, 2.0395),
            (1000, 1.9623),
        ];
        for (degrees, t) in table {
            assert!((student_t(degrees, 0.95) - t).abs() < 5e-5, "{degrees}: {}", student_t(degrees, 0.95));
        }
        assert!((student_t(29, 0.99) - 2.7564).abs() < 5e-5);
    }

    #[test]
    fn the_interval_of_three_samples_is_the_hand_worked_one() {
        // Mean 4, variance 4; t for two degrees of freedom is 4.3027.
        let (mean, half) = mean_and_half_width(&[2.0, 4.0, 6.0]);
        assert!((mean - 4.0).abs() < 1e-12 && (half - 4.3027 * (4.0_f64 / 3.0).sqrt()).abs() < 1e-4);
        assert!(mean_and_half_width(&[1.0]).1.is_nan());
    }

    #[test]
    fn percentiles_are_values_of_the_sample() {
        let values: Vec<f64> = (1..=20).map(f64::from).collect();
        assert_eq!([50, 95, 96, 100].map(|percent| quantile(&values, percent)), [10.0, 19.0, 20.0, 20.0]);
        assert_eq!((quantile(&[7.0], 50), quantile(&[], 95)), (7.0, 0.0));
    }

    #[test]
    fn the_grade_follows_the_added_latency() {
        assert_eq!(grade(0.075 - 0.02), "B");
        let grades = [-0.001, 0.0049, 0.005, 0.03, 0.06, 0.2, 0.4, f64::INFINITY].map(grade);
        assert_eq!(grades, ["A+", "A+", "A", "B", "C", "D", "F", "F"]);
    }
}
