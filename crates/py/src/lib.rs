//! The Python module of Anabranch, `anabranch._core`: runs and sweeps, the command line, the protocol itself,
//! and the protocol on UDP sockets.
//! The documentation of items that Python sees is written for Python. `python/tools/write_stub_docs.py`
//! copies this documentation to the stub.
#![deny(unsafe_code)]

mod arguments;
mod arrivals;
mod cluster;
mod endpoint;
mod error;
mod event;
mod info;
mod live;
mod measure;
mod net;
mod options;
mod packet;
mod run;
mod scenario;

use pyo3::prelude::*;

#[pymodule]
mod _core {
    use super::*;
    #[pymodule_export]
    use crate::arrivals::Arrival;
    #[pymodule_export]
    use crate::cluster::{Plan, merge};
    #[pymodule_export]
    use crate::endpoint::Endpoint;
    #[pymodule_export]
    use crate::error::{
        AssociationClosedError, ConfigError, ConnectError, ScenarioError, SimulationError, WouldBlockError,
    };
    #[pymodule_export]
    use crate::event::Event;
    #[pymodule_export]
    use crate::info::{Discarded, EndpointStats, Path, Stats};
    #[pymodule_export]
    use crate::measure::measure;
    #[pymodule_export]
    use crate::net::{
        ConnectionLostError, EndpointClosedError, Message, NetConnection, NetDelivery, NetEndpoint,
        NetEvents, NetListener, NetWriter, NotDeliveredError, Operation, SocketStats, Wakeups,
    };
    #[pymodule_export]
    use crate::packet::{Received, Transmit};
    #[pymodule_export]
    use crate::run::{run, sweep};
    #[pymodule_export]
    use crate::scenario::{axes, with_values};

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "as Python calls it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_export]
    const UDP_PORT: u16 = sctp::Encapsulation::PORT;

    /// Subcommand, names of the option, placeholder of the value, help text, and allowed values.
    type Declared = (String, Vec<String>, Option<String>, String, Vec<String>);

    /// Runs the command with its arguments, without the name of the program, and returns the exit code.
    ///
    /// ``connect`` returns the function that performs runs on the cluster at an address, as ``sweep`` expects
    /// it. ``declared`` are the arguments of subcommands in Python: subcommand, names of the option,
    /// placeholder of the value, help text, and allowed values.
    #[pyfunction]
    #[pyo3(signature = (arguments, connect = None, declared = Vec::new()))]
    fn cli(
        py: Python<'_>,
        arguments: Vec<String>,
        connect: Option<Py<PyAny>>,
        declared: Vec<Declared>,
    ) -> i32 {
        let declared: Vec<::cli::Declared> = declared
            .into_iter()
            .map(|(subcommand, flags, value, help, choices)| ::cli::Declared {
                subcommand,
                flags,
                value,
                help,
                choices,
            })
            .collect();
        let mut cluster = connect.map(crate::cluster::Cluster::from_address);
        py.detach(|| {
            let cluster = cluster.as_mut().map(|cluster| cluster as &mut dyn ::cli::Cluster);
            ::cli::main(arguments, cluster, &declared)
        })
    }

    /// Half width of the interval that contains the fraction ``confidence`` of Student's t-distribution.
    #[pyfunction]
    fn student_t(degrees: u32, confidence: f64) -> f64 {
        lab::statistics::student_t(degrees, confidence)
    }

    /// The grade for the latency ``added`` by a load, in seconds.
    #[pyfunction]
    fn latency_grade(added: f64) -> &'static str {
        lab::statistics::grade(added)
    }

    /// JSON Schema of scenario files.
    #[pyfunction]
    fn scenario_schema() -> String {
        lab::scenario::schema()
    }
}
