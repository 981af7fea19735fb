//! The exceptions of the module.

use pyo3::PyErr;
use pyo3::create_exception;
use pyo3::exceptions::{PyBlockingIOError, PyConnectionError, PyRuntimeError, PyValueError};

create_exception!(
    anabranch,
    ScenarioError,
    PyValueError,
    "A scenario is wrong; the message names file, line, column, what was expected and the nearest right word."
);
create_exception!(anabranch, SimulationError, PyRuntimeError, "A run or a sweep failed.");
create_exception!(anabranch, ConfigError, PyValueError, "An option that does not exist or cannot work.");
create_exception!(
    anabranch,
    WouldBlockError,
    PyBlockingIOError,
    "The send buffer is full; a ``writable`` event tells when it is not."
);
create_exception!(
    anabranch,
    AssociationClosedError,
    PyConnectionError,
    "There is no such association, or it is closing."
);
create_exception!(
    anabranch,
    ConnectError,
    PyConnectionError,
    "An association did not begin: there is one with the peer, there are too many, or the arrival is gone."
);

/// A run or a sweep that failed.
pub(crate) fn failed(error: impl ToString) -> PyErr {
    SimulationError::new_err(error.to_string())
}
