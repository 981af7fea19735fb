//! The results of a run as numbers: the values of each [`quantity`]
//! for flows, paths and links, and how they are computed.

mod echo;
mod fairness;
mod flow;
mod link;
mod nat;
mod path_names;
pub mod quantity;
mod report;
mod rows;
mod statistics;
mod transfers;
mod windows;

pub(crate) use echo::round_trips;
pub(crate) use link::{Links, direction_name};
pub(crate) use nat::of_nats;
pub(crate) use path_names::{of_flow as paths_of_flow, path_names};
pub(crate) use report::of_run;
pub(crate) use transfers::{completion_times, of_transfers};
pub(crate) use windows::{Edge, Windows};

use crate::app::{Flow, TransferSource};
use crate::host::Side;

pub(crate) fn warnings(
    flows: &[Flow],
    sources: &[TransferSource],
    windows: &Windows,
    unroutable: u64,
) -> Vec<String> {
    let mut warnings: Vec<String> = flows.iter().filter_map(flow::warning).collect();
    warnings.extend(sources.iter().filter_map(transfers::warning));
    warnings.extend(windows.warnings());
    if unroutable > 0 {
        warnings.push(format!("{unroutable} packets had an address to which no link leads"));
    }
    warnings
}

/// Returns the reasons why the numbers cannot be used: flows that never connected, or nothing delivered at
/// all.
pub(crate) fn failures(flows: &[Flow], sources: &[TransferSource]) -> Vec<String> {
    let unconnected = flows.iter().filter(|flow| flow.connected.is_none());
    let mut failures: Vec<String> =
        unconnected.map(|flow| format!("flow `{}` never connected", flow.name)).collect();
    let received = |flow: &Flow| [Side::Client, Side::Server].map(|side| flow.end(side).received().bytes);
    let delivered = flows.iter().any(|flow| received(flow) != [0, 0])
        || sources.iter().any(|source| !source.done.is_empty());
    if failures.is_empty() && !delivered {
        failures.push("no flow delivered anything".to_owned());
    }
    failures
}
