//! Options whose values cannot work.

use std::fmt;

/// An option with a value that cannot work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The option, by its name in the configuration.
    pub option: &'static str,
    /// Its value.
    pub value: String,
    /// What would do.
    pub expected: &'static str,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}: expected {}", self.option, self.value, self.expected)
    }
}

impl std::error::Error for ConfigError {}

/// Passes if `ok`; else the value of the option cannot work.
///
/// # Errors
/// [`ConfigError`] with what is given.
pub fn check(
    ok: bool,
    option: &'static str,
    value: impl fmt::Display,
    expected: &'static str,
) -> Result<(), ConfigError> {
    if ok { Ok(()) } else { Err(ConfigError { option, value: value.to_string(), expected }) }
}
