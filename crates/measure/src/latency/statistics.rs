//! Statistics of round-trip times, and round trips per minute (RPM, draft-ietf-ippm-responsiveness).

use lab::statistics::quantile;

/// Percentiles (in seconds), jitter and loss of the probes of a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Mean difference between successive round-trip times.
    pub jitter: f64,
    /// Number of probes.
    pub sent: usize,
    /// Number of probes without an answer.
    pub lost: usize,
}

impl Spread {
    /// Computes the statistics of round-trip times, which are in the order of sending; `None`: a probe
    /// without an answer. Returns `None` if no probe was answered.
    pub fn of(rtts: &[Option<f64>]) -> Option<Self> {
        let answered: Vec<f64> = rtts.iter().flatten().copied().collect();
        if answered.is_empty() {
            return None;
        }
        let differences = answered.windows(2).map(|pair| (pair[1] - pair[0]).abs()).sum::<f64>();
        let mut sorted = answered.clone();
        sorted.sort_by(f64::total_cmp);
        Some(Spread {
            p50: quantile(&sorted, 50),
            p95: quantile(&sorted, 95),
            p99: quantile(&sorted, 99),
            jitter: differences / (answered.len() - 1).max(1) as f64,
            sent: rtts.len(),
            lost: rtts.len() - answered.len(),
        })
    }
}

/// The mean of the lowest 95 % of the values; `None` if there are none.
pub fn trimmed_mean(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.truncate((sorted.len() * 95).div_ceil(100));
    (!sorted.is_empty()).then(|| sorted.iter().sum::<f64>() / sorted.len() as f64)
}

/// Round-trip times of probes under load, in seconds: all that RPM is computed from.
#[derive(Clone, Debug, Default)]
pub struct Rounds {
    /// Round-trip times of the handshakes of new associations.
    pub handshake: Vec<f64>,
    /// Round-trip times from a message of a new association to its echo.
    pub message: Vec<f64>,
    /// Round-trip times from a message of the loaded association to its echo.
    pub own: Vec<f64>,
}

impl Rounds {
    /// Round trips per minute; `None` if one of the three kinds was not measured. Computed
    /// as the draft does for TCP without TLS and HTTP: probes by new associations (foreign
    /// probes) have the same weight as those of the loaded association.
    pub fn rpm(&self) -> Option<f64> {
        let foreign = f64::midpoint(trimmed_mean(&self.handshake)?, trimmed_mean(&self.message)?);
        Some(f64::midpoint(60.0 / foreign, 60.0 / trimmed_mean(&self.own)?))
    }
}

transport::named! {
    /// How far a value of RPM can be trusted.
    "confidence" Confidence {
        /// The phase was too short for four intervals, or one of these lacks a value.
        Low = "low",
        /// The relative standard deviation of the last four intervals is 5 % or more.
        Medium = "medium",
        /// The standard deviation of the last four intervals is below 5 % of their mean.
        High = "high",
    }
}

/// Number of intervals that decide the confidence, and bound of their relative standard deviation.
const INTERVALS: usize = 4;
const STABLE: f64 = 0.05;

impl Confidence {
    /// The confidence in a phase whose last intervals, at most four, have these values of RPM.
    pub fn of(intervals: &[Option<f64>]) -> Self {
        let values: Vec<f64> = intervals.iter().flatten().copied().collect();
        if values.len() < INTERVALS {
            return Confidence::Low;
        }
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        let deviation = (squares / values.len() as f64).sqrt();
        if deviation < STABLE * mean { Confidence::High } else { Confidence::Medium }
    }
}

/// The last intervals (at most four) of a phase, which lasts from `from` to
/// `to` seconds. An interval is 5 s long, or 2 s if the phase is shorter
/// than 20 s. A phase that is shorter than one interval is returned whole.
pub fn intervals((from, to): (f64, f64)) -> Vec<(f64, f64)> {
    // The times are sums of floating-point numbers, which are not exact.
    const TOLERANCE: f64 = 1e-6;
    let length = to - from + TOLERANCE;
    let interval = if length >= 20.0 { 5.0 } else { 2.0 };
    match ((length / interval) as usize).min(INTERVALS) {
        0 => vec![(from, to)],
        n => (0..n)
            .rev()
            .map(|back| (to - (back + 1) as f64 * interval, to - back as f64 * interval))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rpm_is_the_mean_of_the_foreign_probes_and_of_those_of_the_association() {
        let rounds = Rounds { handshake: vec![0.04; 5], message: vec![0.04; 5], own: vec![0.12; 20] };
        let foreign = Rounds { own: vec![0.04], ..rounds.clone() };
        let own = Rounds { handshake: vec![0.12], message: vec![0.12], ..rounds.clone() };
        let rpm = |rounds: &Rounds| rounds.rpm().map(f64::round);
        assert_eq!([&foreign, &own, &rounds].map(rpm), [Some(1500.0), Some(500.0), Some(1000.0)]);
        assert_eq!(Rounds { own: Vec::new(), ..rounds }.rpm(), None);
    }

    #[test]
    fn the_trimmed_mean_leaves_out_the_greatest_of_twenty_values() {
        let mut values = vec![20.0; 19];
        values.insert(7, 400.0);
        assert_eq!(trimmed_mean(&values), Some(20.0));
        assert_eq!(trimmed_mean(&[1.0, 3.0]), Some(2.0), "of few values none is left out");
        assert_eq!(trimmed_mean(&[]), None);
    }

    #[test]
    fn percentiles_are_values_and_probes_without_an_answer_are_lost() {
        let mut rtts: Vec<_> = (1..=100).map(|n| Some(f64::from(n))).collect();
        rtts.extend([None, None]);
        let spread = Spread::of(&rtts).expect("answers");
        assert_eq!((spread.p50, spread.p95, spread.p99), (50.0, 95.0, 99.0));
        assert_eq!((spread.jitter, spread.sent, spread.lost), (1.0, 102, 2));
        assert_eq!(Spread::of(&[Some(3.0)]).map(|spread| (spread.p99, spread.jitter)), Some((3.0, 0.0)));
        assert_eq!(Spread::of(&[None]), None);
    }

    #[test]
    fn confidence_needs_four_intervals_and_is_high_if_they_agree() {
        assert_eq!(Confidence::of(&[Some(100.0); 3]), Confidence::Low);
        assert_eq!(Confidence::of(&[Some(100.0), None, Some(100.0), Some(100.0)]), Confidence::Low);
        assert_eq!(Confidence::of(&[100.0, 101.0, 99.0, 100.0].map(Some)), Confidence::High);
        assert_eq!(Confidence::of(&[100.0, 120.0, 80.0, 100.0].map(Some)), Confidence::Medium);
    }

    #[test]
    fn intervals_end_with_the_phase() {
        assert_eq!(intervals((7.0, 17.0)), [(9.0, 11.0), (11.0, 13.0), (13.0, 15.0), (15.0, 17.0)]);
        assert_eq!(intervals((1.0, 31.0))[0], (11.0, 16.0));
        assert_eq!(intervals((0.0, 5.0)), [(1.0, 3.0), (3.0, 5.0)]);
        assert_eq!(intervals((0.0, 1.5)), [(0.0, 1.5)]);
    }
}
