//! Latency under load: probes in phases with and without load, outside the loaded association and within it.

mod plan;
mod probe;
mod prober;
mod report;
mod statistics;
mod table;
mod tables;

pub use plan::{LatencyPlan, Phase};
pub use probe::Probe;
pub use prober::{Probed, Prober};
pub use report::{Latency, PhaseLatency, ProbeKind, Probes, Worst};
pub use statistics::{Confidence, Spread};
pub use table::Table;
