//! Options of an existing association, with the words and units of scenario files.

use pyo3::prelude::*;
use sctp::AssocOptions;
use std::collections::BTreeMap;
use units::Span;

/// The value of an option as written in a scenario file.
#[derive(IntoPyObject)]
pub enum Value {
    Text(String),
    Number(u32),
    Switch(bool),
}

impl From<Span> for Value {
    fn from(span: Span) -> Self {
        Value::Text(span.to_string())
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Value::Number(number)
    }
}

impl From<bool> for Value {
    fn from(on: bool) -> Self {
        Value::Switch(on)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or_else(|| Value::Text("none".to_owned()), T::into)
    }
}

/// All options by their keys.
pub fn to_map(options: &AssocOptions) -> BTreeMap<&'static str, Value> {
    BTreeMap::from([
        ("rto_initial", options.rto_initial.into()),
        ("rto_min", options.rto_min.into()),
        ("rto_max", options.rto_max.into()),
        ("association_max_retrans", options.association_max_retrans.into()),
        ("path_max_retrans", options.path_max_retrans.into()),
        ("potentially_failed", options.potentially_failed.into()),
        ("primary_switchover", options.primary_switchover.into()),
        ("hb_interval", options.hb_interval.into()),
        ("sack_delay", options.sack_delay.into()),
        ("sack_frequency", options.sack_frequency.into()),
        ("max_burst", options.max_burst.into()),
        ("nagle", options.nagle.into()),
    ])
}
