//! The text of scenarios.

use crate::error::ScenarioError;
use lab::scenario::{Axis, Sweep};
use pyo3::prelude::*;

/// Parses a scenario. `seed`, if given, replaces the seed of the scenario.
pub(crate) fn read(text: &str, name: &str, seed: Option<u64>) -> PyResult<Sweep> {
    let mut sweep = lab::parse(text, name).map_err(|error| ScenarioError::new_err(error.to_string()))?;
    if let Some(seed) = seed {
        sweep.set_seed(seed);
    }
    Ok(sweep)
}

/// A scenario with other values for some keys: pairs of a key such as ``link.a-b.rate`` and its value as
/// TOML.
#[pyfunction]
pub fn with_values(text: &str, values: Vec<(String, String)>) -> PyResult<String> {
    lab::scenario::with_values(text, values.iter().map(|(key, value)| (key.as_str(), value.as_str())))
        .map_err(ScenarioError::new_err)
}

/// The axes of variation of a scenario, each with its values as a scenario names them.
#[pyfunction]
pub fn axes(text: &str, name: &str) -> PyResult<Vec<(String, Vec<String>)>> {
    let sweep = read(text, name, None)?;
    let values = |axis: &Axis| axis.values.iter().map(ToString::to_string).collect();
    Ok(sweep.axes().iter().map(|axis| (axis.name.clone(), values(axis))).collect())
}
