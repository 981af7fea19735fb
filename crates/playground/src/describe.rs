//! A scenario and the totals of its run as JSON, for the web page.

use lab::output::RunOutput;
use lab::scenario::{Flow, Link, NodeKind, Scenario};
use net::{ChannelSpec, Limit as Room, QueueSpec};
use serde_json::{Value, json};
use transport::Limit;

/// As JSON: title, nodes, links with both directions, flows, and the names of the reasons that can hold a
/// sender back.
pub fn scenario(scenario: &Scenario) -> String {
    let nodes = scenario.nodes.iter().map(|node| {
        let kind = match node.kind {
            NodeKind::Host { .. } => "host",
            NodeKind::Router => "router",
            NodeKind::Nat { .. } => "NAT",
        };
        json!({ "name": node.name, "kind": kind })
    });
    let transfers = scenario.transfers.iter().map(|transfers| flow(&transfers.like, scenario));
    let limits = Limit::ALL.iter().map(|limit| limit.name());
    json!({
        "title": scenario.title,
        "nodes": nodes.collect::<Vec<_>>(),
        "links": scenario.links.iter().map(link).collect::<Vec<_>>(),
        "flows": scenario.flows.iter().map(|one| flow(one, scenario)).collect::<Vec<_>>(),
        "transfers": transfers.collect::<Vec<_>>(),
        "limits": limits.collect::<Vec<_>>(),
    })
    .to_string()
}

fn flow(flow: &Flow, scenario: &Scenario) -> Value {
    let [client, server] = [flow.client, flow.server].map(|node| &scenario.nodes[node].name);
    let (from, to) = if flow.forward.is_some() { (client, server) } else { (server, client) };
    json!({
        "name": flow.name,
        "protocol": format!("{:?}", flow.protocol).to_uppercase(),
        "from": from,
        "to": to,
    })
}

fn link(link: &Link) -> Value {
    json!({
        "name": link.name,
        "between": link.between,
        "directions": [channel(&link.forward), channel(&link.back)],
    })
}

/// Rate in bit/s, delay in seconds, loss, and the room of the queue in packets or bytes.
fn channel(channel: &ChannelSpec) -> Value {
    let rate = channel.mean_rate().map(|rate| rate.as_bps());
    json!({
        "rate": rate,
        "delay": channel.delay.mean().as_secs_f64(),
        "loss": channel.impairments.loss.get(),
        "room": room(channel, rate),
    })
}

/// Capacity of the queue; `None` if it has no limit, or usually drops packets for
/// another reason before it is full.
fn room(channel: &ChannelSpec, rate: Option<u64>) -> Option<Value> {
    match &channel.queue {
        QueueSpec::DropTail(Room::Packets(u64::MAX)) => None,
        QueueSpec::DropTail(Room::Packets(most)) => Some(json!({ "packets": most })),
        QueueSpec::DropTail(Room::Bytes(most)) => Some(json!({ "bytes": most.get() })),
        QueueSpec::DropTailDelay(most) => {
            Some(json!({ "bytes": (most.0.as_secs_f64() * rate? as f64 / 8.0).round() }))
        }
        _ => None,
    }
}

/// Digest, totals and warnings.
pub fn output(output: &RunOutput) -> String {
    json!({
        "digest": format!("{:016x}", output.digest),
        "packet_hops": output.packet_hops,
        "events": output.events,
        "simulated": output.simulated.as_secs_f64(),
        "warnings": output.warnings,
        "failures": output.failures,
    })
    .to_string()
}
