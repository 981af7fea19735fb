//! The Python module of Anabranch, `anabranch._core`: runs and sweeps, the command line, and the protocol itself. The
//! Python interface is documented in `python/anabranch/_core.pyi`.
#![deny(unsafe_code)]

mod endpoint;
mod error;
mod event;
mod live;
mod options;
mod run;

use pyo3::prelude::*;

#[pymodule]
mod _core {
    use super::*;
    #[pymodule_export]
    use crate::endpoint::{Endpoint, Path, Received, Stats, Transmit};
    #[pymodule_export]
    use crate::error::{
        AssociationClosedError, ConfigError, ScenarioError, SimulationError, WouldBlockError,
    };
    #[pymodule_export]
    use crate::event::Event;
    #[pymodule_export]
    use crate::run::{run, sweep};

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "as Python calls it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pyfunction]
    fn cli(py: Python<'_>, arguments: Vec<String>) -> i32 {
        py.detach(|| ::cli::main(arguments))
    }

    /// The quantile t of Student's distribution: the share `confidence` of it lies between -t and t.
    #[pyfunction]
    fn student_t(degrees: u32, confidence: f64) -> f64 {
        ::cli::statistics::student_t(degrees, confidence)
    }

    /// JSON Schema of scenario files.
    #[pyfunction]
    fn scenario_schema() -> String {
        lab::scenario::schema()
    }
}
