//! Control of a run from outside, and the output of a run.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use units::{ByteCount, Instant, Span};

/// Controls a run from outside, without an effect on its results.
#[derive(Clone, Debug, Default)]
pub struct RunControl {
    /// Set this to true to stop the run within a few thousand events.
    pub cancel: Arc<AtomicBool>,
    /// Folder of the scenario's captures; `None`: no capture is written.
    pub captures: Option<PathBuf>,
    /// Largest size of a capture, unless the scenario sets a limit.
    pub capture_limit: Option<ByteCount>,
    /// Folder of the logs of SCTP associations in the format qlog; `None`: no logs are written.
    pub qlog: Option<PathBuf>,
}

impl RunControl {
    /// True once the run should stop.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}

/// Error: why a run has no output.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Stopped through [`RunControl::cancel`].
    #[error("the run was stopped")]
    Cancelled,
    /// The scenario cannot be built or its run failed; the text has the reason.
    #[error("{0}")]
    Failed(String),
    /// A capture could not be written, or the folder of logs could not be created.
    #[error("cannot write {}: {source}", path.display())]
    Capture {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
}

/// Output of a run. The same scenario, seed and replica give the same output on every machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunOutput {
    /// The results that are single numbers: one for each quantity of a flow, path or link.
    pub scalars: Vec<Scalar>,
    /// The series that the probes recorded.
    pub series: Vec<Series>,
    /// Names of the paths of flows for people to read, made from the names of links.
    pub paths: Vec<FlowPaths>,
    /// Warnings about the numbers: flows that never connected or ended early, and the warnings of
    /// [`Scenario::warnings`](crate::scenario::Scenario::warnings).
    pub warnings: Vec<String>,
    /// Reasons why the numbers cannot be used: flows that never connected, or no flow with delivered data.
    pub failures: Vec<String>,
    /// Digest of all packets that reached hosts, and of all changes of links.
    pub digest: u64,
    /// Packet-hops: packets that crossed a link, counted for each link.
    pub packet_hops: u64,
    /// Number of events that the simulator processed.
    pub events: u64,
    /// Simulated time at the end.
    pub simulated: Span,
}

/// Names of the paths of a flow, from the names of links in the scenario. Indexed by path; `None` for a path
/// without a name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowPaths {
    /// The flow.
    pub flow: String,
    /// The paths of the client, used in series and in quantities of the direction from the client to the
    /// server.
    pub forward: Vec<Option<String>>,
    /// The paths of the server, if it sends, used in quantities whose names begin with `back_`.
    pub back: Vec<Option<String>>,
}

impl FlowPaths {
    /// The names of the paths of a flow in one direction.
    pub fn names<'p>(paths: &'p [FlowPaths], flow: &str, back: bool) -> &'p [Option<String>] {
        let own = paths.iter().find(|one| one.flow == flow);
        own.map_or(&[], |own| if back { &own.back } else { &own.forward })
    }

    /// The number of a path and its name, if it has one: `1 (lte)`.
    pub fn numbered(paths: &[FlowPaths], flow: &str, back: bool, path: u8) -> String {
        let name = Self::names(paths, flow, back).get(usize::from(path)).and_then(Option::as_ref);
        name.map_or(path.to_string(), |name| format!("{path} ({name})"))
    }
}

/// A result of a run that is a single number.
#[derive(Clone, Debug, PartialEq)]
pub struct Scalar {
    /// The flow, or `link:` and a link direction (`link:r1-r2`), or `nat:` and a NAT, or `flows:all`. For
    /// bursts the flow and the link (`f@link:r1-r2`).
    pub flow: String,
    /// Named window of the scenario; empty for the flow's own window from `reset_time` to `stop_time`.
    pub window: String,
    /// Path of the flow, from 0 in the order in which the association added them; `None` for the whole flow.
    pub path: Option<u8>,
    /// Name of the quantity; ends with the unit if there is one (`throughput_bps`).
    pub quantity: &'static str,
    /// The number.
    pub value: f64,
}

/// One quantity over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// As in [`Scalar::flow`].
    pub flow: String,
    /// As in [`Scalar::path`].
    pub path: Option<u8>,
    /// Name of the quantity.
    pub quantity: &'static str,
    /// Time and number, in order of time.
    pub points: Vec<(Instant, f64)>,
}
