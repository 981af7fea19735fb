use super::FlowGroup;
use crate::decode::At;
use crate::diagnostic::Faults;
use crate::file::{FileTable, FlowTable, LatencyTable, TransfersTable};
use crate::{NewTrial, Scenario};
use std::ops::Range;

/// Adds a fault for each flow that cannot work on the network: without a route, or with packets larger than
/// an MTU on the route.
pub(super) fn scenario(
    file: &FileTable,
    scenario: &Scenario,
    groups: &[FlowGroup<'_>],
    new_trial: NewTrial,
    faults: &mut Faults,
) -> bool {
    let before = faults.len();
    let mut trial = match new_trial(scenario) {
        Ok(trial) => trial,
        Err(message) => {
            let link = file.link.first().map_or(0..0, |link| link.between.span.clone());
            faults.note(link, message);
            return false;
        }
    };
    for (table, group) in file.flow.iter().zip(groups) {
        let misfit = scenario.flows[group.flows.clone()].iter().find_map(|flow| trial.flow(flow).err());
        if let Some(misfit) = misfit {
            faults.note(place(table, misfit.key), misfit.message);
        }
    }
    for (table, group) in file.latency.iter().zip(&groups[file.flow.len()..]) {
        let misfit = scenario.flows[group.flows.clone()].iter().find_map(|flow| trial.flow(flow).err());
        if let Some(misfit) = misfit {
            faults.note(place_of_latency(table, misfit.key), misfit.message);
        }
    }
    for (table, transfers) in file.transfers.iter().zip(&scenario.transfers) {
        if let Err(misfit) = trial.transfers(&transfers.like) {
            faults.note(place_of_transfers(table, misfit.key), misfit.message);
        }
    }
    faults.len() == before
}

/// Byte range of the value of a key; the range of the flow's name if the key has its default.
fn place(table: &FlowTable, key: &str) -> Range<usize> {
    let span = match key {
        "local_address" => &table.local_address.span,
        "remote_address" => &table.remote_address.span,
        "primary_path" => &table.primary_path.span,
        "remote_port" => &table.remote_port.span,
        "max_msg_size" => &table.traffic.forward.max_msg_size.span,
        "server" => &table.server.span,
        "udp_encapsulation" => &table.udp_encapsulation.span,
        "mtu" => option(&table.sctp),
        "mss" => option(&table.tcp),
        "local_port" => table.local_port.as_ref().map_or(&UNSTATED, |port| &port.span),
        "networks" => table.networks.as_ref().map_or(&UNSTATED, |networks| &networks.span),
        _ => &UNSTATED,
    };
    if span.is_empty() { table.name.span.clone() } else { span.clone() }
}

fn place_of_transfers(table: &TransfersTable, key: &str) -> Range<usize> {
    let span = match key {
        "remote_port" => &table.remote_port.span,
        "max_msg_size" => &table.max_msg_size.span,
        "server" => &table.server.span,
        "mtu" => option(&table.sctp),
        "mss" => option(&table.tcp),
        "networks" => table.networks.as_ref().map_or(&UNSTATED, |networks| &networks.span),
        _ => &UNSTATED,
    };
    if span.is_empty() { table.name.span.clone() } else { span.clone() }
}

fn place_of_latency(table: &LatencyTable, key: &str) -> Range<usize> {
    match (key, &table.networks) {
        ("networks", Some(networks)) => networks.span.clone(),
        ("server", _) => table.server.span.clone(),
        _ => table.place().clone(),
    }
}

const UNSTATED: Range<usize> = 0..0;

fn option(set: &Option<At<String>>) -> &Range<usize> {
    set.as_ref().map_or(&UNSTATED, |set| &set.span)
}
