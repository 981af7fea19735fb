//! Checks of option values.

use std::fmt;

/// Error: the value of an option is not valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The option, by its name in the configuration.
    pub option: &'static str,
    /// Value of the option.
    pub value: String,
    /// The valid values.
    pub expected: &'static str,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}: expected {}", self.option, self.value, self.expected)
    }
}

impl std::error::Error for ConfigError {}

/// Returns [`ConfigError`] unless `ok`.
///
/// # Errors
/// [`ConfigError`] with the option, its value and the valid values.
pub fn check(
    ok: bool,
    option: &'static str,
    value: impl fmt::Display,
    expected: &'static str,
) -> Result<(), ConfigError> {
    if ok { Ok(()) } else { Err(ConfigError { option, value: value.to_string(), expected }) }
}
