//! Protocol options, with the words and units of scenario files.

use crate::error::ConfigError;
use lab::scenario::{self, assoc_options_over, sctp_options_over};
use pyo3::prelude::*;
use sctp::{AssocOptions, Config};

/// Name of the text in error messages.
const NAME: &str = "options";

/// Options written as keys and values of TOML; those left out keep the values of `base`.
pub fn config_over(base: Config, options: &str) -> PyResult<Config> {
    sctp_options_over(base, options, NAME).map_err(|error| config_error(&error))
}

/// Options of an existing association; those left out keep the values of `base`.
pub fn live_over(base: AssocOptions, options: &str) -> PyResult<AssocOptions> {
    assoc_options_over(base, options, NAME).map_err(|error| config_error(&error))
}

fn config_error(error: &scenario::ScenarioError) -> PyErr {
    let messages: Vec<_> = error.diagnostics.iter().map(|d| d.message.as_str()).collect();
    ConfigError::new_err(messages.join("; "))
}
