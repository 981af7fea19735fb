//! What a run is told and what it yields.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use units::{Instant, Span};

/// How a run can be influenced from outside; nothing here changes its results.
#[derive(Clone, Debug, Default)]
pub struct RunControl {
    /// Set by anyone to stop the run soon.
    pub cancel: Arc<AtomicBool>,
    /// Where the scenario's captures are written; none: no capture is written.
    pub captures: Option<PathBuf>,
}

impl RunControl {
    /// True once someone asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}

/// Why a run yielded nothing.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Stopped through [`RunControl::cancel`].
    #[error("the run was stopped")]
    Cancelled,
    /// The scenario cannot be built or went wrong; the text says what and where.
    #[error("{0}")]
    Failed(String),
    /// A capture could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Capture {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// Everything a run yields; the same scenario, seed and replica yield the same on every machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunOutput {
    /// One number for each quantity.
    pub scalars: Vec<Scalar>,
    /// What the probes recorded.
    pub series: Vec<Series>,
    /// What a reader of the numbers should know: flows that never connected, or ended before their time.
    pub warnings: Vec<String>,
    /// Why the run measured nothing that can be used: flows that never connected, or nothing delivered by any flow.
    pub failures: Vec<String>,
    /// Digest of every packet that reached a host.
    pub digest: u64,
    /// Packets crossing links.
    pub packet_hops: u64,
    /// Events the kernel processed.
    pub events: u64,
    /// Simulated time at the end.
    pub simulated: Span,
}

/// One number of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Scalar {
    /// The flow; or `link:` and a direction of a link such as `link:r1-r2`; or `flows:all`.
    pub flow: String,
    /// The named window of the scenario it was measured in; empty: the flow's own, from `reset_time` to `stop_time`.
    pub window: String,
    /// The path of the flow, from 0 in the order the association learnt them; none: the whole flow.
    pub path: Option<u8>,
    /// What was measured, with its unit at the end where it has one (`throughput_bps`).
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
    /// What was recorded.
    pub quantity: &'static str,
    /// Time and number, in order of time.
    pub points: Vec<(Instant, f64)>,
}
