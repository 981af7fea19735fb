//! Protocol options, with the words and units of scenario files.

use crate::error::ConfigError;
use pyo3::prelude::*;

/// Parses options written as keys and values of TOML.
pub fn config(options: &str) -> PyResult<sctp::Config> {
    lab::scenario::sctp_options(options, "options").map_err(|error| {
        let messages: Vec<_> = error.diagnostics.into_iter().map(|d| d.message).collect();
        ConfigError::new_err(messages.join("; "))
    })
}
