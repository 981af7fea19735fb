//! Protocol options by the words and units of scenario files.

use crate::error::ConfigError;
use lab::scenario::Sweep;
use pyo3::prelude::*;

/// The smallest scenario around a set of options, of which any suits it: it gives them their only meaning.
const AROUND: &str = r#"
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
between = ["a", "b"]
rate = "1 Gbit/s"
mtu = "1000000 GB"
[[flow]]
name = "f"
client = "a"
server = "b"
max_msg_size = "1 B"
sctp = "options"
[sctp.options]
"#;

/// Reads options written as keys and values of TOML.
pub fn config(options: &str) -> PyResult<sctp::Config> {
    let sweep = Sweep::parse(&format!("{AROUND}{options}"), "options").map_err(|error| {
        let messages: Vec<_> = error.diagnostics.into_iter().map(|d| d.message).collect();
        ConfigError::new_err(messages.join("; "))
    })?;
    match sweep.variants() {
        [only] => Ok(only.scenario.flows[0].client_options.clone()),
        _ => Err(ConfigError::new_err("an endpoint has one value for each option: `vary` is for scenarios")),
    }
}
