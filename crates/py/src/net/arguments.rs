//! What Python passes: addresses, ports, bytes, times.

use bytes::Bytes;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyString};
use std::net::IpAddr;
use std::time::Duration;

/// An IP address: text, or an object of `ipaddress`.
pub struct Address(pub IpAddr);

impl<'py> FromPyObject<'_, 'py> for Address {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        value.extract::<IpAddr>().map(Address).or_else(|_| {
            let value = value.repr()?;
            let text =
                format!("{value} is not an IP address (socket.getaddrinfo finds those of a host name)");
            Err(PyValueError::new_err(text))
        })
    }
}

/// One IP address, or several.
pub struct Addresses(pub Vec<IpAddr>);

impl<'py> FromPyObject<'_, 'py> for Addresses {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if value.is_instance_of::<PyString>() || value.hasattr("packed")? {
            return Ok(Addresses(vec![value.extract::<Address>()?.0]));
        }
        let addresses = value.try_iter()?.map(|item| Ok(item?.extract::<Address>()?.0));
        addresses.collect::<PyResult<_>>().map(Addresses)
    }
}

/// A port of SCTP or UDP.
pub struct Port(pub u16);

impl<'py> FromPyObject<'_, 'py> for Port {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        value.extract().map(Port).map_err(|error| {
            if value.is_instance_of::<PyInt>() {
                PyValueError::new_err(format!("port {}: expected 0 to 65535", &*value))
            } else {
                error
            }
        })
    }
}

/// A copy of `bytes`, of a `bytearray`, a `memoryview` or any other buffer of bytes.
pub struct Data(pub Bytes);

impl<'py> FromPyObject<'_, 'py> for Data {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = value.cast::<PyBytes>() {
            return Ok(Data(Bytes::copy_from_slice(bytes.as_bytes())));
        }
        Ok(Data(PyBuffer::<u8>::get(&value)?.to_vec(value.py())?.into()))
    }
}

/// Seconds to wait; none: for ever.
pub struct Timeout(pub Option<Duration>);

impl<'py> FromPyObject<'_, 'py> for Timeout {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let seconds: Option<f64> = value.extract()?;
        let timeout = seconds.map(Duration::try_from_secs_f64).transpose();
        timeout.map(Timeout).map_err(|_| {
            PyValueError::new_err(format!("timeout {}: expected seconds, 0 or more, or None", &*value))
        })
    }
}
