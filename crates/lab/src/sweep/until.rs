//! Replicas on demand: a combination gets more replicas until the 95 % confidence interval of a quantity is
//! narrow enough.

use crate::metrics::quantity::ALL_FLOWS;
use crate::results::{Column, Table};
use crate::statistics::mean_and_half_width;
use scenario::nearest;
use units::Probability;

/// The width of the confidence interval at which a combination has enough replicas.
#[derive(Clone, Debug, PartialEq)]
pub struct Until {
    /// The quantity. Its confidence interval must be narrow enough for every flow that has this quantity.
    pub quantity: String,
    /// The half width of the 95 % confidence interval that is sought, relative to the mean.
    pub share: f64,
    /// The largest number of replicas of a combination.
    pub most: u32,
}

/// A flow whose confidence interval is still too wide.
#[derive(Clone, Debug, PartialEq)]
pub struct Wide {
    /// Index of the combination.
    pub variant: usize,
    /// The flow.
    pub flow: String,
    /// Number of replicas of the combination.
    pub replicas: u32,
    /// Half width of the 95 % confidence interval, relative to the mean.
    pub share: f64,
}

/// The values of the quantity in one run: each flow with its value.
pub(super) type Values = Vec<(String, f64)>;

impl Until {
    /// Parses `throughput_bps ± 2 %`; `+-` means ±, and 0.02 means 2 %.
    ///
    /// # Errors
    /// A description of the expected text.
    pub fn parse(text: &str, most: u32) -> Result<Self, String> {
        let expected =
            || format!("\"{text}\": expected a quantity and an interval, such as \"throughput_bps ± 2 %\"");
        let (quantity, width) =
            text.split_once('±').or_else(|| text.split_once("+-")).ok_or_else(expected)?;
        match Probability::parse(width).filter(|share| !share.is_zero()) {
            Some(share) if !quantity.trim().is_empty() => {
                Ok(Until { quantity: quantity.trim().to_owned(), share: share.get(), most })
            }
            _ => Err(expected()),
        }
    }

    /// Returns the widest of the confidence intervals of a combination that are too
    /// wide; `None` if all are narrow enough. `runs`: the values of its replicas.
    pub(super) fn too_wide(&self, variant: usize, runs: &[Values]) -> Option<Wide> {
        let mut flows: Vec<(&str, Vec<f64>)> = Vec::new();
        for (flow, value) in runs.iter().flatten() {
            match flows.iter_mut().find(|(name, _)| name == flow) {
                Some((_, values)) => values.push(*value),
                None => flows.push((flow, vec![*value])),
            }
        }
        // If single flows have values, only these are checked, not the sum over all flows.
        if flows.iter().any(|(name, _)| *name != ALL_FLOWS) {
            flows.retain(|(name, _)| *name != ALL_FLOWS);
        }
        let wide = flows.into_iter().filter_map(|(flow, values)| {
            let (mean, half) = mean_and_half_width(&values);
            // Constant values, including zero, have an interval of width zero. The width for a single value
            // is unknown: NaN.
            let share = if half == 0.0 { 0.0 } else { half / mean.abs() };
            let replicas = values.len() as u32;
            let is_wide = share.is_nan() || share > self.share;
            is_wide.then(|| Wide { variant, flow: flow.to_owned(), replicas, share })
        });
        wide.max_by(|a, b| a.share.total_cmp(&b.share))
    }

    /// Returns the value of the quantity for each flow in a run, without the values of single paths and of
    /// named windows.
    ///
    /// # Errors
    /// A message with the measured quantities if this quantity is not measured. Also if the table lacks
    /// columns.
    pub(super) fn values(&self, run: &Table) -> Result<Values, String> {
        let columns = ["window", "flow", "path", "quantity", "value"].map(|name| run.column(name));
        let [
            Some(Column::Text(window)),
            Some(Column::Text(flow)),
            Some(Column::OptionalWhole(path)),
            Some(Column::Text(quantity)),
            Some(Column::Real(value)),
        ] = columns
        else {
            return Err("the table of a run has no flows and quantities".to_owned());
        };
        let rows = window.iter().zip(flow.iter()).zip(path).zip(quantity.iter()).zip(value);
        let found: Vec<_> = rows
            .filter(|((((window, _), path), name), _)| {
                window.is_empty() && path.is_none() && *name == self.quantity
            })
            .map(|((((_, flow), _), _), value)| (flow.to_owned(), *value))
            .collect();
        if !found.is_empty() {
            return Ok(found);
        }
        let mut known: Vec<&str> = quantity.iter().collect();
        known.sort_unstable();
        known.dedup();
        let tip = nearest(&self.quantity, known.iter().copied())
            .map_or(String::new(), |name| format!("; did you mean `{name}`?"));
        Err(format!("no run has a quantity `{}`{tip}\nThere are {}", self.quantity, known.join(", ")))
    }

    /// Returns the number of replicas that a combination gets next: the number that
    /// its confidence interval requires, but at most twice the present number.
    pub(super) fn next(&self, wide: &Wide) -> u32 {
        let has = f64::from(wide.replicas);
        let needed = (has * (wide.share / self.share).powi(2)).ceil();
        let needed = if needed.is_nan() { has + 1.0 } else { needed.clamp(has + 1.0, 2.0 * has.max(1.0)) };
        (needed as u32).min(self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Scalar;
    use crate::results::scalars_of;

    fn until() -> Until {
        Until::parse("throughput_bps ± 5 %", 40).expect("is well-formed")
    }

    fn runs(values: &[f64]) -> Vec<Values> {
        let scalar = |flow: &str, path: Option<u8>, value: f64| Scalar {
            window: String::new(),
            flow: flow.to_owned(),
            path,
            quantity: "throughput_bps",
            value,
        };
        let table = |&value: &f64| {
            // Flow `g` never varies, and the values of single paths are ignored.
            scalars_of(&[
                scalar("f", None, value),
                scalar("g", None, 0.0),
                scalar("f", Some(0), value * value),
            ])
        };
        values.iter().map(|value| until().values(&table(value)).expect("is measured")).collect()
    }

    #[test]
    fn an_interval_is_read_with_both_signs() {
        assert_eq!(until(), Until { quantity: "throughput_bps".into(), share: 0.05, most: 40 });
        assert_eq!(Until::parse("srtt_s +- 0.5%", 9).map(|until| until.share), Ok(0.005));
        assert_eq!(Until::parse("srtt_s +- 0.005", 9).map(|until| until.share), Ok(0.005));
        for wrong in ["throughput_bps", "throughput_bps ± 2", "± 2 %", "throughput_bps ± -2 %", "x ± 0 %"]
        {
            let error = Until::parse(wrong, 9).expect_err(wrong);
            assert!(error.contains("such as \"throughput_bps ± 2 %\""), "{error}");
        }
    }

    #[test]
    fn a_combination_is_too_wide_until_its_interval_is_narrow() {
        // Mean 4, variance 4; t for two degrees of freedom is 4.303: half width 4.303 · sqrt(4 / 3) = 4.968.
        let wide = until().too_wide(7, &runs(&[2.0, 4.0, 6.0])).expect("is wide");
        assert_eq!((wide.variant, wide.flow.as_str(), wide.replicas), (7, "f", 3));
        assert!((wide.share - 4.968 / 4.0).abs() < 1e-3, "{}", wide.share);
        assert_eq!(until().too_wide(0, &runs(&[4.0, 4.01, 3.99])), None);
        assert!(until().too_wide(0, &runs(&[4.0])).is_some(), "one run has no interval");
        let scalar = Scalar {
            window: String::new(),
            flow: "f".into(),
            path: None,
            quantity: "throughput_bps",
            value: 1.0,
        };
        let missing = Until { quantity: "rate".into(), ..until() }.values(&scalars_of(&[scalar]));
        assert_eq!(missing, Err("no run has a quantity `rate`\nThere are throughput_bps".to_owned()));
    }

    #[test]
    fn replicas_grow_by_what_is_needed_at_most_twofold_and_to_a_limit() {
        let wide = |replicas, share| Wide { variant: 0, flow: "f".into(), replicas, share };
        assert_eq!(until().next(&wide(10, 0.06)), 15, "10 · (6 / 5)² = 14.4");
        assert_eq!(until().next(&wide(10, 0.5)), 20);
        assert_eq!(until().next(&wide(10, 0.0501)), 11);
        assert_eq!(until().next(&wide(30, 0.5)), 40);
        assert_eq!(until().next(&wide(1, f64::NAN)), 2);
    }
}
