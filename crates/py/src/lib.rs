//! The Python module of Anabranch, `anabranch._core`: runs and sweeps, the command line, the protocol itself, and the
//! protocol on UDP sockets.
//! What Python sees is documented in `python/anabranch/_core.pyi`.
#![deny(unsafe_code)]

mod endpoint;
mod error;
mod event;
mod live;
mod net;
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
    use crate::net::{
        ConnectionLostError, EndpointClosedError, Message, NetConnection, NetEndpoint, NetEvents,
        NetListener, Operation, SocketStats, Wakeups,
    };
    #[pymodule_export]
    use crate::run::{run, sweep};

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "as Python calls it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pyfunction]
    fn cli(py: Python<'_>, arguments: Vec<String>) -> i32 {
        py.detach(|| ::cli::main(arguments))
    }

    /// The t for which `confidence` of Student's distribution lies within -t and t.
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
