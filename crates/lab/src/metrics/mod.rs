//! The numbers of a run: what each [`quantity`] of flows, paths and links is, and how it comes about.

mod fairness;
mod flow;
mod link;
pub mod quantity;
mod report;
mod windows;

pub(crate) use link::{Links, direction_name};
pub(crate) use report::of_run;
pub(crate) use windows::{Edge, Windows};

use crate::app::Flow;

/// What a reader of the numbers should know.
pub(crate) fn warnings(flows: &[Flow], windows: &Windows, unroutable: u64) -> Vec<String> {
    let mut warnings: Vec<String> =
        flows.iter().filter_map(flow::warning).chain(windows.warnings()).collect();
    if unroutable > 0 {
        warnings.push(format!("{unroutable} packets had an address to which no link leads"));
    }
    warnings
}
