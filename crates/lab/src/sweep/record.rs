use crate::output::{FlowPaths, RunOutput};
use units::Span;

/// The record of a finished run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRecord {
    /// Number of the run in the sweep.
    pub run: u32,
    /// Replica, from 0.
    pub replica: u32,
    /// Hash of all inputs of the run.
    pub hash: String,
    /// As [`RunOutput::digest`].
    pub digest: u64,
    /// As [`RunOutput::packet_hops`].
    pub packet_hops: u64,
    /// As [`RunOutput::events`].
    pub events: u64,
    /// As [`RunOutput::simulated`].
    pub simulated: Span,
    /// As [`RunOutput::paths`]; empty if an older version simulated the run and stored none.
    pub paths: Vec<FlowPaths>,
    /// As [`RunOutput::warnings`].
    pub warnings: Vec<String>,
    /// As [`RunOutput::failures`].
    pub failures: Vec<String>,
    /// Wall time of the run.
    pub wall: Span,
    /// True if an earlier sweep stored the run.
    pub reused: bool,
    /// True if the stored run was damaged and therefore simulated again.
    pub redone: bool,
}

impl RunRecord {
    pub(super) fn new(run: u32, replica: u32, hash: String, output: &RunOutput, wall: Span) -> Self {
        RunRecord {
            run,
            replica,
            hash,
            digest: output.digest,
            packet_hops: output.packet_hops,
            events: output.events,
            simulated: output.simulated,
            paths: output.paths.clone(),
            warnings: output.warnings.clone(),
            failures: output.failures.clone(),
            wall,
            reused: false,
            redone: false,
        }
    }
}
