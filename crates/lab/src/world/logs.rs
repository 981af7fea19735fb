//! The logs of SCTP associations in the format qlog.

use crate::app::Dial;
use crate::output::RunError;
use crate::scenario::{NodeKind, Protocol, Scenario};
use qlog::{Folder, Marker};
use std::path::Path;
use units::Instant;

/// Creates the folder of the logs of a run. `dials`: the addresses of its flows.
pub(super) fn folder(dir: &Path, scenario: &Scenario, dials: &[Dial]) -> Result<Folder, RunError> {
    let created = Folder::create(dir);
    let folder = created.map_err(|source| RunError::Capture { path: dir.to_owned(), source })?;
    // Flows of other protocols may have the same addresses and ports.
    let flows = scenario.flows.iter().zip(dials).filter(|(flow, _)| flow.protocol == Protocol::Sctp);
    let flows = flows.flat_map(|(flow, dial)| {
        let addresses = dial.callers.iter().chain(&dial.locals);
        addresses.map(|&address| ((address, flow.local_port), flow.name.clone()))
    });
    Ok(folder.simulated(&scenario.title, flows.collect(), markers(scenario)))
}

/// Markers of the outages, new addresses and NAT rebindings of the scenario.
fn markers(scenario: &Scenario) -> Vec<Marker> {
    let mut markers = Vec::new();
    let mut mark = |at, what| markers.push(Marker { at, what });
    for link in &scenario.links {
        for outage in &link.down {
            mark(outage.from, format!("link {} fails", link.name));
            if outage.to < Instant::FAR {
                mark(outage.to, format!("link {} is repaired", link.name));
            }
        }
        for change in &link.renumber {
            let node = &scenario.nodes[link.between[usize::from(change.second)]].name;
            mark(change.at, format!("{node} gets another address on link {}", link.name));
        }
    }
    for node in &scenario.nodes {
        if let NodeKind::Nat { rebind_at, .. } = &node.kind {
            rebind_at.iter().for_each(|&at| mark(at, format!("NAT {} drops its mappings", node.name)));
        }
    }
    markers
}
