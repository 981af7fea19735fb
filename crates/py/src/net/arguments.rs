//! Arguments that only calls on sockets have.

use crate::arguments::{Address, Addresses};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::time::Duration;

/// One IP address, or several in order.
pub struct OneOrMore(pub Addresses);

impl FromPyObject<'_, '_> for OneOrMore {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let one = object.is_instance_of::<PyString>() || object.hasattr("packed")?;
        let addresses = if one {
            Addresses(vec![object.extract::<Address>()?.0])
        } else {
            object.extract::<Addresses>()?
        };
        Ok(OneOrMore(addresses))
    }
}

/// Seconds to wait; `None` for no limit.
pub struct Timeout(pub Option<Duration>);

impl FromPyObject<'_, '_> for Timeout {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let seconds: Option<f64> = object.extract()?;
        let timeout = seconds.map(Duration::try_from_secs_f64).transpose();
        timeout.map(Timeout).map_err(|_| {
            PyValueError::new_err(format!("timeout {}: expected seconds, 0 or more, or None", &*object))
        })
    }
}
